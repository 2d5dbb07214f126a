//! Packages: a signed manifest of files that is checked in six layers (`spec/package.md`).
//!
//! | to | use |
//! |---|---|
//! | make and sign a package | [`Draft`], [`Json`] for its policy |
//! | store and read one | [`Package`], [`Manifest`], [`Entry`] |
//! | verify one | [`Verifier`], [`Report`], [`Layer`], [`Verdict`] |
//! | say where files are | [`Source`], [`Object`], [`RelativePath`], [`Unreadable`] |
//! | let others check it without us | [`Package::evidence`], [`Evidence`] |
//! | derive keys that are bound to it | [`DerivedKeys`] |

mod bundle;
mod content;
mod draft;
mod evidence;
mod json;
mod keys;
mod layer;
mod manifest;
mod measure;
mod path;
mod report;
mod signer;
mod stamps;
mod verify;

pub use bundle::{MAX_EMBEDDED, MAX_PACKAGE, Package, Role};
pub use content::{Finding, FindingKind, Object, Source, Unreadable, Work};
pub use draft::{Draft, Listed};
pub use evidence::Evidence;
pub use json::{Json, MAX_POLICY};
pub use keys::DerivedKeys;
pub use layer::{Layer, LayerReport, Verdict};
pub use manifest::{DigestKind, Entry, EntryContent, Manifest};
pub use path::RelativePath;
pub use verify::{Opinion, Report, SignerReport, Verifier};
