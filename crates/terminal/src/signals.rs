//! Signals that end the process: temporary files are removed and the terminal is restored first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::question;

/// Whether another program has the terminal, and Ctrl-C is meant for it.
static INTERRUPTS_ARE_ANOTHERS: AtomicBool = AtomicBool::new(false);

/// Until it is dropped, SIGINT does not end this process: an editor takes Ctrl-C for itself, and
/// the whole group of the terminal gets it.
#[derive(Debug)]
pub struct InterruptsForAnother(());

impl InterruptsForAnother {
    /// From now on.
    #[must_use]
    pub fn begin() -> Self {
        INTERRUPTS_ARE_ANOTHERS.store(true, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for InterruptsForAnother {
    fn drop(&mut self) {
        INTERRUPTS_ARE_ANOTHERS.store(false, Ordering::SeqCst);
    }
}

/// Starts the thread that waits for signals. Without it, signals leave temporary files behind.
pub fn install() {
    ignore(SIGXFSZ);
    let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
        .into_iter()
        .filter(|&signal| !is_ignored(signal));
    let Ok(mut signals) = Signals::new(wanted) else {
        return;
    };
    let wait = move || {
        let anothers =
            |signal: i32| signal == SIGINT && INTERRUPTS_ARE_ANOTHERS.load(Ordering::SeqCst);
        if let Some(signal) = signals.forever().find(|&signal| !anothers(signal)) {
            end_by(signal);
        }
    };
    drop(
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(wait),
    );
}

/// Makes exceeding the limit for file sizes an error, which is reported like others.
fn ignore(signal: i32) {
    // If this fails, the signal ends the process, as it does by default.
    let _ = signal_hook::flag::register(signal, Arc::default());
}

fn end_by(signal: i32) {
    sealstone_files::remove_temporaries();
    question::finish();
    // Returns only if the system refuses to end the process.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal);
}

/// Whether the caller wants the signal ignored, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
