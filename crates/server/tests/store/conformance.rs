//! The conformance tests of stores. A new store runs all of it: see `suite!` in `main.rs`.

use std::sync::Arc;

use sealstone_server::store::{
    Change, Count, Key, Mark, Outcome, Refusal, Replace, Set, Store, StoreError,
};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::Kind;
pub(crate) use crate::proofs::proofs_of_gates_are_used_once;

const NOW: u64 = 1_767_225_600;
const GRACE: u64 = 30;
const SPENT: Outcome = Outcome::Refused(Refusal::Spent);
const LIMIT: Outcome = Outcome::Refused(Refusal::Limit);

/// A store in its own directory, and a runtime with two threads.
struct World<'k> {
    kind: &'k dyn Kind,
    directory: tempfile::TempDir,
    runtime: Runtime,
    store: Option<Arc<dyn Store>>,
}

impl<'k> World<'k> {
    fn new(kind: &'k dyn Kind) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build();
        let runtime = runtime.expect("a runtime");
        Self {
            kind,
            store: Some(kind.open(directory.path(), &runtime)),
            directory,
            runtime,
        }
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone().expect("an open store")
    }

    fn apply(&self, change: Change) -> Outcome {
        let applied = self.runtime.block_on(self.store().apply(change));
        applied.expect("a store that works")
    }

    fn probe(&self, change: Change) -> Outcome {
        let probed = self.runtime.block_on(self.store().probe(change));
        probed.expect("a store that works")
    }

    fn get(&self, name: &str) -> Option<Vec<u8>> {
        let found = self.runtime.block_on(self.store().get(name));
        found.expect("a store that works")
    }

    fn update(&self, records: Vec<Replace>) -> bool {
        let updated = self.runtime.block_on(self.store().update(records));
        updated.expect("a store that works")
    }

    fn reopen(&mut self) {
        self.store = None;
        self.kind.restart();
        self.store = Some(self.kind.open(self.directory.path(), &self.runtime));
    }
}

fn set(number: u64) -> Set {
    Set::new(format!("set-{number}"), NOW + number)
}

fn key(number: u64) -> Key {
    let mut key = [0xa5; 32];
    key[..8].copy_from_slice(&number.to_be_bytes());
    key
}

/// A set whose marks are made one by one.
fn spread(number: u64) -> Set {
    Set::new(format!("spent-{number}"), NOW + number)
}

fn spend(number: u64) -> Change {
    Change::new(NOW).mark(Mark::new(&set(1), key(number)))
}

pub(crate) fn a_mark_is_made_once(kind: &dyn Kind) {
    let mut world = World::new(kind);
    assert_eq!(world.apply(spend(1)), Outcome::Done);
    assert_eq!(world.apply(spend(1)), SPENT);
    assert_eq!(world.apply(spend(2)), Outcome::Done);
    let elsewhere = Change::new(NOW).mark(Mark::new(&set(2), key(1)));
    assert_eq!(world.apply(elsewhere), Outcome::Done, "another set");
    world.reopen();
    assert_eq!(world.apply(spend(1)), SPENT, "after a restart");
}

pub(crate) fn an_operation_repeats_within_its_grace(kind: &dyn Kind) {
    let mut world = World::new(kind);
    let at = |now: u64, operation: u64| {
        let mark = Mark::new(&set(1), key(1)).of_operation(key(operation));
        Change::new(now).with_grace(GRACE).mark(mark)
    };
    assert_eq!(world.apply(at(NOW, 5)), Outcome::Done);
    assert_eq!(world.apply(at(NOW, 5)), Outcome::Repeated);
    assert_eq!(world.apply(at(NOW + GRACE, 5)), Outcome::Repeated);
    assert_eq!(world.apply(at(NOW + GRACE + 1, 5)), SPENT);
    assert_eq!(world.apply(at(NOW, 6)), SPENT, "another operation");
    assert_eq!(world.apply(spend(1).with_grace(GRACE)), SPENT, "none");
    world.reopen();
    assert_eq!(world.apply(at(NOW + 1, 5)), Outcome::Repeated);
    let early = at(NOW - GRACE - 1, 5);
    assert_eq!(world.apply(early), SPENT, "a clock that was set back");
}

