//! Wrapping the file key for one recipient (`spec/file.md`, "Header").

use sealstone_primitives::ct;
use sealstone_primitives::dh::x25519;
use sealstone_primitives::kdf as hkdf;
use sealstone_primitives::kem::ml_kem_1024;
use sealstone_primitives::rng;
use sealstone_primitives::secret::Secret;

use super::header::{COMMITMENT_LEN, Stanza, WRAPPED_LEN};
use super::keys::OneTime;
use crate::kdf::{self, OnProgress, SALT_LEN};
use crate::passport::{Contact, Fingerprint, Passport};
use crate::{Error, KdfParams, Passphrase, Result};

/// A stanza for `contact`, with its fingerprint or anonymous.
pub(crate) fn wrap_for_passport(
    file_key: &Secret<32>,
    contact: &Contact,
    anonymous: bool,
) -> Result<Stanza> {
    let keys = contact.recipient();
    let ephemeral = x25519::PrivateKey::generate();
    let epk = *ephemeral.public_key().as_bytes();
    let ss_x = ephemeral
        .agree(&keys.x25519)
        .map_err(|_| Error::Invalid("the recipient's X25519 key is of low order"))?;
    let (ciphertext, ss_k) = keys.ml_kem_1024.encapsulate();
    let kek = combine(&ss_k, &ss_x, ciphertext.as_bytes(), &epk, contact);
    let recipient = if anonymous {
        Vec::new()
    } else {
        contact.fingerprint().as_bytes().to_vec()
    };
    Ok(Stanza::Passport {
        recipient,
        epk,
        ciphertext: ciphertext.as_bytes().to_vec(),
        wrapped: wrap(&kek, file_key),
    })
}

/// A stanza that `passphrase` opens.
pub(crate) fn wrap_for_passphrase(
    file_key: &Secret<32>,
    passphrase: &Passphrase,
    params: &KdfParams,
    on_progress: OnProgress<'_>,
) -> Result<Stanza> {
    let salt: [u8; SALT_LEN] = rng::array();
    let (kek, commitment) = stretch(passphrase, &salt, params, on_progress)?;
    Ok(Stanza::Passphrase {
        memory_kib: params.memory_kib(),
        passes: params.passes(),
        lanes: params.lanes(),
        salt,
        commitment,
        wrapped: wrap(&kek, file_key),
    })
}

/// What a stanza is for one passport.
pub(crate) enum Fit {
    /// It gave the file key.
    Key(Secret<32>),
    /// It is for somebody else.
    Other,
}

/// Tries a stanza with one passport. A stanza that names the passport and does not unwrap is an error.
pub(crate) fn unwrap_with_passport(stanza: &Stanza, passport: &Passport) -> Result<Fit> {
    let Stanza::Passport {
        recipient,
        epk,
        ciphertext,
        wrapped,
    } = stanza
    else {
        return Ok(Fit::Other);
    };
    let named = !recipient.is_empty();
    if named && recipient != passport.fingerprint().as_bytes() {
        return Ok(Fit::Other);
    }
    match unwrap_passport_stanza(epk, ciphertext, wrapped, passport) {
        Some(key) => Ok(Fit::Key(key)),
        None if named => Err(Error::Altered("header")),
        None => Ok(Fit::Other),
    }
}

/// Tries a stanza with one passphrase. Its parameters must have passed [`KdfLimits::check`](crate::KdfLimits).
pub(crate) fn unwrap_with_passphrase(
    stanza: &Stanza,
    passphrase: &Passphrase,
    on_progress: OnProgress<'_>,
) -> Result<Fit> {
    let Stanza::Passphrase {
        memory_kib,
        passes,
        lanes,
        salt,
        commitment,
        wrapped,
    } = stanza
    else {
        return Ok(Fit::Other);
    };
    let params = KdfParams::read(*memory_kib, *passes, *lanes)?;
    let (kek, found) = stretch(passphrase, salt, &params, on_progress)?;
    if !ct::eq(&found, commitment) {
        return Ok(Fit::Other);
    }
    unwrap(&kek, wrapped)
        .map(Fit::Key)
        .ok_or(Error::Altered("header"))
}

/// Whether the stanza is for this passport by name.
pub(crate) fn names(stanza: &Stanza, fingerprint: &Fingerprint) -> bool {
    matches!(stanza, Stanza::Passport { recipient, .. } if recipient == fingerprint.as_bytes())
}

