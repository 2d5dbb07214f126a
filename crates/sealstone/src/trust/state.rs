//! Reading the three files, and the order in which they are written (`spec/trust.md`, "Writing" and
//! "Reading").

use super::entry::Entry;
use super::head::Head;
use super::key::{self, StoreKey};
use super::lifecycles::Lifecycles;
use super::link::NO_LINK;
use super::log::{self, Log, MAX_LOG};
use super::record::Index;
use super::signature::Countersignature;
use super::{VERSION, altered};
use crate::{Error, Result};

use super::{File, ReadSession, Record, WriteSession};
use crate::passport::Fingerprint;

/// The content of the files.
#[derive(Default)]
pub(super) struct State {
    pub(super) log: Log,
    index: Index,
    pub(super) lifecycles: Lifecycles,
    pub(super) signature: Option<Countersignature>,
    pub(super) interrupted: Interrupted,
}

/// The remains of a writer that was stopped half-way. The next change repairs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interrupted {
    /// The store was about to be made.
    pub creation: bool,
    /// The store was about to be given a new key.
    pub rekey: bool,
    /// Entries that were written whole but that the head does not count yet. They are in force.
    pub uncounted: u64,
    /// Bytes of an entry that was not written whole. They have no effect.
    pub torn: u64,
}

/// The state with the key that allows changes. It is dropped after one change.
pub(super) struct Unlocked {
    pub(super) state: State,
    /// The key of the log; `None` before the store is made.
    key: Option<StoreKey>,
}

/// Bytes of the longest key or head.
const MAX_SMALL: usize = 128;
/// Bytes of the longest countersignature.
const MAX_SIGNATURE: usize = 8192;

impl State {
    pub(super) fn get(&self, fingerprint: &Fingerprint) -> Option<Record<'_>> {
        self.index.get(self.log.entries(), fingerprint)
    }

    pub(super) fn records(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        self.index.iter(self.log.entries())
    }

    fn new(log: Log, interrupted: Interrupted) -> Self {
        let mut state = Self {
            log,
            interrupted,
            ..Self::default()
        };
        for (position, entry) in state.log.entries().iter().enumerate() {
            state.index.add(position, entry);
            state.lifecycles.add(entry);
        }
        state
    }

    /// Takes the countersignature, which must be of a beginning of the log. Only the owner's public
    /// keys can tell whether it is authentic.
    fn attach(&mut self, signature: Option<Countersignature>) -> Result<()> {
        let signed = signature.as_ref().map(|it| (it.count(), it.link()));
        if signed.is_some_and(|(count, link)| self.log.link_at(count) != Some(link)) {
            return Err(altered("its log and its countersignature disagree"));
        }
        self.signature = signature;
        Ok(())
    }
}

impl Unlocked {
    /// Reads and verifies everything.
    pub(super) fn load(session: &impl ReadSession) -> Result<Self> {
        let read = |file, limit: usize| -> Result<Option<Vec<u8>>> {
            let bytes = session.read(file, limit + 1)?;
            let fits = bytes.as_ref().is_none_or(|bytes| bytes.len() <= limit);
            if fits {
                Ok(bytes)
            } else {
                Err(altered("one of its files is too long"))
            }
        };
        let key = read(File::Key, MAX_SMALL)?.map(zeroize::Zeroizing::new);
        let files = (key, read(File::Log, MAX_LOG)?, read(File::Head, MAX_SMALL)?);
        let signature = read(File::Signature, MAX_SIGNATURE)?;
        let signature = signature.map(|bytes| Countersignature::decode(&bytes));
        let mut loaded = match files {
            (Some(key), Some(log), Some(head)) => Self::verify(&key, &log, &head),
            (None, None, None) if signature.is_none() => Ok(Self {
                state: State::default(),
                key: None,
            }),
            (None, Some(log), _) => Self::unborn(&log),
            (Some(_), None, _) => Err(altered("its log is missing")),
            (Some(_), _, None) => Err(altered("its head is missing")),
            (None, None, _) => Err(altered("its key and its log are missing")),
        }?;
        loaded.state.attach(signature.transpose()?)?;
        Ok(loaded)
    }

    fn verify(key: &[u8], log: &[u8], head: &[u8]) -> Result<Self> {
        check_version(key, log, head)?;
        let mut keys = key::decode(key)?;
        let head = Head::decode(head, &keys)?;
        let log_key_id = log::key_id(log)?;
        let rekey = keys.len() > 1;
        let named = keys.iter().position(|key| key.id() == log_key_id);
        let key = keys.swap_remove(named.ok_or_else(|| altered("its log belongs to another key"))?);
        let (log, torn) = Log::read(log, &key, &head)?;
        let interrupted = Interrupted {
            creation: false,
            rekey,
            uncounted: log.len() - head.count(),
            torn: torn as u64,
        };
        Ok(Self {
            state: State::new(log, interrupted),
            key: Some(key),
        })
    }

