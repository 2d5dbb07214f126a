//! Records, names, and allowed changes of status.

use sealstone::Error;
use sealstone::passport::Fingerprint;
use sealstone::trust::{Change, Memory, Status, TrustStore};

use super::fixture::{Files, START, at, history, name, noted, person};

fn invalid<T>(result: sealstone::Result<T>) -> bool {
    matches!(result, Err(Error::Invalid(_)))
}

#[test]
fn a_stranger_is_pending_until_decided_and_keeps_its_keys() {
    let memory = Memory::default();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let carol = person(7, "Carol");
    let record = store.record_stranger(&carol, &at(1)).unwrap();
    assert_eq!(
        (record.status(), record.label(), record.first_seen()),
        (Status::Pending, "Carol", START + 1)
    );
    store
        .set_status(
            &carol.fingerprint(),
            Status::Approved,
            &noted(2, "in person"),
        )
        .unwrap();
    store
        .relabel(&carol.fingerprint(), "Carol of the club", &at(3))
        .unwrap();

    let store = TrustStore::open(memory).unwrap();
    let record = store.get(&carol.fingerprint()).unwrap();
    assert_eq!(
        (record.status(), record.label(), record.note()),
        (Status::Approved, "Carol of the club", "in person")
    );
    assert_eq!(
        (record.first_seen(), record.changed(), record.operator()),
        (START + 1, START + 3, "bob")
    );
    let contact = record.contact().unwrap().unwrap();
    assert_eq!(
        (contact.fingerprint(), contact.label()),
        (carol.fingerprint(), "Carol")
    );
}

#[test]
fn seeing_a_stranger_again_writes_nothing_and_changes_no_decision() {
    let memory = history();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let carol = person(7, "Carol");
    store
        .set_status(&carol.fingerprint(), Status::Denied, &at(6))
        .unwrap();
    let before = Files::of(&memory);
    assert_eq!(
        store
            .record_stranger(&person(7, "Carol, really"), &at(7))
            .unwrap()
            .status(),
        Status::Denied
    );
    assert_eq!(Files::of(&memory), before);
}

#[test]
fn a_decision_about_a_name_waits_for_the_keys() {
    let mut store = TrustStore::open(Memory::default()).unwrap();
    let carol = person(7, "Carol");
    store
        .set_status(
            &carol.fingerprint(),
            Status::Approved,
            &noted(1, "by phone"),
        )
        .unwrap();
    assert!(
        store
            .get(&carol.fingerprint())
            .unwrap()
            .contact()
            .unwrap()
            .is_none()
    );
    let record = store.record_stranger(&carol, &at(2)).unwrap();
    assert_eq!(
        (
            record.status(),
            record.label(),
            record.note(),
            record.first_seen()
        ),
        (Status::Approved, "Carol", "by phone", START + 1)
    );
    assert!(record.contact().unwrap().unwrap().is_complete());
}

#[test]
fn only_reinstating_ends_a_revocation_or_a_compromise() {
    use Status::{Approved, Compromised, Denied, Pending, Revoked};
    let alice = name(0xa1);
    for from in [Pending, Approved, Denied, Revoked, Compromised] {
        for to in [Pending, Approved, Denied, Revoked, Compromised] {
            let mut store = TrustStore::open(Memory::default()).unwrap();
            store.set_status(&alice, from, &at(1)).unwrap();
            let changed = store
                .set_status(&alice, to, &at(2))
                .map(|record| record.status());
            match (from, to) {
                (Revoked, Pending | Approved | Denied)
                | (Compromised, Pending | Approved | Denied | Revoked) => {
                    assert!(invalid(changed));
                }
                _ => assert_eq!(changed.unwrap(), to),
            }
            let reinstated = store
                .reinstate(&alice, &at(3))
                .map(|record| record.status());
            match to.is_final() || from.is_final() {
                true => assert_eq!(reinstated.unwrap(), Pending),
                false => assert!(invalid(reinstated)),
            }
        }
    }
}

#[test]
fn a_passport_without_a_record_cannot_be_relabelled_or_reinstated() {
    let mut store = TrustStore::open(history()).unwrap();
    assert!(invalid(store.relabel(&name(9), "Nobody", &at(6))));
    assert!(invalid(store.reinstate(&name(9), &at(6))));
}

