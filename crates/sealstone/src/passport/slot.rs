//! One slot of a secret passport: the root seed wrapped under a passphrase or a recovery key.

use minicbor::{Decode, Encode};
use sealstone_primitives::aead::XChaCha20Poly1305;
use sealstone_primitives::ct;
use sealstone_primitives::kdf::{self as hkdf, Prk};
use sealstone_primitives::rng;
use sealstone_primitives::secret::Secret;
use serde_json::{Value, json};

use super::{Fingerprint, RecoveryKey};
use crate::kdf::{self, OnProgress, SALT_LEN};
use crate::wire::{cbor, text};
use crate::{Error, KdfParams, Passphrase, Result};

/// One way to unlock a passport. Anybody who has the file can read these fields.
#[derive(Clone, Encode, Decode)]
#[cbor(map)]
pub struct Slot {
    #[n(0)]
    id: u32,
    #[n(1)]
    kind: SlotKind,
    #[n(2)]
    name: String,
    #[n(3)]
    created: u64,
    #[n(4)]
    kdf: KdfParams,
    #[cbor(n(5), with = "minicbor::bytes")]
    salt: [u8; SALT_LEN],
    /// Fixes the one passphrase that this slot can have, before anything is unwrapped.
    #[cbor(n(6), with = "minicbor::bytes")]
    commitment: [u8; COMMITMENT_LEN],
    #[cbor(n(7), with = "minicbor::bytes")]
    wrapped: [u8; WRAPPED_LEN],
}

/// The kind of secret that opens a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum SlotKind {
    /// A passphrase that the owner remembers.
    #[n(1)]
    Passphrase,
    /// A [`RecoveryKey`].
    #[n(2)]
    RecoveryKey,
}

impl SlotKind {
    /// Its name in lists and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passphrase => "passphrase",
            Self::RecoveryKey => "recovery key",
        }
    }
}

/// A slot to be written.
pub struct NewSlot<'a> {
    /// The secret that will open it.
    pub key: SlotKey<'a>,
    /// The owner's name for it: 0 to 64 bytes of printable text.
    pub name: &'a str,
    /// The present time: seconds since 1970.
    pub created: u64,
    /// The cost of each try to open it.
    pub params: KdfParams,
    /// Receives the progress of the key derivation.
    pub on_progress: OnProgress<'a>,
}

/// The secret that opens a slot.
#[derive(Clone, Copy, Debug)]
pub enum SlotKey<'a> {
    /// A passphrase.
    Passphrase(&'a Passphrase),
    /// A recovery key.
    RecoveryKey(&'a RecoveryKey),
}

/// The fields of the passport that a slot is bound to.
#[derive(Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) fingerprint: &'a Fingerprint,
    pub(super) label: &'a str,
    pub(super) created: u64,
}

/// `context` of the specification.
#[derive(Encode)]
struct Context<'a>(
    #[n(0)] &'a Fingerprint,
    #[n(1)] &'a str,
    #[n(2)] u64,
    #[n(3)] u32,
    #[n(4)] SlotKind,
    #[n(5)] &'a str,
    #[n(6)] u64,
    #[n(7)] KdfParams,
    #[cbor(n(8), with = "minicbor::bytes")] &'a [u8; SALT_LEN],
);

const COMMITMENT_LEN: usize = 32;
const WRAPPED_LEN: usize = 32 + 16;
const MAX_NAME: usize = 64;
const SALT: &[u8] = b"sealstone.slot.v1";
const DOMAIN: &[u8] = b"sealstone.slot.v1\0";
/// Zero, because each key encrypts one message only.
const NONCE: [u8; 24] = [0; 24];

impl Slot {
    /// The number of the slot, which no other slot of this passport ever gets.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The kind of secret that opens it.
    pub fn kind(&self) -> SlotKind {
        self.kind
    }

    /// The owner's name for it; may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The time of writing by the owner's clock: seconds since 1970.
    pub fn created(&self) -> u64 {
        self.created
    }

    /// The cost of a try to open it.
    pub fn params(&self) -> KdfParams {
        self.kdf
    }

    /// As a JSON object.
    pub fn to_json(&self) -> Value {
        let params = self.params();
        json!({
            "id": self.id(),
            "kind": self.kind().name(),
            "name": self.name(),
            "created": self.created(),
            "profile": params.to_string(),
            "memory_kib": params.memory_kib(),
            "passes": params.passes(),
            "lanes": params.lanes(),
        })
    }

