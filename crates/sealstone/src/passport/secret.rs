//! The secret passport: a file with the root seed, wrapped once in every slot
//! (`spec/passport.md`).

use std::fmt;

use minicbor::{Decode, Encode};
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;

use super::public::MAX_LABEL;
use super::slot::Owner;
use super::{Fingerprint, NewSlot, Passport, Slot};
use crate::wire::armor::{self, Label};
use crate::wire::{cbor, text};
use crate::{Error, Kind, OnProgress, Passphrase, Result};

/// A locked secret passport, as its file holds it.
///
/// Label, fingerprint and slots are claims of the file until it is unlocked.
///
/// ```
/// use sealstone::passport::{NewSlot, Passport, SecretPassport, SlotKey};
/// use sealstone::{KdfLimits, KdfParams, Passphrase, NO_PROGRESS};
///
/// let passphrase = Passphrase::new(b"correct horse battery staple")?;
/// let slot = NewSlot {
///     key: SlotKey::Passphrase(&passphrase),
///     name: "",
///     created: 0,
///     params: KdfParams::new(7168, 5, 1)?,
///     on_progress: NO_PROGRESS,
/// };
/// let text = SecretPassport::new(&Passport::generate("Alice", 0)?, &slot)?.to_armor();
///
/// let locked = SecretPassport::from_armor(text.as_bytes())?;
/// let alice = locked.unlock(&passphrase, None, &KdfLimits::default(), NO_PROGRESS)?.into_passport();
/// assert_eq!(alice.fingerprint(), locked.fingerprint());
/// # Ok::<(), sealstone::Error>(())
/// ```
#[derive(Clone)]
pub struct SecretPassport {
    body: Body,
    mac: [u8; 32],
}

/// CDDL `secret-passport`.
#[derive(Encode, Decode)]
struct Sealed {
    #[cbor(n(0), with = "minicbor::bytes")]
    body: Vec<u8>,
    #[cbor(n(1), with = "minicbor::bytes")]
    mac: [u8; 32],
}

/// CDDL `secret-body`.
#[derive(Clone, Encode, Decode)]
#[cbor(map)]
struct Body {
    #[n(0)]
    version: u64,
    #[n(1)]
    fingerprint: Fingerprint,
    #[n(2)]
    label: String,
    #[n(3)]
    created: u64,
    #[n(4)]
    slots: Vec<Slot>,
    #[n(5)]
    next_id: u32,
}

const VERSION: u64 = 1;
const MAX_SLOTS: usize = 16;
/// No passport is longer, secret or public, in either form.
pub const MAX_LEN: usize = 65_536;

impl SecretPassport {
    /// Wraps `passport` in its first slot.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the slot's name or parameters are out of bounds;
    /// [`Error::OutOfMemory`].
    pub fn new(passport: &Passport, slot: &NewSlot<'_>) -> Result<Self> {
        let contact = passport.contact();
        let body = Body {
            version: VERSION,
            fingerprint: contact.fingerprint(),
            label: contact.label().to_owned(),
            created: contact.created(),
            slots: Vec::new(),
            next_id: 1,
        };
        let mut file = Self { body, mac: [0; 32] };
        file.add_slot(passport, slot)?;
        Ok(file)
    }

    /// Reads the armored file.
    ///
    /// # Errors
    /// [`Error::OtherKind`] if it is not one; [`Error::Malformed`], [`Error::Armor`] or
    /// [`Error::Unsupported`] if it is not of this version.
    pub fn from_armor(file: &[u8]) -> Result<Self> {
        let parsed = Self::parse(file);
        let passport = parsed.map_err(|e| Kind::SecretPassport.explain(file, e))?;
        let weak = passport
            .slots()
            .iter()
            .any(|slot| slot.params().check_strength().is_err());
        if weak {
            return Err(Error::Malformed(
                "secret passport: a slot is too cheap to guess",
            ));
        }
        Ok(passport)
    }

    /// Reads the armored file, with slots of any cost.
    fn parse(file: &[u8]) -> Result<Self> {
        if file.len() > MAX_LEN {
            return Err(Error::Malformed("secret passport: too long"));
        }
        let sealed = armor::decode(Label::SecretPassport, file)?;
        let Sealed { body, mac } = cbor::decode(&sealed, "secret passport")?;
        Ok(Self {
            body: Body::parse(&body)?,
            mac,
        })
    }

    /// The armored text, for a file that only its owner can read.
    pub fn to_armor(&self) -> String {
        let sealed = Sealed {
            body: cbor::encode(&self.body),
            mac: self.mac,
        };
        armor::encode(Label::SecretPassport, &cbor::encode(&sealed))
    }

    /// The name of the passport.
    pub fn fingerprint(&self) -> Fingerprint {
        self.body.fingerprint
    }