#[test]
fn texts_that_could_mislead_or_are_too_long_are_refused_and_nothing_is_written() {
    let memory = history();
    let before = Files::of(&memory);
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let (long, longer) = ("x".repeat(65), "x".repeat(1025));
    for bad in ["a\nb", "a\u{1b}[2J", "a\u{202e}b", &long] {
        assert!(invalid(store.relabel(&name(0xa1), bad, &at(6))));
        assert!(invalid(store.set_status(
            &name(0xa1),
            Status::Denied,
            &Change {
                operator: bad,
                ..at(6)
            }
        )));
        assert!(invalid(store.rekey(&Change {
            operator: bad,
            ..at(6)
        })));
    }
    for bad in ["a\nb", &longer] {
        assert!(invalid(store.set_status(
            &name(0xa1),
            Status::Denied,
            &Change {
                note: Some(bad),
                ..at(6)
            }
        )));
    }
    assert_eq!(Files::of(&memory), before);
}

#[test]
fn records_are_found_by_fingerprint_prefix_and_label() {
    let mut store = TrustStore::open(Memory::default()).unwrap();
    let [alice, twin] = [0x01, 0x02].map(|last| {
        let mut bytes = [0xab; 32];
        bytes[8] = last;
        Fingerprint::from_bytes(bytes)
    });
    store.set_status(&alice, Status::Approved, &at(1)).unwrap();
    store.relabel(&alice, "Alice", &at(1)).unwrap();
    for good in [
        "Alice",
        "abababab",
        "ABAB-ABAB",
        "abab abab a",
        &alice.to_string(),
        &alice.to_string().replace('-', ""),
    ] {
        assert_eq!(store.find(good).unwrap().fingerprint(), alice, "{good}");
    }
    for bad in [
        "",
        "alice",
        "Alic",
        "abababa",
        "abababac",
        &twin.to_string(),
        "ab-ab-ab-",
    ] {
        assert!(invalid(store.find(bad)), "{bad}");
    }
    store.set_status(&twin, Status::Pending, &at(2)).unwrap();
    assert!(invalid(store.find("abababab")));
    assert_eq!(store.find_all("abababab").len(), 2);
    assert_eq!(
        store.find("abababab-abababab-02").unwrap().fingerprint(),
        twin
    );
}

#[test]
fn a_label_that_imitates_another_record_makes_the_name_ambiguous_but_never_takes_a_fingerprint() {
    let mut store = TrustStore::open(Memory::default()).unwrap();
    let (alice, mallory) = (name(0xa1), name(0xbb));
    store.set_status(&alice, Status::Approved, &at(1)).unwrap();
    store.relabel(&alice, "Alice", &at(1)).unwrap();
    store.set_status(&mallory, Status::Pending, &at(2)).unwrap();
    for (imitation, name) in [("Alice", "Alice"), ("a1a1a1a1", "a1a1a1a1")] {
        store.relabel(&mallory, imitation, &at(3)).unwrap();
        assert!(invalid(store.find(name)));
    }
    let whole = "a1".repeat(32);
    store.relabel(&mallory, &whole, &at(4)).unwrap();
    assert_eq!(store.find(&whole).unwrap().fingerprint(), alice);
}

#[test]
fn the_log_tells_every_change_and_a_rekey_keeps_all_of_it() {
    let memory = history();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let before: Vec<_> = store.log().cloned().collect();
    let old = Files::of(&memory);
    store
        .rekey(&Change {
            note: Some("laptop stolen"),
            ..at(6)
        })
        .unwrap();
    let new = Files::of(&memory);
    assert!(old.key != new.key && old.log != new.log && old.head != new.head);

    let store = TrustStore::open(memory).unwrap();
    let after: Vec<_> = store.log().cloned().collect();
    assert_eq!(after[..before.len()], before[..]);
    let [rekeyed] = &after[before.len()..] else {
        panic!("one entry more")
    };
    assert_eq!(
        (rekeyed.status(), rekeyed.fingerprint(), rekeyed.note()),
        (None, None, "laptop stolen")
    );
    assert_eq!(
        (rekeyed.sequence(), rekeyed.time(), rekeyed.operator()),
        (5, START + 6, "bob")
    );
    let told: Vec<_> = before
        .iter()
        .map(|entry| (entry.status().unwrap(), entry.label(), entry.brings_keys()))
        .collect();
    assert_eq!(told[0], (Status::Approved, "", false));
    assert_eq!(told[2], (Status::Pending, "Carol", true));
    assert_eq!(told[4], (Status::Revoked, "", false));
}

#[test]
fn two_handles_see_each_others_changes() {
    let memory = history();
    let mut one = TrustStore::open(memory.clone()).unwrap();
    let mut two = TrustStore::open(memory).unwrap();
    one.set_status(&name(1), Status::Denied, &at(6)).unwrap();
    two.set_status(&name(2), Status::Denied, &at(7)).unwrap();
    assert!(two.get(&name(1)).is_some());
    assert!(one.get(&name(2)).is_none());
    one.refresh().unwrap();
    assert!(one.get(&name(2)).is_some());
}
