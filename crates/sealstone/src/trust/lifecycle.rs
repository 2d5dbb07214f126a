//! Changes to the lifecycles of the user's own keys (`spec/trust.md`, "Key lifecycle").

use super::entry::{Entry, Event};
use super::lifecycle_entry::LifecycleEntry;
use super::state::State;
use super::{Change, MAX_LOG, Storage, TrustStore};
use crate::lifecycle::{KeyLifecycle, Limits, MAX_USES, Refusal, Stage};
use crate::passport::{Contact, Fingerprint, PublicPassport};
use crate::{Error, Result};

/// Uses of a key that were reserved durably, or need not be: the key may sign.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reserved use is used up"]
pub struct Reservation {
    /// The lifecycle after it.
    pub lifecycle: KeyLifecycle,
}

impl<S: Storage> TrustStore<S> {
    /// The lifecycle of a key: active without limits if the store says nothing about it.
    #[must_use]
    pub fn key_lifecycle(&self, fingerprint: &Fingerprint) -> KeyLifecycle {
        self.state.lifecycles.get(fingerprint)
    }

    /// The keys whose lifecycles were ever changed, with the labels of their passports.
    pub fn key_lives(&self) -> impl Iterator<Item = (Fingerprint, &str, KeyLifecycle)> {
        self.state.lifecycles.iter()
    }

    /// Reserves `uses` signatures of a key at `change.time`, which must be now. Call it before
    /// signing: the uses are durable when it returns, so that a crash never gives more. Without a
    /// limit of uses it only checks, and writes nothing.
    ///
    /// # Errors
    /// [`Error::KeyLifecycle`] if the key may not sign; else as [`TrustStore::introduce`].
    pub fn reserve(
        &mut self,
        fingerprint: &Fingerprint,
        uses: u64,
        change: &Change<'_>,
    ) -> Result<Reservation> {
        if !(1..=MAX_USES).contains(&uses) {
            return Err(Error::Invalid("reserve 1 to 100000 uses"));
        }
        self.refresh()?;
        let lifecycle = self.key_lifecycle(fingerprint);
        if lifecycle.limits.max_uses.is_none() {
            lifecycle
                .may_sign(change.time, uses)
                .map_err(Error::KeyLifecycle)?;
            return Ok(Reservation { lifecycle });
        }
        self.change(MAX_LOG, |state| {
            let lifecycle = state.lifecycles.get(fingerprint);
            lifecycle
                .may_sign(change.time, uses)
                .map_err(Error::KeyLifecycle)?;
            Ok(lifecycle.limits.max_uses.map(|_| Entry {
                uses: Some(uses),
                ..about_a_key(Event::Used, fingerprint, "", change)
            }))
        })?;
        let lifecycle = self.key_lifecycle(fingerprint);
        Ok(Reservation { lifecycle })
    }

    /// Sets the limits of a key that still signs.
    ///
    /// # Errors
    /// [`Error::KeyLifecycle`] if it no longer signs; [`Error::Invalid`] if the limits contradict
    /// each other; else as [`TrustStore::introduce`].
    pub fn set_limits(
        &mut self,
        fingerprint: &Fingerprint,
        label: &str,
        limits: Limits,
        change: &Change<'_>,
    ) -> Result<KeyLifecycle> {
        if !limits.are_valid() {
            return Err(Error::Invalid(
                "a key's not-before is not after its not-after, and its limit of uses is 1 to 100000",
            ));
        }
        self.change_lifecycle(fingerprint, label, change, |lifecycle| {
            match lifecycle.stage.signs() {
                true => Ok(KeyLifecycle {
                    limits,
                    ..lifecycle
                }),
                false => Err(Refusal::Stage(lifecycle.stage)),
            }
        })
    }

    /// Names the passport that succeeds `old`. `old` has signed the succession. From then on, the
    /// old key is rotating.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `successor` does not say that it succeeds `old`, [`Error::Altered`] if
    /// `old` did not sign it; [`Error::KeyLifecycle`] if the stage does not allow it; else as
    /// [`TrustStore::introduce`].
    pub fn rotate_key(
        &mut self,
        old: &Contact,
        successor: &PublicPassport,
        change: &Change<'_>,
    ) -> Result<KeyLifecycle> {
        let (old_name, new_name) = (old.fingerprint(), successor.contact().fingerprint());
        let succession = successor.succession();
        let succession = succession.filter(|it| it.predecessor() == old_name);
        let succession = succession.ok_or(Error::Invalid(
            "the new passport does not say that it succeeds the old one",
        ))?;
        succession.verify(old, &new_name)?;
        self.change_lifecycle(&old_name, old.label(), change, |lifecycle| {
            Ok(KeyLifecycle {
                stage: lifecycle.stage.to(Stage::Rotating)?,
                successor: Some(*new_name.as_bytes()),
                ..lifecycle
            })
        })
    }

    /// From now on the key signs no more; its signatures stay good.
    ///
    /// # Errors
    /// [`Error::KeyLifecycle`] if the stage does not allow it; else as [`TrustStore::introduce`].
    pub fn deprecate_key(
        &mut self,
        fingerprint: &Fingerprint,
        label: &str,
        change: &Change<'_>,
    ) -> Result<KeyLifecycle> {
        self.change_lifecycle(fingerprint, label, change, |lifecycle| {
            let stage = lifecycle.stage.to(Stage::Deprecated)?;
            Ok(KeyLifecycle { stage, ..lifecycle })
        })
    }

    fn change_lifecycle(
        &mut self,
        fingerprint: &Fingerprint,
        label: &str,
        change: &Change<'_>,
        edit: impl FnOnce(KeyLifecycle) -> Result<KeyLifecycle, Refusal>,
    ) -> Result<KeyLifecycle> {
        self.change(MAX_LOG, |state| {
            let lifecycle = edit(state.lifecycles.get(fingerprint)).map_err(Error::KeyLifecycle)?;
            let lifecycle = LifecycleEntry::new(&lifecycle)
                .ok_or(Error::KeyLifecycle(Refusal::Stage(lifecycle.stage)))?;
            Ok(Some(Entry {
                lifecycle: Some(lifecycle),
                ..about_a_key(Event::Lifecycle, fingerprint, label, change)
            }))
        })?;
        Ok(self.key_lifecycle(fingerprint))
    }
}

/// An entry about a key; a note belongs to one entry.
fn about_a_key(event: Event, fingerprint: &Fingerprint, label: &str, change: &Change<'_>) -> Entry {
    let note = change.note.or(Some(""));
    Entry {
        event,
        label: label.to_owned(),
        ..State::default().draft(fingerprint, &Change { note, ..*change })
    }
}
