//! ML-DSA signatures through `EVP_PKEY`, with FIPS 204 context strings.

use std::ptr::{self, NonNull};

use aws_lc_sys as sys;
use sys::EVP_MD_CTX;

use super::pkey::Pkey;
use super::{check, check_ptr};
use crate::Error;

/// The key pair of a 32-byte seed ξ (FIPS 204 algorithm 6).
pub(crate) fn from_seed(nid: i32, seed: &[u8; 32]) -> Result<Pkey, Error> {
    // SAFETY: the pointer goes with its length; the result is null or new.
    unsafe {
        Pkey::from_new(sys::EVP_PKEY_pqdsa_new_raw_private_key(
            nid,
            seed.as_ptr(),
            seed.len(),
        ))
    }
}

/// A verifying key. Every string of the right length is one.
pub(crate) fn from_public(nid: i32, bytes: &[u8]) -> Result<Pkey, Error> {
    // SAFETY: the pointer goes with its length; the result is null or new.
    unsafe {
        Pkey::from_new(sys::EVP_PKEY_pqdsa_new_raw_public_key(
            nid,
            bytes.as_ptr(),
            bytes.len(),
        ))
    }
}

/// Signs `message` under `context` (FIPS 204 algorithm 2, hedged), filling `signature`.
pub(crate) fn sign(
    key: &Pkey,
    message: &[u8],
    context: &[u8],
    signature: &mut [u8],
) -> Result<(), Error> {
    let operation = Operation::new(key, context, sys::EVP_DigestSignInit)?;
    let mut len = signature.len();
    // SAFETY: the operation is set up for signing; each pointer goes with its length.
    check(unsafe {
        sys::EVP_DigestSign(
            operation.as_ptr(),
            signature.as_mut_ptr(),
            &mut len,
            message.as_ptr(),
            message.len(),
        )
    })?;
    if len == signature.len() {
        Ok(())
    } else {
        Err(Error)
    }
}

/// Verifies `signature` over `message` under `context` (FIPS 204 algorithm 3).
pub(crate) fn verify(
    key: &Pkey,
    message: &[u8],
    context: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    let operation = Operation::new(key, context, sys::EVP_DigestVerifyInit)?;
    // SAFETY: the operation is set up for verifying; each pointer goes with its length.
    check(unsafe {
        sys::EVP_DigestVerify(
            operation.as_ptr(),
            signature.as_ptr(),
            signature.len(),
            message.as_ptr(),
            message.len(),
        )
    })
}

/// Verifies `signature` over an externally computed message representative µ (FIPS 204 section
/// 6.2).
#[cfg(feature = "hazmat")]
pub(crate) fn verify_mu(key: &Pkey, mu: &[u8; 64], signature: &[u8]) -> Result<(), Error> {
    let context = key.context()?;
    // SAFETY: the context is alive and holds the key.
    check(unsafe { sys::EVP_PKEY_verify_init(context.as_ptr()) })?;
    // SAFETY: the context is set up for verifying; each pointer goes with its length.
    check(unsafe {
        sys::EVP_PKEY_verify(
            context.as_ptr(),
            signature.as_ptr(),
            signature.len(),
            mu.as_ptr(),
            mu.len(),
        )
    })
}

/// `EVP_DigestSignInit` or `EVP_DigestVerifyInit`.
type Init = unsafe extern "C" fn(
    *mut EVP_MD_CTX,
    *mut *mut sys::EVP_PKEY_CTX,
    *const sys::EVP_MD,
    *mut sys::ENGINE,
    *mut sys::EVP_PKEY,
) -> std::ffi::c_int;

/// One signature to make or to check: an `EVP_MD_CTX` of our own, with key and context string set.
struct Operation(NonNull<EVP_MD_CTX>);

impl Operation {
    fn new(key: &Pkey, context: &[u8], init: Init) -> Result<Self, Error> {
        // SAFETY: no preconditions; the result is null or new.
        let operation = Self(check_ptr(unsafe { sys::EVP_MD_CTX_new() })?);
        let mut key_context = ptr::null_mut();
        // SAFETY: the operation is new, the key alive (a reference is taken); ML-DSA takes no
        // digest; no engine.
        check(unsafe {
            init(
                operation.as_ptr(),
                &mut key_context,
                ptr::null(),
                ptr::null_mut(),
                key.as_ptr(),
            )
        })?;
        // SAFETY: `key_context` belongs to the operation and lives as long; the string is copied,
        // with its length.
        check(unsafe {
            sys::EVP_PKEY_CTX_set_signature_context(key_context, context.as_ptr(), context.len())
        })?;
        Ok(operation)
    }

    fn as_ptr(&self) -> *mut EVP_MD_CTX {
        self.0.as_ptr()
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        // SAFETY: the context is ours alone; this also frees its key context.
        unsafe { sys::EVP_MD_CTX_free(self.as_ptr()) }
    }
}
