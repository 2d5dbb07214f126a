//! What happens to secrets besides being used: not printed, locked, absent from children, wiped.
#![allow(unsafe_code, reason = "asks the system about memory, and forks")]
#![cfg(target_os = "linux")]

mod forked;
mod locked;
mod memory;
mod printed;
mod wiped;
