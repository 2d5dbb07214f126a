//! Secrets are not printed, are locked in memory, are absent from children, and are wiped.
#![allow(unsafe_code, reason = "asks the system about memory, and forks")]
#![cfg(target_os = "linux")]

mod forked;
mod locked;
mod memory;
mod printed;
mod wiped;
