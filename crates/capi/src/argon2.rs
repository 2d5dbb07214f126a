//! Argon2.
//!
//! ```
//! use sealstone_capi::argon2::sealstone_password_verify;
//! use sealstone_capi::status::MALFORMED;
//!
//! let stored = c"$argon2id$v=19$m=1".as_ptr();
//! // SAFETY: the strings are valid, and the place for the answer may be null.
//! let status = unsafe {
//!     sealstone_password_verify(b"x".as_ptr(), 1, stored, 1024, 1, 1, std::ptr::null_mut())
//! };
//! assert_eq!(status, MALFORMED);
//! ```

use std::ffi::c_char;

use sealstone_argon2::{Arena, Argon2, Params, Variant, Version, hash_password, verify_password};
use zeroize::Zeroizing;

use crate::raw::{self, fields};
use crate::status::{Failure, Status, guarded};

/// The choices for a hash of Argon2 (RFC 9106).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Argon2Params {
    /// `sizeof(sealstone_argon2_params)`.
    pub size: usize,
    /// 0 (Argon2d), 1 (Argon2i) or 2 (Argon2id).
    pub variant: u32,
    /// 0x10 or 0x13.
    pub version: u32,
    /// KiB, at least 8 times the lanes.
    pub memory_kib: u32,
    /// From 1.
    pub passes: u32,
    /// From 1.
    pub lanes: u32,
    /// Threads from 1; they do not change the result.
    pub threads: u32,
    /// A key that enters the hash, or `NULL`.
    pub secret: *const u8,
    /// Its length in bytes.
    pub secret_len: usize,
    /// Data that enters the hash, or `NULL`.
    pub data: *const u8,
    /// Its length in bytes.
    pub data_len: usize,
}
fields!(Argon2Params {
    size,
    variant,
    version,
    memory_kib,
    passes,
    lanes,
    threads,
    secret,
    secret_len,
    data,
    data_len,
});

impl Argon2Params {
    fn params(&self) -> Result<Params, Failure> {
        let variant = match self.variant {
            0 => Variant::Argon2d,
            1 => Variant::Argon2i,
            2 => Variant::Argon2id,
            _ => return Err(Failure::invalid("a variant is 0 (d), 1 (i) or 2 (id)")),
        };
        let version = match self.version {
            0x10 => Version::V0x10,
            0x13 => Version::V0x13,
            _ => return Err(Failure::invalid("a version is 0x10 or 0x13")),
        };
        let params = Params::new(self.memory_kib, self.passes, self.lanes)?;
        Ok(params.with_variant(variant).with_version(version))
    }
}

/// Fills `tag`, of 4 bytes to 16 MiB, with the hash of a password. A salt of 16 random bytes is
/// usual.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_argon2(
    params: *const Argon2Params,
    password: *const u8,
    password_len: usize,
    salt: *const u8,
    salt_len: usize,
    tag: *mut u8,
    tag_len: usize,
) -> Status {
    guarded(|| {
        raw::check(tag.is_null(), tag_len, "tag")?;
        if tag_len > MAX_TAG {
            return Err(Failure::invalid("a tag has up to 16 MiB"));
        }
        // SAFETY: the caller's promise.
        let choices = unsafe { raw::choices(params, "params") }?;
        // SAFETY: as above.
        let password = unsafe { raw::bytes(password, password_len, "password") }?;
        // SAFETY: as above.
        let salt = unsafe { raw::bytes(salt, salt_len, "salt") }?;
        // SAFETY: as above.
        let secret = unsafe { raw::bytes(choices.secret, choices.secret_len, "secret") }?;
        // SAFETY: as above.
        let data = unsafe { raw::bytes(choices.data, choices.data_len, "data") }?;
        let argon2 = Argon2::new(choices.params()?)
            .secret(secret)
            .associated_data(data)
            .threads(choices.threads.max(1) as usize);
        let mut computed = Zeroizing::new(raw::reserved(tag_len)?);
        computed.resize(tag_len, 0);
        argon2.hash(password, salt, &mut computed, &mut Arena::new())?;
        // SAFETY: the caller's promise.
        unsafe { raw::write(tag, tag_len, &computed) }
    })
}

/// The longest tag in bytes: memory for it is taken before anything is checked.
const MAX_TAG: usize = 16 << 20;

/// Writes a string that stores a password, with a fresh salt (Argon2id, PHC string format).
/// `stored` has room for at least 128 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_password_hash(
    password: *const u8,
    password_len: usize,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    stored: *mut c_char,
    stored_len: usize,
) -> Status {
    guarded(|| {
        raw::check(stored.is_null(), stored_len, "stored")?;
        if stored_len < STORED_LEN {
            return Err(Failure::invalid("stored_len is at least 128"));
        }
        // SAFETY: the caller's promise.
        let password = unsafe { raw::bytes(password, password_len, "password") }?;
        let params = Params::new(memory_kib, passes, lanes)?;
        let mut text = hash_password(password, &params)?.into_bytes();
        text.resize(STORED_LEN, 0);
        // SAFETY: the caller's promise; there is room for more than is written.
        unsafe { raw::write(stored.cast(), STORED_LEN, &text) }
    })
}

/// Bytes that a stored password takes, with the zero byte at its end.
const STORED_LEN: usize = 128;

/// Verifies a password: SEALSTONE_OK if it is right, SEALSTONE_WRONG_KEY if it is not.
///
/// Strings that ask for more than 2 GiB, or 64 GiB times passes, are refused with SEALSTONE_LIMIT.
/// `needs_rehash` may be `NULL`; it is set if the string has other parameters than these.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_password_verify(
    password: *const u8,
    password_len: usize,
    stored: *const c_char,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    needs_rehash: *mut bool,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let password = unsafe { raw::bytes(password, password_len, "password") }?;
        // SAFETY: as above.
        let stored = unsafe { raw::text(stored, "stored") }?;
        let params = Params::new(memory_kib, passes, lanes)?;
        let verified = verify_password(password, stored, &params)?;
        if !needs_rehash.is_null() {
            // SAFETY: not null, so the caller promises that it can be written.
            unsafe { needs_rehash.write(verified.needs_rehash) };
        }
        Ok(())
    })
}
