//! Bytes that a function returns.
//!
//! ```
//! use sealstone_capi::buffer::sealstone_buffer_len;
//!
//! // SAFETY: null is an empty buffer.
//! assert_eq!(unsafe { sealstone_buffer_len(std::ptr::null()) }, 0);
//! ```

use std::ptr;

use zeroize::Zeroizing;

use crate::raw;

/// Bytes that a function returns. They are wiped when they are freed.
pub struct Buffer(pub(crate) Zeroizing<Vec<u8>>);

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

/// The bytes, valid until the buffer is freed; `NULL` for `NULL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_buffer_data(buffer: *const Buffer) -> *const u8 {
    // SAFETY: the caller's promise.
    let buffer = unsafe { buffer.as_ref() };
    buffer.map_or(ptr::null(), |buffer| buffer.0.as_ptr())
}

/// The number of bytes; 0 for `NULL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_buffer_len(buffer: *const Buffer) -> usize {
    // SAFETY: the caller's promise.
    let buffer = unsafe { buffer.as_ref() };
    buffer.map_or(0, |buffer| buffer.0.len())
}

/// Wipes and frees the bytes. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_buffer_free(buffer: *mut Buffer) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(buffer) }
}