    /// The owner's label: 1 to 64 bytes of printable text.
    pub fn label(&self) -> &str {
        &self.body.label
    }

    /// The creation time by the owner's clock: seconds since 1970.
    pub fn created(&self) -> u64 {
        self.body.created
    }

    /// The ways to unlock it, by ascending number.
    pub fn slots(&self) -> &[Slot] {
        &self.body.slots
    }

    /// The passport, if this slot opens.
    pub(super) fn open(
        &self,
        slot: &Slot,
        passphrase: &Passphrase,
        on_progress: OnProgress<'_>,
    ) -> Result<Option<Passport>> {
        let seed = slot.unwrap(passphrase, self.body.owner(), on_progress)?;
        Ok(seed.and_then(|seed| self.verify(seed)))
    }

    /// The passport of `seed`, if it is this one and the owner wrote the file so.
    fn verify(&self, seed: Secret<32>) -> Option<Passport> {
        let passport = Passport::from_seed(seed, self.label(), self.created()).ok()?;
        let mac = self.body.mac(&passport).verify(&self.mac);
        (passport.fingerprint() == self.fingerprint() && mac.is_ok()).then_some(passport)
    }

    /// Appends a slot and returns its number. `passport` must be this one.
    pub(super) fn add_slot(&mut self, passport: &Passport, new: &NewSlot<'_>) -> Result<u32> {
        if self.slots().len() == MAX_SLOTS {
            return Err(Error::Invalid("a passport has at most 16 slots"));
        }
        let id = self.body.next_id;
        let next_id = id
            .checked_add(1)
            .ok_or(Error::Invalid("all slot numbers are used up"))?;
        let slot = self.wrap(passport, id, new)?;
        self.replace(passport, |body| {
            body.slots.push(slot);
            body.next_id = next_id;
        });
        Ok(id)
    }

    /// Removes a slot, but never the last one.
    pub(super) fn remove_slot(&mut self, passport: &Passport, id: u32) -> Result<()> {
        let index = self.index(id)?;
        if self.slots().len() == 1 {
            return Err(Error::Invalid(
                "the last slot cannot be removed: nobody could unlock the passport again",
            ));
        }
        self.replace(passport, |body| drop(body.slots.remove(index)));
        Ok(())
    }

    /// Replaces a slot; its number stays.
    pub(super) fn change_slot(
        &mut self,
        passport: &Passport,
        id: u32,
        new: &NewSlot<'_>,
    ) -> Result<()> {
        let index = self.index(id)?;
        let slot = self.wrap(passport, id, new)?;
        self.replace(passport, |body| body.slots[index] = slot);
        Ok(())
    }

    fn wrap(&self, passport: &Passport, id: u32, new: &NewSlot<'_>) -> Result<Slot> {
        new.params.check_strength()?;
        Slot::wrap(id, new, self.body.owner(), passport.seed())
    }

    fn index(&self, id: u32) -> Result<usize> {
        self.slots()
            .iter()
            .position(|slot| slot.id() == id)
            .ok_or(Error::Invalid(NO_SUCH_SLOT))
    }

    fn replace(&mut self, passport: &Passport, change: impl FnOnce(&mut Body)) {
        change(&mut self.body);
        self.mac = self.body.mac(passport).finish();
    }
}

pub(super) const NO_SUCH_SLOT: &str = "the passport has no slot of this number";

impl fmt::Debug for SecretPassport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SecretPassport({:?}, {}, {:?})",
            self.label(),
            self.fingerprint(),
            self.slots()
        )
    }
}

impl Body {
    fn parse(encoded: &[u8]) -> Result<Self> {
        cbor::check_version(encoded, VERSION, "secret passport")?;
        let body: Self = cbor::decode(encoded, "secret passport")?;
        text::check(&body.label, 1, MAX_LABEL, "passport label")?;
        body.slots.iter().try_for_each(Slot::check)?;
        let ids = || {
            std::iter::once(0)
                .chain(body.slots.iter().map(Slot::id))
                .chain([body.next_id])
        };
        let ascending = ids().zip(ids().skip(1)).all(|(a, b)| a < b);
        let sound = ascending && (1..=MAX_SLOTS).contains(&body.slots.len());
        if sound {
            Ok(body)
        } else {
            Err(Error::Malformed("secret passport: slots"))
        }
    }

    fn owner(&self) -> Owner<'_> {
        Owner {
            fingerprint: &self.fingerprint,
            label: &self.label,
            created: self.created,
        }
    }

    fn mac(&self, passport: &Passport) -> HmacSha3_256 {
        let mut mac = HmacSha3_256::new(passport.file_mac().expose());
        mac.update(&cbor::encode(self));
        mac
    }
}

#[cfg(test)]
mod tests;
