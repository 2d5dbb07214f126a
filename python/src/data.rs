//! Bytes that Python holds.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PySlice};

/// Bytes-like data: those of a `bytes` object without a copy, which nothing can change while
/// Python's lock is given up, and a copy of anything else.
pub(crate) struct Data(PyBackedBytes);

impl Data {
    /// Without a copy if `object` is `bytes`.
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(bytes.clone().into()));
        }
        let bytes = view(object)?.call_method0("tobytes")?;
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

/// Bytes in each piece of data that is not `bytes`: they stay in the processor's cache.
const PIECE: usize = 256 << 10;

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
    let view = view(object)?;
    let length: usize = view.getattr("nbytes")?.extract()?;
    if length == 0 {
        return Ok(());
    }
    let view = view.call_method1("cast", ("B",))?;
    for from in (0..length).step_by(PIECE) {
        let to = length.min(from + PIECE);
        // `PySlice::new` of pyo3 0.30 forgets to free the numbers.
        let slice = py.get_type::<PySlice>().call1((from, to))?;
        let piece = view.get_item(slice)?.call_method0("tobytes")?;
        each(py, piece.cast::<PyBytes>()?.as_bytes())?;
    }
    Ok(())
}

/// A `memoryview` of the object's bytes.
fn view<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let view = object.py().import("builtins")?.getattr("memoryview")?;
    view.call1((object,)).map_err(|_| {
        let name = object
            .get_type()
            .name()
            .map_or_else(|_| String::from("this object"), |name| name.to_string());
        PyTypeError::new_err(format!("a bytes-like object is required, not '{name}'"))
    })
}
