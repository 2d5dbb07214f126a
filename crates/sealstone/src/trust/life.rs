//! Changes to the lives of the user's own keys (`spec/trust.md`, "Key life").

use super::entry::{Entry, Event};
use super::life_entry::LifeEntry;
use super::state::State;
use super::{Change, MAX_LOG, Storage, TrustStore};
use crate::life::{KeyLife, Limits, MAX_USES, Refusal, Stage};
use crate::passport::{Contact, Fingerprint, PublicPassport};
use crate::{Error, Result};

/// Uses of a key that were reserved durably, or need not be: the key may sign.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reserved use is used up"]
pub struct Reservation {
    /// The life after it.
    pub life: KeyLife,
}

impl<S: Storage> TrustStore<S> {
    /// The life of a key: active without limits if the store says nothing about it.
    #[must_use]
    pub fn key_life(&self, fingerprint: &Fingerprint) -> KeyLife {
        self.state.lives.get(fingerprint)
    }

    /// The keys whose lives were ever changed, with the labels of their passports.
    pub fn key_lives(&self) -> impl Iterator<Item = (Fingerprint, &str, KeyLife)> {
        self.state.lives.iter()
    }

    /// Reserves `uses` signatures of a key at `change.time`, which must be now. Call it before
    /// signing: the uses are durable when it returns, so that a crash never gives more. Without a
    /// limit of uses it only checks, and writes nothing.
    ///
    /// # Errors
    /// [`Error::KeyLife`] if the key may not sign; else as [`TrustStore::introduce`].
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
        let life = self.key_life(fingerprint);
        if life.limits.max_uses.is_none() {
            life.may_sign(change.time, uses).map_err(Error::KeyLife)?;
            return Ok(Reservation { life });
        }
        self.change(MAX_LOG, |state| {
            let life = state.lives.get(fingerprint);
            life.may_sign(change.time, uses).map_err(Error::KeyLife)?;
            Ok(life.limits.max_uses.map(|_| Entry {
                uses: Some(uses),
                ..about_a_key(Event::Used, fingerprint, "", change)
            }))
        })?;
        let life = self.key_life(fingerprint);
        Ok(Reservation { life })
    }

    /// Sets the limits of a key that still signs.
    ///
    /// # Errors
    /// [`Error::KeyLife`] if it signs no more; [`Error::Invalid`] if the limits contradict each
    /// other; else as [`TrustStore::introduce`].
    pub fn set_limits(
        &mut self,
        fingerprint: &Fingerprint,
        label: &str,
        limits: Limits,
        change: &Change<'_>,
    ) -> Result<KeyLife> {
        if !limits.are_valid() {
            return Err(Error::Invalid(
                "a key's not-before is not after its not-after, and its limit of uses is 1 to 100000",
            ));
        }
        self.change_life(fingerprint, label, change, |life| {
            match life.stage.signs() {
                true => Ok(KeyLife { limits, ..life }),
                false => Err(Refusal::Stage(life.stage)),
            }
        })
    }

    /// Names the passport that succeeds `old`, which signed that it does. The old key is rotating
    /// from then on.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `successor` does not say that it succeeds `old`, [`Error::Altered`] if
    /// `old` did not sign it; [`Error::KeyLife`] if the stage does not allow it; else as
    /// [`TrustStore::introduce`].
    pub fn rotate_key(
        &mut self,
        old: &Contact,
        successor: &PublicPassport,
        change: &Change<'_>,
    ) -> Result<KeyLife> {
        let (old_name, new_name) = (old.fingerprint(), successor.contact().fingerprint());
        let succession = successor.succession();
        let succession = succession.filter(|it| it.predecessor() == old_name);
        let succession = succession.ok_or(Error::Invalid(
            "the new passport does not say that it succeeds the old one",
        ))?;
        succession.verify(old, &new_name)?;
        self.change_life(&old_name, old.label(), change, |life| {
            Ok(KeyLife {
                stage: life.stage.to(Stage::Rotating)?,
                successor: Some(*new_name.as_bytes()),
                ..life
            })
        })
    }

    /// From now on the key signs no more; its signatures stay good.
    ///
    /// # Errors
    /// [`Error::KeyLife`] if the stage does not allow it; else as [`TrustStore::introduce`].
    pub fn deprecate_key(
        &mut self,
        fingerprint: &Fingerprint,
        label: &str,
        change: &Change<'_>,
    ) -> Result<KeyLife> {
        self.change_life(fingerprint, label, change, |life| {
            let stage = life.stage.to(Stage::Deprecated)?;
            Ok(KeyLife { stage, ..life })
        })
    }

    fn change_life(
        &mut self,
        fingerprint: &Fingerprint,
        label: &str,
        change: &Change<'_>,
        edit: impl FnOnce(KeyLife) -> Result<KeyLife, Refusal>,
    ) -> Result<KeyLife> {
        self.change(MAX_LOG, |state| {
            let life = edit(state.lives.get(fingerprint)).map_err(Error::KeyLife)?;
            let life = LifeEntry::new(&life).ok_or(Error::KeyLife(Refusal::Stage(life.stage)))?;
            Ok(Some(Entry {
                life: Some(life),
                ..about_a_key(Event::Life, fingerprint, label, change)
            }))
        })?;
        Ok(self.key_life(fingerprint))
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
