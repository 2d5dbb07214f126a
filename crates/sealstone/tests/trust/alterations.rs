//! Alterations of the files. All are noticed.

use sealstone::trust::{Memory, Status, TrustStore};
use sealstone::{Error, Result};

use super::fixture::{Files, Snapshot, at, history, name, snapshot};
use super::mini::fingerprint_at;

/// The kind of alteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Flip,
    /// The end of a file or the whole file is missing.
    Cut,
    /// Entries at wrong places.
    Order,
    /// An entry under another fingerprint.
    Copy,
    /// A file of another store.
    Exchange,
}

const HEADER_LEN: usize = 32;

/// The original store, and then each alteration of it. `other` is another store.
pub(crate) fn all(good: &Files, other: &Files) -> impl Iterator<Item = (Kind, String, Files)> {
    let mut altered = Vec::new();
    for file in [Part::Key, Part::Log, Part::Head] {
        let bytes = file.of(good).clone().unwrap();
        let mut add = |kind, what: String, bytes| {
            altered.push((kind, format!("{file:?}: {what}"), file.with(good, bytes)))
        };
        for at in 0..bytes.len() {
            for mask in [0x01, 0x80, 0xff] {
                let mut flipped = bytes.clone();
                flipped[at] ^= mask;
                add(
                    Kind::Flip,
                    format!("byte {at} xor {mask:#x}"),
                    Some(flipped),
                );
            }
            add(
                Kind::Cut,
                format!("only {at} bytes"),
                Some(bytes[..at].to_vec()),
            );
        }
        add(Kind::Cut, "removed".into(), None);
        add(
            Kind::Exchange,
            "from another store".into(),
            file.of(other).clone(),
        );
    }
    let reordered = entries_reordered(good.log.as_deref().unwrap());
    altered.extend(reordered.map(|(kind, what, log)| {
        (
            kind,
            what,
            Files {
                log: Some(log),
                ..good.clone()
            },
        )
    }));
    altered.into_iter()
}

/// One of the files.
#[derive(Clone, Copy, Debug)]
enum Part {
    Key,
    Log,
    Head,
}

impl Part {
    fn of(self, files: &Files) -> &Option<Vec<u8>> {
        match self {
            Self::Key => &files.key,
            Self::Log => &files.log,
            Self::Head => &files.head,
        }
    }

    fn with(self, files: &Files, bytes: Option<Vec<u8>>) -> Files {
        let mut files = files.clone();
        match self {
            Self::Key => files.key = bytes,
            Self::Log => files.log = bytes,
            Self::Head => files.head = bytes,
        }
        files
    }
}

/// Every pair of entries swapped, every entry repeated before every entry, every entry removed, and
/// every entry with every other fingerprint.
fn entries_reordered(log: &[u8]) -> impl Iterator<Item = (Kind, String, Vec<u8>)> {
    let frames = frames(log);
    let header = log[..HEADER_LEN].to_vec();
    let mut orders = Vec::new();
    for a in 0..frames.len() {
        for b in 0..frames.len() {
            let mut swapped = frames.clone();
            swapped.swap(a, b);
            orders.push((
                Kind::Order,
                format!("entries {a} and {b} exchanged"),
                swapped,
            ));
            if (a, b) != (frames.len() - 1, frames.len() - 1) {
                // The last entry after itself would be the beginning of an unfinished one, which
                // is another test.
                let mut repeated = frames.clone();
                repeated.insert(b, frames[a].clone());
                orders.push((
                    Kind::Order,
                    format!("entry {a} again in front of {b}"),
                    repeated,
                ));
            }
            let mut copied = frames.clone();
            copied[a] = with_fingerprint_of(&frames[a], &frames[b]);
            orders.push((
                Kind::Copy,
                format!("entry {a} with the fingerprint of {b}"),
                copied,
            ));
        }
        let mut left_out = frames.clone();
        left_out.remove(a);
        orders.push((Kind::Order, format!("entry {a} left out"), left_out));
    }
    let log = move |frames: Vec<Vec<u8>>| [header.clone(), frames.concat()].concat();
    let original = frames.clone();
    orders
        .into_iter()
        .filter(move |(.., frames)| *frames != original)
        .map(move |(kind, what, frames)| (kind, what, log(frames)))
}

/// The entries of a log, each with its length and its MAC.
pub(crate) fn frames(log: &[u8]) -> Vec<Vec<u8>> {
    let (mut frames, mut rest) = (Vec::new(), &log[HEADER_LEN..]);
    while let Some(len) = rest.first_chunk() {
        let (frame, after) = rest.split_at(4 + u32::from_be_bytes(*len) as usize + 32);
        frames.push(frame.to_vec());
        rest = after;
    }
    frames
}

fn with_fingerprint_of(frame: &[u8], other: &[u8]) -> Vec<u8> {
    let (to, from) = (
        4 + fingerprint_at(&frame[4..]),
        4 + fingerprint_at(&other[4..]),
    );
    [&frame[..to], &other[from..from + 32], &frame[to + 32..]].concat()
}

fn open(files: &Files) -> Result<Snapshot> {
    TrustStore::open(files.to_memory()).map(|store| snapshot(&store))
}

/// A store under its own key with the same entries: the best forgery of an attacker without the
/// secret.
pub(crate) fn same_history_under_another_key() -> Files {
    Files::of(&history())
}