pub(crate) fn a_change_is_whole_or_absent(kind: &dyn Kind) {
    let world = World::new(kind);
    assert_eq!(world.apply(spend(1)), Outcome::Done);
    let counted = || Count::new(&set(1), key(9), 1, 1);
    let both = spend(2).and(spend(1)).count(counted());
    assert_eq!(world.apply(both), SPENT);
    let too_many = spend(2).count(Count::new(&set(1), key(9), 2, 1));
    assert_eq!(world.apply(too_many), LIMIT);
    let all = spend(2).count(counted());
    assert_eq!(world.apply(all), Outcome::Done, "nothing was burnt");
    assert_eq!(world.apply(spend(3).count(counted())), LIMIT);
    assert_eq!(world.apply(spend(3)), Outcome::Done, "nothing was burnt");
}

pub(crate) fn a_mark_twice_in_one_change_is_refused(kind: &dyn Kind) {
    let world = World::new(kind);
    assert_eq!(world.apply(spend(1).and(spend(1))), SPENT);
    assert_eq!(world.apply(spend(1)), Outcome::Done);
}

pub(crate) fn counters_stop_at_their_limit(kind: &dyn Kind) {
    let mut world = World::new(kind);
    let add = |add, limit| Change::new(NOW).count(Count::new(&set(1), key(1), add, limit));
    assert_eq!(world.apply(add(3, 5)), Outcome::Done);
    assert_eq!(world.apply(add(3, 5)), LIMIT);
    world.reopen();
    assert_eq!(world.apply(add(2, 5)), Outcome::Done);
    assert_eq!(world.apply(add(1, 5)), LIMIT);
    assert_eq!(
        world.apply(add(u64::MAX, u64::MAX - 1)),
        LIMIT,
        "no overflow"
    );
    let twice = Change::new(NOW)
        .count(Count::new(&set(2), key(1), 1, 1))
        .count(Count::new(&set(2), key(1), 1, 1));
    assert_eq!(world.apply(twice), LIMIT, "both parts of one change count");
}

pub(crate) fn present_marks_refuse(kind: &dyn Kind) {
    let world = World::new(kind);
    let revoked = || Mark::new(&set(3), key(1));
    assert_eq!(world.apply(spend(1).absent(revoked())), Outcome::Done);
    assert_eq!(world.apply(Change::new(NOW).mark(revoked())), Outcome::Done);
    let refused = Outcome::Refused(Refusal::Present);
    assert_eq!(world.apply(spend(2).absent(revoked())), refused);
    assert_eq!(world.apply(spend(2)), Outcome::Done, "nothing was burnt");
}

pub(crate) fn a_probe_changes_nothing(kind: &dyn Kind) {
    let world = World::new(kind);
    let change = || spend(1).count(Count::new(&set(1), key(1), 1, 1));
    assert_eq!(world.probe(change()), Outcome::Done);
    assert_eq!(world.probe(change()), Outcome::Done);
    assert_eq!(world.apply(change()), Outcome::Done);
    assert_eq!(world.probe(change()), SPENT);
    assert_eq!(world.probe(spend(2)), Outcome::Done);
}

