//! The monitor of signing (`spec/monitor.md`), where the user has turned it on.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sealstone::Error;
use sealstone::monitor::{Alarm, MAX_STATE, Monitor, Operation, Sample};
use sealstone::passport::Fingerprint;
use sealstone_files::{Existing, PRIVATE, keep, lock, make_directory, sync_directory};
use sealstone_terminal::text::shown;

use crate::context::Context;
use crate::failure::{About, Failure, Result};
use crate::paths;

/// An operation that has succeeded.
pub(crate) struct Measured<'a> {
    pub(crate) operation: Operation,
    pub(crate) key: &'a Fingerprint,
    pub(crate) latency: Duration,
    /// Bytes of the content.
    pub(crate) size: u64,
    /// The digest of the content, if a repetition is to be noticed.
    pub(crate) payload: Option<[u8; 32]>,
}

/// The directory of the state. The monitor is on if the state is there.
pub(crate) struct Place {
    directory: PathBuf,
}

/// Shows what the monitor notices. Without a monitor this does nothing; a failure is a warning, for
/// the operation has succeeded.
pub(crate) fn record(measured: &Measured<'_>, context: &Context) {
    let noticed = Place::of_user().and_then(|place| match place.is_on() {
        true => place.update(context, |monitor| monitor.observe(&sample(measured))),
        false => Ok(Vec::new()),
    });
    match noticed {
        Ok(alarms) => alarms.iter().for_each(|alarm| warn(alarm, context)),
        Err(failure) => context.warn(&format!(
            "the monitor did not take note: {}",
            failure.text().unwrap_or_default()
        )),
    }
}

fn warn(alarm: &Alarm, context: &Context) {
    context.warn(&format!(
        "the monitor noticed: {alarm}\n  see: sealstone monitor report"
    ));
}

fn sample(measured: &Measured<'_>) -> Sample {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let whole = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
    Sample {
        operation: measured.operation,
        key: *measured.key.as_bytes(),
        time: since.map_or(0, |since| whole(since.as_millis())),
        latency: whole(measured.latency.as_nanos()),
        size: measured.size,
        payload: measured.payload,
    }
}

impl Place {
    /// `$XDG_DATA_HOME/sealstone/monitor`.
    pub(crate) fn of_user() -> Result<Self> {
        let directory = paths::found(sealstone_files::data_directory())?.join("monitor");
        Ok(Self { directory })
    }

    /// The file of the state.
    pub(crate) fn state(&self) -> PathBuf {
        self.directory.join("state")
    }

    pub(crate) fn is_on(&self) -> bool {
        self.state().symlink_metadata().is_ok()
    }

    /// Begins a state; whether there was none.
    pub(crate) fn turn_on(&self) -> Result<bool> {
        let _lock = self.lock()?;
        if self.is_on() {
            return Ok(false);
        }
        self.write(&Monitor::random())?;
        Ok(true)
    }

    /// Removes the state; whether there was one.
    pub(crate) fn turn_off(&self) -> Result<bool> {
        if !self.is_on() {
            return Ok(false);
        }
        let _lock = self.lock()?;
        let path = self.state();
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            removed => {
                let kept = removed.and_then(|()| sync_directory(&self.directory));
                kept.about(shown(&path)).map(|()| true)
            }
        }
    }

    /// The state as it is stored; a damaged one is replaced.
    pub(crate) fn read(&self, context: &Context) -> Result<Monitor> {
        let _lock = self.lock()?;
        self.load(context)
    }

    /// Changes the state. Others wait meanwhile, so that nothing is lost.
    fn update<T>(&self, context: &Context, change: impl FnOnce(&mut Monitor) -> T) -> Result<T> {
        let _lock = self.lock()?;
        // It may have been turned off meanwhile.
        let mut monitor = self.load(context)?;
        let changed = change(&mut monitor);
        self.write(&monitor)?;
        Ok(changed)
    }

    fn lock(&self) -> Result<File> {
        make_directory(&self.directory).about(shown(&self.directory))?;
        let path = self.directory.join("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.mode(PRIVATE).open(&path).about(shown(&path))?;
        lock(&file).about(shown(&path))?;
        Ok(file)
    }

    fn load(&self, context: &Context) -> Result<Monitor> {
        let path = self.state();
        let opened = File::open(&path).about(shown(&path))?;
        let mut bytes = Vec::new();
        let limit = MAX_STATE as u64 + 1;
        let read = opened.take(limit).read_to_end(&mut bytes);
        read.about(shown(&path))?;
        match Monitor::decode(&bytes) {
            Ok(monitor) => Ok(monitor),
            Err(Error::Malformed(_)) => self.begin_anew(context),
            Err(error) => Err(Failure::from(error).about(shown(&path))),
        }
    }

    /// Keeps a damaged state aside and begins a fresh one.
    fn begin_anew(&self, context: &Context) -> Result<Monitor> {
        let path = self.state();
        let aside = (1..u32::MAX)
            .map(|number| sealstone_files::with_suffix(&path, &format!(".damaged-{number}")))
            .find(|aside| aside.symlink_metadata().is_err());
        let aside = aside.ok_or_else(|| Failure::usage("there are too many damaged states"))?;
        keep::rename(&path, &aside)?;
        context.warn(&format!(
            "the state of the monitor was altered or damaged, and begins anew\n  the old one is {}",
            shown(&aside)
        ));
        let fresh = Monitor::random();
        self.write(&fresh)?;
        Ok(fresh)
    }

    fn write(&self, monitor: &Monitor) -> Result<()> {
        let path = self.state();
        sealstone_files::write(&path, &monitor.encode(), Existing::Replace, PRIVATE)
            .about(shown(&path))
    }
}
