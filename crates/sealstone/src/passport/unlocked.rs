//! An unlocked secret passport, whose slots can be changed.

use super::secret::NO_SUCH_SLOT;
use super::{NewSlot, Passport, RecoveryKey, SecretPassport, Slot, SlotKind};
use crate::{Error, KdfLimits, KdfParams, OnProgress, Passphrase, Result};

/// A secret passport and the identity in it.
///
/// Changes happen in memory: the caller must write [`Unlocked::file`]. An older copy of the file
/// still opens with its old passphrases. If somebody else may have such a copy and its passphrase,
/// only a new passport helps.
#[derive(Debug)]
pub struct Unlocked {
    passport: Passport,
    file: SecretPassport,
    slot: u32,
}

impl Unlocked {
    pub(super) fn new(passport: Passport, file: SecretPassport, slot: u32) -> Self {
        Self {
            passport,
            file,
            slot,
        }
    }

    /// The identity.
    pub fn passport(&self) -> &Passport {
        &self.passport
    }

    /// The identity without the file.
    pub fn into_passport(self) -> Passport {
        self.passport
    }

    /// The file with all changes so far.
    pub fn file(&self) -> &SecretPassport {
        &self.file
    }

    /// The number of the slot that was opened.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// The cost of the slot that was opened.
    pub fn params(&self) -> KdfParams {
        let slots = self.file.slots();
        let opened = slots.iter().find(|slot| slot.id() == self.slot);
        opened.map_or(KdfParams::SENSITIVE, |slot| slot.params())
    }

    /// Adds a way to unlock the passport and returns its number.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if there are 16 slots already, or the name or the
    /// parameters of the new one are out of bounds;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn add_slot(&mut self, new: &NewSlot<'_>) -> Result<u32> {
        self.file.add_slot(&self.passport, new)
    }

    /// Removes a slot.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if no slot has that number, or it is the last
    /// slot.
    pub fn remove_slot(&mut self, id: u32) -> Result<()> {
        self.file.remove_slot(&self.passport, id)
    }

    /// Replaces everything but the number of a slot.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if no slot has that number; otherwise as for
    /// [`Unlocked::add_slot`].
    pub fn change_slot(&mut self, id: u32, new: &NewSlot<'_>) -> Result<()> {
        self.file.change_slot(&self.passport, id, new)
    }
}

impl SecretPassport {
    /// Unlocks slot number `slot`, or the first slot that `passphrase` opens.
    ///
    /// A passphrase that is spelled like a recovery key is tried on recovery slots first, any other
    /// on passphrase slots only. A generated passphrase may be typed with spaces or capitals: if it
    /// does not open as typed, it is tried with dashes.
    ///
    /// Each try costs one Argon2id with the slot's parameters and tells `on_progress`.
    ///
    /// # Errors
    /// [`Error::WrongPassphrase`] if no slot opens, or the file was altered: one error, so that
    /// someone who planted a slot learns nothing; [`Error::KdfLimit`], before anything is computed,
    /// if one slot asks for more memory or all slots together for more work than `limits` allow;
    /// [`Error::Invalid`] if there is no slot of that number; [`Error::OutOfMemory`].
    pub fn unlock(
        &self,
        passphrase: &Passphrase,
        slot: Option<u32>,
        limits: &KdfLimits,
        on_progress: OnProgress<'_>,
    ) -> Result<Unlocked> {
        let dashed = passphrase.with_dashes();
        for spelling in std::iter::once(passphrase).chain(&dashed) {
            match self.unlock_spelled(spelling, slot, limits, on_progress) {
                Err(Error::WrongPassphrase) => {}
                other => return other,
            }
        }
        Err(Error::WrongPassphrase)
    }

    fn unlock_spelled(
        &self,
        passphrase: &Passphrase,
        slot: Option<u32>,
        limits: &KdfLimits,
        on_progress: OnProgress<'_>,
    ) -> Result<Unlocked> {
        let recovery = std::str::from_utf8(passphrase.as_bytes())
            .ok()
            .and_then(|text| RecoveryKey::parse(text).ok());
        let tries = self.tries(passphrase, recovery.as_ref(), slot)?;
        let params: Vec<_> = tries.iter().map(|(slot, _)| slot.params()).collect();
        limits.check_all(&params)?;
        for (slot, passphrase) in tries {
            if let Some(passport) = self.open(slot, passphrase, on_progress)? {
                return Ok(Unlocked::new(passport, self.clone(), slot.id()));
            }
        }
        Err(Error::WrongPassphrase)
    }

    /// The slots to try, each with its passphrase.
    fn tries<'a>(
        &'a self,
        passphrase: &'a Passphrase,
        recovery: Option<&'a RecoveryKey>,
        slot: Option<u32>,
    ) -> Result<Vec<(&'a Slot, &'a Passphrase)>> {
        if slot.is_some_and(|id| self.slots().iter().all(|slot| slot.id() != id)) {
            return Err(Error::Invalid(NO_SUCH_SLOT));
        }
        let candidates = |kind| {
            self.slots()
                .iter()
                .filter(move |s| s.kind() == kind && slot.is_none_or(|id| s.id() == id))
        };
        let recoveries = recovery
            .into_iter()
            .flat_map(|key| candidates(SlotKind::RecoveryKey).map(|s| (s, key.passphrase())));
        Ok(recoveries
            .chain(candidates(SlotKind::Passphrase).map(|s| (s, passphrase)))
            .collect())
    }
}
