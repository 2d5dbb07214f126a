//! `HMAC_CTX` for SHA3-256, kept on locked pages.

use std::ptr;

use aws_lc_sys as sys;
use sys::HMAC_CTX;

use super::{check, wipe_stack};
use crate::pages::Pages;

pub(crate) const TAG_LEN: usize = 32;

/// A running HMAC-SHA3-256.
///
/// aws-lc's calls can fail only if the context is not initialised, which the constructor rules out;
/// so the methods here do not return errors.
pub(crate) struct Context {
    /// An initialised `HMAC_CTX` at the start of the block. It is flat, so wiping the block wipes
    /// the key.
    pages: Pages,
}

impl Context {
    pub(crate) fn new(key: &[u8]) -> Self {
        let context = Self {
            pages: Pages::new(size_of::<HMAC_CTX>()),
        };
        // SAFETY: the block is zeroed, which is what `HMAC_CTX_init` would make of it, writable,
        // large enough and page-aligned; the digest is a static table; the key pointer (never null,
        // also if empty) goes with its length.
        let code = unsafe {
            sys::HMAC_Init_ex(
                context.as_ptr(),
                key.as_ptr().cast(),
                key.len(),
                sys::EVP_sha3_256(),
                ptr::null_mut(),
            )
        };
        wipe_stack();
        check(code).expect("HMAC takes keys of any length");
        context
    }

    /// Forgets the message, keeps the key.
    pub(crate) fn reset(&mut self) {
        // SAFETY: the context is initialised; a null key and digest mean "the same as before".
        let code = unsafe {
            sys::HMAC_Init_ex(self.as_ptr(), ptr::null(), 0, ptr::null(), ptr::null_mut())
        };
        check(code).expect("the context is initialised");
    }

    pub(crate) fn update(&mut self, data: &[u8]) {
        // SAFETY: the context is initialised and borrowed exclusively; the pointer goes with its
        // length.
        let code = unsafe { sys::HMAC_Update(self.as_ptr(), data.as_ptr(), data.len()) };
        check(code).expect("the context is initialised");
    }

    /// Writes the tag; call [`Context::reset`] before the next message.
    pub(crate) fn finish_into(&mut self, tag: &mut [u8; TAG_LEN]) {
        let mut len = 0;
        // SAFETY: the context is initialised and borrowed exclusively; SHA3-256 writes exactly
        // `TAG_LEN` bytes.
        let code = unsafe { sys::HMAC_Final(self.as_ptr(), tag.as_mut_ptr(), &mut len) };
        wipe_stack();
        check(code).expect("the context is initialised");
        assert_eq!(len as usize, TAG_LEN);
    }

    fn as_ptr(&self) -> *mut HMAC_CTX {
        self.pages.as_ptr().cast()
    }
}
