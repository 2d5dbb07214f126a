//! The lock of a terminal, by which the commands of a pipe take turns.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, getpgid, getpgrp, getpid};
use rustix::termios::ttyname;

/// How long a message waits for another command of the pipe. Then it is shown all the same: it must
/// not be lost, and two commands must not wait for each other.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same if the system does not tell which process has the lock.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(20);

/// Waits until no other command has the terminal. `None` where there is no lock to be had.
pub(super) fn wait() -> Option<File> {
    let device = open(questions()?)?;
    sealstone_files::lock(&device).ok().map(|()| device)
}

/// Waits until no other command of this pipe has the terminal of standard error.
pub(super) fn wait_for_a_message() -> Option<File> {
    let device = open(standard_error()?)?;
    let start = Instant::now();
    loop {
        let patience = match try_lock(&device) {
            State::Free => return Some(device),
            State::Peers => PATIENCE,
            State::Unknown => SHORT_PATIENCE,
            State::Others => return None,
        };
        if start.elapsed() >= patience {
            return None;
        }
        sleep(PAUSE);
    }
}

/// Whether another command of this pipe has the terminal of standard error.
pub(super) fn is_a_peers() -> bool {
    let device = standard_error().and_then(open);
    device.is_some_and(|device| try_lock(&device) == State::Peers)
}

/// The owner of the lock.
#[derive(PartialEq)]
enum State {
    /// This process, from now on.
    Free,
    /// Another command of the same pipe.
    Peers,
    /// A command that may be stopped, or another thread of this process.
    Others,
    Unknown,
}

fn try_lock(device: &File) -> State {
    match device.try_lock() {
        Ok(()) => State::Free,
        Err(TryLockError::Error(_)) => State::Others,
        Err(TryLockError::WouldBlock) => match holder(device) {
            None => State::Unknown,
            Some(process) if is_a_peer(process) => State::Peers,
            Some(_) => State::Others,
        },
    }
}

/// The commands of a pipe form a process group, which the shell stops and continues as a whole.
fn is_a_peer(process: Pid) -> bool {
    process != getpid() && getpgid(Some(process)).is_ok_and(|group| group == getpgrp())
}

/// The process that has the lock, as Linux lists it.
#[cfg(target_os = "linux")]
fn holder(device: &File) -> Option<Pid> {
    use rustix::fs::{fstat, major, minor};
    let table = std::fs::read_to_string("/proc/locks").ok()?;
    let stat = fstat(device).ok()?;
    let (major, minor, inode) = (major(stat.st_dev), minor(stat.st_dev), stat.st_ino);
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    let process = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "FLOCK", _, _, process, found, ..] if found == file => process.parse().ok(),
        _ => None,
    };
    Pid::from_raw(table.lines().find_map(process)?)
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<Pid> {
    None
}

fn open(path: PathBuf) -> Option<File> {
    // The terminal must not become the controlling one of this process.
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let device = rustix::fs::open(path, flags, Mode::empty());
    device.ok().map(File::from)
}

/// The name of the terminal that questions are asked on. `/dev/tty` is the same name, and the same
/// lock, for all terminals.
fn questions() -> Option<PathBuf> {
    let standard = || {
        let name = ttyname(rustix::stdio::stdout(), Vec::new())
            .or_else(|_| ttyname(rustix::stdio::stdin(), Vec::new()));
        Some(PathBuf::from(name.ok()?.into_string().ok()?))
    };
    pseudo_terminal().or_else(standard_error).or_else(standard)
}

fn standard_error() -> Option<PathBuf> {
    let name = ttyname(rustix::stdio::stderr(), Vec::new()).ok()?;
    Some(PathBuf::from(name.into_string().ok()?))
}

/// The controlling terminal if it is a pseudo-terminal, as Linux numbers them.
fn pseudo_terminal() -> Option<PathBuf> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold anything; after it come state, parent, group and session.
    let (_, fields) = stat.rsplit_once(')')?;
    let device: u32 = fields.split_whitespace().nth(4)?.parse().ok()?;
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xfff00);
    (136..144)
        .contains(&major)
        .then(|| format!("/dev/pts/{}", (major - 136) << 8 | minor).into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let [one, two] = [(), ()].map(|()| File::open(file.path()).unwrap());
        assert_eq!(holder(&one), None);
        one.lock().unwrap();
        assert_eq!(holder(&two), Some(getpid()));
        // A process does not wait for itself.
        assert!(try_lock(&two) == State::Others);
        drop(one);
        assert!(try_lock(&two) == State::Free);
    }
}
