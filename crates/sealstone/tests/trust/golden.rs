//! The golden store opens for ever.

use std::fs;
use std::io::Write;
use std::path::Path;

use sealstone::lifecycle::{Limits, Stage};
use sealstone::passport::Fingerprint;
use sealstone::trust::{File, Memory, Status, TrustStore};

use super::fixture::{Files, START, at, name, noted, passport_body, person, person_unlocked};
use super::mini::{self, SPECIFIED};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/trust");

fn golden() -> Memory {
    let memory = Memory::default();
    for file in File::ALL {
        memory.set(
            file,
            Some(fs::read(Path::new(DIRECTORY).join(file.name())).unwrap()),
        );
    }
    memory
}

#[test]
fn the_golden_store_opens() {
    let memory = golden();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let report = store.check().unwrap();
    assert_eq!((report.count, report.pruned), (16, 1));
    let owner = person_unlocked(11, "Bob");
    assert!(store.verify_signed(owner.contact()).unwrap().is_empty());
    assert_eq!(store.signature().unwrap().time(), START + 11);
    let files = Files::of(&memory);
    assert!(mini::verify(&files, SPECIFIED));
    let signature = memory.get(File::Signature).unwrap();
    let body = passport_body(&owner);
    mini::verify_signature(&signature, &body, &files.head.unwrap()).unwrap();
    let row = |who| {
        let record = store.get(&who).unwrap();
        let complete = record
            .contact()
            .unwrap()
            .map(|contact| contact.is_complete());
        (
            record.status(),
            record.label(),
            record.operator(),
            record.note(),
            record.first_seen() - START,
            record.changed() - START,
            complete,
        )
    };
    let (carol, dave) = (
        person(7, "Carol").fingerprint(),
        person(9, "Dave").fingerprint(),
    );
    assert_eq!(
        row(carol),
        (
            Status::Approved,
            "Carol Ångström",
            "bob",
            "in person",
            0,
            2,
            Some(true)
        )
    );
    assert_eq!(
        row(dave),
        (Status::Pending, "Dave", "bob", "", 3, 3, Some(true))
    );
    assert_eq!(
        row(name(0xd0)),
        (Status::Denied, "", "bob", "spam", 4, 4, None)
    );
    assert_eq!(
        row(name(0xe0)),
        (Status::Pending, "", "bob", "found again", 5, 7, None)
    );
    assert_eq!(
        row(name(0xf0)),
        (Status::Revoked, "", "bob", "", 9, 9, None)
    );
    assert_eq!(
        row(name(0xc0)),
        (Status::Compromised, "", "bob", "", 9, 9, None)
    );
    let since = |number| store.get(&name(number)).unwrap().since();
    assert_eq!(
        [since(0xc0), since(0xf0), since(0xd0)],
        [Some(START + 6), Some(START + 9), None]
    );
    assert_eq!(store.iter().len(), 6);
    check_lifecycle(&store, &owner.fingerprint());
    let events: Vec<&str> = store.log().map(|entry| entry.event()).collect();
    assert_eq!((events[8], events[14]), ("rekeyed", "pruned"));

    store.rekey(&at(100)).unwrap();
    assert_eq!(TrustStore::open(memory).unwrap().iter().len(), 6);
}

fn check_lifecycle(store: &TrustStore<Memory>, owner: &Fingerprint) {
    let lifecycle = store.key_lifecycle(owner);
    let successor = person(12, "Bob 2").fingerprint();
    assert_eq!(
        (
            lifecycle.stage,
            lifecycle.used,
            lifecycle.left(),
            lifecycle.successor
        ),
        (Stage::Rotating, 2, Some(1), Some(*successor.as_bytes()))
    );
    assert_eq!(
        (lifecycle.limits.not_before, lifecycle.limits.not_after),
        (Some(START), Some(START + 1000))
    );
}

/// The changes that made the golden store. With `SEALSTONE_MAKE_GOLDEN` set to an empty directory,
/// this writes another store there, with its own keys.
#[test]
fn the_golden_store_is_what_these_changes_make() {
    let memory = Memory::default();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let (carol, dave) = (person(7, "Carol"), person(9, "Dave"));
    store.record_stranger(&carol, &at(0)).unwrap();
    store
        .set_status(
            &carol.fingerprint(),
            Status::Approved,
            &noted(1, "in person"),
        )
        .unwrap();
    store
        .relabel(&carol.fingerprint(), "Carol Ångström", &at(2))
        .unwrap();
    store.record_stranger(&dave, &at(3)).unwrap();
    store.record_stranger(&person(10, "Eve"), &at(2)).unwrap();
    store
        .set_status(&name(0xd0), Status::Denied, &noted(4, "spam"))
        .unwrap();
    store
        .set_status(&name(0xe0), Status::Approved, &at(5))
        .unwrap();
    store
        .set_status(&name(0xe0), Status::Revoked, &noted(6, "lost"))
        .unwrap();
    store
        .reinstate(&name(0xe0), &noted(7, "found again"))
        .unwrap();
    store.rekey(&noted(8, "yearly")).unwrap();
    store
        .set_status(&name(0xf0), Status::Revoked, &at(9))
        .unwrap();
    store
        .set_status_since(&name(0xc0), Status::Compromised, START + 6, &at(9))
        .unwrap();
    let limits = Limits {
        not_before: Some(START),
        not_after: Some(START + 1000),
        max_uses: Some(3),
    };
    let bob = person_unlocked(11, "Bob");
    let who = bob.fingerprint();
    store.set_limits(&who, "Bob", limits, &at(9)).unwrap();
    let _used = store.reserve(&who, 2, &at(9)).unwrap();
    let succession = bob.succeed(&person_unlocked(12, "Bob 2"), START + 9);
    store
        .rotate_key(bob.contact(), &succession, &at(9))
        .unwrap();
    assert_eq!(store.prune(START + 3, &at(10)).unwrap(), 1);
    let owner = person_unlocked(11, "Bob");
    store.sign(&owner, START + 11).unwrap();

    if let Some(directory) = std::env::var_os("SEALSTONE_MAKE_GOLDEN") {
        for file in File::ALL {
            let mut new = fs::File::create_new(Path::new(&directory).join(file.name())).unwrap();
            new.write_all(&memory.get(file).unwrap()).unwrap();
        }
        return;
    }
    let entries = |store: &TrustStore<Memory>| store.log().cloned().collect::<Vec<_>>();
    assert_eq!(
        entries(&store),
        entries(&TrustStore::open(golden()).unwrap())
    );
}
