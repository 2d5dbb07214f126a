//! Lives of the user's own keys in the log (`spec/trust.md`, "Key life").

use std::collections::HashMap;

use minicbor::{Decode, Encode};

use super::entry::{Entry, Event};
use super::state::State;
use super::{Change, MAX_LOG, Storage, TrustStore};
use crate::life::{KeyLife, Limits, MAX_USES, Refusal, Stage};
use crate::passport::{Contact, Fingerprint, PublicPassport};
use crate::{Error, Result};

/// Field 9 of an entry: what the log says about a life.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(map)]
pub(super) struct LifeEntry {
    #[n(0)]
    pub(super) stage: LoggedStage,
    #[n(1)]
    pub(super) not_before: Option<u64>,
    #[n(2)]
    pub(super) not_after: Option<u64>,
    #[n(3)]
    pub(super) max_uses: Option<u64>,
    #[n(4)]
    pub(super) successor: Option<Fingerprint>,
}

/// The stages that are not a status of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub(super) enum LoggedStage {
    #[n(0)]
    Active,
    #[n(1)]
    Rotating,
    #[n(2)]
    Deprecated,
}

/// The life of every key about which the log has an entry.
#[derive(Default)]
pub(super) struct Lives {
    lives: HashMap<Fingerprint, Logged>,
    /// In the order of their first entries of event 7.
    order: Vec<Fingerprint>,
}

#[derive(Default)]
struct Logged {
    life: KeyLife,
    label: String,
    /// Revoked or compromised, whatever the log says later.
    ended: Option<Stage>,
}

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
        let lives = &self.state.lives;
        lives.order.iter().map(|fingerprint| {
            let label = lives.lives[fingerprint].label.as_str();
            (*fingerprint, label, lives.get(fingerprint))
        })
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

impl LifeEntry {
    /// `None` for a stage that is a status of the record.
    fn new(life: &KeyLife) -> Option<Self> {
        let stage = match life.stage {
            Stage::Active => LoggedStage::Active,
            Stage::Rotating => LoggedStage::Rotating,
            Stage::Deprecated => LoggedStage::Deprecated,
            Stage::Revoked | Stage::Compromised => return None,
        };
        let Limits {
            not_before,
            not_after,
            max_uses,
        } = life.limits;
        Some(Self {
            stage,
            not_before,
            not_after,
            max_uses,
            successor: life.successor.map(Fingerprint::from_bytes),
        })
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            not_before: self.not_before,
            not_after: self.not_after,
            max_uses: self.max_uses,
        }
    }

    pub(super) fn stage(&self) -> Stage {
        match self.stage {
            LoggedStage::Active => Stage::Active,
            LoggedStage::Rotating => Stage::Rotating,
            LoggedStage::Deprecated => Stage::Deprecated,
        }
    }

    /// Whether the format allows these fields.
    pub(super) fn is_valid(&self) -> bool {
        let successor_fits = match self.stage {
            LoggedStage::Active => self.successor.is_none(),
            LoggedStage::Rotating => self.successor.is_some(),
            LoggedStage::Deprecated => true,
        };
        successor_fits && self.limits().are_valid()
    }
}

impl Lives {
    /// Takes the next entry of the log.
    pub(super) fn add(&mut self, entry: &Entry) {
        let Some(fingerprint) = entry.fingerprint() else {
            return;
        };
        let ends = match entry.event {
            Event::Revoked => Some(Stage::Revoked),
            Event::Compromised => Some(Stage::Compromised),
            _ => None,
        };
        if ends.is_none() && entry.life.is_none() && entry.uses.is_none() {
            return;
        }
        let logged = self.lives.entry(fingerprint).or_default();
        if logged.ended != Some(Stage::Compromised) {
            logged.ended = ends.or(logged.ended);
        }
        let life = &mut logged.life;
        if let Some(uses) = entry.uses {
            life.used = life.used.saturating_add(uses);
            life.latest = life.latest.max(entry.time);
        }
        if let Some(new) = &entry.life {
            life.stage = new.stage();
            life.limits = new.limits();
            life.successor = new.successor.map(|successor| *successor.as_bytes());
            life.latest = entry.time;
            entry.label.clone_into(&mut logged.label);
            if !self.order.contains(&fingerprint) {
                self.order.push(fingerprint);
            }
        }
    }

    pub(super) fn get(&self, fingerprint: &Fingerprint) -> KeyLife {
        self.lives
            .get(fingerprint)
            .map_or_else(KeyLife::default, |logged| KeyLife {
                stage: logged.ended.unwrap_or(logged.life.stage),
                ..logged.life
            })
    }

    /// Whether the log says anything about the life of this key.
    pub(super) fn contains(&self, fingerprint: &Fingerprint) -> bool {
        self.lives.contains_key(fingerprint)
    }
}
