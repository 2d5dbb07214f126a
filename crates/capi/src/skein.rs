//! Skein-512.
//!
//! ```
//! use sealstone_capi::skein::{sealstone_skein512_new, sealstone_skein_free};
//! use sealstone_capi::status::OK;
//!
//! let mut skein = std::ptr::null_mut();
//! // SAFETY: there is no key, and the handle is given back.
//! unsafe {
//!     assert_eq!(sealstone_skein512_new(std::ptr::null(), 0, 32, &mut skein), OK);
//!     sealstone_skein_free(skein);
//! }
//! ```

use sealstone_skein::{Parameters, Skein512};
use zeroize::Zeroizing;

use crate::raw;
use crate::status::{Failure, Status, guarded};

/// A message being hashed with Skein-512 (version 1.3).
pub struct Skein {
    state: Skein512,
    digest_len: usize,
}

/// The longest digest in bytes.
const MAX_DIGEST: usize = 16 << 20;

impl Skein {
    fn new(key: &[u8], digest_len: usize) -> Result<Self, Failure> {
        if !(1..=MAX_DIGEST).contains(&digest_len) {
            return Err(Failure::invalid("a digest has 1 byte to 16 MiB"));
        }
        let parameters = Parameters::new().output_bits(digest_len as u64 * 8);
        let state = match key {
            [] => Skein512::with(&parameters),
            key => Skein512::with(&parameters.key(key)),
        };
        Ok(Self { state, digest_len })
    }

    fn finish(&self) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let mut digest = Zeroizing::new(raw::reserved(self.digest_len)?);
        digest.resize(self.digest_len, 0);
        self.state.clone().output().read(&mut digest);
        Ok(digest)
    }
}

/// Fills `digest`, of 1 byte to 16 MiB, with the hash of the data. 64 bytes are usual.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_skein512(
    data: *const u8,
    data_len: usize,
    digest: *mut u8,
    digest_len: usize,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let data = unsafe { raw::bytes(data, data_len, "data") }?;
        raw::check(digest.is_null(), digest_len, "digest")?;
        let mut skein = Skein::new(&[], digest_len)?;
        skein.state.update(data);
        // SAFETY: the caller's promise.
        unsafe { raw::write(digest, digest_len, &skein.finish()?) }
    })
}

/// Begins a hash with a digest of 1 byte to 16 MiB; with a key, a MAC.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_skein512_new(
    key: *const u8,
    key_len: usize,
    digest_len: usize,
    skein: *mut *mut Skein,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let key = unsafe { raw::bytes(key, key_len, "key") };
        // SAFETY: as above.
        unsafe { raw::give(skein, || Skein::new(key?, digest_len)) }
    })
}

/// Adds bytes to the message. It is the only function that changes a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_skein_update(
    skein: *mut Skein,
    data: *const u8,
    data_len: usize,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let skein = unsafe { raw::object_mut(skein, "skein") }?;
        // SAFETY: as above.
        let data = unsafe { raw::bytes(data, data_len, "data") }?;
        skein.state.update(data);
        Ok(())
    })
}

/// Fills `digest` with the hash of the message so far, which may go on. `digest_len` is that of the
/// beginning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_skein_digest(
    skein: *const Skein,
    digest: *mut u8,
    digest_len: usize,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let skein = unsafe { raw::object(skein, "skein") }?;
        if digest_len != skein.digest_len {
            let text = format!("digest_len is {} for this hash", skein.digest_len);
            return Err(Failure::invalid(text));
        }
        // SAFETY: the caller's promise.
        unsafe { raw::write(digest, digest_len, &skein.finish()?) }
    })
}

/// Wipes and frees the state. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_skein_free(skein: *mut Skein) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(skein) }
}
