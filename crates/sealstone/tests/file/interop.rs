//! The second implementation opens our files, and we open its files (`interop/cases.py`).
//!
//! `scripts/test-interop` runs these tests. Its variable `SEALSTONE_INTEROP_PYTHON` names a Python
//! that has the packages.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::cases::{Case, From, To, Who, read};
use sealstone::file::{Keys, Metadata, Sender, Suite, Workers};
use sealstone::{Error, KdfParams, Result};

const CONTENT_LEN: usize = (1 << 20) - 17;

/// Runs a command of the second implementation in a new directory; `None` without a Python for it.
fn python(command: &str, before: impl FnOnce(&Path)) -> Option<PathBuf> {
    let Some(python) = env::var_os("SEALSTONE_INTEROP_PYTHON") else {
        println!("skipped: run scripts/test-interop");
        return None;
    };
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("interop-{command}-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    before(&dir);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/cases.py");
    let status = Command::new(python)
        .args(["-B".as_ref(), script.as_os_str(), command.as_ref()])
        .arg(&dir)
        .status();
    assert!(status.unwrap().success(), "cases.py {command}");
    Some(dir)
}

fn text(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap()
}

#[test]
fn files_that_we_seal_open_there() {
    let write = |dir: &Path| {
        let cases = matrix();
        for case in &cases {
            fs::write(dir.join(&case.file), case.seal()).unwrap();
        }
        let paragraphs: Vec<String> = cases.iter().map(Case::to_string).collect();
        assert_eq!(Case::parse_all(&paragraphs.join("\n")), cases);
        fs::write(dir.join("cases.txt"), paragraphs.join("\n")).unwrap();
    };
    if let Some(dir) = python("check", write) {
        fs::remove_dir_all(dir).unwrap();
    }
}

#[test]
fn files_that_they_seal_open_here() {
    let Some(dir) = python("make", |_| ()) else {
        return;
    };
    let cases = Case::parse_all(&text(&dir, "cases.txt"));
    assert!(cases.len() > 30);
    for case in &cases {
        case.check(&fs::read(dir.join(&case.file)).unwrap());
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn files_that_break_a_rule_are_refused() {
    let Some(dir) = python("refuse", |_| ()) else {
        return;
    };
    let list = text(&dir, "refuse.txt");
    let wrong: Vec<String> = list
        .lines()
        .filter_map(|line| {
            let (file, what) = line.split_once(": ").unwrap();
            let opened = open_as_bob(&fs::read(dir.join(file)).unwrap());
            (opened.is_ok() != what.starts_with("right")).then(|| format!("{what}: {opened:?}"))
        })
        .collect();
    assert!(list.lines().count() > 70);
    assert!(wrong.is_empty(), "{wrong:#?}");
    fs::remove_dir_all(dir).unwrap();
}

/// Opens as Bob, who accepts every sender.
fn open_as_bob(file: &[u8]) -> Result<u64> {
    let opening = read(file)?
        .0
        .unlock(&Keys::new(&[Who::Bob.passport()], &[]))?;
    let sender = match opening.sender() {
        Sender::Unsigned => None,
        Sender::Carried(contact) => Some(contact.clone()),
        Sender::Named(_) => return Err(Error::WrongSender),
    };
    let (out, workers) = (std::io::sink(), Workers::new(1));
    match sender {
        None => opening.open_unsigned(out, workers),
        Some(contact) => opening.open_signed(&contact, out, workers),
    }
}

fn matrix() -> Vec<Case> {
    let mut cases = Vec::new();
    for suite in [Suite::XChaCha20Poly1305, Suite::Aes256Gcm] {
        let sealed = |content_len, sender| Case {
            suite,
            to: vec![To::Passport(Who::Bob)],
            sender,
            content_len,
            ..Case::default()
        };
        for sender in [
            From::Nobody,
            From::Carried(Who::Alice),
            From::Named(Who::Alice),
        ] {
            cases.push(sealed(1000, sender));
            cases.push(Case {
                armored: true,
                padded: true,
                ..sealed(0, sender)
            });
        }
        for len in [1, CONTENT_LEN - 1, CONTENT_LEN, CONTENT_LEN + 1] {
            cases.push(sealed(len, From::Nobody));
        }
        for len in [CONTENT_LEN - 5, CONTENT_LEN, CONTENT_LEN + 5] {
            cases.push(Case {
                padded: true,
                ..sealed(len, From::Carried(Who::Bob))
            });
        }
    }
    cases.extend(recipients());
    cases.extend(metadata());
    for (i, case) in cases.iter_mut().enumerate() {
        case.file = format!("{i:02}.sealed");
    }
    cases
}

fn recipients() -> impl Iterator<Item = Case> {
    let passphrase =
        |m, t, p, words: &str| To::Passphrase(KdfParams::new(m, t, p).unwrap(), words.to_owned());
    [
        vec![
            To::Passport(Who::Bob),
            To::Passport(Who::Carol),
            To::Passport(Who::Alice),
        ],
        vec![To::Anonymous(Who::Carol)],
        vec![
            To::Anonymous(Who::Carol),
            To::Passport(Who::Alice),
            To::Anonymous(Who::Bob),
        ],
        vec![passphrase(7168, 5, 1, "nai\u{308}ve cafe\u{301}")],
        vec![
            passphrase(8192, 5, 4, "four lanes"),
            To::Passport(Who::Bob),
            passphrase(7168, 6, 1, "other words"),
        ],
    ]
    .into_iter()
    .map(|to| Case {
        to,
        sender: From::Carried(Who::Alice),
        content_len: 100,
        ..Case::default()
    })
}

fn metadata() -> impl Iterator<Item = Case> {
    let some = |name: &str, modified, note: &str| Metadata {
        name: Some(name.to_owned()),
        modified: Some(modified),
        note: Some(note.to_owned()),
        directory: false,
    };
    [
        some("report.txt", 1_767_225_700, "two\nlines\tand a tab"),
        some(&"ä".repeat(127), u64::MAX, &"n".repeat(4096)),
    ]
    .into_iter()
    .map(|metadata| Case {
        to: vec![To::Passport(Who::Bob)],
        metadata,
        content_len: 10,
        ..Case::default()
    })
}
