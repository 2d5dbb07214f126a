//! The golden store opens for ever.

use std::fs;
use std::io::Write;
use std::path::Path;

use sealstone::trust::{File, Memory, Status, TrustStore};

use super::fixture::{START, at, name, noted, person};

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
    assert_eq!(store.check().unwrap().count, 10);
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
    assert_eq!(store.iter().len(), 5);
    assert_eq!(store.log().nth(8).unwrap().status(), None);

    store.rekey(&at(100)).unwrap();
    assert_eq!(TrustStore::open(memory).unwrap().iter().len(), 5);
}

/// How the golden store was made. With `SEALSTONE_MAKE_GOLDEN` set to an empty directory this
/// writes another one there, under keys of its own.
#[test]
fn the_golden_store_is_what_these_changes_make() {
    let memory = Memory::default();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let (carol, dave) = (person(7, "Carol"), person(9, "Dave"));
    store.meet(&carol, &at(0)).unwrap();
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
    store.meet(&dave, &at(3)).unwrap();
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
