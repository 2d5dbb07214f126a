//! `EVP_AEAD_CTX`, kept with its key on locked pages.

use std::ptr;

use aws_lc_sys as sys;
use sys::{EVP_AEAD, EVP_AEAD_CTX};

use super::{check, wipe_stack};
use crate::Error;
use crate::pages::Pages;

pub(crate) const TAG_LEN: usize = 16;

/// A keyed AEAD, ready to seal and to open from many threads at once.
pub(crate) struct Context {
    /// An initialised `EVP_AEAD_CTX` at the start of the block. Its state is inline, so wiping the
    /// block wipes the key.
    pages: Pages,
}

impl Context {
    pub(crate) fn xchacha20_poly1305(key: &[u8; 32]) -> Self {
        // SAFETY: returns a pointer to a static table.
        Self::new(unsafe { sys::EVP_aead_xchacha20_poly1305() }, key)
    }

    pub(crate) fn aes_256_gcm(key: &[u8; 32]) -> Self {
        // SAFETY: returns a pointer to a static table.
        Self::new(unsafe { sys::EVP_aead_aes_256_gcm() }, key)
    }

    fn new(algorithm: *const EVP_AEAD, key: &[u8; 32]) -> Self {
        let context = Self {
            pages: Pages::new(size_of::<EVP_AEAD_CTX>()),
        };
        // SAFETY: the block is writable, zeroed, large enough and aligned to a page; `algorithm` is
        // static; the key is as long as said.
        let code = unsafe {
            sys::EVP_AEAD_CTX_init(
                context.as_ptr(),
                algorithm,
                key.as_ptr(),
                key.len(),
                TAG_LEN,
                ptr::null_mut(),
            )
        };
        wipe_stack();
        check(code).expect("both algorithms take 32-byte keys and 16-byte tags");
        context
    }

    /// Encrypts `data` in place. Fails, with `data` wiped, only if a length is out of the
    /// algorithm's bounds.
    pub(crate) fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
    ) -> Result<[u8; TAG_LEN], Error> {
        let mut tag = [0; TAG_LEN];
        let mut tag_len = 0;
        let start = data.as_mut_ptr();
        // SAFETY: the context is initialised and only read (the API allows concurrent use); every
        // pointer comes from a slice and goes with its length; input and output are the same
        // buffer, which is allowed; `tag` is apart.
        let code = unsafe {
            sys::EVP_AEAD_CTX_seal_scatter(
                self.as_ptr(),
                start,
                tag.as_mut_ptr(),
                &mut tag_len,
                TAG_LEN,
                nonce.as_ptr(),
                nonce.len(),
                start,
                data.len(),
                ptr::null(),
                0,
                aad.as_ptr(),
                aad.len(),
            )
        };
        wipe_stack();
        check(code)?;
        if tag_len == TAG_LEN {
            Ok(tag)
        } else {
            Err(Error)
        }
    }

    /// Decrypts `data` in place; on failure `data` is all zero.
    pub(crate) fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        let start = data.as_mut_ptr();
        // SAFETY: as in `seal`; the tag is only read.
        let code = unsafe {
            sys::EVP_AEAD_CTX_open_gather(
                self.as_ptr(),
                start,
                nonce.as_ptr(),
                nonce.len(),
                start,
                data.len(),
                tag.as_ptr(),
                tag.len(),
                aad.as_ptr(),
                aad.len(),
            )
        };
        wipe_stack();
        check(code)
    }

    fn as_ptr(&self) -> *mut EVP_AEAD_CTX {
        self.pages.as_ptr().cast()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.pages.is_absent() {
            return;
        }
        // SAFETY: initialised in `new`, used by nobody else any more. The block itself is wiped and
        // freed by `Pages`.
        unsafe { sys::EVP_AEAD_CTX_cleanup(self.as_ptr()) }
    }
}
