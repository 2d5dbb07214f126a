//! Accidents while the command works: it is killed at any moment, the disk fills up,
//! the other end of a pipe goes away, files are huge or altered. And that these tests notice what
//! they are there for (`planted`).
//!
//! `make test` runs a bounded version, `scripts/campaign` the whole one.
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
