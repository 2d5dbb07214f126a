//! Tests that need the inside: carried keys, entries that no writer makes, and limits too large to
//! reach from outside.

use sealstone_primitives::secret::Secret;

use super::entry::Entry;
use super::key::StoreKey;
use super::lifecycle_entry::{LifecycleEntry, LoggedStage};
use super::log::{self, Log};
use super::*;
use crate::passport::Passport;

fn person(number: u8, label: &str) -> Contact {
    let passport = Passport::from_seed(Secret::from_array(&mut [number; 32]), label, 1).unwrap();
    passport.public().contact().clone()
}

fn carried(contact: &Contact) -> Contact {
    Contact::decode(&contact.encoded_carried()).unwrap()
}

fn entry() -> Entry {
    let change = Change {
        time: 5,
        operator: "bob",
        note: Some("note"),
    };
    let fingerprint = Fingerprint::from_bytes([7; 32]);
    Entry {
        event: Event::Approved,
        label: "Alice".into(),
        ..State::default().draft(&fingerprint, &change)
    }
}

#[test]
fn carried_keys_are_completed_and_never_the_other_way() {
    let mut store = TrustStore::open(Memory::default()).unwrap();
    let full = person(1, "Carol");
    let (carried, fingerprint) = (carried(&full), full.fingerprint());
    let change = Change {
        time: 5,
        ..Change::default()
    };
    let complete = |record: Record<'_>| record.contact().unwrap().unwrap().is_complete();
    for (contact, complete_after, entries) in [
        (&carried, false, 1),
        (&carried, false, 1),
        (&full, true, 2),
        (&carried, true, 2),
        (&full, true, 2),
    ] {
        assert_eq!(
            complete(store.record_stranger(contact, &change).unwrap()),
            complete_after
        );
        assert_eq!(store.log().len(), entries);
    }
    store
        .set_status(&fingerprint, Status::Approved, &change)
        .unwrap();
    assert!(complete(store.get(&fingerprint).unwrap()));
}

#[test]
fn keys_of_another_passport_are_noticed() {
    let memory = Memory::default();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let body = Some(person(1, "Carol").encode().into());
    store
        .change(MAX_LOG, |_| Ok(Some(Entry { body, ..entry() })))
        .unwrap();
    assert!(matches!(
        TrustStore::open(memory).unwrap().check(),
        Err(Error::StoreAltered(_))
    ));
}

fn labelled(label: &str) -> Vec<u8> {
    let label = label.into();
    Entry { label, ..entry() }.encode()
}

#[test]
fn bytes_that_are_no_entry_are_refused() {
    let good = entry().encode();
    assert_eq!(Entry::decode(&good).unwrap(), entry());
    let status_9 = {
        let mut bytes = good.clone();
        let at = bytes.iter().position(|byte| *byte == 0x02).unwrap();
        bytes[at + 1] = 9;
        bytes
    };
    for (name, bytes) in [
        ("unknown status", status_9),
        ("trailing byte", [&good[..], &[0]].concat()),
        ("control character", labelled("a\x1b")),
        ("long label", labelled(&"a".repeat(65))),
    ] {
        assert!(Entry::decode(&bytes).is_err(), "{name} was taken");
    }
}

