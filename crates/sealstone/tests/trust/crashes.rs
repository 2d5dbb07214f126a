//! After an interruption at any moment, the store is in the state before or after the change.

use sealstone::Error;
use sealstone::trust::{Interrupted, Memory, Status, TrustStore};

use super::faulty::{Action, Failure, Fault, Faulty, interrupt_everywhere, open};
use super::fixture::{Files, at, history, name, noted, person, short_history};

const ALL: usize = usize::MAX;
const SOME: usize = 8;

fn nothing() -> Files {
    Files::of(&Memory::default())
}

fn approve(storage: Faulty) -> sealstone::Result<()> {
    TrustStore::open(storage)?
        .set_status(&name(0xb0), Status::Approved, &noted(20, "by letter"))
        .map(drop)
}

fn meet(storage: Faulty) -> sealstone::Result<()> {
    TrustStore::open(storage)?
        .record_stranger(&person(9, "Dave"), &at(21))
        .map(drop)
}

fn rekey(storage: Faulty) -> sealstone::Result<()> {
    TrustStore::open(storage)?.rekey(&at(22))
}

fn relabel(storage: Faulty) -> sealstone::Result<()> {
    TrustStore::open(storage)?
        .relabel(&name(0xa1), "Alice of old", &at(23))
        .map(drop)
}

fn reinstate(storage: Faulty) -> sealstone::Result<()> {
    TrustStore::open(storage)?
        .reinstate(&name(0xd0), &at(24))
        .map(drop)
}

#[test]
fn every_change_can_be_stopped_at_every_moment() {
    let history = Files::of(&history());
    let cases: [(&Files, Action<'_>, usize); 7] = [
        (&nothing(), &approve, ALL),
        (&nothing(), &meet, SOME),
        (&history, &approve, ALL),
        (&history, &meet, SOME),
        (&history, &relabel, SOME),
        (&history, &reinstate, SOME),
        (&history, &rekey, SOME),
    ];
    for (start, action, all_lengths) in cases {
        interrupt_everywhere(start, action, all_lengths).unwrap();
    }
}

#[test]
fn putting_it_in_order_can_be_stopped_too() {
    let history = Files::of(&history());
    for (start, first) in [
        (&nothing(), &approve as Action<'_>),
        (&history, &approve),
        (&history, &rekey),
    ] {
        for (_, left) in interrupt_everywhere(start, first, SOME).unwrap() {
            interrupt_everywhere(&left, &approve, SOME).unwrap();
            if left.key.is_some() {
                interrupt_everywhere(&left, &rekey, SOME).unwrap();
            }
        }
    }
}

#[test]
fn half_way_through_a_rekey_alterations_still_change_no_record() {
    let history = Files::of(&short_history());
    let records = open(&history).unwrap();
    for (fault, left) in interrupt_everywhere(&history, &rekey, SOME).unwrap() {
        for (kind, what, altered) in super::alterations::all(&left, &history) {
            if let Ok(now) = open(&altered) {
                assert_eq!(now, records, "{fault:?}, {kind:?}, {what}");
            }
        }
    }
}

#[test]
fn after_a_full_disk_the_same_handle_goes_on() {
    for operation in 0..5 {
        let fault = Fault {
            operation,
            failure: Failure::Inside(10),
            dead: false,
        };
        let mut store = TrustStore::open(Faulty::new(Memory::default(), Some(fault))).unwrap();
        assert!(matches!(
            store.set_status(&name(1), Status::Approved, &at(1)),
            Err(Error::Io(_))
        ));
        assert_eq!(store.iter().len(), 0);
        store.set_status(&name(2), Status::Denied, &at(2)).unwrap();
        // A completely appended entry is valid although its writer got an error about the failure
        // of what came after.
        assert_eq!(store.get(&name(1)).is_some(), operation == 4);
    }
}

#[test]
fn leftovers_of_a_crash_are_told() {
    let history = Files::of(&history());
    let mut seen = [false; 4];
    let all = [
        (&nothing(), &approve as Action<'_>),
        (&history, &approve),
        (&history, &rekey),
    ];
    for (fault, left) in all
        .iter()
        .flat_map(|(start, action)| interrupt_everywhere(start, *action, SOME).unwrap())
    {
        let Interrupted {
            creation,
            rekey,
            uncounted,
            torn,
        } = TrustStore::open(left.to_memory())
            .unwrap()
            .check()
            .unwrap()
            .interrupted;
        if let Failure::Inside(len) = fault.failure {
            assert_eq!(torn, len as u64);
        }
        [creation, rekey, uncounted == 1, torn > 0]
            .iter()
            .zip(&mut seen)
            .for_each(|(now, seen)| *seen |= now);
    }
    assert_eq!(seen, [true; 4]);
}
