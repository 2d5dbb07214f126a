//! Lifecycles of keys: stages, limits, crashes, alterations, a model.

use proptest::prelude::*;
use sealstone::Error;
use sealstone::lifecycle::{KeyLifecycle, Limits, Refusal, Stage};
use sealstone::passport::Fingerprint;
use sealstone::trust::{Change, Memory, Status, Storage, TrustStore};

use super::alterations;
use super::faulty::{Failure, Fault, Faulty};
use super::fixture::{Files, START, at, name, noted, person, person_unlocked};
use super::mini::{self, Entry, SPECIFIED};

const KEY: u8 = 0x4e;

fn store() -> TrustStore<Memory> {
    TrustStore::open(Memory::default()).unwrap()
}

fn uses(max: u64) -> Limits {
    Limits {
        max_uses: Some(max),
        ..Limits::default()
    }
}

fn refusal<T>(result: sealstone::Result<T>) -> Refusal {
    match result.map(drop) {
        Err(Error::KeyLifecycle(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// A store in which the key may sign three times, and has signed once.
fn limited() -> Memory {
    let memory = Memory::default();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    store
        .set_limits(&name(KEY), "Alice", uses(3), &noted(1, "three letters"))
        .unwrap();
    let reserved = store.reserve(&name(KEY), 1, &at(2)).unwrap();
    assert_eq!(reserved.lifecycle.left(), Some(2));
    memory
}

#[test]
fn a_key_without_entries_is_active_without_limits_and_reserving_writes_nothing() {
    let memory = Memory::default();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    assert_eq!(store.key_lifecycle(&name(KEY)), KeyLifecycle::default());
    for _ in 0..3 {
        let reserved = store.reserve(&name(KEY), 100_000, &at(1)).unwrap();
        assert_eq!(reserved.lifecycle, KeyLifecycle::default());
    }
    assert_eq!(store.key_lives().count(), 0);
    assert_eq!(Files::of(&memory).log, None);
    for bad in [0, 100_001] {
        let refused = store.reserve(&name(KEY), bad, &at(1));
        assert!(matches!(refused, Err(Error::Invalid(_))));
    }
}

#[test]
fn uses_are_counted_to_the_limit_and_not_beyond() {
    let memory = limited();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    assert_eq!(
        refusal(store.reserve(&name(KEY), 3, &at(3))),
        Refusal::UsedUp { left: 2, max: 3 }
    );
    let reserved = store.reserve(&name(KEY), 2, &at(3)).unwrap();
    assert_eq!(
        (reserved.lifecycle.used, reserved.lifecycle.left()),
        (3, Some(0))
    );
    let mut again = TrustStore::open(memory).unwrap();
    assert_eq!(
        refusal(again.reserve(&name(KEY), 1, &at(4))),
        Refusal::UsedUp { left: 0, max: 3 }
    );
    // Uses are never returned: a higher limit gives the difference.
    again
        .set_limits(&name(KEY), "Alice", uses(4), &at(5))
        .unwrap();
    let reserved = again.reserve(&name(KEY), 1, &at(6)).unwrap();
    assert_eq!(reserved.lifecycle.used, 4);
    assert!(again.iter().next().is_none(), "a lifecycle makes no record");
}

#[test]
fn two_handles_do_not_share_the_last_use() {
    let memory = limited();
    let mut one = TrustStore::open(memory.clone()).unwrap();
    let mut two = TrustStore::open(memory).unwrap();
    let _first = one.reserve(&name(KEY), 2, &at(3)).unwrap();
    let second = two.reserve(&name(KEY), 1, &at(3));
    assert_eq!(refusal(second), Refusal::UsedUp { left: 0, max: 3 });
}

#[test]
fn every_change_of_stage_is_allowed_or_refused_as_the_page_says() {
    use Stage::{Active, Compromised, Deprecated, Revoked, Rotating};
    let allowed = [
        (Active, Rotating),
        (Active, Deprecated),
        (Active, Revoked),
        (Active, Compromised),
        (Rotating, Deprecated),
        (Rotating, Revoked),
        (Rotating, Compromised),
        (Deprecated, Revoked),
        (Deprecated, Compromised),
        (Revoked, Compromised),
    ];
    for from in Stage::ALL {
        for to in Stage::ALL {
            match allowed.contains(&(from, to)) {
                true => assert_eq!(from.to(to), Ok(to)),
                false => assert_eq!(from.to(to), Err(Refusal::Change(from, to))),
            }
        }
    }
    let said = Active.to(Active).unwrap_err().to_string();
    assert_eq!(
        said,
        "an active key cannot become active; it can become rotating, deprecated, revoked or \
         compromised"
    );
    let said = Compromised.to(Active).unwrap_err().to_string();
    assert_eq!(
        said,
        "a compromised key cannot become active; it stays compromised"
    );
}

#[test]
fn a_key_signs_only_between_its_times() {
    let mut store = store();
    let limits = Limits {
        not_before: Some(START + 10),
        not_after: Some(START + 20),
        max_uses: None,
    };
    store.set_limits(&name(KEY), "", limits, &at(0)).unwrap();
    for (second, refused) in [
        (9, Some(Refusal::NotYet(START + 10))),
        (10, None),
        (20, None),
        (21, Some(Refusal::Over(START + 20))),
    ] {
        let reserved = store.reserve(&name(KEY), 1, &at(second));
        match refused {
            Some(refused) => assert_eq!(refusal(reserved), refused),
            None => assert_eq!(reserved.unwrap().lifecycle.limits, limits),
        }
    }
    let backwards = Limits {
        not_before: Some(START + 21),
        ..limits
    };
    let refused = store.set_limits(&name(KEY), "", backwards, &at(0));
    assert!(matches!(refused, Err(Error::Invalid(_))));
}

#[test]
fn a_clock_that_goes_back_revives_no_key() {
    let mut store = store();
    let limits = Limits {
        not_after: Some(START + 1000),
        ..uses(10)
    };
    store.set_limits(&name(KEY), "", limits, &at(0)).unwrap();
    let _used = store.reserve(&name(KEY), 1, &at(900)).unwrap();
    let now = START + 599;
    assert_eq!(
        refusal(store.reserve(&name(KEY), 1, &at(599))),
        Refusal::ClockBack {
            now,
            latest: START + 900
        }
    );
    // A clock corrected by some seconds is no reason for a refusal.
    let _used = store.reserve(&name(KEY), 1, &at(600)).unwrap();
    // The end has passed by the log's time, independent of the clock.
    store.set_limits(&name(KEY), "", limits, &at(1100)).unwrap();
    assert_eq!(
        refusal(store.reserve(&name(KEY), 1, &at(999))),
        Refusal::Over(START + 1000)
    );
    // The user's own change restarts the time, for an entry that was made under a wrong clock.
    store.set_limits(&name(KEY), "", limits, &at(700)).unwrap();
    let _used = store.reserve(&name(KEY), 1, &at(701)).unwrap();
}

#[test]
fn only_a_successor_that_the_key_signed_makes_it_rotate() {
    let mut store = store();
    let (old, new) = (person_unlocked(1, "Alice"), person_unlocked(2, "Alice 2"));
    let other = person_unlocked(3, "Mallory");
    for wrong in [new.public(), other.succeed(&new, START)] {
        let refused = store.rotate_key(old.contact(), &wrong, &at(1));
        assert!(matches!(refused, Err(Error::Invalid(_))));
    }
    let good = old.succeed(&new, START);
    let refused = store.rotate_key(other.contact(), &good, &at(1));
    assert!(matches!(refused, Err(Error::Invalid(_))));
    let lifecycle = store.rotate_key(old.contact(), &good, &at(1)).unwrap();
    assert_eq!(lifecycle.stage, Stage::Rotating);
    assert_eq!(lifecycle.successor, Some(*new.fingerprint().as_bytes()));
    let _both_sign = store.reserve(&old.fingerprint(), 1, &at(2)).unwrap();
    let again = store.rotate_key(old.contact(), &good, &at(3));
    assert_eq!(
        refusal(again),
        Refusal::Change(Stage::Rotating, Stage::Rotating)
    );
    let lifecycle = store
        .deprecate_key(&old.fingerprint(), "Alice", &at(4))
        .unwrap();
    assert_eq!(
        (lifecycle.stage, lifecycle.successor),
        (Stage::Deprecated, Some(*new.fingerprint().as_bytes()))
    );
    assert_eq!(
        refusal(store.reserve(&old.fingerprint(), 1, &at(5))),
        Refusal::Stage(Stage::Deprecated)
    );
    let changed = store.set_limits(&old.fingerprint(), "Alice", uses(1), &at(6));
    assert_eq!(refusal(changed), Refusal::Stage(Stage::Deprecated));
}

#[test]
fn a_revoked_or_compromised_key_never_signs_again_even_if_it_is_reinstated() {
    for (status, stage) in [
        (Status::Revoked, Stage::Revoked),
        (Status::Compromised, Stage::Compromised),
    ] {
        let memory = limited();
        let mut store = TrustStore::open(memory.clone()).unwrap();
        store.set_status(&name(KEY), status, &at(10)).unwrap();
        store.reinstate(&name(KEY), &at(11)).unwrap();
        store
            .set_status(&name(KEY), Status::Approved, &at(12))
            .unwrap();
        let mut store = TrustStore::open(memory).unwrap();
        assert_eq!(store.key_lifecycle(&name(KEY)).stage, stage);
        let reserved = store.reserve(&name(KEY), 1, &at(13));
        assert_eq!(refusal(reserved), Refusal::Stage(stage));
        let limits = store.set_limits(&name(KEY), "", uses(9), &at(14));
        assert_eq!(refusal(limits), Refusal::Stage(stage));
        let deprecated = store.deprecate_key(&name(KEY), "", &at(15));
        assert_eq!(
            refusal(deprecated),
            Refusal::Change(stage, Stage::Deprecated)
        );
    }
}

#[test]
fn the_second_implementation_writes_the_same_log() {
    let memory = Memory::default();
    let secret = [0x42; 32];
    let empty = mini::write(&secret, &[], SPECIFIED);
    for (file, bytes) in [
        (sealstone::trust::File::Key, empty.key),
        (sealstone::trust::File::Log, empty.log),
        (sealstone::trust::File::Head, empty.head),
    ] {
        memory.set(file, bytes);
    }
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let limits = Limits {
        not_before: Some(START),
        not_after: Some(START + 1),
        max_uses: Some(3),
    };
    store
        .set_limits(&name(KEY), "Alice", limits, &noted(0, "three letters"))
        .unwrap();
    let _used = store.reserve(&name(KEY), 2, &at(1)).unwrap();
    store.deprecate_key(&name(KEY), "Alice", &at(2)).unwrap();
    let entry = |seconds, status, label, note, more| Entry {
        time: START + seconds,
        status,
        fingerprint: [KEY; 32],
        label,
        operator: "bob",
        note,
        since: None,
        more,
    };
    // 9: {0: stage, 1: START, 2: START + 1, 3: 3} and 10: 2.
    const ACTIVE: &[u8] =
        b"\x09\xa4\x00\x00\x01\x1a\x6a\xb1\x3b\x80\x02\x1a\x6a\xb1\x3b\x81\x03\x03";
    const DEPRECATED: &[u8] =
        b"\x09\xa4\x00\x02\x01\x1a\x6a\xb1\x3b\x80\x02\x1a\x6a\xb1\x3b\x81\x03\x03";
    let entries = [
        entry(0, 7, "Alice", "three letters", &[ACTIVE]),
        entry(1, 8, "", "", &[b"\x0a\x02"]),
        entry(2, 7, "Alice", "", &[DEPRECATED]),
    ];
    assert_eq!(
        Files::of(&memory),
        mini::write(&secret, &entries, SPECIFIED)
    );
}

#[test]
fn every_alteration_of_a_log_with_lifecycles_is_noticed() {
    let good = Files::of(&limited());
    assert!(mini::verify(&good, SPECIFIED));
    let other = Files::of(&limited());
    for (kind, what, altered) in alterations::all(&good, &other) {
        let opened = TrustStore::open(altered.to_memory()).map(drop);
        assert!(
            matches!(opened, Err(Error::StoreAltered(_))),
            "{kind:?}, {what}"
        );
    }
}

#[test]
fn a_countersignature_lists_changed_lifecycles_and_not_uses() {
    let mut store = TrustStore::open(limited()).unwrap();
    let owner = person_unlocked(11, "Bob");
    store.sign(&owner, START + 3).unwrap();
    let _used = store.reserve(&name(KEY), 1, &at(4)).unwrap();
    assert!(store.verify_signed(owner.contact()).unwrap().is_empty());
    store
        .set_limits(&name(KEY), "Alice", uses(1000), &at(5))
        .unwrap();
    let listed = store.verify_signed(owner.contact()).unwrap();
    let listed: Vec<_> = listed.iter().map(|entry| entry.event()).collect();
    assert_eq!(listed, ["key lifecycle"]);
}

#[test]
fn pruning_and_rekeying_keep_lifecycles() {
    let memory = Memory::default();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let met = person(5, "Dave");
    store.record_stranger(&met, &at(0)).unwrap();
    store
        .set_limits(&met.fingerprint(), "Dave", uses(3), &at(1))
        .unwrap();
    store.record_stranger(&person(6, "Eve"), &at(2)).unwrap();
    assert_eq!(store.prune(u64::MAX, &at(3)).unwrap(), 1);
    store.rekey(&at(4)).unwrap();
    let store = TrustStore::open(memory).unwrap();
    assert_eq!(store.iter().len(), 1);
    let lifecycles: Vec<_> = store
        .key_lives()
        .map(|(who, label, lifecycle)| (who, label.to_owned(), lifecycle.limits))
        .collect();
    assert_eq!(lifecycles, [(met.fingerprint(), "Dave".into(), uses(3))]);
}

#[derive(Clone, Debug)]
enum Step {
    Limits(Limits),
    Rotate,
    Deprecate,
    Status(Status),
    Reinstate,
    Reserve(u64),
}

fn limits() -> impl Strategy<Value = Limits> {
    let time = || proptest::option::weighted(0.3, 0..60u64);
    let max = proptest::option::weighted(0.8, 1..8u64);
    (time(), time(), max).prop_map(|(not_before, not_after, max_uses)| Limits {
        not_before: not_before.map(|time| START + time),
        not_after: not_after.map(|time| START + time),
        max_uses,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => limits().prop_map(Step::Limits),
        1 => Just(Step::Rotate),
        1 => Just(Step::Deprecate),
        1 => prop_oneof![Just(Status::Approved), Just(Status::Revoked), Just(Status::Compromised)].prop_map(Step::Status),
        1 => Just(Step::Reinstate),
        8 => (1..4u64).prop_map(Step::Reserve),
    ]
}

fn fault() -> impl Strategy<Value = Option<Fault>> {
    let failure = prop_oneof![
        Just(Failure::Before),
        Just(Failure::After),
        (1..150usize).prop_map(Failure::Inside),
    ];
    let fault = (0..6usize, failure).prop_map(|(operation, failure)| Fault {
        operation,
        failure,
        dead: true,
    });
    proptest::option::weighted(0.3, fault)
}

fn apply<S: Storage>(
    store: &mut TrustStore<S>,
    who: &Fingerprint,
    step: &Step,
    change: &Change<'_>,
) -> sealstone::Result<()> {
    match step {
        Step::Limits(limits) => store.set_limits(who, "Alice", *limits, change).map(drop),
        Step::Rotate => {
            let (old, new) = (person_unlocked(1, "Alice"), person_unlocked(2, "Alice 2"));
            let succession = old.succeed(&new, START);
            store
                .rotate_key(old.contact(), &succession, change)
                .map(drop)
        }
        Step::Deprecate => store.deprecate_key(who, "Alice", change).map(drop),
        Step::Status(status) => store.set_status(who, *status, change).map(drop),
        Step::Reinstate => store.reinstate(who, change).map(drop),
        Step::Reserve(uses) => store.reserve(who, *uses, change).map(drop),
    }
}

/// The stage by the specification: the recorded statuses, else the last entry of a lifecycle.
#[derive(Default)]
struct Model {
    stage: Stage,
    ended: Option<Stage>,
    limits: Limits,
    used: u64,
    latest: u64,
    status: Option<Status>,
}

impl Model {
    fn stage(&self) -> Stage {
        self.ended.unwrap_or(self.stage)
    }

    /// Applies a step by the specification. Returns whether it is allowed.
    fn step(&mut self, step: &Step, now: u64) -> bool {
        use Stage::{Active, Compromised, Deprecated, Revoked, Rotating};
        let signs = matches!(self.stage(), Active | Rotating);
        let allowed = match step {
            Step::Limits(limits) => {
                let valid = limits.not_before.unwrap_or(0) <= limits.not_after.unwrap_or(u64::MAX);
                signs && valid
            }
            Step::Rotate => self.stage() == Active,
            Step::Deprecate => signs,
            Step::Status(status) => match self.status {
                Some(Status::Revoked) => *status != Status::Approved,
                Some(Status::Compromised) => *status == Status::Compromised,
                _ => true,
            },
            Step::Reinstate => {
                matches!(self.status, Some(Status::Revoked | Status::Compromised))
            }
            Step::Reserve(uses) => {
                let Limits {
                    not_before,
                    not_after,
                    max_uses,
                } = self.limits;
                let until = now.max(self.latest);
                signs
                    && now + 300 >= self.latest
                    && not_before.is_none_or(|first| now >= first)
                    && not_after.is_none_or(|last| until <= last)
                    && max_uses.is_none_or(|max| self.used + uses <= max)
            }
        };
        if !allowed {
            return false;
        }
        match step {
            Step::Limits(limits) => self.limits = *limits,
            Step::Rotate => self.stage = Rotating,
            Step::Deprecate => self.stage = Deprecated,
            Step::Status(status) => {
                self.status = Some(*status);
                self.ended = match (self.ended, status) {
                    (Some(Compromised), _) | (_, Status::Compromised) => Some(Compromised),
                    (_, Status::Revoked) => Some(Revoked),
                    (ended, _) => ended,
                };
            }
            Step::Reinstate => self.status = Some(Status::Pending),
            Step::Reserve(uses) if self.limits.max_uses.is_some() => {
                self.used += uses;
                self.latest = self.latest.max(now);
            }
            Step::Reserve(_) => {}
        }
        if matches!(step, Step::Limits(_) | Step::Rotate | Step::Deprecate) {
            self.latest = now;
        }
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn the_store_does_what_the_page_says(steps in proptest::collection::vec((step(), 0..700u64), 1..30)) {
        let who = person(1, "Alice").fingerprint();
        let (memory, mut model) = (Memory::default(), Model::default());
        for (step, seconds) in steps {
            let mut store = TrustStore::open(memory.clone()).unwrap();
            let done = apply(&mut store, &who, &step, &at(seconds));
            let allowed = model.step(&step, START + seconds);
            prop_assert_eq!(done.is_ok(), allowed, "{:?}: {:?}", step, done);
            let lifecycle = TrustStore::open(memory.clone()).unwrap().key_lifecycle(&who);
            prop_assert_eq!((lifecycle.stage, lifecycle.limits, lifecycle.used), (model.stage(), model.limits, model.used));
        }
    }

    #[test]
    fn a_crash_loses_uses_and_never_gives_more(max in 1..8u64, steps in proptest::collection::vec((1..4u64, fault()), 1..20)) {
        let memory = Memory::default();
        TrustStore::open(memory.clone()).unwrap().set_limits(&name(KEY), "Alice", uses(max), &at(0)).unwrap();
        let mut given = 0;
        for (number, (wanted, fault)) in steps.into_iter().enumerate() {
            let change = at(number as u64);
            let before = TrustStore::open(memory.clone()).unwrap().key_lifecycle(&name(KEY)).used;
            let mut store = TrustStore::open(Faulty::new(memory.clone(), fault)).unwrap();
            let done = store.reserve(&name(KEY), wanted, &change).is_ok();
            given += if done { wanted } else { 0 };
            let after = TrustStore::open(memory.clone()).unwrap().key_lifecycle(&name(KEY)).used;
            prop_assert!(after == before + wanted || !done && after == before);
            prop_assert!(given <= after && after <= max);
        }
    }
}
