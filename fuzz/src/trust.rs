//! The files of a trust store.

use arbitrary::Unstructured;
use sealstone::Error;
use sealstone::trust::{Change, File, Memory, Status, TrustStore};

use crate::PLANTED;
use crate::edit::edited;
use crate::golden::{ALICE, TRUST};

/// An edited store that opens has the history of the golden one, and accepts changes.
pub fn trust_store(data: &[u8]) {
    let files = files(data);
    let memory = Memory::default();
    for (file, bytes) in File::ALL.into_iter().zip(&files) {
        memory.set(file, bytes.clone());
    }
    match TrustStore::open(memory.clone()) {
        Ok(store) => check(store, &memory, &files),
        // The planted bug: the log is not authenticated.
        Err(Error::StoreAltered(_)) if PLANTED && same_but_the_log(&files) => {
            panic!("a log that nobody wrote")
        }
        Err(error) => assert!(
            !same_but_the_log(&files) || files[1].as_deref() != Some(TRUST[1]),
            "{error}"
        ),
    }
}

/// Each file unchanged, edited, or missing.
fn files(data: &[u8]) -> [Option<Vec<u8>>; 4] {
    let mut bytes = Unstructured::new(data);
    let mut mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    TRUST.map(|base| {
        let choice = mode % 4;
        mode /= 4;
        match choice {
            0 => Some(base.to_vec()),
            1 => None,
            _ => Some(edited(base, &mut bytes)),
        }
    })
}

fn check(mut store: TrustStore<Memory>, memory: &Memory, files: &[Option<Vec<u8>>; 4]) {
    let report = store.check().expect("what opens is whole");
    if files[0].is_none() {
        assert_eq!(report.count, 0, "records without a key");
    } else {
        let golden = golden();
        assert!(
            report.count > golden.log().count() as u64,
            "a shorter history"
        );
        assert!(
            golden.extends(report.count, &report.link),
            "another history"
        );
    }
    assert!(
        store
            .iter()
            .all(|record| store.get(&record.fingerprint()).is_some())
    );
    let change = Change {
        time: 1,
        operator: "fuzz",
        note: None,
    };
    store
        .set_status(&ALICE.fingerprint(), Status::Denied, &change)
        .expect("a store that opens takes changes");
    let again = TrustStore::open(memory.clone()).expect("a store that was changed opens");
    let entries = again.log().count() as u64 + report.pruned;
    assert_eq!(entries, report.count + 1);
}

fn golden() -> TrustStore<Memory> {
    let memory = Memory::default();
    for (file, bytes) in File::ALL.into_iter().zip(TRUST) {
        memory.set(file, Some(bytes.to_vec()));
    }
    TrustStore::open(memory).expect("the golden store")
}

fn same_but_the_log(files: &[Option<Vec<u8>>; 4]) -> bool {
    let same = |i: usize| files[i].as_deref() == Some(TRUST[i]);
    same(0)
        && same(2)
        && same(3)
        && files[1]
            .as_ref()
            .is_some_and(|log| log.len() == TRUST[1].len())
}
