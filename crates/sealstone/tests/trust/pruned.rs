//! Pruning removes unknown passports and keeps the chain.

use sealstone::Error;
use sealstone::trust::{File, Memory, Status, TrustStore};

use super::faulty::interrupt_everywhere;
use super::fixture::{Files, START, at, history, name, person, person_unlocked, snapshot};
use super::mini::{self, SPECIFIED};

/// The history, and then three unknown passports, one of them with a label.
fn with_strangers() -> Memory {
    let memory = history();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    for (number, label) in [(20, "Mallory"), (21, "Trent"), (22, "Peggy")] {
        let time = at(u64::from(number));
        store
            .record_stranger(&person(number, label), &time)
            .unwrap();
    }
    let peggy = person(22, "Peggy").fingerprint();
    store.relabel(&peggy, "Peggy of the club", &at(30)).unwrap();
    memory
}

#[test]
fn pruning_removes_strangers_that_were_seen_long_ago() {
    let memory = with_strangers();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let before = store.check().unwrap();
    let size = memory.get(File::Log).unwrap().len();
    // Carol was seen at 3, Mallory at 20, Trent at 21. Peggy has a label, the others a decision.
    assert_eq!(store.prune(START + 3, &at(40)).unwrap(), 0);
    assert_eq!(store.check().unwrap(), before);
    assert_eq!(store.prune(START + 21, &at(40)).unwrap(), 2);
    let labels = |store: &TrustStore<Memory>| -> Vec<String> {
        store
            .iter()
            .map(|record| record.label().to_owned())
            .collect()
    };
    let store_again = TrustStore::open(memory.clone()).unwrap();
    for store in [&store, &store_again] {
        assert_eq!(labels(store), ["Alice", "", "Trent", "Peggy of the club"]);
        assert!(store.extends(before.count, &before.link));
        assert!(store.extends(3, &[0; 32]) == store_again.extends(3, &[0; 32]));
    }
    let after = store.check().unwrap();
    assert_eq!((after.count, after.pruned), (before.count + 1, 2));
    assert!(memory.get(File::Log).unwrap().len() < size - 2 * 4000);
    assert!(mini::verify(&Files::of(&memory), SPECIFIED));
    // Numbers continue, and a removed passport can be added again.
    let mallory = person(20, "Mallory");
    let record = store.record_stranger(&mallory, &at(50)).unwrap();
    assert_eq!(
        (record.status(), record.first_seen()),
        (Status::Pending, START + 50)
    );
    store.rekey(&at(51)).unwrap();
    let mut again = TrustStore::open(memory.clone()).unwrap();
    assert_eq!(again.check().unwrap().count, before.count + 3);
    assert!(mini::verify(&Files::of(&memory), SPECIFIED));
}

#[test]
fn decisions_stay_whatever_their_age() {
    let memory = with_strangers();
    let mut store = TrustStore::open(memory).unwrap();
    let carol = person(7, "Carol").fingerprint();
    store.set_status(&carol, Status::Approved, &at(60)).unwrap();
    store.set_status(&carol, Status::Pending, &at(61)).unwrap();
    assert_eq!(store.prune(u64::MAX, &at(62)).unwrap(), 2);
    assert_eq!(store.get(&carol).unwrap().status(), Status::Pending);
    assert_eq!(store.get(&name(0xd0)).unwrap().status(), Status::Revoked);
    let mut empty = TrustStore::open(Memory::default()).unwrap();
    assert!(matches!(
        empty.prune(u64::MAX, &at(1)),
        Err(Error::Invalid(_))
    ));
}

/// The entry that introduced Peggy. It was kept because she got a label later.
const INTRODUCTION: usize = 7;

/// The start of each frame of a log, and the end of the last one.
fn frames(log: &[u8]) -> Vec<usize> {
    let mut at = vec![32];
    while let Some(len) = log[*at.last().unwrap()..].first_chunk::<4>() {
        let len = u32::from_be_bytes(*len) as usize;
        at.push(at.last().unwrap() + if len == 0 { 68 } else { 4 + len + 32 });
    }
    at
}

/// A program that can read the key replaces a decision by the mark of a pruned entry.
#[test]
fn a_decision_cannot_pass_for_a_pruned_introduction() {
    let memory = with_strangers();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    store.prune(u64::MAX, &at(40)).unwrap();
    let log = memory.get(File::Log).unwrap();
    let frames = frames(&log);
    for entry in 0..frames.len() - 1 {
        let (start, end) = (frames[entry], frames[entry + 1]);
        if end - start == 68 {
            continue;
        }
        let digest = sealstone_primitives::hash::sha3_256(&log[start + 4..end - 32]);
        let key = memory.get(File::Key).unwrap();
        let mark = mini::forged_mark(&key, &log, &frames[..=entry], &digest);
        let forged = [&log[..start], &mark, &log[end..]].concat();
        let files = Files {
            log: Some(forged),
            ..Files::of(&memory)
        };
        let opened = TrustStore::open(files.to_memory()).map(drop);
        match entry {
            INTRODUCTION => opened.unwrap(),
            _ => assert!(matches!(opened, Err(Error::StoreAltered(_))), "{entry}"),
        }
    }
}

#[test]
fn stopped_anywhere_it_is_done_or_not_begun() {
    let start = Files::of(&with_strangers());
    let prune = |storage: super::faulty::Faulty| -> sealstone::Result<()> {
        TrustStore::open(storage)?
            .prune(START + 21, &at(40))
            .map(drop)
    };
    interrupt_everywhere(&start, &prune, 4).unwrap();
}

#[test]
fn a_countersignature_outlives_pruning() {
    let memory = with_strangers();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let owner = person_unlocked(11, "Bob");
    store.sign(&owner, START + 35).unwrap();
    store.prune(u64::MAX, &at(40)).unwrap();
    let before = snapshot(&store);
    let store = TrustStore::open(memory).unwrap();
    assert!(store.verify_signed(owner.contact()).unwrap().is_empty());
    assert_eq!(snapshot(&store), before);
}
