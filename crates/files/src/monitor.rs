//! A directory stores the state of the monitor (`spec/monitor.md`).

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sealstone::monitor::{MAX_STATE, Monitor};

use crate::directory::{PRIVATE, make_directory, sync_directory};
use crate::keep::{self, Result};
use crate::output::{OutputError, Refusal};
use crate::{Existing, data_directory, lock, with_suffix};

/// Where the state of the monitor is (`spec/monitor.md`). The monitor is on if there is a state.
#[derive(Clone, Debug)]
pub struct MonitorDirectory {
    path: PathBuf,
}

/// The state, locked until this value is dropped: other processes wait, so that nothing is lost.
#[derive(Debug)]
pub struct MonitorSession {
    state: PathBuf,
    bytes: Vec<u8>,
    _lock: File,
}

impl MonitorDirectory {
    /// The state in `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// That of this user: `monitor` in [`data_directory`].
    pub fn of_user() -> Option<Self> {
        data_directory().map(|data| Self::new(data.join("monitor")))
    }

    /// The file of the state.
    pub fn state(&self) -> PathBuf {
        self.path.join("state")
    }

    /// Whether there is a state.
    pub fn is_on(&self) -> bool {
        self.state().symlink_metadata().is_ok()
    }

    /// Begins a state; whether there was none.
    ///
    /// # Errors
    /// The system's error.
    pub fn turn_on(&self) -> Result<bool> {
        let _lock = self.lock()?;
        if self.is_on() {
            return Ok(false);
        }
        write(&self.state(), &Monitor::random())?;
        Ok(true)
    }

    /// Removes the state, durably; whether there was one.
    ///
    /// # Errors
    /// The system's error.
    pub fn turn_off(&self) -> Result<bool> {
        if !self.is_on() {
            return Ok(false);
        }
        let _lock = self.lock()?;
        let path = self.state();
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            removed => {
                let kept = removed.and_then(|()| sync_directory(&self.path));
                kept.map_err(failed(&path)).map(|()| true)
            }
        }
    }

    /// Locks and reads the state.
    ///
    /// # Errors
    /// The system's error; [`ErrorKind::NotFound`] if the monitor is off.
    pub fn open(&self) -> Result<MonitorSession> {
        let lock = self.lock()?;
        let state = self.state();
        let mut bytes = Vec::new();
        let limit = MAX_STATE as u64 + 1;
        let opened = File::open(&state);
        let read = opened.and_then(|file| file.take(limit).read_to_end(&mut bytes));
        read.map_err(failed(&state))?;
        Ok(MonitorSession {
            state,
            bytes,
            _lock: lock,
        })
    }

    fn lock(&self) -> Result<File> {
        make_directory(&self.path).map_err(failed(&self.path))?;
        let path = self.path.join("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.mode(PRIVATE).open(&path).map_err(failed(&path))?;
        lock(&file).map_err(failed(&path))?;
        Ok(file)
    }
}

impl MonitorSession {
    /// The monitor as it was read.
    ///
    /// # Errors
    /// As [`Monitor::decode`]: [`sealstone::Error::Malformed`] for a damaged state.
    pub fn monitor(&self) -> sealstone::Result<Monitor> {
        Monitor::decode(&self.bytes)
    }

    /// Replaces the state durably.
    ///
    /// # Errors
    /// The system's error.
    pub fn save(&self, monitor: &Monitor) -> Result<()> {
        write(&self.state, monitor)
    }

    /// Keeps a damaged state under another name, and begins a fresh one. Returns it, and the name.
    ///
    /// # Errors
    /// The system's error.
    pub fn begin_anew(&self) -> Result<(Monitor, PathBuf)> {
        let aside = (1..u32::MAX)
            .map(|number| with_suffix(&self.state, &format!(".damaged-{number}")))
            .find(|aside| aside.symlink_metadata().is_err());
        let none = || failed(&self.state)(ErrorKind::AlreadyExists.into());
        let aside = aside.ok_or_else(none)?;
        keep::rename(&self.state, &aside)?;
        let fresh = Monitor::random();
        self.save(&fresh)?;
        Ok((fresh, aside))
    }
}

fn write(path: &Path, monitor: &Monitor) -> Result<()> {
    crate::write(path, &monitor.encode(), Existing::Replace, PRIVATE).map_err(failed(path))
}

fn failed(path: &Path) -> impl Fn(io::Error) -> OutputError {
    move |e| OutputError::new(path, Refusal::Io(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_there_from_on_to_off() {
        let directory = tempfile::tempdir().unwrap();
        let monitor = MonitorDirectory::new(directory.path().join("monitor"));
        assert!(!monitor.is_on() && !monitor.turn_off().unwrap());
        assert!(monitor.turn_on().unwrap() && !monitor.turn_on().unwrap());
        let first = monitor.open().unwrap().monitor().unwrap();
        assert_eq!(monitor.open().unwrap().monitor().unwrap(), first);
        assert!(monitor.turn_off().unwrap() && !monitor.is_on());
        let off = monitor.open().unwrap_err();
        let Refusal::Io(reason) = off.reason else {
            panic!("{off:?}");
        };
        assert_eq!(
            (off.path, reason.kind()),
            (monitor.state(), ErrorKind::NotFound)
        );
    }

    #[test]
    fn damaged_states_are_kept_each_under_a_name_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let monitor = MonitorDirectory::new(directory.path());
        monitor.turn_on().unwrap();
        for number in 1..3 {
            let damage = format!("damage {number}");
            std::fs::write(monitor.state(), &damage).unwrap();
            let session = monitor.open().unwrap();
            assert!(matches!(
                session.monitor(),
                Err(sealstone::Error::Malformed(_))
            ));
            let (fresh, aside) = session.begin_anew().unwrap();
            assert!(aside.ends_with(format!("state.damaged-{number}")));
            assert_eq!(std::fs::read_to_string(aside).unwrap(), damage);
            drop(session);
            assert_eq!(monitor.open().unwrap().monitor().unwrap(), fresh);
        }
    }

    #[test]
    fn a_session_keeps_others_out() {
        let directory = tempfile::tempdir().unwrap();
        let monitor = MonitorDirectory::new(directory.path());
        monitor.turn_on().unwrap();
        let session = monitor.open().unwrap();
        let other = File::open(directory.path().join("lock")).unwrap();
        assert!(other.try_lock().is_err());
        drop(session);
        other.try_lock().unwrap();
    }
}
