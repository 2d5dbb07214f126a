//! Files of the programs: whole or absent, durable, private where they must be.
//!
//! | to | use |
//! |---|---|
//! | read a file, a pipe or a descriptor, and name it in errors | [`Input`], [`Document`], [`duplicate`] |
//! | know which standard descriptors the caller has closed | [`Standard`] |
//! | write a file that appears whole or not at all | [`AtomicFile`], [`write()`] |
//! | fill a directory that appears whole or not at all | [`NewDirectory`] |
//! | remove temporary files when a signal ends the process | [`remove_temporaries`] |
//! | replace a file behind a link | [`PlacedFile`] |
//! | know what an output may replace | [`Target`], [`NewFile`], [`OutputError`] |
//! | write files that must not be lost | [`keep`] |
//! | write to another thread until it is closed | [`Pipe`] |
//! | work on many files at once | [`in_order`] |
//! | copy a pipe to read it twice, make redirected output durable | [`spool`], [`settle`] |
//! | read a sealed file at any position | [`SealedFile`] |
//! | find the default passport and the trust store of the user | [`default_passport`], [`trust_directory`] |
//! | find the files of a passport | [`public_half`], [`tagged`], [`former_default_passports`] |
//! | write or replace the files of a passport | [`PassportFiles::write`], [`PassportFiles::replace`] |
//! | read the public half of a passport | [`PassportFiles::read_public`] |
//! | list the default passports that another one has replaced | [`replaced_passports`] |
//! | keep a secret text off the disk | [`directory_in_memory`] |
//! | make a directory durably, or a directory entry | [`make_directory`], [`sync_directory`] |
//! | keep other processes out of a file | [`lock`] |
//! | keep a trust store in a directory | [`TrustDirectory`] |
//! | store the monitor of signing | [`MonitorDirectory`] |
//! | take each name only once | [`take_once`] |
//! | read the files of a package below a directory | [`Tree`] |
//! | ask the agent of this user, or be it | [`AgentSocket`], [`AgentListener`] |
//! | make an archive of a directory, and unpack one | [`Walk`], [`Unpack`] |
//!
//! ```
//! use sealstone_files::{AtomicFile, Existing, Sync};
//! use std::io::Write;
//!
//! let directory = tempfile::tempdir()?;
//! let report = directory.path().join("report");
//! let new = AtomicFile::new(directory.path())?;
//! new.file().write_all(b"all of it")?;
//! // Until here nobody sees a file; from here on it stays, also through a crash.
//! new.commit(&report, Existing::Keep, 0o600, Sync::Full)?;
//! assert_eq!(std::fs::read(report)?, b"all of it");
//! # Ok::<(), std::io::Error>(())
//! ```
#![deny(unsafe_code)]

mod agent;
mod atomic;
mod descriptor;
mod directory;
mod input;
pub mod keep;
mod locking;
mod monitor;
mod names;
mod once;
mod output;
mod parallel;
mod passport;
mod place;
mod sealed;
mod standard;
mod steady;
mod stream;
mod temporary;
mod tree;
mod trust;
mod unpack;
mod user;
mod walk;
mod whole;

pub use agent::{AgentEnds, AgentListener, AgentPlace, AgentSocket, RUNTIME_DIRECTORY};
pub use atomic::{AtomicFile, Existing, Sync, write};
pub use descriptor::duplicate;
pub use directory::{
    PRIVATE, PUBLIC, WRITABLE_BY_OTHERS, directory_in_memory, directory_of, make_directory,
    sync_directory, umask,
};
pub use input::{Document, Input, named, plain};
pub use locking::{lock, lock_shared};
pub use monitor::{MonitorDirectory, MonitorSession};
pub use names::{DEFAULT_PASSPORT, former_default_passports, public_half, tagged, with_suffix};
pub use once::take_once;
pub use output::{NewFile, OutputError, Pipe, Refusal, Target};
pub use parallel::{in_order, worker_threads};
pub use passport::{Exposed, PassportError, PassportFiles, can_be_exchanged, replaced_passports};
pub use place::{PlacedFile, holds};
pub use sealed::SealedFile;
pub use standard::Standard;
pub use stream::{settle, spool};
pub use temporary::remove_temporaries;
pub use tree::{Found, Tree};
pub use trust::{TrustDirectory, TrustSession, is_not_begun, names_its_file};
pub use unpack::{Place, Unpack, Unpacked};
pub use user::{data_directory, default_passport, trust_directory};
pub use walk::{Content, Show, Walk};
pub use whole::NewDirectory;
