//! Sealed files (`spec/file.md`).
//!
//! | to | use |
//! |---|---|
//! | seal | [`Sealer`] |
//! | know the length before sealing, and before opening | [`Prepared`], [`Opening::content_len`] |
//! | see the public part | [`Sealed`] |
//! | see the recipients' part, decide about the sender, open | [`Sealed::unlock`], [`Opening`] |
//! | read parts of a large file | [`SealedReader`] |
//! | end a content with the hashes of its beginning | [`ChunkHashes`] |
//! | sign or open with a passport that an agent holds | [`Signer`], [`WrappedKey`] |
//! | read armored files like binary ones | [`Dearmored`] |

mod chunk;
mod chunk_hashes;
mod dearmor;
mod header;
mod hedge;
mod keys;
mod one_time;
mod open;
mod private;
mod seal;
mod seek;
mod signer;
mod stanza;
mod trailer;

pub use chunk_hashes::ChunkHashes;
pub use dearmor::Dearmored;
pub use header::Suite;
pub use open::{FileKey, Opening, Sealed};
pub use private::{Metadata, Sender};
pub use seal::{Prepared, Receipt, Sealer};
pub use sealstone_skein::tree::Proof;
pub use seek::SealedReader;
pub use signer::Signer;
pub use stanza::{Description, Fact, Fitting, Keys, RecipientInfo, WrappedKey};

pub(crate) use chunk::CONTENT_LEN;
pub(crate) use signer::{FileRoot, Sign};

use crate::sign::Domain;
use std::sync::OnceLock;

/// The number of threads that work on one file. Each holds one chunk of 1 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers(usize);

/// The most threads: more would not fit in the 64 MiB that sealing and opening may take beside
/// Argon2id.
const MAX_WORKERS: usize = 32;

/// The domain of the sender's signatures.
const DOMAIN: Domain = Domain("sealstone.file.v1");

impl Workers {
    /// This many threads, at least 1 and at most 32.
    pub fn new(count: usize) -> Self {
        Self(count.clamp(1, MAX_WORKERS))
    }

    pub(crate) fn count(self) -> usize {
        self.0
    }
}

impl Default for Workers {
    /// One for each processor: measured on two, a third waits more than it helps. Asked once, as
    /// the system answers from files of control groups, which takes longer than a small file.
    fn default() -> Self {
        static COUNT: OnceLock<usize> = OnceLock::new();
        let count = || std::thread::available_parallelism().map_or(1, |n| n.get());
        Self::new(*COUNT.get_or_init(count))
    }
}
