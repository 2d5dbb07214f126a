//! The monitor of signing (`spec/monitor.md`), where the user has turned it on.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sealstone::Error;
use sealstone::monitor::{Alarm, Monitor, Operation, Sample};
use sealstone::passport::Fingerprint;
use sealstone_files::{MonitorDirectory, MonitorSession};
use sealstone_terminal::text::shown;

use crate::context::Context;
use crate::failure::{About, Result};
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

/// Shows what the monitor notices. Without a monitor this does nothing; a failure is a warning, for
/// the operation has succeeded.
pub(crate) fn record(measured: &Measured<'_>, context: &Context) {
    let noticed = observe(measured, context);
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

/// The state of this user.
pub(crate) fn directory() -> Result<MonitorDirectory> {
    paths::found(MonitorDirectory::of_user())
}

/// The monitor as it is stored.
pub(crate) fn read(directory: &MonitorDirectory, context: &Context) -> Result<Monitor> {
    load(directory, &directory.open()?, context)
}

fn observe(measured: &Measured<'_>, context: &Context) -> Result<Vec<Alarm>> {
    let directory = directory()?;
    if !directory.is_on() {
        return Ok(Vec::new());
    }
    // It may have been turned off meanwhile.
    let session = directory.open()?;
    let mut monitor = load(&directory, &session, context)?;
    let alarms = monitor.observe(&sample(measured));
    session.save(&monitor)?;
    Ok(alarms)
}

/// Reads the state. If it is damaged, keeps its file and begins a new state.
fn load(
    directory: &MonitorDirectory,
    session: &MonitorSession,
    context: &Context,
) -> Result<Monitor> {
    match session.monitor() {
        Err(Error::Malformed(_)) => {
            let (fresh, aside) = session.begin_anew()?;
            context.warn(&format!(
                "the state of the monitor was altered or damaged, and begins anew\n  \
                 the old one is {}",
                shown(&aside)
            ));
            Ok(fresh)
        }
        monitor => monitor.about(shown(&directory.state())),
    }
}
