//! Packages of every version of the format stay good (`tests/golden`). The second implementation
//! made them.

use std::fs;
use std::path::PathBuf;

use sealstone::package::{Package, Verdict};

use crate::cases::Case;
use crate::tree::Tree;

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1/packages")
}

fn cases() -> Vec<Case> {
    Case::parse_all(include_str!("../golden/v1/packages/cases.json"))
}

#[test]
fn every_golden_package_is_good() {
    for case in cases() {
        case.check(&dir());
    }
    let files = fs::read_dir(dir()).unwrap();
    let packages = files.filter(|file| {
        let path = file.as_ref().unwrap().path();
        path.extension()
            .is_some_and(|extension| extension == "package")
    });
    let count = packages.count();
    assert_eq!(
        count,
        cases().len() + 1,
        "a package that nobody checks; `spec` checks example.package"
    );
}

#[test]
fn every_golden_package_is_bad_with_one_byte_changed() {
    for case in cases() {
        let file = fs::read(dir().join(&case.file)).unwrap();
        let directory = Tree::read(&dir().join(case.file.strip_suffix(".package").unwrap()));
        for at in (0..file.len()).step_by(file.len().div_ceil(2000)) {
            let mut changed = file.clone();
            changed[at] ^= 1 << (at % 7);
            let good = case
                .verify(&changed, &directory)
                .is_ok_and(|report| report.verdict == Verdict::Good);
            assert!(!good, "{} {at}", case.file);
        }
    }
}

#[test]
fn a_package_without_its_end_is_refused() {
    for case in cases() {
        let file = fs::read(dir().join(&case.file)).unwrap();
        for len in (0..file.len()).step_by(97) {
            assert!(
                Package::decode(&file[..len]).is_err(),
                "{} {len}",
                case.file
            );
        }
        assert!(Package::decode(&[&file[..], &[0]].concat()).is_err());
    }
}
