//! Layer 1: files beside the package.

use std::sync::atomic::{AtomicU64, Ordering};

use sealstone::package::{
    DigestKind, Draft, FindingKind, Listed, Package, RelativePath, Report, Source, Unreadable,
    Verdict, Verifier, Work,
};

use crate::common::{Files, Stored, TIME, passport, stored, verdicts};

/// Sizes around those at which hashing changes its method.
const SIZES: [usize; 7] = [0, 1, 4096, 65_537, (1 << 18) - 1, 1 << 18, (1 << 20) + 1];

fn files() -> Files {
    let mut files = Files::default();
    for size in SIZES {
        let content: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
        files = files.with(&format!("sizes/{size}"), &content);
    }
    files
        .0
        .insert("link".to_owned(), Stored::Link("../anywhere".to_owned()));
    files
}

fn listed(files: &Files) -> Vec<Listed> {
    let paths = files.0.keys();
    paths
        .map(|path| Listed {
            path: RelativePath::new(path).unwrap(),
            size: 0,
            modified: Some(5),
        })
        .collect()
}

fn package(files: &Files, digest: DigestKind, complete: bool, workers: usize) -> Package {
    let mut draft = Draft::new();
    draft.digest(digest);
    let work = Work {
        workers,
        progress: &|_| {},
    };
    draft.files(files, &listed(files), work).unwrap();
    if complete {
        draft.complete();
    }
    stored(&draft.sign(&passport(1), TIME).unwrap())
}

fn verify(package: &Package, files: &dyn Source, workers: usize) -> Report {
    let work = Work {
        workers,
        progress: &|_| {},
    };
    let signer = passport(1);
    let verifier = Verifier::new().signer(signer.contact());
    verifier.source_with(files, work).verify(package)
}

fn kinds(report: &Report) -> Vec<(&str, FindingKind)> {
    report
        .findings
        .iter()
        .map(|it| (it.path.as_str(), it.kind))
        .collect()
}

#[test]
fn digests_are_the_published_functions() {
    let files = Files::default().with("abc", b"abc");
    let digest = |kind| {
        let package = package(&files, kind, true, 1);
        let entry = package.manifest().entries[0].clone();
        match entry.content {
            sealstone::package::EntryContent::File { digest, .. } => digest,
            sealstone::package::EntryContent::Link(_) => unreachable!(),
        }
    };
    // FIPS 202, example values of NIST.
    let sha3 = "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532";
    let hex: String = digest(DigestKind::Sha3_256)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(hex, sha3);
    assert_eq!(
        digest(DigestKind::SkeinTree),
        sealstone_skein::tree::hash(b"abc")
    );
}

#[test]
fn every_thread_count_and_digest_agrees() {
    let files = files();
    for digest in [DigestKind::Sha3_256, DigestKind::SkeinTree] {
        let one = package(&files, digest, true, 1);
        let four = package(&files, digest, true, 4);
        assert_eq!(one.manifest(), four.manifest());
        for workers in [1, 2, 5] {
            let report = verify(&one, &files, workers);
            assert_eq!(report.verdict, Verdict::Good, "{}", report.reason);
        }
    }
}

#[test]
fn every_finding_has_its_path_and_kind() {
    let good = files();
    let package = package(&good, DigestKind::Sha3_256, true, 1);
    let change = |path: &str, stored: Option<Stored>| {
        let mut changed = good.clone();
        match stored {
            Some(stored) => changed.0.insert(path.to_owned(), stored),
            None => changed.0.remove(path),
        };
        changed
    };
    let file = |content: &[u8]| Some(Stored::File(content.to_vec()));
    let cases = [
        ("sizes/1", None, FindingKind::Missing),
        ("sizes/1", file(b"x"), FindingKind::Altered),
        ("sizes/1", file(b""), FindingKind::Altered),
        ("sizes/1", file(b"\0\0"), FindingKind::Altered),
        (
            "sizes/1",
            Some(Stored::Link("0".to_owned())),
            FindingKind::OtherKind,
        ),
        ("sizes/1", Some(Stored::Directory), FindingKind::OtherKind),
        ("sizes/1", Some(Stored::Broken), FindingKind::Unreadable),
        ("new", file(b""), FindingKind::Additional),
        (
            "link",
            Some(Stored::Link("elsewhere".to_owned())),
            FindingKind::Altered,
        ),
        ("link", file(b"../anywhere"), FindingKind::OtherKind),
        ("link", None, FindingKind::Missing),
    ];
    for (path, stored, kind) in cases {
        let report = verify(&package, &change(path, stored), 2);
        assert_eq!(kinds(&report), [(path, kind)]);
        assert_eq!(
            (verdicts(&report).as_str(), report.verdict),
            ("baggaa", Verdict::Bad)
        );
        assert!(report.reason.contains(path), "{}", report.reason);
    }
}

