//! The store in real files: permissions, links, concurrent writers, killed writers.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sealstone::passport::Fingerprint;
use sealstone::trust::{Change, Interrupted, Status, TrustStore};
use sealstone_primitives::rng;

use sealstone_files::{TrustDirectory, is_not_begun};

const START: u64 = 1_790_000_000;

/// A directory that is removed when the test is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!(
            "sealstone-trust-{:016x}",
            u64::from_be_bytes(rng::array())
        ));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// The path of the store: below two missing directories.
    fn store(&self) -> PathBuf {
        self.0.join("share").join("it's trust")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A name without keys.
fn name(number: u8) -> Fingerprint {
    Fingerprint::from_bytes([number; 32])
}

fn at(seconds: u64) -> Change<'static> {
    Change {
        time: START + seconds,
        operator: "bob",
        note: None,
    }
}

fn open(path: &Path) -> sealstone::Result<TrustStore<TrustDirectory>> {
    TrustStore::open(TrustDirectory::new(path))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// A store with one record.
fn made(scratch: &Scratch) -> PathBuf {
    let path = scratch.store();
    open(&path)
        .unwrap()
        .set_status(&name(0xa1), Status::Approved, &at(1))
        .unwrap();
    path
}

#[test]
fn looking_makes_nothing_and_writing_makes_private_files() {
    let scratch = Scratch::new();
    let path = scratch.store();
    assert_eq!(open(&path).unwrap().iter().len(), 0);
    assert!(!path.parent().unwrap().exists());
    made(&scratch);
    assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o700));
    let mut names: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["head", "key", "lock", "log"]);
    assert!(names.iter().all(|name| mode(&path.join(name)) == 0o600));
}

#[test]
fn a_store_that_others_may_use_is_refused_with_the_remedy() {
    let scratch = Scratch::new();
    let path = made(&scratch);
    let modes = [
        ("key", 0o640),
        ("log", 0o602),
        ("head", 0o604),
        ("lock", 0o660),
        ("", 0o710),
        ("", 0o755),
    ];
    for (file, bad) in modes {
        let target = if file.is_empty() {
            path.clone()
        } else {
            path.join(file)
        };
        let good = mode(&target);
        fs::set_permissions(&target, fs::Permissions::from_mode(bad)).unwrap();
        let message = open(&path).err().unwrap().to_string();
        fs::set_permissions(&target, fs::Permissions::from_mode(good)).unwrap();
        let shell = message.split_once("keep them out: ").unwrap().1;
        fs::set_permissions(&target, fs::Permissions::from_mode(bad)).unwrap();
        assert!(
            Command::new("sh")
                .args(["-c", shell])
                .status()
                .unwrap()
                .success(),
            "{shell}"
        );
        assert_eq!(mode(&target), good);
        open(&path).unwrap();
    }
}

/// Only root can change the owner of files, so the test needs root.
#[test]
fn a_store_of_another_user_is_refused() {
    let scratch = Scratch::new();
    let path = made(&scratch);
    for file in ["", "key", "log", "head", "lock"] {
        let target = if file.is_empty() {
            path.clone()
        } else {
            path.join(file)
        };
        if std::os::unix::fs::chown(&target, Some(12_345), None).is_err() {
            println!("skipped: only the superuser can give a file away");
            return;
        }
        let said = open(&path).err().unwrap().to_string();
        assert!(said.contains("belongs to another user"), "{file}: {said}");
        let own = fs::metadata(path.parent().unwrap()).unwrap().uid();
        std::os::unix::fs::chown(&target, Some(own), None).unwrap();
    }
    open(&path).unwrap();
}

#[test]
fn a_change_that_could_not_begin_is_told_from_one_that_was_interrupted() {
    let scratch = Scratch::new();
    let path = made(&scratch);
    let deny = |path: &Path| {
        let mut store = open(path).unwrap();
        let denied = store.set_status(&name(0xa1), Status::Denied, &at(2));
        match denied.err() {
            Some(sealstone::Error::Io(e)) => e,
            other => panic!("{other:?}"),
        }
    };
    // A place where no directory can be made.
    let nowhere = Path::new("/proc/nope/store");
    assert!(is_not_begun(&deny(nowhere)));
    // The new head cannot be written. The log has the entry nevertheless.
    fs::create_dir(path.join(".head.new")).unwrap();
    assert!(!is_not_begun(&deny(&path)));
    let store = open(&path).unwrap();
    let status = store.get(&name(0xa1)).unwrap().status();
    assert_eq!(status, Status::Denied);
}

#[test]
fn symbolic_links_are_never_followed() {
    for file in ["key", "log", "head", "lock"] {
        let scratch = Scratch::new();
        let path = made(&scratch);
        let elsewhere = scratch.0.join("elsewhere");
        fs::rename(path.join(file), &elsewhere).unwrap();
        symlink(&elsewhere, path.join(file)).unwrap();
        let before = fs::read(&elsewhere).unwrap();
        let message = open(&path).err().unwrap().to_string();
        assert!(message.contains("not a regular file"), "{message}");
        assert_eq!(fs::read(&elsewhere).unwrap(), before);
    }
}

