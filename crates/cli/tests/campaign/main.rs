//! Accidents while the command works: it is killed at any moment, the disk fills up, the other end
//! of a pipe closes, files are huge or altered. `planted` shows that these tests notice bugs.
//!
//! `make test` runs a short version, `make campaign` the long one.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod altered;
mod content;
mod directories;
mod disk;
mod fault;
mod hostile;
mod kill;
mod large;
mod memory;
mod namespace;
mod pipes;
mod planted;
mod rotation;
mod scale;
mod slots;
mod store;
mod trees;
mod victim;
mod world;
