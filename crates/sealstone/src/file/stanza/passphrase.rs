//! Passphrase recipients: Argon2id and a commitment to its result.

use minicbor::decode::Error as DecodeError;
use minicbor::{Decoder, Encoder};
use sealstone_primitives::ct;
use sealstone_primitives::kdf as hkdf;
use sealstone_primitives::secret::Secret;

use super::{
    Description, Entry, Fact, Fitting, Keys, Kind, Recipient, RecipientInfo, Turn, WRAPPED_LEN,
};
use crate::file::hedge::StanzaHedge;
use crate::kdf::{self, SALT_LEN};
use crate::passport::Fingerprint;
use crate::{Error, KdfParams, OnProgress, Passphrase, Result};

pub(super) const ENTRY: Entry = Entry {
    number: NUMBER,
    most: 8,
    parse: |d| Ok(Box::new(PassphraseStanza::parse(d)?)),
};

const NUMBER: u32 = 2;
const COMMITMENT_LEN: usize = 32;

/// CDDL `passphrase-stanza`.
struct PassphraseStanza {
    params: KdfParams,
    salt: [u8; SALT_LEN],
    /// Fixes the one passphrase that this stanza can have, before anything is unwrapped.
    commitment: [u8; COMMITMENT_LEN],
    wrapped: [u8; WRAPPED_LEN],
}

/// A passphrase that a file is to be sealed to.
pub(in crate::file) struct To<'a> {
    pub(in crate::file) passphrase: &'a Passphrase,
    pub(in crate::file) params: KdfParams,
}

impl Recipient for To<'_> {
    fn number(&self) -> u32 {
        NUMBER
    }

    fn is_anonymous(&self) -> bool {
        false
    }

    fn wrap(
        &self,
        file_key: &Secret<32>,
        hedge: StanzaHedge<'_>,
        on_progress: OnProgress<'_>,
    ) -> Result<Box<dyn Kind>> {
        let salt = hedge.salt();
        let (kek, commitment) = stretch(self.passphrase, &salt, &self.params, on_progress)?;
        Ok(Box::new(PassphraseStanza {
            params: self.params,
            salt,
            commitment,
            wrapped: super::wrap(&kek, file_key),
        }))
    }
}

impl Kind for PassphraseStanza {
    fn number(&self) -> u32 {
        NUMBER
    }

    fn encode(&self) -> Vec<u8> {
        let mut e = Encoder::new(Vec::new());
        let encoded = e
            .array(7)
            .and_then(|e| e.u32(NUMBER))
            .and_then(|e| e.u32(self.params.memory_kib()))
            .and_then(|e| e.u32(self.params.passes()))
            .and_then(|e| e.u32(self.params.lanes()))
            .and_then(|e| e.bytes(&self.salt))
            .and_then(|e| e.bytes(&self.commitment))
            .and_then(|e| e.bytes(&self.wrapped));
        encoded.expect("a Vec takes every byte");
        e.into_writer()
    }

    fn info(&self) -> RecipientInfo {
        RecipientInfo::Passphrase(self.params)
    }

    fn describe(&self) -> Description {
        let number = |value: u32| Fact::Number(value.into());
        Description {
            kind: "passphrase",
            text: format!("a passphrase ({})", self.params),
            facts: vec![
                ("memory_kib", number(self.params.memory_kib())),
                ("passes", number(self.params.passes())),
                ("lanes", number(self.params.lanes())),
            ],
        }
    }

    fn fitting(&self, _: &[Fingerprint], _: usize) -> Option<(Turn, Fitting)> {
        Some((Turn::Derived, Fitting::Passphrase))
    }

    fn turn(&self, keys: &Keys<'_>) -> Option<Turn> {
        (!keys.passphrases.is_empty()).then_some(Turn::Derived)
    }

    fn derivations(&self, keys: &Keys<'_>) -> Vec<KdfParams> {
        vec![self.params; keys.passphrases.len() + dashed(keys).count()]
    }

    fn unwrap(&self, keys: &Keys<'_>) -> Result<Option<Secret<32>>> {
        let dashed: Vec<_> = dashed(keys).collect();
        for passphrase in keys.passphrases.iter().copied().chain(&dashed) {
            if let Some(key) = self.open(passphrase, keys.on_progress)? {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }
}

impl PassphraseStanza {
    fn parse(d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        super::begin(d, 7)?;
        let [memory_kib, passes, lanes] = [d.u32()?, d.u32()?, d.u32()?];
        let params = KdfParams::read(memory_kib, passes, lanes);
        Ok(Self {
            params: params.map_err(|_| DecodeError::message("Argon2id parameters"))?,
            salt: super::octets(d)?,
            commitment: super::octets(d)?,
            wrapped: super::octets(d)?,
        })
    }

    /// The file key; `None` if `passphrase` is another one.
    fn open(
        &self,
        passphrase: &Passphrase,
        on_progress: OnProgress<'_>,
    ) -> Result<Option<Secret<32>>> {
        let (kek, found) = stretch(passphrase, &self.salt, &self.params, on_progress)?;
        if !ct::eq(&found, &self.commitment) {
            return Ok(None);
        }
        let key = super::unwrap(&kek, &self.wrapped);
        key.map(Some).ok_or(Error::Altered("header"))
    }
}

/// The passphrases of `keys` that may be generated ones, with dashes.
fn dashed(keys: &Keys<'_>) -> impl Iterator<Item = Passphrase> {
    keys.passphrases.iter().filter_map(|p| p.with_dashes())
}

/// The key and the commitment of a passphrase.
fn stretch(
    passphrase: &Passphrase,
    salt: &[u8; SALT_LEN],
    params: &KdfParams,
    on_progress: OnProgress<'_>,
) -> Result<(Secret<32>, [u8; COMMITMENT_LEN])> {
    let stretched = kdf::derive(passphrase, salt, params, on_progress)?;
    let prk = hkdf::extract(b"sealstone.passphrase.v1", &[stretched.expose()]);
    let commitment: Secret<COMMITMENT_LEN> = prk.expand_secret(&[b"commitment"]);
    Ok((prk.expand_secret(&[b"kek"]), *commitment.expose()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NO_PROGRESS;

    #[test]
    fn a_key_that_unwraps_without_its_commitment_is_not_taken() {
        let passphrase = Passphrase::new(b"one").unwrap();
        let params = KdfParams::new(7 << 10, 5, 1).unwrap();
        let salt = [7; SALT_LEN];
        let file_key = Secret::random();
        let (kek, commitment) = stretch(&passphrase, &salt, &params, NO_PROGRESS).unwrap();
        let mut stanza = PassphraseStanza {
            params,
            salt,
            commitment,
            wrapped: crate::file::stanza::wrap(&kek, &file_key),
        };
        let opened = stanza.open(&passphrase, NO_PROGRESS).unwrap();
        assert!(opened.is_some_and(|key| key.expose() == file_key.expose()));
        // A wrapped key that is made to open under two passphrases can commit to one of them only.
        stanza.commitment[0] ^= 1;
        assert!(stanza.open(&passphrase, NO_PROGRESS).unwrap().is_none());
    }
}
