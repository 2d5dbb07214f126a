//! A point in the history of a trust store, as people keep it elsewhere.

use std::fmt;
use std::str::FromStr;

use super::Report;
use crate::Error;
use crate::passport::Fingerprint;

/// The length of the log and its hash; as text `COUNT:LINK`.
///
/// ```
/// use sealstone::trust::{Checkpoint, Memory, TrustStore};
///
/// let mut store = TrustStore::open(Memory::default())?;
/// let checkpoint = store.check()?.checkpoint();
/// assert_eq!(checkpoint.to_string().parse(), Ok(checkpoint));
/// # Ok::<(), sealstone::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Entries that were ever written to the log.
    pub count: u64,
    /// The hash of all of them.
    pub link: [u8; 32],
}

/// Text that is no checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCheckpoint;

impl Report {
    /// The point in the history that was checked.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            count: self.count,
            link: self.link,
        }
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = Fingerprint::from_bytes(self.link).digits();
        write!(f, "{}:{link}", self.count)
    }
}

impl FromStr for Checkpoint {
    type Err = NoCheckpoint;

    fn from_str(text: &str) -> Result<Self, NoCheckpoint> {
        let (count, link) = text.split_once(':').ok_or(NoCheckpoint)?;
        let link: Result<Fingerprint, Error> = link.parse();
        Ok(Self {
            count: count.parse().map_err(|_| NoCheckpoint)?,
            link: *link.map_err(|_| NoCheckpoint)?.as_bytes(),
        })
    }
}

impl fmt::Display for NoCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a checkpoint is a number, a colon and 64 hexadecimal digits, as \
             `sealstone trust check` prints it",
        )
    }
}

impl std::error::Error for NoCheckpoint {}
