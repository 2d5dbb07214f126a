//! The fuzz targets. Each function takes any bytes and panics if the library panics or breaks a
//! guarantee. `fuzz_targets/` passes libFuzzer's bytes to them.
//!
//! Random bytes never get through a MAC or a signature. So most targets begin with a valid object,
//! the golden files of the crate, and read their bytes as [edits](edit) of it. Or they forge: the
//! bytes choose the plaintexts, and the target encrypts, authenticates and signs them like a
//! malicious writer.
#![forbid(unsafe_code)]

mod archive;
mod edit;
mod forge;
mod golden;
mod package;
mod passports;
mod password;
mod sealed;
mod text;
mod timestamp;
mod token;
mod trust;

pub use archive::archive;
pub use package::package;
pub use passports::{public_passport, secret_passport};
pub use password::phc_string;
pub use sealed::{armor, sealed_forged, sealed_header, sealed_open};
pub use text::text;
pub use timestamp::timestamp;
pub use token::{token_message, token_text};
pub use trust::trust_store;

/// Whether this build has the planted bugs: see `README.md`.
const PLANTED: bool = cfg!(feature = "planted");
