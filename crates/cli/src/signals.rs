//! Ctrl-C and its relatives: temporary files go, the terminal comes back, then the signal does what it always does.

use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::io::terminal;

/// Starts the thread that waits for signals. Without it signals only leave more behind.
pub(crate) fn install() {
    ignore(SIGXFSZ);
    let wanted = [SIGHUP, SIGINT, SIGTERM]
        .into_iter()
        .filter(|&signal| !is_ignored(signal));
    let Ok(mut signals) = Signals::new(wanted) else {
        return;
    };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            end_by(signal);
        }
    };
    drop(
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(wait),
    );
}

/// A file that grows beyond the limit of this process is an error like others, which is reported.
fn ignore(signal: i32) {
    // If this fails, the signal ends the process, as it would have anyway.
    let _ = signal_hook::flag::register(signal, Arc::default());
}

fn end_by(signal: i32) {
    sealstone_files::remove_temporaries();
    terminal::finish();
    // Only returns if the system refuses to end the process.
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
