//! Uses of a key in real files: processes that race for the last uses, and a process that is killed
//! between reserving and signing.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use sealstone::Error;
use sealstone::lifecycle::{Limits, Refusal};
use sealstone::passport::Fingerprint;
use sealstone::trust::{Change, TrustStore};
use sealstone_files::TrustDirectory;

/// Set to a directory in processes that reserve uses from the store there.
const SIGNER: &str = "SEALSTONE_TEST_LIFE_SIGNER";
/// Set to anything in signers that stop between reserving and signing.
const STOPS: &str = "SEALSTONE_TEST_LIFE_STOPS";
const START: u64 = 1_790_000_000;

fn key() -> Fingerprint {
    Fingerprint::from_bytes([0x4e; 32])
}

fn at(seconds: u64) -> Change<'static> {
    Change {
        time: START + seconds,
        operator: "bob",
        note: None,
    }
}

fn open(path: &Path) -> TrustStore<TrustDirectory> {
    TrustStore::open(TrustDirectory::new(path)).unwrap()
}

/// A store in which the key may sign `max` times.
fn limited(path: &Path, max: u64) {
    let limits = Limits {
        max_uses: Some(max),
        ..Limits::default()
    };
    open(path)
        .set_limits(&key(), "Alice", limits, &at(0))
        .unwrap();
}

/// Not a test: other tests start this program again to run it. It reserves one use after another
/// until none is left, and prints each.
#[test]
fn signer() {
    let Some(path) = std::env::var_os(SIGNER) else {
        return;
    };
    let mut store = open(Path::new(&path));
    loop {
        match store.reserve(&key(), 1, &at(1)) {
            Ok(_) => writeln!(std::io::stderr(), "reserved").unwrap(),
            Err(Error::KeyLifecycle(Refusal::UsedUp { left: 0, .. })) => return,
            Err(e) => panic!("{e}"),
        }
        while std::env::var_os(STOPS).is_some() {
            std::thread::park();
        }
        writeln!(std::io::stderr(), "signed").unwrap();
    }
}

fn start(path: &Path, stops: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "signer", "--nocapture"]);
    command.env(SIGNER, path);
    if stops {
        command.env(STOPS, "1");
    }
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn lines(signer: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(signer.stderr.take().unwrap()).lines();
    lines.map_while(Result::ok)
}

#[test]
fn processes_that_race_get_every_use_once() {
    const MAX: u64 = 23;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trust");
    limited(&path, MAX);
    let mut signers: Vec<Child> = (0..4).map(|_| start(&path, false)).collect();
    let signed = signers
        .iter_mut()
        .flat_map(lines)
        .filter(|line| line == "signed")
        .count();
    assert!(signers.iter_mut().all(|it| it.wait().unwrap().success()));
    assert_eq!(signed as u64, MAX);
    assert_eq!(open(&path).key_lifecycle(&key()).used, MAX);
}

#[test]
fn a_signer_that_is_killed_before_it_signs_has_lost_the_use() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trust");
    limited(&path, 3);
    let mut killed = start(&path, true);
    let told = lines(&mut killed).find(|line| line == "reserved" || line == "signed");
    assert_eq!(told.as_deref(), Some("reserved"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut store = open(&path);
    assert_eq!(store.key_lifecycle(&key()).used, 1);
    assert_eq!(
        store.reserve(&key(), 2, &at(2)).unwrap().lifecycle.left(),
        Some(0)
    );
    let refused = store.reserve(&key(), 1, &at(3)).unwrap_err();
    assert!(matches!(
        refused,
        Error::KeyLifecycle(Refusal::UsedUp { .. })
    ));
}
