//! X25519 and Ed25519 on plain byte arrays, so that secrets never leave the caller's locked memory.

use aws_lc_sys as sys;

use super::check;
use crate::Error;

/// The X25519 public key of a private key.
pub(crate) fn x25519_public(private: &[u8; 32]) -> [u8; 32] {
    let mut public = [0; 32];
    // SAFETY: reads and writes 32 bytes each.
    unsafe { sys::X25519_public_from_private(public.as_mut_ptr(), private.as_ptr()) };
    public
}

/// X25519 into `shared`; fails if the result is all zero (RFC 7748 section 6.1).
pub(crate) fn x25519(
    shared: &mut [u8; 32],
    private: &[u8; 32],
    peer: &[u8; 32],
) -> Result<(), Error> {
    // SAFETY: reads 32 and 32 bytes, writes 32.
    check(unsafe { sys::X25519(shared.as_mut_ptr(), private.as_ptr(), peer.as_ptr()) })
}

/// Expands an Ed25519 seed to seed ‖ public key in `key_pair`; returns the public key.
pub(crate) fn ed25519_from_seed(key_pair: &mut [u8; 64], seed: &[u8; 32]) -> [u8; 32] {
    let mut public = [0; 32];
    // SAFETY: writes 32 and 64 bytes, reads 32.
    unsafe {
        sys::ED25519_keypair_from_seed(public.as_mut_ptr(), key_pair.as_mut_ptr(), seed.as_ptr())
    };
    public
}

/// The Ed25519 signature (RFC 8032 section 5.1.6) under seed ‖ public key.
pub(crate) fn ed25519_sign(key_pair: &[u8; 64], message: &[u8]) -> [u8; 64] {
    let mut signature = [0; 64];
    // SAFETY: writes 64 bytes, reads 64 and the message with its length.
    let code = unsafe {
        sys::ED25519_sign(
            signature.as_mut_ptr(),
            message.as_ptr(),
            message.len(),
            key_pair.as_ptr(),
        )
    };
    check(code).expect("signing fails only if out of memory");
    signature
}

/// Verifies an Ed25519 signature; see `sign::ed25519` for the exact rule.
pub(crate) fn ed25519_verify(
    public: &[u8; 32],
    message: &[u8],
    signature: &[u8; 64],
) -> Result<(), Error> {
    // SAFETY: reads 64 and 32 bytes and the message with its length.
    check(unsafe {
        sys::ED25519_verify(
            message.as_ptr(),
            message.len(),
            signature.as_ptr(),
            public.as_ptr(),
        )
    })
}
