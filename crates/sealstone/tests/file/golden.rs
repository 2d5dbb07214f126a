//! Sealed files of every version of the format open for ever (`tests/golden`).

use std::fs;
use std::path::PathBuf;

use crate::cases::{Case, To};

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1/files")
}

/// Every case and its file. Every golden file has a case.
fn golden() -> Vec<(Case, Vec<u8>)> {
    let cases = Case::parse_all(include_str!("../golden/v1/files/cases.txt"));
    let files = fs::read_dir(dir()).unwrap();
    let sealed = files.filter(|file| {
        let path = file.as_ref().unwrap().path();
        path.extension()
            .is_some_and(|extension| extension == "sealed")
    });
    assert_eq!(sealed.count(), cases.len());
    let read = |case: Case| {
        let file = fs::read(dir().join(&case.file)).unwrap();
        (case, file)
    };
    cases.into_iter().map(read).collect()
}

#[test]
fn every_golden_file_opens_for_every_recipient() {
    for (case, file) in golden() {
        case.check(&file);
    }
}

#[test]
fn every_golden_file_is_refused_with_one_byte_changed() {
    for (case, file) in golden() {
        // A try with a passphrase costs an Argon2id.
        let tries = match case.to[0] {
            To::Passphrase(..) => 20,
            _ => 300,
        };
        assert!(case.try_open(&file).is_ok());
        for at in (0..file.len()).step_by(file.len().div_ceil(tries)) {
            let mut changed = file.clone();
            changed[at] ^= 1 << (at % 7);
            assert!(case.try_open(&changed).is_err(), "{} {at}", case.file);
        }
    }
}

/// Rewrites the golden files. Only before the first release. `cases.py golden` writes the rest.
#[test]
#[ignore = "rewrites the golden files"]
fn make_golden_files() {
    for case in Case::parse_all(include_str!("../golden/v1/files/cases.txt")) {
        if !case.file.starts_with("python-") {
            fs::write(dir().join(&case.file), case.seal()).unwrap();
        }
    }
}
