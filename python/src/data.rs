//! Bytes that Python holds.

use crate::view::{NOT_BYTES, PIECE, View, memoryview, wipe};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyByteArray, PyBytes};
use zeroize::Zeroizing;

/// Bytes-like data: those of a `bytes` object without a copy, which nothing can change while
/// Python's lock is given up, and a copy of anything else.
pub(crate) struct Data(PyBackedBytes);

impl Data {
    /// Without a copy if `object` is `bytes`.
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(bytes.clone().into()));
        }
        let bytes = memoryview(object)?.call_method0("tobytes")?;
        Ok(Self(bytes.cast_into::<PyBytes>()?.into()))
    }
}

impl<'py> FromPyObject<'_, 'py> for Data {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Self::of(&object)
    }
}

impl std::ops::Deref for Data {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Data {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A secret. Mutable data is copied, and the copy is wiped with this. `bytes` and `str` belong to
/// Python: nobody can wipe them.
pub(crate) enum Secret {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
    Copied(Zeroizing<Vec<u8>>),
}

impl Secret {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone().into()));
        }
        let view = memoryview(object)?;
        // Straight from the buffer into memory that can be wiped.
        let copy = PyByteArray::from(&view)?;
        let bytes = Zeroizing::new(copy.to_vec());
        wipe(&copy)?;
        Ok(Self::Copied(bytes))
    }
}

impl<'py> FromPyObject<'_, 'py> for Secret {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Self::of(&object)
    }
}

impl std::ops::Deref for Secret {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}

/// A secret that is a `str`, as UTF-8, or bytes-like.
pub(crate) struct Text(Secret);

impl Text {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.extract() {
            return Ok(Self(Secret::Str(text)));
        }
        Secret::of(&object).map(Self)
    }
}

/// Calls `each` with the bytes of bytes-like data: those of `bytes` in one piece without a copy,
/// which nothing can change meanwhile; those of other objects in copied pieces.
pub(crate) fn feed(
    object: &Bound<'_, PyAny>,
    mut each: impl FnMut(Python<'_>, &[u8]) -> PyResult<()>,
) -> PyResult<()> {
    let py = object.py();
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return each(py, bytes.as_bytes());
    }
    let view = View::of(object)?;
    let view = view.ok_or_else(|| PyTypeError::new_err(NOT_BYTES))?;
    for from in (0..view.len()).step_by(PIECE) {
        let copy = view.piece(py, [from, view.len().min(from + PIECE)])?;
        each(py, copy.as_bytes())?;
    }
    Ok(())
}
