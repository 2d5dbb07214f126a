//! The log of operators' actions: a log in the store, whose entries bind each other by digests
//! (`spec/service.md`, "Audit log").
//!
//! ```
//! use std::sync::Arc;
//! use sealstone_server::audit::{Event, Log};
//! use sealstone_server::clock::Clock;
//! use sealstone_server::store::RedbStore;
//!
//! let directory = tempfile::tempdir()?;
//! let store = Arc::new(RedbStore::open(&directory.path().join("store.redb"))?);
//! let log = Log::new(store, Clock::system());
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! runtime.block_on(async {
//!     log.append("alice", &Event::LoggedIn).await?;
//!     assert_eq!(log.verify(None).await?.count, 1);
//!     Ok::<(), sealstone_server::Error>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use sealstone_primitives::hash::sha3_256;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::operators::Role;
use crate::store::{LOG, Replace, Store, StoreError};
use crate::{Error, Result};

const HEAD: &str = "audit/head";
const LABEL: &[u8] = b"sealstone.service.audit\0";
/// How often an entry is tried while other processes append, too.
const ATTEMPTS: usize = 64;

/// Something that is logged. No field can hold a secret, or anything of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// A service started.
    Started {
        /// Its version.
        version: String,
    },
    /// An operator was added, or has another role or password.
    OperatorSet {
        /// The name.
        name: String,
        /// The role from now on.
        role: Role,
    },
    /// An operator was removed.
    OperatorRemoved {
        /// The name.
        name: String,
    },
    /// A session began.
    LoggedIn,
    /// A password was wrong, or there were too many attempts.
    LoginRefused,
    /// A session ended.
    LoggedOut,
    /// All sessions of an operator ended.
    SessionsEnded {
        /// The name.
        name: String,
    },
    /// The next epoch began before its time.
    KeysRotated,
    /// All keys were replaced.
    KeysRevoked,
    /// A backup was begun.
    BackedUp,
    /// An invitation was made.
    Invited {
        /// The gate.
        gate: String,
        /// The invitation's id.
        id: String,
        /// For how many tokens.
        quota: u64,
        /// When it ends, in seconds since 1970.
        until: u64,
    },
    /// An invitation was revoked, with all below it.
    Uninvited {
        /// The gate.
        gate: String,
        /// The invitation's id.
        id: String,
    },
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Counts from 1.
    pub number: u64,
    /// Seconds since 1970.
    pub time: u64,
    /// The operator; `local` for the socket's owner, `service` for the service itself.
    pub who: String,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// The digest of the entry before, in hexadecimal.
    pub previous: String,
}

/// The end of a log: `COUNT:DIGEST`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// How many entries.
    pub count: u64,
    /// The digest of the last one, in hexadecimal.
    pub digest: String,
}

impl Default for Head {
    fn default() -> Self {
        Self {
            count: 0,
            digest: "0".repeat(64),
        }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.count, self.digest)
    }
}

impl FromStr for Head {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = text.split_once(':').and_then(|(count, digest)| {
            let is_digest = digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit());
            Some(Self {
                count: count.parse().ok()?,
                digest: is_digest.then(|| digest.to_ascii_lowercase())?,
            })
        });
        parsed.ok_or_else(|| {
            Error::Config(format!(
                "{text:?} is not an end of a log: it has the form 12:DIGEST, as `audit verify` prints"
            ))
        })
    }
}

/// The log of one store. All processes of a store append to the same one.
#[derive(Clone)]
pub struct Log {
    store: Arc<dyn Store>,
    clock: Clock,
}

impl Log {
    /// The log in `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// Appends an entry, durably. Call it before you do what it says: an entry means that
    /// somebody ordered it.
    ///
    /// # Errors
    /// If the store fails. Then do nothing.
    pub async fn append(&self, who: &str, event: &Event) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let before = self.store.get(HEAD).await?;
            let head = decode_head(before.as_deref())?;
            let entry = Entry {
                number: head.count + 1,
                time: self.clock.now(),
                who: who.to_owned(),
                event: event.clone(),
                previous: head.digest,
            };
            let bytes = serde_json::to_vec(&entry).map_err(|_| altered(entry.number))?;
            let after = Head {
                count: entry.number,
                digest: digest(&bytes),
            };
            let records = vec![
                Replace {
                    name: HEAD.to_owned(),
                    expected: before,
                    value: Some(after.to_string().into_bytes()),
                },
                Replace::create(name(entry.number), bytes),
            ];
            if self.store.update(records).await? {
                return Ok(());
            }
        }
        Err(StoreError::Busy.into())
    }

    /// At most `limit` entries below the number `before`, the last one first.
    ///
    /// # Errors
    /// If the store fails, or an entry was altered.
    pub async fn page(&self, before: Option<u64>, limit: u64) -> Result<Vec<Entry>> {
        let end = decode_head(self.store.get(HEAD).await?.as_deref())?.count;
        let last = before.map_or(end, |before| before.saturating_sub(1).min(end));
        let mut entries = Vec::new();
        for number in (last.saturating_sub(limit) + 1..=last).rev() {
            entries.push(self.entry(number).await?.0);
        }
        Ok(entries)
    }

    /// Reads the whole log, and returns its end. With `expected`, an end that you noted before,
    /// it also finds a log that was replaced or cut.
    ///
    /// # Errors
    /// If the store fails, or an entry was altered, removed or added.
    pub async fn verify(&self, expected: Option<&Head>) -> Result<Head> {
        let end = decode_head(self.store.get(HEAD).await?.as_deref())?;
        let mut seen = Head::default();
        let mut was_expected = expected.is_none_or(|expected| *expected == seen);
        for number in 1..=end.count {
            let (entry, digest) = self.entry(number).await?;
            if entry.number != number || entry.previous != seen.digest {
                return Err(altered(number));
            }
            seen = Head {
                count: number,
                digest,
            };
            was_expected |= expected == Some(&seen);
        }
        if seen != end {
            return Err(altered(seen.count));
        }
        // An entry after the end may have been appended meanwhile: only a head that stood still
        // says that there is one too many.
        let has_more = self.store.get(&name(end.count + 1)).await?.is_some();
        if has_more && decode_head(self.store.get(HEAD).await?.as_deref())? == end {
            return Err(altered(end.count + 1));
        }
        match was_expected {
            true => Ok(seen),
            false => Err(Error::Damaged(
                "the audit log (it never had the end that you noted)".to_owned(),
            )),
        }
    }

    async fn entry(&self, number: u64) -> Result<(Entry, String)> {
        let bytes = self.store.get(&name(number)).await?;
        let bytes = bytes.ok_or_else(|| altered(number))?;
        let entry = serde_json::from_slice(&bytes).map_err(|_| altered(number))?;
        Ok((entry, digest(&bytes)))
    }
}

fn name(number: u64) -> String {
    format!("{LOG}audit/{number:020}")
}

fn digest(entry: &[u8]) -> String {
    crate::hex(&sha3_256(&[LABEL, entry].concat()))
}

fn decode_head(bytes: Option<&[u8]>) -> Result<Head> {
    let Some(bytes) = bytes else {
        return Ok(Head::default());
    };
    let text = std::str::from_utf8(bytes).ok();
    let head = text.and_then(|text| text.parse().ok());
    head.ok_or_else(|| Error::Damaged(format!("the record {HEAD}")))
}

fn altered(number: u64) -> Error {
    Error::Damaged(format!("entry {number} of the audit log"))
}