pub(crate) fn records_compare_and_replace(kind: &dyn Kind) {
    let mut world = World::new(kind);
    let replace = |name: &str, expected: Option<&[u8]>, value: Option<&[u8]>| Replace {
        name: name.to_owned(),
        expected: expected.map(<[u8]>::to_vec),
        value: value.map(<[u8]>::to_vec),
    };
    assert_eq!(world.get("a"), None);
    assert!(world.update(vec![Replace::create("a", b"1".to_vec())]));
    assert!(!world.update(vec![Replace::create("a", b"2".to_vec())]));
    let both = vec![
        replace("b", None, Some(b"1")),
        replace("a", Some(b"0"), Some(b"2")),
    ];
    assert!(!world.update(both), "one of them is not as expected");
    assert_eq!(
        (world.get("a"), world.get("b")),
        (Some(b"1".to_vec()), None)
    );
    let both = vec![
        replace("b", None, Some(b"1")),
        replace("a", Some(b"1"), Some(b"2")),
    ];
    assert!(world.update(both));
    world.reopen();
    assert_eq!(world.get("a"), Some(b"2".to_vec()));
    assert!(world.update(vec![replace("a", Some(b"2"), None)]));
    assert_eq!(world.get("a"), None);
}

pub(crate) fn logs_are_written_once(kind: &dyn Kind) {
    let mut world = World::new(kind);
    let replace = |expected: Option<&[u8]>, value: Option<&[u8]>| Replace {
        name: "log/a/1".to_owned(),
        expected: expected.map(<[u8]>::to_vec),
        value: value.map(<[u8]>::to_vec),
    };
    assert!(world.update(vec![replace(None, Some(b"1"))]));
    let other = Replace::create("b", b"1".to_vec());
    for change in [
        replace(Some(b"1"), Some(b"2")),
        replace(Some(b"1"), None),
        replace(None, Some(b"2")),
        replace(None, None),
    ] {
        assert!(!world.update(vec![other.clone(), change]));
    }
    world.reopen();
    assert_eq!(world.get("log/a/1"), Some(b"1".to_vec()));
    assert_eq!(world.get("b"), None, "the rest of a refused change");
}

pub(crate) fn closed_sets_refuse_for_ever(kind: &dyn Kind) {
    let mut world = World::new(kind);
    assert_eq!(world.apply(spend(1)), Outcome::Done);
    let later = Change::new(NOW).mark(Mark::new(&set(100), key(1)));
    assert_eq!(world.apply(later.clone()), Outcome::Done);
    let close = |world: &World<'_>, before| {
        let closed = world.runtime.block_on(world.store().close_sets(before));
        closed.expect("a store that works")
    };
    assert_eq!(close(&world, NOW + 1), 0, "it ends then, and not before");
    assert_eq!(close(&world, NOW + 2), 1);
    assert_eq!(close(&world, NOW + 2), 0);
    let closed = Outcome::Refused(Refusal::Closed);
    assert_eq!(world.apply(spend(1)), closed);
    assert_eq!(world.apply(spend(2)), closed);
    world.reopen();
    assert_eq!(world.apply(spend(2)), closed, "after a restart");
    assert_eq!(world.apply(later), SPENT, "the other set stays");
    let sets = world.runtime.block_on(world.store().sets());
    assert_eq!(sets.expect("a store that works"), vec![(set(100), 1)]);
}

pub(crate) fn one_of_many_at_once_wins(kind: &dyn Kind) {
    const TOKENS: u64 = 60;
    const RIVALS: u64 = 8;
    let world = World::new(kind);
    let won = world.runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..RIVALS {
            for token in 0..TOKENS {
                let store = world.store();
                tasks.spawn(async move { (token, store.apply(spend(token)).await) });
            }
        }
        let mut won = vec![0; usize::try_from(TOKENS).expect("few")];
        while let Some(done) = tasks.join_next().await {
            let (token, outcome) = done.expect("a task");
            let is_won = outcome.expect("a store that works") == Outcome::Done;
            won[usize::try_from(token).expect("few")] += i32::from(is_won);
        }
        won
    });
    assert!(won.iter().all(|&times| times == 1), "spent twice: {won:?}");
}