#[test]
fn a_link_in_place_of_the_temporary_file_is_removed_not_written_through() {
    let scratch = Scratch::new();
    let path = made(&scratch);
    let elsewhere = scratch.0.join("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    symlink(&elsewhere, path.join(".head.new")).unwrap();
    open(&path)
        .unwrap()
        .set_status(&name(2), Status::Denied, &at(2))
        .unwrap();
    assert_eq!(fs::read(&elsewhere).unwrap(), b"precious");
    assert_eq!(open(&path).unwrap().iter().len(), 2);
}

#[test]
fn a_copy_without_the_lock_opens() {
    let scratch = Scratch::new();
    let path = made(&scratch);
    fs::remove_file(path.join("lock")).unwrap();
    assert_eq!(open(&path).unwrap().iter().len(), 1);
}

#[test]
fn a_removed_file_is_noticed_on_disk_too() {
    for file in ["key", "log", "head"] {
        let scratch = Scratch::new();
        let path = made(&scratch);
        fs::remove_file(path.join(file)).unwrap();
        assert!(matches!(
            open(&path),
            Err(sealstone::Error::StoreAltered(_))
        ));
    }
}

#[test]
fn writers_in_threads_lose_nothing() {
    const WRITERS: u8 = 4;
    const CHANGES: u8 = 12;
    let scratch = Scratch::new();
    let path = scratch.store();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let path = &path;
            scope.spawn(move || {
                let mut store = open(path).unwrap();
                for number in 0..CHANGES {
                    store
                        .set_status(&name(writer * CHANGES + number), Status::Approved, &at(1))
                        .unwrap();
                    open(path).unwrap();
                }
                store.rekey(&at(2)).unwrap();
            });
        }
    });
    let mut store = open(&path).unwrap();
    assert_eq!(store.iter().len(), usize::from(WRITERS * CHANGES));
    assert_eq!(
        store.check().unwrap().count,
        u64::from(WRITERS * CHANGES + WRITERS)
    );
}

/// Set to a directory in processes that write to the store there repeatedly and print each
/// completed change.
const WRITER: &str = "SEALSTONE_TEST_TRUST_WRITER";
/// The number of changes of such a process.
const CHANGES: &str = "SEALSTONE_TEST_TRUST_CHANGES";

/// Not a test: other tests start this program again to run it.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(WRITER) else {
        return;
    };
    let changes: u32 = std::env::var(CHANGES).unwrap().parse().unwrap();
    let mut store = open(Path::new(&path)).unwrap();
    for number in 0..changes {
        let fingerprint = Fingerprint::from_bytes(rng::array());
        store
            .set_status(
                &fingerprint,
                Status::Approved,
                &Change {
                    time: START,
                    operator: "writer",
                    note: None,
                },
            )
            .unwrap();
        writeln!(std::io::stderr(), "done {fingerprint}").unwrap();
        if number % 5 == 4 {
            store.rekey(&at(1)).unwrap();
        }
    }
}

fn start_writer(path: &Path, changes: u32) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command
        .args(["--exact", "writer", "--nocapture"])
        .env(WRITER, path)
        .env(CHANGES, changes.to_string());
    command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Yields each change as the writer reports it.
fn done(writer: &mut Child) -> impl Iterator<Item = Fingerprint> + use<> {
    let lines = BufReader::new(writer.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok);
    lines.filter_map(|line| line.strip_prefix("done ")?.parse().ok())
}

#[test]
fn writers_in_processes_lose_nothing() {
    const CHANGES: u32 = 12;
    let scratch = Scratch::new();
    let path = scratch.store();
    let mut writers: Vec<Child> = (0..3).map(|_| start_writer(&path, CHANGES)).collect();
    let told: HashSet<Fingerprint> = writers.iter_mut().flat_map(done).collect();
    assert!(
        writers
            .iter_mut()
            .all(|writer| writer.wait().unwrap().success())
    );
    let stored: HashSet<Fingerprint> = open(&path)
        .unwrap()
        .iter()
        .map(|record| record.fingerprint())
        .collect();
    assert_eq!(told.len(), 3 * CHANGES as usize);
    assert_eq!(told, stored);
}

#[test]
fn a_writer_that_is_killed_loses_nothing_that_it_said_was_done() {
    const KILLS: u64 = 200;
    let scratch = Scratch::new();
    let path = scratch.store();
    let mut told = HashSet::new();
    let mut interrupted = 0;
    for _ in 0..KILLS {
        let mut writer = start_writer(&path, u32::MAX);
        let mut done = done(&mut writer);
        told.insert(done.next().unwrap());
        std::thread::sleep(Duration::from_micros(u64::from(rng::below(8_000))));
        writer.kill().unwrap();
        told.extend(done);
        writer.wait().unwrap();
        let mut store = open(&path).unwrap();
        interrupted += u64::from(store.check().unwrap().interrupted != Interrupted::default());
        assert!(
            told.iter()
                .all(|fingerprint| store.get(fingerprint).is_some())
        );
    }
    let mut store = open(&path).unwrap();
    println!(
        "{KILLS} kills, {interrupted} of them half-way, {} changes told, {} stored",
        told.len(),
        store.iter().len()
    );
    assert!(store.iter().len() - told.len() <= KILLS as usize);
    store.rekey(&at(3)).unwrap();
    assert_eq!(store.check().unwrap().interrupted, Interrupted::default());
}
