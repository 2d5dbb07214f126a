//! Signatures under the keys of X.509 certificates: RSA and ECDSA through `EVP_DigestVerify`.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use aws_lc_sys as sys;
use sys::{EVP_MD, EVP_MD_CTX};

use super::pkey::Pkey;
use super::{check, check_ptr};
use crate::Error;

/// A hash function of aws-lc.
#[derive(Clone, Copy)]
pub(crate) enum Digest {
    Sha256,
    Sha384,
    Sha512,
}

impl Digest {
    fn as_ptr(self) -> *const EVP_MD {
        // SAFETY: each returns a pointer to a static table.
        unsafe {
            match self {
                Self::Sha256 => sys::EVP_sha256(),
                Self::Sha384 => sys::EVP_sha384(),
                Self::Sha512 => sys::EVP_sha512(),
            }
        }
    }
}

/// The encoding of the digest that the public operation is compared with.
#[derive(Clone, Copy)]
pub(crate) enum Padding {
    /// ECDSA has no padding.
    None,
    /// RSASSA-PKCS1-v1_5.
    Pkcs1,
    /// RSASSA-PSS: MGF1 over the same hash, a salt of this many bytes.
    Pss(u16),
}

/// The key in a SubjectPublicKeyInfo structure without anything behind it.
pub(crate) fn from_spki(der: &[u8]) -> Result<Pkey, Error> {
    let mut reader = MaybeUninit::<sys::CBS>::uninit();
    // SAFETY: initialises the reader over the slice, which outlives it.
    unsafe { sys::CBS_init(reader.as_mut_ptr(), der.as_ptr(), der.len()) };
    // SAFETY: the reader is initialised; the result is null or new.
    let key = unsafe { Pkey::from_new(sys::EVP_parse_public_key(reader.as_mut_ptr())) }?;
    // SAFETY: the reader is initialised.
    match unsafe { sys::CBS_len(reader.as_ptr()) } {
        0 => Ok(key),
        _ => Err(Error),
    }
}

/// aws-lc's number of the kind of key: `EVP_PKEY_RSA` and so on.
pub(crate) fn kind(key: &Pkey) -> c_int {
    // SAFETY: the key is alive.
    unsafe { sys::EVP_PKEY_id(key.as_ptr()) }
}

/// The length of an RSA key's modulus in bits.
pub(crate) fn bits(key: &Pkey) -> c_int {
    // SAFETY: the key is alive.
    unsafe { sys::EVP_PKEY_bits(key.as_ptr()) }
}

/// aws-lc's number of the curve of an elliptic-curve key.
pub(crate) fn curve(key: &Pkey) -> Result<c_int, Error> {
    // SAFETY: the key is alive; the result is null, if it is not such a key, or lives as long.
    let ec = check_ptr(unsafe { sys::EVP_PKEY_get0_EC_KEY(key.as_ptr()) })?;
    // SAFETY: a key that was parsed has a group, which lives as long as the key.
    Ok(unsafe { sys::EC_GROUP_get_curve_name(sys::EC_KEY_get0_group(ec.as_ptr())) })
}

/// Verifies `signature` over `message`.
pub(crate) fn verify(
    key: &Pkey,
    digest: Digest,
    padding: Padding,
    message: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    let operation = Operation::new(key, digest, padding)?;
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

/// One signature to check: an `EVP_MD_CTX` of our own, with key, hash and padding set.
struct Operation(NonNull<EVP_MD_CTX>);

impl Operation {
    fn new(key: &Pkey, digest: Digest, padding: Padding) -> Result<Self, Error> {
        // SAFETY: no preconditions; the result is null or new.
        let operation = Self(check_ptr(unsafe { sys::EVP_MD_CTX_new() })?);
        let mut key_context = ptr::null_mut();
        // SAFETY: the operation is new, the key alive (a reference is taken), the digest static; no
        // engine.
        check(unsafe {
            sys::EVP_DigestVerifyInit(
                operation.as_ptr(),
                &mut key_context,
                digest.as_ptr(),
                ptr::null_mut(),
                key.as_ptr(),
            )
        })?;
        // SAFETY: `key_context` belongs to the operation and lives as long.
        unsafe { set_padding(key_context, digest, padding) }?;
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

/// # Safety
/// `context` is alive and set up for verifying.
unsafe fn set_padding(
    context: *mut sys::EVP_PKEY_CTX,
    digest: Digest,
    padding: Padding,
) -> Result<(), Error> {
    let salt_len = match padding {
        Padding::None => return Ok(()),
        Padding::Pkcs1 => {
            // SAFETY: the caller's context.
            return check(unsafe {
                sys::EVP_PKEY_CTX_set_rsa_padding(context, sys::RSA_PKCS1_PADDING)
            });
        }
        Padding::Pss(salt_len) => salt_len,
    };
    // SAFETY: the caller's context.
    check(unsafe { sys::EVP_PKEY_CTX_set_rsa_padding(context, sys::RSA_PKCS1_PSS_PADDING) })?;
    // SAFETY: the caller's context; the digest is static.
    check(unsafe { sys::EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest.as_ptr()) })?;
    // SAFETY: the caller's context.
    check(unsafe { sys::EVP_PKEY_CTX_set_rsa_pss_saltlen(context, c_int::from(salt_len)) })
}