    /// Wraps `seed`.
    pub(super) fn wrap(
        id: u32,
        new: &NewSlot<'_>,
        owner: Owner<'_>,
        seed: &Secret<32>,
    ) -> Result<Self> {
        text::check(new.name, 0, MAX_NAME, "")
            .map_err(|_| Error::Invalid("a slot name is at most 64 bytes of printable text"))?;
        let mut slot = Self {
            id,
            kind: new.key.kind(),
            name: new.name.to_owned(),
            created: new.created,
            kdf: new.params,
            salt: rng::array(),
            commitment: [0; COMMITMENT_LEN],
            wrapped: [0; WRAPPED_LEN],
        };
        let prk = slot.stretch(new.key.passphrase(), new.on_progress)?;
        slot.commitment = commitment(&prk);
        let cipher = cipher(&prk);
        let mut body = seed.duplicate();
        let tag = cipher.seal_in_place(&NONCE, &slot.associated_data(owner), body.expose_mut());
        let (wrapped, rest) = slot.wrapped.split_at_mut(32);
        wrapped.copy_from_slice(body.expose());
        rest.copy_from_slice(&tag);
        Ok(slot)
    }

    /// Unwraps the seed; `None` if the passphrase is another one or the slot was altered.
    ///
    /// The caller has checked the parameters with [`KdfLimits::check_all`](crate::KdfLimits).
    pub(super) fn unwrap(
        &self,
        passphrase: &Passphrase,
        owner: Owner<'_>,
        on_progress: OnProgress<'_>,
    ) -> Result<Option<Secret<32>>> {
        let prk = self.stretch(passphrase, on_progress)?;
        if !ct::eq(&commitment(&prk), &self.commitment) {
            return Ok(None);
        }
        let (wrapped, tag) = self
            .wrapped
            .split_first_chunk::<32>()
            .expect("it is longer");
        let tag = tag.try_into().expect("the rest is the tag");
        let mut seed = Secret::<32>::with(|seed| seed.copy_from_slice(wrapped));
        let data = self.associated_data(owner);
        let opened = cipher(&prk).open_in_place(&NONCE, &data, seed.expose_mut(), tag);
        Ok(opened.ok().map(|()| seed))
    }

    /// Checks the rules that the encoding does not.
    pub(super) fn check(&self) -> Result<()> {
        text::check(&self.name, 0, MAX_NAME, "slot name")
    }

    #[cfg(test)]
    pub(super) fn set_params(&mut self, params: KdfParams) {
        self.kdf = params;
    }

    /// Changes the wrapped seed and nothing else.
    #[cfg(test)]
    pub(super) fn spoil_wrapped(&mut self) {
        self.wrapped[0] ^= 1;
    }

    #[cfg(test)]
    pub(super) fn spoil_commitment(&mut self) {
        self.commitment[0] ^= 1;
    }

    fn stretch(&self, passphrase: &Passphrase, on_progress: OnProgress<'_>) -> Result<Prk> {
        let stretched = kdf::derive(passphrase, &self.salt, &self.kdf, on_progress)?;
        Ok(hkdf::extract(SALT, &[stretched.expose()]))
    }

    fn associated_data(&self, owner: Owner<'_>) -> Vec<u8> {
        let context = Context(
            owner.fingerprint,
            owner.label,
            owner.created,
            self.id,
            self.kind,
            &self.name,
            self.created,
            self.kdf,
            &self.salt,
        );
        [DOMAIN, &cbor::encode(&context)].concat()
    }
}

fn commitment(prk: &Prk) -> [u8; COMMITMENT_LEN] {
    let commitment: Secret<COMMITMENT_LEN> = prk.expand_secret(&[b"commitment"]);
    *commitment.expose()
}

fn cipher(prk: &Prk) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&prk.expand_secret(&[b"kek"]))
}

impl SlotKey<'_> {
    fn kind(&self) -> SlotKind {
        match self {
            Self::Passphrase(_) => SlotKind::Passphrase,
            Self::RecoveryKey(_) => SlotKind::RecoveryKey,
        }
    }

    fn passphrase(&self) -> &Passphrase {
        match self {
            Self::Passphrase(passphrase) => passphrase,
            Self::RecoveryKey(key) => key.passphrase(),
        }
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Slot({}, {:?}, {:?}, {:?})",
            self.id, self.kind, self.name, self.kdf
        )
    }
}
