//! The validity of signatures by time: the rules of the specification, against the store.

use proptest::prelude::*;
use sealstone::Error;
use sealstone::trust::{Change, Memory, Standing, Status, TrustStore};

use super::fixture::{START, at, name};

const NOW: u64 = 100;

fn store() -> TrustStore<Memory> {
    TrustStore::open(Memory::default()).unwrap()
}

fn approved() -> TrustStore<Memory> {
    let mut store = store();
    store
        .set_status(&name(1), Status::Approved, &at(NOW))
        .unwrap();
    store
}

#[test]
fn a_signature_timestamped_before_a_revocation_stays_good() {
    let mut store = approved();
    store
        .set_status(&name(1), Status::Revoked, &at(200))
        .unwrap();
    let revoked = Standing::Revoked { since: START + 200 };
    // The time of the approval does not matter.
    for (time, standing) in [
        (Some(0), Standing::Approved),
        (Some(START + 199), Standing::Approved),
        (Some(START + 200), revoked),
        (Some(u64::MAX), revoked),
        (None, revoked),
    ] {
        assert_eq!(store.standing(&name(1), time), standing, "{time:?}");
    }
}

#[test]
fn a_compromise_holds_from_its_date_and_from_ever_if_that_is_unknown() {
    let mut store = approved();
    let compromised = |since| Standing::Compromised { since };
    store
        .set_status_since(&name(1), Status::Compromised, START + 50, &at(200))
        .unwrap();
    assert_eq!(
        store.standing(&name(1), Some(START + 49)),
        Standing::Approved
    );
    for time in [Some(START + 50), Some(START + 300), None] {
        assert_eq!(
            store.standing(&name(1), time),
            compromised(Some(START + 50))
        );
    }
    store
        .set_status(&name(1), Status::Compromised, &at(201))
        .unwrap();
    for time in [Some(0), Some(START + 49), None] {
        assert_eq!(store.standing(&name(1), time), compromised(None));
    }
}

#[test]
fn denied_and_pending_are_never_good_whatever_comes_later() {
    assert_eq!(store().standing(&name(1), Some(5)), Standing::Unknown);
    for (first, standing) in [
        (Status::Denied, Standing::Denied),
        (Status::Pending, Standing::Pending),
    ] {
        for last in [Status::Revoked, Status::Compromised] {
            let mut store = store();
            store.set_status(&name(1), first, &at(1)).unwrap();
            assert_eq!(store.standing(&name(1), None), standing);
            store
                .set_status_since(&name(1), last, START + 5, &at(9))
                .unwrap();
            assert_eq!(store.standing(&name(1), Some(START + 4)), standing);
            assert!(!store.standing(&name(1), None).is_good());
        }
    }
}

#[test]
fn a_revocation_holds_although_a_later_compromise_is_known() {
    let mut store = approved();
    store
        .set_status_since(&name(1), Status::Revoked, START + 20, &at(200))
        .unwrap();
    store
        .set_status_since(&name(1), Status::Compromised, START + 60, &at(201))
        .unwrap();
    let revoked = Standing::Revoked { since: START + 20 };
    assert_eq!(
        store.standing(&name(1), Some(START + 19)),
        Standing::Approved
    );
    assert_eq!(store.standing(&name(1), Some(START + 30)), revoked);
    store.reinstate(&name(1), &at(300)).unwrap();
    store
        .set_status(&name(1), Status::Approved, &at(301))
        .unwrap();
    assert!(store.standing(&name(1), Some(START + 30)).is_good());
}

#[test]
fn changes_that_are_about_something_else_keep_the_date() {
    let mut store = approved();
    store
        .set_status_since(&name(1), Status::Revoked, START + 20, &at(200))
        .unwrap();
    store.relabel(&name(1), "Alice", &at(201)).unwrap();
    store.rekey(&at(202)).unwrap();
    store
        .set_status(&name(1), Status::Revoked, &at(203))
        .unwrap();
    assert_eq!(store.get(&name(1)).unwrap().since(), Some(START + 20));
    assert!(store.standing(&name(1), Some(START + 19)).is_good());
}

#[test]
fn a_date_in_the_future_or_of_an_approval_is_refused() {
    let mut store = approved();
    for (status, since) in [
        (Status::Revoked, START + 201),
        (Status::Compromised, START + 201),
        (Status::Approved, START),
        (Status::Denied, START),
        (Status::Pending, START),
    ] {
        let refused = store.set_status_since(&name(1), status, since, &at(200));
        assert!(matches!(refused, Err(Error::Invalid(_))), "{status}");
    }
    assert_eq!(store.log().len(), 1);
}

/// The specification's rules on the plain list of a record's entries.
fn by_the_page(entries: &[(Status, Option<u64>)], time: Option<u64>) -> Standing {
    use Status::{Approved, Compromised, Denied, Pending, Revoked};
    let is_decision =
        |entry: &(Status, Option<u64>)| matches!(entry.0, Pending | Approved | Denied);
    let place = entries.iter().rposition(is_decision);
    let decision = place.map_or(Pending, |place| entries[place].0);
    let end = &entries[place.map_or(0, |place| place + 1)..];
    let last = |status| end.iter().rev().find(|entry| entry.0 == status);
    let reaches = |since: Option<u64>| match (since, time) {
        (Some(since), Some(time)) => since <= time,
        _ => true,
    };
    match (
        entries.is_empty(),
        decision,
        last(Compromised),
        last(Revoked),
    ) {
        (true, ..) => Standing::Unknown,
        (_, Denied, ..) => Standing::Denied,
        (_, _, Some((_, since)), _) if reaches(*since) => Standing::Compromised { since: *since },
        (_, _, _, Some((_, since))) if reaches(*since) => Standing::Revoked {
            since: since.unwrap(),
        },
        (_, Approved, ..) => Standing::Approved,
        _ => Standing::Pending,
    }
}

fn step() -> impl Strategy<Value = (u8, Option<u64>)> {
    (0..6u8, proptest::option::of(0..30u64))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_history_has_the_standing_of_the_page(steps in proptest::collection::vec(step(), 0..12), time in proptest::option::of(0..40u64)) {
        let mut store = store();
        for (number, (step, since)) in steps.into_iter().enumerate() {
            let change = Change { time: 30 + number as u64, ..Change::default() };
            let statuses = [Status::Pending, Status::Approved, Status::Denied, Status::Revoked, Status::Compromised];
            // Forbidden steps change nothing.
            let _ = match (statuses.get(usize::from(step)), since) {
                (Some(status), None) => store.set_status(&name(1), *status, &change).map(drop),
                (Some(status), Some(since)) => store.set_status_since(&name(1), *status, since, &change).map(drop),
                (None, _) => store.reinstate(&name(1), &change).map(drop),
            };
        }
        let entries: Vec<_> = store.log().map(|entry| (entry.status().unwrap(), entry.since())).collect();
        prop_assert_eq!(store.standing(&name(1), time), by_the_page(&entries, time));
    }
}
