//! The `bytes` object that a call returns. The only unsafe code of this crate.
//!
//! An object of the right length is made before the content is there, so that the content is
//! written once, into its place. Bytes that grow in Rust and are copied into an object take twice
//! the memory, and for 1 GiB more time than sealing takes.
#![allow(
    unsafe_code,
    reason = "writing into a new object without Python's lock"
)]

use crate::lock::SHORT;
use crate::view;
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, Write};
use std::ptr::NonNull;
use zeroize::Zeroizing;

/// Bytes that a call writes. Only its begin and its end need Python's lock.
#[derive(Default)]
pub(crate) struct Output {
    buffer: Option<Buffer>,
    /// The bytes that the object has no room for.
    more: Zeroizing<Vec<u8>>,
}

/// A `bytes` object with these bytes. They are copied, and dropped, without Python's lock, unless
/// they are few.
pub(crate) fn bytes_of<'py, B: AsRef<[u8]> + Send>(
    py: Python<'py>,
    bytes: B,
) -> PyResult<Bound<'py, PyBytes>> {
    if bytes.as_ref().len() <= SHORT {
        return Ok(PyBytes::new(py, bytes.as_ref()));
    }
    let mut buffer = Buffer::new(py, bytes.as_ref().len())?;
    let buffer = py.detach(move || {
        buffer.write(bytes.as_ref());
        drop(bytes);
        buffer
    });
    Ok(buffer.object.into_bound(py))
}

/// Overwrites the stack below the caller. A copy leaves bytes of a secret in vector registers, and
/// the loader saves these on the stack when it looks up a function at its first call.
#[inline(never)]
fn wipe_stack() {
    /// More than the deepest of Python's frames there.
    const DEPTH: usize = 32 << 10;
    let mut frames = [0_u8; DEPTH];
    std::hint::black_box(&mut frames);
}

/// A secret as a `bytes` object, or its length if it goes `into` a buffer, which can be wiped.
pub(crate) fn secret_of<'py, B: AsRef<[u8]> + Send>(
    py: Python<'py>,
    secret: B,
    into: Option<view::Buffer>,
) -> PyResult<Bound<'py, PyAny>> {
    match into {
        None => Ok(bytes_of(py, secret)?.into_any()),
        Some(buffer) => {
            // Before the secret is out: Python may have no memory for it.
            let length = secret.as_ref().len().into_pyobject(py)?;
            let filled = buffer.fill(py, secret.as_ref());
            wipe_stack();
            filled?;
            Ok(length.into_any())
        }
    }
}

/// Memory for a hash, if the system has it. It is wiped when it is dropped.
pub(crate) fn zeros(length: usize) -> PyResult<Zeroizing<Vec<u8>>> {
    let mut zeros = Zeroizing::new(Vec::new());
    let missing = |_| PyMemoryError::new_err(format!("no memory for a hash of {length} bytes"));
    zeros.try_reserve_exact(length).map_err(missing)?;
    zeros.resize(length, 0);
    Ok(zeros)
}

/// Makes room for `count` more bytes, if the system has the memory. Memory that is released is
/// wiped, as `bytes` is when it is dropped.
pub(crate) fn reserve(bytes: &mut Zeroizing<Vec<u8>>, count: usize) -> PyResult<()> {
    if bytes.capacity() - bytes.len() >= count {
        return Ok(());
    }
    let missing = |_| PyMemoryError::new_err(format!("no memory for {count} bytes more"));
    let needed = bytes.len().saturating_add(count);
    let mut larger = Zeroizing::new(Vec::new());
    larger
        .try_reserve_exact(needed.max(2 * bytes.len()))
        .map_err(missing)?;
    larger.extend_from_slice(bytes);
    *bytes = larger;
    Ok(())
}

/// A new `bytes` object that nobody else has.
struct Buffer {
    object: Py<PyBytes>,
    /// The object's memory. Only the first `written` bytes are initialised.
    start: NonNull<u8>,
    length: usize,
    written: usize,
}

// SAFETY: `Buffer` owns the memory behind `start` alone, like a `Box<[u8]>`: the object is never
// given away before `Buffer` is gone.
unsafe impl Send for Buffer {}

impl Output {
    /// Output of this length. Another length is possible too: it costs a copy.
    pub(crate) fn new(py: Python<'_>, length: usize) -> PyResult<Self> {
        Ok(Self {
            buffer: Some(Buffer::new(py, length)?),
            more: Zeroizing::default(),
        })
    }

    /// All that was written.
    pub(crate) fn finish(self, py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        let Some(buffer) = self.buffer else {
            return bytes_of(py, self.more);
        };
        if buffer.is_full() && self.more.is_empty() {
            return Ok(buffer.object.into_bound(py));
        }
        let mut whole = Buffer::new(py, buffer.written + self.more.len())?;
        let more = self.more;
        let whole = py.detach(move || {
            whole.write(buffer.bytes());
            whole.write(&more);
            drop(more);
            whole
        });
        Ok(whole.object.into_bound(py))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.buffer.as_mut().map_or(0, |buffer| buffer.write(bytes));
        let more = &bytes[written..];
        reserve(&mut self.more, more.len()).map_err(io::Error::other)?;
        self.more.extend_from_slice(more);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn new(py: Python<'_>, length: usize) -> PyResult<Self> {
        let size = length.try_into().map_err(|_| PyMemoryError::new_err(()))?;
        // SAFETY: Python is attached. Without a source, it returns a new object whose memory is not
        // initialised (for no bytes, one that others have too), or null and raises.
        let object = unsafe {
            let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), size);
            Bound::from_owned_ptr_or_err(py, object)
        };
        let object = object?.cast_into::<PyBytes>()?;
        // SAFETY: this is a `bytes` object. Python's documentation allows writing to its memory, as
        // it was made without a source.
        let start = unsafe { ffi::PyBytes_AsString(object.as_ptr()) };
        let start = NonNull::new(start.cast()).ok_or_else(|| PyMemoryError::new_err(()))?;
        Ok(Self {
            object: object.unbind(),
            start,
            length,
            written: 0,
        })
    }

    fn is_full(&self) -> bool {
        self.written == self.length
    }

    /// Writes as much as there is room for, and returns how much.
    fn write(&mut self, bytes: &[u8]) -> usize {
        let fits = bytes.len().min(self.length - self.written);
        // SAFETY: behind the first `written` bytes there is room for `fits` more. Nobody else has
        // the object, so `bytes` are not in it, and nobody reads or writes there.
        unsafe {
            let to = self.start.as_ptr().add(self.written);
            to.copy_from_nonoverlapping(bytes.as_ptr(), fits);
        }
        self.written += fits;
        fits
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: these bytes were written, and nobody else has the object.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.written) }
    }
}