fn unwrap_passport_stanza(
    epk: &[u8; 32],
    ciphertext: &[u8],
    wrapped: &[u8; WRAPPED_LEN],
    passport: &Passport,
) -> Option<Secret<32>> {
    let ss_x = passport
        .x25519()
        .agree(&x25519::PublicKey::from_bytes(*epk))
        .ok()?;
    let ciphertext = ml_kem_1024::Ciphertext::from_bytes(ciphertext).ok()?;
    let ss_k = passport.ml_kem_1024().decapsulate(&ciphertext);
    let kek = combine(&ss_k, &ss_x, ciphertext.as_bytes(), epk, passport.contact());
    unwrap(&kek, wrapped)
}

/// The combiner: one key from both shared secrets, bound to both ciphertexts, both public keys and the whole passport.
///
/// The fingerprint matters where a stanza names nobody: a passport proves that its owner has its signature keys, not these two, so without it
/// what is sealed to a passport that was made with somebody else's two keys would open for that somebody.
fn combine(
    ss_k: &Secret<32>,
    ss_x: &Secret<32>,
    ciphertext: &[u8],
    epk: &[u8; 32],
    recipient: &Contact,
) -> Secret<32> {
    let keys = recipient.recipient();
    let ikm = [
        &ss_k.expose()[..],
        &ss_x.expose()[..],
        ciphertext,
        epk,
        &keys.ml_kem_1024.to_bytes()[..],
        keys.x25519.as_bytes(),
    ];
    let prk = hkdf::extract(b"sealstone.stanza.v1", &ikm);
    prk.expand_secret(&[b"kek", recipient.fingerprint().as_bytes()])
}

/// The key and the commitment of a passphrase stanza.
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

fn wrap(kek: &Secret<32>, file_key: &Secret<32>) -> [u8; WRAPPED_LEN] {
    let sealed = OneTime::new(kek).seal(&file_key.expose()[..]);
    sealed.try_into().expect("32 bytes and a tag are 48 bytes")
}

fn unwrap(kek: &Secret<32>, wrapped: &[u8; WRAPPED_LEN]) -> Option<Secret<32>> {
    let opened = OneTime::new(kek).open(wrapped)?;
    Secret::from_slice(&opened).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SILENT;

    fn passport(label: &str) -> Passport {
        Passport::generate(label, 1_767_225_600).unwrap()
    }

    fn opens(stanza: &Stanza, passport: &Passport, file_key: &Secret<32>) -> bool {
        match unwrap_with_passport(stanza, passport) {
            Ok(Fit::Key(key)) => key.expose() == file_key.expose(),
            _ => false,
        }
    }

    #[test]
    fn a_passport_with_somebody_elses_encryption_keys_opens_nothing_for_them() {
        let (mallory, bob) = (passport("Mallory"), passport("Bob"));
        let mixed = mallory.contact().with_recipient_keys_of(bob.contact());
        let file_key = Secret::random();
        let wrapped = |contact: &Contact| wrap_for_passport(&file_key, contact, true).unwrap();
        assert!(opens(&wrapped(bob.contact()), &bob, &file_key));
        assert!(!opens(&wrapped(&mixed), &bob, &file_key));
        // Taken for Bob's, which an attacker may claim: it does not unwrap either.
        let Stanza::Passport {
            epk,
            ciphertext,
            wrapped,
            ..
        } = wrapped(&mixed)
        else {
            unreachable!("it was made for a passport")
        };
        let named = Stanza::Passport {
            recipient: bob.fingerprint().as_bytes().to_vec(),
            epk,
            ciphertext,
            wrapped,
        };
        assert!(matches!(
            unwrap_with_passport(&named, &bob),
            Err(Error::Altered("header"))
        ));
    }

    #[test]
    fn a_key_that_unwraps_without_its_commitment_is_not_taken() {
        let passphrase = Passphrase::new(b"one").unwrap();
        let params = KdfParams::new(7 << 10, 5, 1).unwrap();
        let file_key = Secret::random();
        let mut stanza = wrap_for_passphrase(&file_key, &passphrase, &params, SILENT).unwrap();
        let opened = unwrap_with_passphrase(&stanza, &passphrase, SILENT).unwrap();
        assert!(matches!(opened, Fit::Key(key) if key.expose() == file_key.expose()));
        // A wrapped key that is made to open under two passphrases can commit to one of them only.
        let Stanza::Passphrase { commitment, .. } = &mut stanza else {
            unreachable!("it was made for a passphrase")
        };
        commitment[0] ^= 1;
        let opened = unwrap_with_passphrase(&stanza, &passphrase, SILENT).unwrap();
        assert!(matches!(opened, Fit::Other));
    }
}