pub(crate) fn counters_are_exact_under_load(kind: &dyn Kind) {
    let world = World::new(kind);
    let won = world.runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..200 {
            let store = world.store();
            let change = Change::new(NOW).count(Count::new(&set(1), key(1), 3, 100));
            tasks.spawn(async move { store.apply(change).await });
        }
        let outcomes: Vec<Result<Outcome, StoreError>> = tasks.join_all().await;
        let is_done = |outcome: &&Result<Outcome, StoreError>| **outcome == Ok(Outcome::Done);
        outcomes.iter().filter(is_done).count()
    });
    assert_eq!(won, 33);
}

pub(crate) fn acknowledged_changes_survive(kind: &dyn Kind) {
    let mut world = World::new(kind);
    for round in 0..5 {
        for token in 0..20 {
            assert_eq!(world.apply(spend(round * 100 + token)), Outcome::Done);
        }
        world.reopen();
        for token in 0..20 {
            assert_eq!(world.apply(spend(round * 100 + token)), SPENT);
        }
    }
}

/// A key whose first byte differs between numbers.
fn spread_key(number: u64) -> Key {
    let mut key = key(number);
    key[0] = number.to_le_bytes()[0];
    key
}

fn spread_spend(number: u64) -> Change {
    Change::new(NOW).mark(Mark::new(&spread(1), spread_key(number)))
}

pub(crate) fn spread_marks_are_made_once(kind: &dyn Kind) {
    let mut world = World::new(kind);
    for token in 0..40 {
        assert_eq!(world.apply(spread_spend(token)), Outcome::Done);
    }
    world.reopen();
    for token in 0..40 {
        assert_eq!(world.probe(spread_spend(token)), SPENT);
        assert_eq!(world.apply(spread_spend(token)), SPENT);
    }
    let of = |operation: u64, now: u64| {
        let mark = Mark::new(&spread(1), spread_key(99)).of_operation(key(operation));
        Change::new(now).with_grace(GRACE).mark(mark)
    };
    assert_eq!(world.apply(of(5, NOW)), Outcome::Done);
    assert_eq!(world.apply(of(5, NOW + GRACE)), Outcome::Repeated);
    assert_eq!(world.apply(of(5, NOW + GRACE + 1)), SPENT);
    assert_eq!(world.apply(of(6, NOW)), SPENT);
    let sets = world.runtime.block_on(world.store().sets());
    assert_eq!(sets.expect("a store that works"), vec![(spread(1), 41)]);
}

pub(crate) fn spread_sets_close_everywhere(kind: &dyn Kind) {
    let mut world = World::new(kind);
    for token in 0..40 {
        assert_eq!(world.apply(spread_spend(token)), Outcome::Done);
    }
    let closed = world.runtime.block_on(world.store().close_sets(NOW + 2));
    assert_eq!(closed, Ok(1));
    world.reopen();
    for token in 0..80 {
        let refused = Outcome::Refused(Refusal::Closed);
        assert_eq!(world.apply(spread_spend(token)), refused);
        assert_eq!(world.probe(spread_spend(token)), refused);
    }
}

pub(crate) fn a_spread_change_is_whole_or_an_error(kind: &dyn Kind) {
    let world = World::new(kind);
    assert_eq!(world.apply(spread_spend(1)), Outcome::Done);
    let both = spread_spend(2).and(spread_spend(1));
    let refused = world.runtime.block_on(world.store().apply(both));
    assert!(refused.is_err() || refused == Ok(SPENT), "{refused:?}");
    assert_eq!(world.apply(spread_spend(2)), Outcome::Done, "it was burnt");
}

pub(crate) fn one_of_many_spread_at_once_wins(kind: &dyn Kind) {
    const TOKENS: u64 = 100;
    let world = World::new(kind);
    let won = world.runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for turn in 0..TOKENS * 8 {
            let store = world.store();
            tasks.spawn(async move { store.apply(spread_spend(turn % TOKENS)).await });
        }
        let outcomes = tasks.join_all().await;
        let is_done = |outcome: &&Result<Outcome, StoreError>| **outcome == Ok(Outcome::Done);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        outcomes.iter().filter(is_done).count()
    });
    assert_eq!(won as u64, TOKENS);
}
