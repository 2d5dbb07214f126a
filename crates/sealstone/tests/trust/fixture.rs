//! People, changes, and a store with some history.

use data_encoding::BASE64;
use sealstone::passport::{Contact, Fingerprint, Passport};
use sealstone::trust::{Change, File, Memory, Record, Status, Storage, TrustStore};
use sealstone_primitives::secret::Secret;

/// The three files of a store. A missing file is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) log: Option<Vec<u8>>,
    pub(crate) head: Option<Vec<u8>>,
}

/// The contents of all records, to compare two states.
pub(crate) type Snapshot = Vec<(Fingerprint, Status, String, u64, u64, String, String, bool)>;

pub(crate) const START: u64 = 1_790_000_000;

impl Files {
    pub(crate) fn of(memory: &Memory) -> Self {
        Self {
            key: memory.get(File::Key),
            log: memory.get(File::Log),
            head: memory.get(File::Head),
        }
    }

    pub(crate) fn to_memory(&self) -> Memory {
        let memory = Memory::default();
        memory.set(File::Key, self.key.clone());
        memory.set(File::Log, self.log.clone());
        memory.set(File::Head, self.head.clone());
        memory
    }
}

/// A person with fixed keys.
pub(crate) fn person(number: u8, label: &str) -> Contact {
    person_unlocked(number, label).contact().clone()
}

pub(crate) fn person_unlocked(number: u8, label: &str) -> Passport {
    Passport::from_seed(Secret::from_array(&mut [number; 32]), label, START - 1000).unwrap()
}

/// The `passport-body` in a public passport: the CBOR is `83 59 hh ll body …`.
pub(crate) fn passport_body(passport: &Passport) -> Vec<u8> {
    let armor = passport.public().to_armor();
    let lines: String = armor
        .lines()
        .filter(|line| !line.starts_with('-'))
        .collect();
    let encoded = BASE64.decode(lines.as_bytes()).unwrap();
    let len = usize::from(u16::from_be_bytes([encoded[2], encoded[3]]));
    encoded[4..4 + len].to_vec()
}

/// A name without keys.
pub(crate) fn name(number: u8) -> Fingerprint {
    Fingerprint::from_bytes([number; 32])
}

pub(crate) fn at(seconds: u64) -> Change<'static> {
    Change {
        time: START + seconds,
        operator: "bob",
        note: None,
    }
}

pub(crate) fn noted(seconds: u64, note: &'static str) -> Change<'static> {
    Change {
        note: Some(note),
        ..at(seconds)
    }
}

pub(crate) fn snapshot<S: Storage>(store: &TrustStore<S>) -> Snapshot {
    let row = |r: Record<'_>| {
        let keys = r.contact().unwrap().is_some();
        let texts = (
            r.label().to_owned(),
            r.operator().to_owned(),
            r.note().to_owned(),
        );
        (
            r.fingerprint(),
            r.status(),
            texts.0,
            r.first_seen(),
            r.changed(),
            texts.1,
            texts.2,
            keys,
        )
    };
    store.iter().map(row).collect()
}

/// Five entries about three people, one of them with keys.
pub(crate) fn history() -> Memory {
    let memory = short_history();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    store.record_stranger(&person(7, "Carol"), &at(3)).unwrap();
    store
        .set_status(&name(0xd0), Status::Denied, &noted(4, "spam"))
        .unwrap();
    store
        .set_status(&name(0xd0), Status::Revoked, &at(5))
        .unwrap();
    memory
}

/// Two entries about one person.
pub(crate) fn short_history() -> Memory {
    let memory = Memory::default();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    store
        .set_status(&name(0xa1), Status::Approved, &noted(1, "on the phone"))
        .unwrap();
    store.relabel(&name(0xa1), "Alice", &at(2)).unwrap();
    memory
}
