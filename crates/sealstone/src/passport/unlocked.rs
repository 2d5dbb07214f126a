//! An unlocked secret passport, whose slots can be changed.

use super::{NewSlot, Passport, SecretPassport};
use crate::Result;

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
    /// [`Error::Invalid`](crate::Error::Invalid) if there is none of that number, or it is the last
    /// one.
    pub fn remove_slot(&mut self, id: u32) -> Result<()> {
        self.file.remove_slot(&self.passport, id)
    }

    /// Replaces everything but the number of a slot.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if there is none of that number; otherwise as for
    /// [`Unlocked::add_slot`].
    pub fn change_slot(&mut self, id: u32, new: &NewSlot<'_>) -> Result<()> {
        self.file.change_slot(&self.passport, id, new)
    }
}