/// A fault, and how it is made.
type Edit<T> = (&'static str, fn(&mut T));

/// Each edit of a good entry makes one that no writer makes.
fn refused_after(good: &Entry, edits: &[Edit<Entry>]) {
    assert_eq!(Entry::decode(&good.encode()).unwrap(), *good);
    for (name, edit) in edits {
        let mut bad = good.clone();
        edit(&mut bad);
        assert!(Entry::decode(&bad.encode()).is_err(), "{name} was taken");
    }
}

#[test]
fn entries_that_no_writer_makes_are_refused() {
    refused_after(
        &entry(),
        &[
            ("long operator", |it| it.operator = "a".repeat(65)),
            ("long note", |it| it.note = "a".repeat(1025)),
            ("approval since a time", |it| it.since = Some(5)),
            ("revocation without a time", |it| it.event = Event::Revoked),
            ("approval with uses", |it| it.uses = Some(1)),
            ("approval with a lifecycle", |it| {
                it.lifecycle = Some(lifecycle())
            }),
        ],
    );
    let rekeyed = Entry {
        event: Event::Rekeyed,
        fingerprint: Fingerprint::from_bytes(entry::NOBODY),
        label: String::new(),
        ..entry()
    };
    refused_after(
        &rekeyed,
        &[
            ("somebody's rekey", |it| {
                it.fingerprint = entry().fingerprint;
            }),
            ("rekey with a label", |it| it.label = "a".into()),
            ("rekey with keys", |it| it.body = Some(vec![0].into())),
            ("rekey since a time", |it| it.since = Some(5)),
            ("rekey with uses", |it| it.uses = Some(1)),
        ],
    );
}

fn lifecycle() -> LifecycleEntry {
    LifecycleEntry {
        stage: LoggedStage::Active,
        not_before: Some(5),
        not_after: Some(5),
        max_uses: Some(100_000),
        successor: None,
    }
}

#[test]
fn lives_that_no_writer_makes_are_refused() {
    let of_lifecycle = |edit: fn(&mut LifecycleEntry)| {
        let mut lifecycle = lifecycle();
        edit(&mut lifecycle);
        let event = Event::Lifecycle;
        Entry {
            event,
            lifecycle: Some(lifecycle),
            ..entry()
        }
    };
    refused_after(
        &of_lifecycle(|_| {}),
        &[
            ("lifecycle without a lifecycle", |it| it.lifecycle = None),
            ("lifecycle with uses", |it| it.uses = Some(1)),
            ("lifecycle with keys", |it| it.body = Some(vec![0].into())),
            ("lifecycle since a time", |it| it.since = Some(5)),
        ],
    );
    let edits: [Edit<LifecycleEntry>; 5] = [
        ("end before the beginning", |it| it.not_before = Some(6)),
        ("no use", |it| it.max_uses = Some(0)),
        ("too many uses", |it| it.max_uses = Some(100_001)),
        ("rotating to nobody", |it| it.stage = LoggedStage::Rotating),
        ("active with a successor", |it| {
            it.successor = Some(entry().fingerprint);
        }),
    ];
    for (name, edit) in edits {
        let bytes = of_lifecycle(edit).encode();
        assert!(Entry::decode(&bytes).is_err(), "{name} was taken");
    }
    let used = Entry {
        event: Event::Used,
        label: String::new(),
        uses: Some(100_000),
        ..entry()
    };
    refused_after(
        &used,
        &[
            ("no uses", |it| it.uses = None),
            ("zero uses", |it| it.uses = Some(0)),
            ("too many uses", |it| it.uses = Some(100_001)),
            ("uses with a label", |it| it.label = "a".into()),
            ("uses with a lifecycle", |it| {
                it.lifecycle = Some(lifecycle())
            }),
        ],
    );
}

#[test]
fn a_log_stops_at_its_limit_and_an_entry_at_its_own() {
    let key = StoreKey::random();
    let mut log = Log::default();
    let frame = log.push(entry(), &key, usize::MAX).unwrap().len();
    let limit = log::HEADER_LEN + 3 * frame;
    log.push(entry(), &key, limit).unwrap();
    assert!(matches!(
        log.push(entry(), &key, limit - 1),
        Err(Error::StoreFull)
    ));
    assert_eq!(log.len(), 2);
    log.push(entry(), &key, limit).unwrap();
    assert_eq!(log.to_bytes(&key).len(), limit);

    let large = Entry {
        body: Some(vec![0; 16_384].into()),
        ..entry()
    };
    assert!(matches!(
        log.push(large, &key, usize::MAX),
        Err(Error::Invalid(_))
    ));
}

/// A store in which strangers have used up their quota.
fn crowded() -> Memory {
    let key = StoreKey::random();
    let mut log = Log::default();
    let mut len = 16_000;
    for stranger in 0..u64::MAX {
        let mut name = [0; 32];
        name[..8].copy_from_slice(&stranger.to_be_bytes());
        let introduction = Entry {
            event: Event::Pending,
            fingerprint: Fingerprint::from_bytes(name),
            body: Some(vec![0; len].into()),
            ..entry()
        };
        if log.push(introduction, &key, MAX_LOG_FOR_STRANGERS).is_err() {
            len /= 2;
        }
        if len == 0 {
            break;
        }
    }
    let memory = Memory::default();
    let head = head::Head::new(&key, log.len(), *log.link()).encode();
    memory.set(File::Log, Some(log.to_bytes(&key)));
    memory.set(File::Head, Some(head));
    memory.set(File::Key, Some(key::encode(&[&key]).to_vec()));
    memory
}

#[test]
fn a_full_quota_of_strangers_leaves_room_for_decisions() {
    let memory = crowded();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    let (alice, change) = (person(1, "Alice"), Change::default());
    let full = store.record_stranger(&alice, &change).map(drop);
    assert!(matches!(full, Err(Error::StoreFull)));
    store.introduce(&alice, &change).unwrap();
    let approved = store.set_status(&alice.fingerprint(), Status::Approved, &change);
    assert_eq!(approved.unwrap().status(), Status::Approved);
    let strangers = store.iter().len() - 1;
    assert_eq!(store.prune(u64::MAX, &change).unwrap(), strangers);
    store.check().unwrap();
    assert!(memory.get(File::Log).unwrap().len() < 1 << 20);
    store.record_stranger(&person(2, "Bob"), &change).unwrap();
}

#[test]
fn every_other_key_file_is_refused() {
    let (one, two) = (StoreKey::random(), StoreKey::random());
    assert_eq!(key::decode(&key::encode(&[&one])).unwrap().len(), 1);
    let both = key::encode(&[&one, &two]);
    let read = key::decode(&both).unwrap();
    assert_eq!([read[0].id(), read[1].id()], [one.id(), two.id()]);
    assert!(key::decode(&key::encode(&[])).is_err());
    assert!(key::decode(&key::encode(&[&one, &two, &one])).is_err());
    for at in (0..5).chain(37..39) {
        let mut altered = both.to_vec();
        altered[at] ^= 1;
        assert!(key::decode(&altered).is_err(), "byte {at}");
    }
    for len in 0..both.len() {
        assert!(key::decode(&both[..len]).is_err(), "{len} bytes");
    }
}
