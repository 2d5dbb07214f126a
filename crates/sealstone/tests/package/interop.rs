//! The second implementation verifies our packages, and we verify its packages
//! (`interop/packages.py`).
//!
//! `scripts/test-interop` runs these tests. Its variable `SEALSTONE_INTEROP_PYTHON` names a Python
//! that has the packages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use data_encoding::HEXLOWER;
use sealstone::package::{Package, Verdict, Verifier};
use sealstone::passport::Fingerprint;
use sealstone::trust::Standing;
use sealstone_primitives::hash::sha3_256;
use serde::Deserialize;

use crate::cases::{BESIDE, Case, CaseEntry, EMBEDDED, LINK, Size, to_stamp};
use crate::tree::{Node, Tree, person};

/// Runs a command of the second implementation in a new directory; `None` without a Python for it.
fn python(command: &str, before: impl FnOnce(&Path)) -> Option<PathBuf> {
    let Some(python) = env::var_os("SEALSTONE_INTEROP_PYTHON") else {
        println!("skipped: run scripts/test-interop");
        return None;
    };
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("packages-{command}-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    before(&dir);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/packages.py");
    let status = Command::new(python)
        .args(["-B".as_ref(), script.as_os_str(), command.as_ref()])
        .arg(&dir)
        .status();
    assert!(status.unwrap().success(), "packages.py {command}");
    Some(dir)
}

#[test]
fn packages_that_we_sign_verify_there() {
    let write = |dir: &Path| {
        let cases: Vec<Case> = matrix().into_iter().map(|case| put(dir, case)).collect();
        let text = serde_json::to_string(&cases).unwrap();
        assert_eq!(Case::parse_all(&text), cases);
        fs::write(dir.join("cases.json"), text).unwrap();
    };
    if let Some(dir) = python("check", write) {
        fs::remove_dir_all(dir).unwrap();
    }
}

#[test]
fn packages_that_they_sign_verify_here() {
    let Some(dir) = python("make", |_| ()) else {
        return;
    };
    let cases = Case::parse_all(&fs::read_to_string(dir.join("cases.json")).unwrap());
    assert!(cases.len() > 25);
    for case in &cases {
        case.check(&dir);
    }
    fs::remove_dir_all(dir).unwrap();
}

