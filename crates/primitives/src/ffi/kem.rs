//! Key encapsulation through `EVP_PKEY`: ML-KEM-1024.

use std::ptr;

use aws_lc_sys as sys;

use super::check;
use super::pkey::{Pkey, PkeyContext};
use crate::Error;

const NID: i32 = sys::NID_MLKEM1024;

pub(crate) const ENCAPSULATION_KEY_LEN: usize = 1568;
pub(crate) const CIPHERTEXT_LEN: usize = 1568;

/// The key pair of a seed d ‖ z (FIPS 203 algorithm 16).
pub(crate) fn from_seed(seed: &[u8; 64]) -> Result<Pkey, Error> {
    // SAFETY: creates a context without a key; no engine.
    let context = unsafe {
        PkeyContext::from_new(sys::EVP_PKEY_CTX_new_id(sys::EVP_PKEY_KEM, ptr::null_mut()))
    }?;
    // SAFETY: the context is alive.
    check(unsafe { sys::EVP_PKEY_CTX_kem_set_params(context.as_ptr(), NID) })?;
    // SAFETY: as above.
    check(unsafe { sys::EVP_PKEY_keygen_init(context.as_ptr()) })?;
    let (mut key, mut seed_len) = (ptr::null_mut(), seed.len());
    // SAFETY: the context is ready to generate; the seed pointer goes with its length; `key` starts
    // out null.
    let code = unsafe {
        sys::EVP_PKEY_keygen_deterministic(context.as_ptr(), &mut key, seed.as_ptr(), &mut seed_len)
    };
    // SAFETY: `key` is null or new. Wrapped before the code is looked at, so that it is freed in
    // any case.
    let key = unsafe { Pkey::from_new(key) };
    check(code)?;
    key
}

/// An encapsulation key, checked (FIPS 203 section 7.2: length and modulus).
pub(crate) fn from_public(bytes: &[u8]) -> Result<Pkey, Error> {
    // SAFETY: the pointer goes with its length; the result is null or new.
    let key = unsafe {
        Pkey::from_new(sys::EVP_PKEY_kem_new_raw_public_key(
            NID,
            bytes.as_ptr(),
            bytes.len(),
        ))
    }?;
    let context = key.context()?;
    // SAFETY: the context is alive and holds the key.
    check(unsafe { sys::EVP_PKEY_public_check(context.as_ptr()) })?;
    Ok(key)
}

/// An expanded decapsulation key, checked (FIPS 203 section 7.3: length and hash; and that it fits
/// its own public part).
#[cfg(feature = "hazmat")]
pub(crate) fn from_expanded(bytes: &[u8]) -> Result<Pkey, Error> {
    // dk = dk_pke (1536 bytes) ‖ ek ‖ H(ek) ‖ z, FIPS 203 algorithm 16.
    let public = bytes.get(1536..1536 + ENCAPSULATION_KEY_LEN).ok_or(Error)?;
    // SAFETY: each pointer goes with its length; the result is null or new.
    let key = unsafe {
        Pkey::from_new(sys::EVP_PKEY_kem_new_raw_key(
            NID,
            public.as_ptr(),
            public.len(),
            bytes.as_ptr(),
            bytes.len(),
        ))
    }?;
    // SAFETY: the key is alive and holds both halves.
    check(unsafe { sys::EVP_PKEY_kem_check_key(key.as_ptr()) })?;
    Ok(key)
}

/// Encapsulates to `key` with fresh randomness (FIPS 203 algorithm 20).
pub(crate) fn encapsulate(
    key: &Pkey,
    ciphertext: &mut [u8; CIPHERTEXT_LEN],
    shared: &mut [u8; 32],
) -> Result<(), Error> {
    let context = key.context()?;
    let (mut ciphertext_len, mut shared_len) = (ciphertext.len(), shared.len());
    // SAFETY: the context holds the key; each pointer goes with its length.
    check(unsafe {
        sys::EVP_PKEY_encapsulate(
            context.as_ptr(),
            ciphertext.as_mut_ptr(),
            &mut ciphertext_len,
            shared.as_mut_ptr(),
            &mut shared_len,
        )
    })?;
    exact([
        (ciphertext_len, ciphertext.len()),
        (shared_len, shared.len()),
    ])
}

/// Encapsulates to `key` with the message `m` (FIPS 203 algorithm 17).
pub(crate) fn encapsulate_deterministic(
    key: &Pkey,
    m: &[u8; 32],
    ciphertext: &mut [u8; CIPHERTEXT_LEN],
    shared: &mut [u8; 32],
) -> Result<(), Error> {
    let context = key.context()?;
    let (mut ciphertext_len, mut shared_len, mut m_len) = (ciphertext.len(), shared.len(), m.len());
    // SAFETY: the context holds the key; each pointer goes with its length.
    check(unsafe {
        sys::EVP_PKEY_encapsulate_deterministic(
            context.as_ptr(),
            ciphertext.as_mut_ptr(),
            &mut ciphertext_len,
            shared.as_mut_ptr(),
            &mut shared_len,
            m.as_ptr(),
            &mut m_len,
        )
    })?;
    exact([
        (ciphertext_len, ciphertext.len()),
        (shared_len, shared.len()),
    ])
}

/// Decapsulates `ciphertext` (FIPS 203 algorithm 21); one that was tampered with yields an
/// unrelated secret.
pub(crate) fn decapsulate(
    key: &Pkey,
    ciphertext: &[u8; CIPHERTEXT_LEN],
    shared: &mut [u8; 32],
) -> Result<(), Error> {
    let context = key.context()?;
    let mut shared_len = shared.len();
    // SAFETY: the context holds the key; each pointer goes with its length.
    check(unsafe {
        sys::EVP_PKEY_decapsulate(
            context.as_ptr(),
            shared.as_mut_ptr(),
            &mut shared_len,
            ciphertext.as_ptr(),
            ciphertext.len(),
        )
    })?;
    exact([(shared_len, shared.len())])
}

/// Each buffer was filled to its end.
fn exact<const N: usize>(written_and_len: [(usize, usize); N]) -> Result<(), Error> {
    if written_and_len.iter().all(|(written, len)| written == len) {
        Ok(())
    } else {
        Err(Error)
    }
}