#[test]
fn every_alteration_is_noticed() {
    let good = Files::of(&history());
    open(&good).unwrap();
    let mut seen = 0;
    for (kind, what, altered) in all(&good, &same_history_under_another_key()) {
        let opened = open(&altered);
        assert!(
            matches!(opened, Err(Error::StoreAltered(_))),
            "{kind:?}, {what}: {opened:?}"
        );
        seen += 1;
    }
    assert!(seen > 4 * good.log.unwrap().len());
}

#[test]
fn removing_two_of_three_files_is_noticed() {
    let good = Files::of(&history());
    let altered = [
        Files {
            key: None,
            log: None,
            ..good.clone()
        },
        Files {
            key: None,
            head: None,
            ..good.clone()
        },
        Files {
            log: None,
            head: None,
            ..good.clone()
        },
    ];
    for altered in altered {
        assert!(matches!(open(&altered), Err(Error::StoreAltered(_))));
    }
}

#[test]
fn bytes_behind_the_counted_entries_are_dropped_unless_authentic() {
    let good = Files::of(&history());
    let log = good.log.clone().unwrap();
    let tails = [
        vec![0],
        vec![0; 100],
        vec![0xff; 100],
        frames(&log)[4].clone(),
        frames(&log)[0].clone(),
        u32::MAX.to_be_bytes().to_vec(),
    ];
    for tail in tails {
        let memory = Files {
            log: Some([&log[..], &tail].concat()),
            ..good.clone()
        }
        .to_memory();
        let mut store = TrustStore::open(memory.clone()).unwrap();
        assert_eq!(snapshot(&store), open(&good).unwrap());
        assert_eq!(store.check().unwrap().interrupted.torn, tail.len() as u64);
        store.set_status(&name(1), Status::Denied, &at(9)).unwrap();
        let mut store = TrustStore::open(memory).unwrap();
        assert_eq!(
            store.check().unwrap().interrupted,
            sealstone::trust::Interrupted::default()
        );
        assert_eq!(store.iter().len(), 4);
    }
}

#[test]
fn an_older_copy_of_log_and_head_is_not_noticed_but_by_who_kept_count_and_link() {
    let memory = history();
    let old = Files::of(&memory);
    let mut store = TrustStore::open(memory.clone()).unwrap();
    store
        .set_status(&name(0xa1), Status::Revoked, &at(9))
        .unwrap();
    let report = store.check().unwrap();
    assert!(store.extends(report.count, &report.link));
    store.relabel(&name(0xa1), "Alice, once", &at(10)).unwrap();
    assert!(store.extends(report.count, &report.link));

    let rolled_back = TrustStore::open(old.to_memory()).unwrap();
    assert_eq!(
        rolled_back.get(&name(0xa1)).unwrap().status(),
        Status::Approved
    );
    assert!(!rolled_back.extends(report.count, &report.link));
}

#[test]
fn an_older_head_alone_changes_nothing() {
    let memory = history();
    let old = Files::of(&memory);
    TrustStore::open(memory.clone())
        .unwrap()
        .set_status(&name(0xa1), Status::Revoked, &at(9))
        .unwrap();
    let now = Files::of(&memory);
    assert_eq!(
        open(&Files {
            head: old.head.clone(),
            ..now.clone()
        })
        .unwrap(),
        open(&now).unwrap()
    );
    assert!(matches!(
        open(&Files {
            log: old.log,
            ..now
        }),
        Err(Error::StoreAltered(_))
    ));
}

#[test]
fn a_store_from_before_a_rekey_does_not_fit_the_new_key() {
    let memory = history();
    let old = Files::of(&memory);
    TrustStore::open(memory.clone())
        .unwrap()
        .rekey(&at(9))
        .unwrap();
    let new = Files::of(&memory);
    for mixed in [
        Files {
            log: old.log.clone(),
            ..new.clone()
        },
        Files {
            head: old.head.clone(),
            ..new.clone()
        },
        Files {
            key: old.key.clone(),
            ..new.clone()
        },
        Files {
            key: new.key.clone(),
            ..old.clone()
        },
    ] {
        assert!(matches!(open(&mixed), Err(Error::StoreAltered(_))));
    }
}

#[test]
fn oversized_files_are_refused_before_they_are_parsed() {
    let good = Files::of(&history());
    let too_long = |len| Some(vec![0u8; len]);
    for altered in [
        Files {
            key: too_long(129),
            ..good.clone()
        },
        Files {
            head: too_long(129),
            ..good.clone()
        },
        Files {
            log: too_long((64 << 20) + 1),
            ..good.clone()
        },
    ] {
        assert!(matches!(
            open(&altered),
            Err(Error::StoreAltered("one of its files is too long"))
        ));
    }
}

#[test]
fn a_newer_version_is_told_from_an_alteration() {
    let mut newer = Files::of(&history());
    newer.key.as_mut().unwrap()[1] = 2;
    newer.log.as_mut().unwrap()[9] = 2;
    assert!(matches!(open(&newer), Err(Error::StoreAltered(_))));
    newer.head.as_mut().unwrap()[1] = 2;
    assert!(matches!(open(&newer), Err(Error::Unsupported(_))));
}

#[test]
fn nothing_there_is_an_empty_store_and_looking_makes_nothing() {
    let memory = Memory::default();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    assert_eq!(store.check().unwrap().count, 0);
    assert_eq!(store.iter().len(), 0);
    assert!(store.rekey(&at(0)).is_err());
    assert_eq!(
        Files::of(&memory),
        Files {
            key: None,
            log: None,
            head: None
        }
    );
}