/// A package that breaks one rule or none, and the required verdict.
#[derive(Deserialize)]
struct Forgery {
    file: String,
    what: String,
    expected: Expected,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Expected {
    /// `good`, `format`, or `signers`: all layers are good, but the signatures do not count.
    Word(String),
    /// The bad layers.
    Bad(Vec<String>),
}

#[test]
fn packages_that_break_a_rule_are_refused() {
    let Some(dir) = python("refuse", |_| ()) else {
        return;
    };
    let list = fs::read_to_string(dir.join("refuse.json")).unwrap();
    let forgeries: Vec<Forgery> = serde_json::from_str(&list).unwrap();
    let wrong: Vec<String> = forgeries
        .iter()
        .filter_map(|forgery| {
            let found = say(&dir, &forgery.file);
            let line = format!("{}: {found:?}, not {:?}", forgery.what, forgery.expected);
            (found != forgery.expected).then_some(line)
        })
        .collect();
    assert!(forgeries.len() > 230);
    assert!(wrong.is_empty(), "{wrong:#?}");
    fs::remove_dir_all(dir).unwrap();
}

/// Our verdict on a package, with the keys of `packages.py`.
fn say(dir: &Path, file: &str) -> Expected {
    let Ok(package) = Package::decode(&fs::read(dir.join(file)).unwrap()) else {
        return Expected::Word("format".into());
    };
    let directory = Tree::read(&dir.join(file.strip_suffix(".package").unwrap()));
    let (key, secret) = (sha3_256(b"a shared key"), sha3_256(b"a shared secret"));
    let trusted = ["alice", "bob"].map(|name| person(name).fingerprint());
    let opinion = |signer: &Fingerprint, _| match trusted.contains(signer) {
        true => Standing::Approved,
        false => Standing::Unknown,
    };
    let report = Verifier::new()
        .signer(person("alice").contact())
        .trust(&opinion)
        .hmac_key(&key)
        .secret(&secret)
        .source(&directory)
        .verify(&package);
    let bad = report.layers.iter().filter(|it| it.verdict == Verdict::Bad);
    let bad: Vec<String> = bad.map(|it| it.layer.name().to_owned()).collect();
    match report.verdict {
        Verdict::Good => Expected::Word("good".into()),
        _ if bad.is_empty() => Expected::Word("signers".into()),
        _ => Expected::Bad(bad),
    }
}

/// Writes the package and the files beside it.
fn put(dir: &Path, mut case: Case) -> Case {
    let package = case.make();
    case.to_stamp = to_stamp(&package);
    fs::write(dir.join(&case.file), package.encode()).unwrap();
    let root = dir.join(case.file.strip_suffix(".package").unwrap());
    for (path, node) in case.directory().0 {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match node {
            Node::File(bytes) => fs::write(path, bytes).unwrap(),
            Node::Link(target) => std::os::unix::fs::symlink(target, path).unwrap(),
            Node::Directory => fs::create_dir_all(path).unwrap(),
        }
    }
    if let Some(secret) = case.secret() {
        let keys = package.derived_keys(&secret).unwrap();
        let key = |label: &str| HEXLOWER.encode(keys.key(label).unwrap().expose());
        let labels = ["x", &"L".repeat(255)].map(|label| (label.to_owned(), key(label)));
        case.derived = BTreeMap::from(labels);
    }
    case
}

fn entry(path: &str, kind: u8, len: usize, media_type: &str, modified: u64) -> CaseEntry {
    CaseEntry(
        path.into(),
        kind,
        Size::Content(len),
        media_type.into(),
        modified,
    )
}

fn tree() -> Vec<CaseEntry> {
    vec![
        entry("-", EMBEDDED, 70_000, "image/svg+xml", 0),
        entry("a/b c", BESIDE, 4097, "", 1_767_225_600),
        CaseEntry(
            "a/link".into(),
            LINK,
            Size::Target("../-".into()),
            String::new(),
            3,
        ),
        entry("z", BESIDE, 0, "text/plain", u64::MAX),
        entry("Åé", EMBEDDED, 1, "", 0),
    ]
}

fn matrix() -> Vec<Case> {
    let base = Case {
        signers: vec!["alice".into()],
        needed: 1,
        time: 1_767_225_600,
        entries: tree(),
        ..Case::default()
    };
    let (key, secret) = ("4b".repeat(32), "53".repeat(1024));
    let mut cases = Vec::new();
    for (tree, complete) in [(false, false), (false, true), (true, false), (true, true)] {
        cases.push(Case {
            tree,
            complete,
            ..base.clone()
        });
    }
    cases.push(Case {
        entries: Vec::new(),
        author: "Ä".repeat(128),
        ..base.clone()
    });
    cases.push(Case {
        key: Some(key.clone()),
        required: vec![2],
        ..base.clone()
    });
    cases.push(Case {
        secret: Some(secret.clone()),
        required: vec![5],
        ..base.clone()
    });
    for policy in [
        "0",
        "\"\u{7f}\u{2028}\"",
        r#"{"a":[1.5e-7,1e-6,-0.25],"\r":{"€":null}}"#,
    ] {
        let policy = sealstone::package::Json::parse(policy.as_bytes()).unwrap();
        cases.push(Case {
            policy: Some(policy.as_str().to_owned()),
            metadata: Some(r#"{"version":"1"}"#.to_owned()),
            key: Some(key.clone()),
            secret: Some(secret.clone()),
            ..base.clone()
        });
    }
    cases.extend(signers(&base));
    for (i, case) in cases.iter_mut().enumerate() {
        case.file = format!("{i:02}.package");
        if case.signatures.is_empty() {
            case.signatures = vec![(case.signers[0].clone(), 0, case.time)];
        }
    }
    cases
}

fn signers(base: &Case) -> Vec<Case> {
    let mut cases = Vec::new();
    let three: Vec<String> = ["carol", "alice", "bob"].map(String::from).into();
    let signed = |name: &str, role, time| (name.to_owned(), role, time);
    for needed in 1..=3 {
        cases.push(Case {
            signers: three.clone(),
            needed,
            signatures: [
                signed("carol", 0, base.time),
                signed("alice", 0, 0),
                signed("bob", 0, u64::MAX),
            ]
            .into(),
            ..base.clone()
        });
    }
    cases.push(Case {
        signers: three,
        needed: 2,
        responses: ["3000", "", &"ab".repeat(300)].map(String::from).into(),
        signatures: [
            signed("carol", 0, base.time),
            signed("bob", 0, 1),
            signed("dave", 1, 2),
        ]
        .into(),
        ..base.clone()
    });
    cases
}
