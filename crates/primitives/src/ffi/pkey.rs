//! `EVP_PKEY`: aws-lc's reference-counted key object.

use std::ptr::{self, NonNull};

use aws_lc_sys as sys;
use sys::{EVP_PKEY, EVP_PKEY_CTX};

use super::{check, check_ptr};
use crate::Error;

/// One reference to a key that is never changed after it was made. aws-lc wipes the key when the
/// last one goes.
pub(crate) struct Pkey(NonNull<EVP_PKEY>);

// SAFETY: "a given object may be used concurrently on multiple threads by non-mutating functions"
// (openssl/evp.h), we call no mutating one after construction, and the reference count is atomic.
unsafe impl Send for Pkey {}
// SAFETY: as above.
unsafe impl Sync for Pkey {}

impl Pkey {
    /// Takes over a new reference, or the failure that a null pointer stands for.
    ///
    /// # Safety
    /// `pointer` is null or a reference that nobody else will free.
    pub(super) unsafe fn from_new(pointer: *mut EVP_PKEY) -> Result<Self, Error> {
        check_ptr(pointer).map(Self)
    }

    /// The raw public key, if it is exactly as long as `out`.
    pub(crate) fn public_key_into(&self, out: &mut [u8]) -> Result<(), Error> {
        let mut len = out.len();
        // SAFETY: the key is alive; at most `len` bytes are written to `out`.
        check(unsafe {
            sys::EVP_PKEY_get_raw_public_key(self.as_ptr(), out.as_mut_ptr(), &mut len)
        })?;
        if len == out.len() { Ok(()) } else { Err(Error) }
    }

    /// A context for one operation under this key.
    pub(super) fn context(&self) -> Result<PkeyContext, Error> {
        // SAFETY: the key is alive; the context takes its own reference. No engine.
        unsafe { PkeyContext::from_new(sys::EVP_PKEY_CTX_new(self.as_ptr(), ptr::null_mut())) }
    }

    pub(super) fn as_ptr(&self) -> *mut EVP_PKEY {
        self.0.as_ptr()
    }
}

impl Clone for Pkey {
    fn clone(&self) -> Self {
        // SAFETY: the key is alive.
        check(unsafe { sys::EVP_PKEY_up_ref(self.as_ptr()) }).expect("a live key can be shared");
        Self(self.0)
    }
}

impl Drop for Pkey {
    fn drop(&mut self) {
        // SAFETY: we own one reference.
        unsafe { sys::EVP_PKEY_free(self.as_ptr()) }
    }
}

/// An `EVP_PKEY_CTX` of our own.
pub(super) struct PkeyContext(NonNull<EVP_PKEY_CTX>);

impl PkeyContext {
    /// Takes over a new context, or the failure that a null pointer stands for.
    ///
    /// # Safety
    /// `pointer` is null or a context that nobody else will free.
    pub(super) unsafe fn from_new(pointer: *mut EVP_PKEY_CTX) -> Result<Self, Error> {
        check_ptr(pointer).map(Self)
    }

    pub(super) fn as_ptr(&self) -> *mut EVP_PKEY_CTX {
        self.0.as_ptr()
    }
}

impl Drop for PkeyContext {
    fn drop(&mut self) {
        // SAFETY: the context is ours alone.
        unsafe { sys::EVP_PKEY_CTX_free(self.as_ptr()) }
    }
}