#[test]
fn findings_are_in_order_and_counted() {
    let package = package(&files(), DigestKind::Sha3_256, true, 1);
    let report = verify(&package, &Files::default().with("b", b"").with("a", b""), 3);
    let mut sorted = kinds(&report);
    sorted.sort();
    assert_eq!(kinds(&report), sorted);
    assert_eq!(sorted.len(), SIZES.len() + 3);
    assert!(report.reason.ends_with("and 9 more"), "{}", report.reason);
}

#[test]
fn only_a_whole_directory_has_additional_files() {
    let package = package(&files(), DigestKind::Sha3_256, false, 1);
    let report = verify(&package, &files().with("new", b""), 1);
    assert_eq!(report.verdict, Verdict::Good, "{}", report.reason);
}

#[test]
fn an_endless_file_ends() {
    let small = Files::default().with("a", b"a");
    let package = package(&small, DigestKind::SkeinTree, true, 1);
    struct Endless;
    impl Source for Endless {
        fn open(&self, _: &RelativePath) -> std::io::Result<sealstone::package::Object<'_>> {
            let endless = std::io::repeat(b'a');
            Ok(sealstone::package::Object::File(Box::new(endless)))
        }
        fn list(&self, _: &mut dyn FnMut(&str)) -> std::io::Result<()> {
            Err(std::io::ErrorKind::Other.into())
        }
    }
    let report = Verifier::new().source(&Endless).verify(&package);
    assert_eq!(
        kinds(&report),
        [(".", FindingKind::Unreadable), ("a", FindingKind::Altered)]
    );
}

#[test]
fn a_directory_that_cannot_be_read_is_a_finding_with_its_name() {
    struct Locked(Files);
    impl Source for Locked {
        fn open(&self, path: &RelativePath) -> std::io::Result<sealstone::package::Object<'_>> {
            self.0.open(path)
        }
        fn list(&self, found: &mut dyn FnMut(&str)) -> std::io::Result<()> {
            self.0.list(found)?;
            let denied = std::io::ErrorKind::PermissionDenied;
            Err(Unreadable::at("locked/room", denied.into()))
        }
    }
    let package = package(&files(), DigestKind::Sha3_256, true, 1);
    let report = verify(&package, &Locked(files().with("new", b"")), 1);
    let expected = [
        ("locked/room", FindingKind::Unreadable),
        ("new", FindingKind::Additional),
    ];
    assert_eq!(kinds(&report), expected);
    let error = Unreadable::at("locked/room", std::io::ErrorKind::PermissionDenied.into());
    assert_eq!(error.to_string(), "locked/room: permission denied");
}

#[test]
fn an_embedded_file_does_not_hide_another_one() {
    let mut draft = Draft::new();
    draft.embed("a", b"content").unwrap();
    let package = stored(&draft.sign(&passport(1), TIME).unwrap());
    assert_eq!(
        verify(&package, &Files::default(), 1).verdict,
        Verdict::Good
    );
    let same = Files::default().with("a", b"content");
    assert_eq!(verify(&package, &same, 1).verdict, Verdict::Good);
    let report = verify(&package, &Files::default().with("a", b"rogue"), 1);
    assert_eq!(kinds(&report), [("a", FindingKind::Altered)]);
    assert_eq!(report.verdict, Verdict::Bad);
}

#[test]
fn without_a_source_files_beside_the_package_are_unchecked() {
    let package = package(&files(), DigestKind::Sha3_256, false, 1);
    let signer = passport(1);
    let report = Verifier::new().signer(signer.contact()).verify(&package);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("uaggaa", Verdict::Bad)
    );
}

#[test]
fn progress_is_every_byte_once() {
    let files = files();
    let package = package(&files, DigestKind::Sha3_256, true, 1);
    let read = AtomicU64::new(0);
    let count = |bytes| {
        read.fetch_add(bytes, Ordering::Relaxed);
    };
    let work = Work {
        workers: 3,
        progress: &count,
    };
    let signer = passport(1);
    let verifier = Verifier::new().signer(signer.contact());
    verifier.source_with(&files, work).verify(&package);
    let total: usize = SIZES.iter().sum();
    assert_eq!(read.into_inner(), total as u64);
}