    /// A store without a key is one that was never finished, if its log holds no entry.
    fn unborn(log: &[u8]) -> Result<Self> {
        log::key_id(log)?;
        if log.len() > log::HEADER_LEN {
            return Err(altered("its key is missing"));
        }
        let interrupted = Interrupted {
            creation: true,
            ..Interrupted::default()
        };
        Ok(Self {
            state: State::new(Log::default(), interrupted),
            key: None,
        })
    }

    /// As [`Unlocked::load`]; fails if there is no store.
    pub(super) fn existing(session: &impl ReadSession) -> Result<Self> {
        let loaded = Self::load(session)?;
        match loaded.key {
            Some(_) => Ok(loaded),
            None => Err(Error::Invalid("there is no trust store yet")),
        }
    }

    /// Adds `entry`. Fails if the log would then be longer than `limit` bytes.
    pub(super) fn append(
        &mut self,
        session: &mut impl WriteSession,
        entry: Entry,
        limit: usize,
    ) -> Result<()> {
        let key = self.prepare(session)?;
        let framed = self.state.push(entry, &key, limit)?;
        if self.state.interrupted.torn == 0 {
            session.append(File::Log, &framed)?;
        } else {
            session.replace(File::Log, &self.state.log.to_bytes(&key))?;
        }
        session.replace(File::Head, &self.state.head(&key))?;
        self.finish(key);
        Ok(())
    }

    /// Removes the introductions that `goes` names, and adds `entry`, which records that.
    pub(super) fn prune(
        &mut self,
        session: &mut impl WriteSession,
        entry: Entry,
        goes: impl Fn(&Entry) -> bool,
    ) -> Result<()> {
        let key = self.prepare(session)?;
        let mut log = std::mem::take(&mut self.state.log);
        log.prune(goes);
        log.push(entry, &key, MAX_LOG)?;
        let signature = self.state.signature.take();
        self.state = State::new(log, Interrupted::default());
        self.state.signature = signature;
        session.replace(File::Log, &self.state.log.to_bytes(&key))?;
        session.replace(File::Head, &self.state.head(&key))?;
        self.finish(key);
        Ok(())
    }

    /// Gives the store a new key; `entry` says so in the log. At every moment `key` holds the
    /// secret that the log is under.
    pub(super) fn rekey(&mut self, session: &mut impl WriteSession, entry: Entry) -> Result<()> {
        let old = self.prepare(session)?;
        let new = StoreKey::random();
        self.state.push(entry, &new, MAX_LOG)?;
        session.replace(File::Key, &key::encode(&[&old, &new]))?;
        session.replace(File::Log, &self.state.log.to_bytes(&new))?;
        session.replace(File::Head, &self.state.head(&new))?;
        session.replace(File::Key, &key::encode(&[&new]))?;
        self.finish(new);
        Ok(())
    }

    /// Makes the store if there is none, and ends a rekey that was interrupted, under the key that
    /// the log is under.
    fn prepare(&mut self, session: &mut impl WriteSession) -> Result<StoreKey> {
        let Some(key) = self.key.take() else {
            return create(session);
        };
        if self.state.interrupted.rekey {
            session.replace(File::Head, &self.state.head(&key))?;
            session.replace(File::Key, &key::encode(&[&key]))?;
        }
        Ok(key)
    }

    fn finish(&mut self, key: StoreKey) {
        self.key = Some(key);
        self.state.interrupted = Interrupted::default();
    }
}

impl State {
    fn push(&mut self, entry: Entry, key: &StoreKey, limit: usize) -> Result<Vec<u8>> {
        let framed = self.log.push(entry, key, limit)?;
        let position = self.log.entries().len() - 1;
        let entry = &self.log.entries()[position];
        self.index.add(position, entry);
        self.lifecycles.add(entry);
        Ok(framed)
    }

    fn head(&self, key: &StoreKey) -> Vec<u8> {
        Head::new(key, self.log.len(), *self.log.link()).encode()
    }
}

/// Makes an empty store. The key comes last, so that a half-made store, which has none, differs
/// from a damaged one.
fn create(session: &mut impl WriteSession) -> Result<StoreKey> {
    let key = StoreKey::random();
    session.replace(File::Log, &log::header(&key.id()))?;
    session.replace(File::Head, &Head::new(&key, 0, NO_LINK).encode())?;
    session.replace(File::Key, &key::encode(&[&key]))?;
    Ok(key)
}

/// The files of a newer version all name that version. A single file that names another version
/// was altered.
fn check_version(key: &[u8], log: &[u8], head: &[u8]) -> Result<()> {
    let versions = [key.get(1).copied(), log::version(log), head.get(1).copied()];
    let newer = versions[0].is_some_and(|version| version > VERSION)
        && versions.iter().all(|version| *version == versions[0]);
    if newer {
        Err(Error::Unsupported("trust store"))
    } else {
        Ok(())
    }
}
