//! Everything that aws-lc-rs does not offer, called in aws-lc directly.
//!
//! Each submodule wraps one kind of C object in an owner that frees it on every path, and turns
//! every return code into a `Result`. The rest of the crate is safe code over these.

pub(crate) mod aead;
pub(crate) mod bn;
pub(crate) mod curve25519;
pub(crate) mod ec;
pub(crate) mod hmac;
pub(crate) mod kem;
pub(crate) mod pkey;
pub(crate) mod pqdsa;
pub(crate) mod rsa;
pub(crate) mod verify;

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::Error;

/// aws-lc's convention: 1 is success, everything else failure.
fn check(code: c_int) -> Result<(), Error> {
    if code == 1 { Ok(()) } else { Err(failure()) }
}

/// aws-lc's convention: a null pointer is failure.
fn check_ptr<T>(pointer: *mut T) -> Result<NonNull<T>, Error> {
    NonNull::new(pointer).ok_or_else(failure)
}

/// Our error, with the thread's queue emptied so that no later caller in this process reads our
/// failure as its own.
fn failure() -> Error {
    // SAFETY: touches only aws-lc's own thread-local error queue.
    unsafe { aws_lc_sys::ERR_clear_error() };
    Error
}

/// Overwrites the stack below the caller, where the C functions it called had their frames.
///
/// aws-lc leaves derived secrets there: the subkey of XChaCha20, the GHASH key of GCM, Keccak
/// states of HMAC. A test finds the first of these in memory if this is not called.
#[inline(never)]
pub(crate) fn wipe_stack() {
    /// More than the deepest of those frames; costs about a tenth of a microsecond.
    const DEPTH: usize = 8 * 1024;
    let mut frames = MaybeUninit::<[u8; DEPTH]>::uninit();
    // SAFETY: writes `DEPTH` bytes to an array of that size.
    unsafe { aws_lc_sys::OPENSSL_cleanse(frames.as_mut_ptr().cast(), DEPTH) };
}

/// Overwrites `bytes` with zeros in a way that the compiler does not leave out.
pub(crate) fn cleanse(bytes: &mut [u8]) {
    // SAFETY: the pointer goes with its length.
    unsafe { aws_lc_sys::OPENSSL_cleanse(bytes.as_mut_ptr().cast(), bytes.len()) };
}
