//! RSA keys. The private operation is aws-lc's. It runs in constant time, and a random factor
//! blinds it. Its result is checked with the public key before it is returned.

use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use aws_lc_sys as sys;
use sys::RSA;

use super::bn::Number;
use super::pkey::Pkey;
use super::{check, check_ptr};
use crate::Error;
use crate::secret::SecretVec;

/// A public or private key that is not changed after it was made.
pub(crate) struct Key(NonNull<RSA>);

// SAFETY: aws-lc locks what its functions on a live key cache inside; the key itself stays.
unsafe impl Send for Key {}
// SAFETY: as above.
unsafe impl Sync for Key {}

/// An upper bound on the encoding of a 2048-bit private key, which takes about 1,220 bytes.
const MAX_PRIVATE_LEN: usize = 2048;

impl Key {
    /// A new private key.
    pub(crate) fn generate(bits: i32, exponent: &Number) -> Result<Self, Error> {
        // SAFETY: allocates; the result is null or new.
        let key = Self(check_ptr(unsafe { sys::RSA_new() })?);
        let rsa = key.as_ptr();
        // SAFETY: key and exponent are alive; no callback.
        check(unsafe { sys::RSA_generate_key_ex(rsa, bits, exponent.as_ptr(), ptr::null_mut()) })?;
        Ok(key)
    }

    /// The public key of a modulus and an exponent.
    pub(crate) fn public(modulus: &Number, exponent: &Number) -> Result<Self, Error> {
        // SAFETY: both numbers are alive and copied; the result is null or new.
        check_ptr(unsafe { sys::RSA_new_public_key(modulus.as_ptr(), exponent.as_ptr()) }).map(Self)
    }

    /// The private key in a PKCS #8 structure without anything behind it, checked for
    /// consistency.
    pub(crate) fn from_pkcs8(der: &[u8]) -> Result<Self, Error> {
        let mut reader = MaybeUninit::<sys::CBS>::uninit();
        // SAFETY: initialises the reader over the slice, which outlives it.
        unsafe { sys::CBS_init(reader.as_mut_ptr(), der.as_ptr(), der.len()) };
        // SAFETY: the reader is initialised; the result is null or new.
        let pkey = unsafe { Pkey::from_new(sys::EVP_parse_private_key(reader.as_mut_ptr())) }?;
        // SAFETY: the reader is initialised.
        if unsafe { sys::CBS_len(reader.as_ptr()) } != 0 {
            return Err(Error);
        }
        // SAFETY: the key is alive; the result is null, if it is not an RSA key, or a new
        // reference.
        let key = Self(check_ptr(unsafe { sys::EVP_PKEY_get1_RSA(pkey.as_ptr()) })?);
        // SAFETY: the key is alive.
        check(unsafe { sys::RSA_check_key(key.as_ptr()) })?;
        Ok(key)
    }

    /// The private key as PKCS #8.
    pub(crate) fn to_pkcs8(&self) -> Result<SecretVec, Error> {
        // SAFETY: allocates; the result is null or new.
        let pkey = unsafe { Pkey::from_new(sys::EVP_PKEY_new()) }?;
        // SAFETY: both keys are alive; the new one takes its own reference.
        check(unsafe { sys::EVP_PKEY_set1_RSA(pkey.as_ptr(), self.as_ptr()) })?;
        let mut der = SecretVec::zeroed(MAX_PRIVATE_LEN);
        let (mut writer, mut len) = (MaybeUninit::<sys::CBB>::uninit(), 0);
        let out = der.expose_mut();
        // SAFETY: initialises the writer over the buffer, which outlives it and is never moved.
        check(unsafe { sys::CBB_init_fixed(writer.as_mut_ptr(), out.as_mut_ptr(), out.len()) })?;
        // SAFETY: writer and key are alive.
        let code = unsafe { sys::EVP_marshal_private_key(writer.as_mut_ptr(), pkey.as_ptr()) };
        // SAFETY: the writer is initialised; a fixed one owns no memory.
        let finished = unsafe { sys::CBB_finish(writer.as_mut_ptr(), ptr::null_mut(), &mut len) };
        check(code)?;
        check(finished)?;
        der.truncate(len);
        Ok(der)
    }

    /// The modulus, big-endian; fails if it does not fit.
    pub(crate) fn write_modulus(&self, out: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the key is alive and has a modulus, which lives as long.
        let modulus = unsafe { sys::RSA_get0_n(self.as_ptr()) };
        // SAFETY: as above; the pointer goes with its length.
        check(unsafe { sys::BN_bn2bin_padded(out.as_mut_ptr(), out.len(), modulus) })
    }

    /// Whether the public exponent is `exponent`.
    pub(crate) fn has_exponent(&self, exponent: &Number) -> bool {
        // SAFETY: the key is alive and has an exponent, which lives as long.
        unsafe { sys::BN_cmp(sys::RSA_get0_e(self.as_ptr()), exponent.as_ptr()) == 0 }
    }

    /// The length of the modulus in bits.
    pub(crate) fn bits(&self) -> u32 {
        // SAFETY: the key is alive.
        unsafe { sys::RSA_bits(self.as_ptr()) }
    }

    /// `input` to the power of the private exponent (RFC 8017's RSASP1).
    pub(crate) fn private_operation(&self, input: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let mut written = 0;
        // SAFETY: the key is alive and private; each pointer goes with its length.
        check(unsafe {
            sys::RSA_sign_raw(
                self.as_ptr(),
                &mut written,
                out.as_mut_ptr(),
                out.len(),
                input.as_ptr(),
                input.len(),
                sys::RSA_NO_PADDING,
            )
        })?;
        if written == out.len() {
            Ok(())
        } else {
            Err(Error)
        }
    }

    /// RSASSA-PSS verification with SHA-384 (RFC 8017 section 8.1.2), a salt of 48 bytes.
    pub(crate) fn verify_pss_sha384(
        &self,
        digest: &[u8; 48],
        signature: &[u8],
    ) -> Result<(), Error> {
        // SAFETY: returns a pointer to a static table.
        let sha384 = unsafe { sys::EVP_sha384() };
        // SAFETY: the key is alive; each pointer goes with its length.
        check(unsafe {
            sys::RSA_verify_pss_mgf1(
                self.as_ptr(),
                digest.as_ptr(),
                digest.len(),
                sha384,
                sha384,
                48,
                signature.as_ptr(),
                signature.len(),
            )
        })
    }

    fn as_ptr(&self) -> *mut RSA {
        self.0.as_ptr()
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: we own one reference. aws-lc wipes what it frees.
        unsafe { sys::RSA_free(self.as_ptr()) }
    }
}
