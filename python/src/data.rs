//! Bytes that Python holds.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

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
