//! The owner's countersignature notices a tamperer who can read the store's key.

use sealstone::Error;
use sealstone::trust::{File, Memory, Status, TrustStore};

use super::fixture::{Files, START, at, history, name, passport_body, person, person_unlocked};
use super::mini;

fn signed() -> Memory {
    let memory = history();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    store.sign(&person_unlocked(11, "Bob"), START + 9).unwrap();
    memory
}

fn altered<T>(result: sealstone::Result<T>) -> bool {
    matches!(result, Err(Error::StoreAltered(_)))
}

#[test]
fn a_decision_of_another_program_is_not_countersigned() {
    let memory = signed();
    let owner = person_unlocked(11, "Bob");
    let mut store = TrustStore::open(memory.clone()).unwrap();
    assert!(store.verify_signed(owner.contact()).unwrap().is_empty());
    assert_eq!(store.signature().unwrap().signer(), owner.fingerprint());
    // Unknown passports and events of the store are no decisions.
    store
        .record_stranger(&person(20, "Mallory"), &at(10))
        .unwrap();
    store.rekey(&at(11)).unwrap();
    assert!(store.verify_signed(owner.contact()).unwrap().is_empty());
    let mallory = person(20, "Mallory").fingerprint();
    store
        .set_status(&mallory, Status::Approved, &at(12))
        .unwrap();
    let unsigned = store.verify_signed(owner.contact()).unwrap();
    assert_eq!(unsigned.len(), 1);
    assert_eq!(unsigned[0].fingerprint(), Some(mallory));
    store.sign(&owner, START + 13).unwrap();
    assert!(store.verify_signed(owner.contact()).unwrap().is_empty());
}

#[test]
fn only_the_owners_countersignature_counts() {
    let store = TrustStore::open(signed()).unwrap();
    assert!(altered(store.verify_signed(&person(12, "Mallory"))));
    let none = TrustStore::open(history()).unwrap();
    assert!(none.signature().is_none() && altered(none.verify_signed(&person(11, "Bob"))));
    let mut empty = TrustStore::open(Memory::default()).unwrap();
    let owner = person_unlocked(11, "Bob");
    assert!(matches!(empty.sign(&owner, 1), Err(Error::Invalid(_))));
}

#[test]
fn every_byte_of_a_countersignature_counts() {
    let memory = signed();
    let owner = person(11, "Bob");
    let good = memory.get(File::Signature).unwrap();
    // The fields before the signatures, each part of those, and the end.
    let len = good.len();
    for at in (0..120).chain([120, 200, 2000, len - 1]) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        memory.set(File::Signature, Some(bad));
        let verified = TrustStore::open(memory.clone())
            .and_then(|store| store.verify_signed(&owner).map(|entries| entries.len()));
        assert!(verified.is_err(), "byte {at} of {len}");
    }
    for bad in [&good[..len - 1], &[], &[&good[..], &[0]].concat()] {
        memory.set(File::Signature, Some(bad.to_vec()));
        assert!(altered(TrustStore::open(memory.clone()).map(drop)));
    }
}

/// With the key, a tamperer can write any history, but not the signed one.
#[test]
fn another_history_under_the_same_key_is_noticed() {
    let memory = signed();
    let files = Files::of(&memory);
    // The same length, but another last decision.
    let other = super::fixture::short_history();
    let mut store = TrustStore::open(other.clone()).unwrap();
    for seconds in 3..6 {
        store
            .set_status(&name(0xd0), Status::Approved, &at(seconds))
            .unwrap();
    }
    assert_eq!(store.log().len(), 5);
    for file in [File::Key, File::Log, File::Head] {
        memory.set(file, other.get(file));
    }
    assert!(altered(TrustStore::open(memory.clone()).map(drop)));
    // Shorter than the signed history, or only the countersignature.
    let short = super::fixture::short_history();
    for file in [File::Key, File::Log, File::Head] {
        memory.set(file, short.get(file));
    }
    assert!(altered(TrustStore::open(memory.clone()).map(drop)));
    for file in [File::Key, File::Log, File::Head] {
        memory.set(file, None);
    }
    assert!(altered(TrustStore::open(memory.clone()).map(drop)));
    let whole = files.to_memory();
    whole.set(File::Signature, memory.get(File::Signature));
    TrustStore::open(whole).unwrap();
}

#[test]
fn a_change_meanwhile_is_not_signed_unseen() {
    let memory = history();
    let owner = person_unlocked(11, "Bob");
    let mut mine = TrustStore::open(memory.clone()).unwrap();
    let mut other = TrustStore::open(memory.clone()).unwrap();
    other
        .set_status(&name(1), Status::Approved, &at(9))
        .unwrap();
    assert!(matches!(mine.sign(&owner, START), Err(Error::Invalid(_))));
    assert!(memory.get(File::Signature).is_none());
    mine.refresh().unwrap();
    mine.sign(&owner, START).unwrap();
}

#[test]
fn the_second_implementation_verifies_it() {
    let memory = signed();
    let owner = person_unlocked(11, "Bob");
    let (body, head) = (passport_body(&owner), memory.get(File::Head).unwrap());
    let signature = memory.get(File::Signature).unwrap();
    mini::verify_signature(&signature, &body, &head).unwrap();
    let mut other = head.clone();
    other[30] ^= 1;
    assert!(mini::verify_signature(&signature, &body, &other).is_none());
    let mallory = passport_body(&person_unlocked(12, "Mallory"));
    assert!(mini::verify_signature(&signature, &mallory, &head).is_none());
}
