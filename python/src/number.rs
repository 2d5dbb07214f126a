//! Numbers of Python.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// A number of the caller's. One that does not fit is a `ValueError`: it is out of range, as one
/// that fits may be.
pub(crate) struct Number<T>(pub(crate) T);

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl<'py> FromPyObject<'_, 'py> for Number<$number> {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                object.extract().map(Self).map_err(|error: PyErr| {
                    let (least, most) = (<$number>::MIN, <$number>::MAX);
                    match error.is_instance_of::<PyOverflowError>(object.py()) {
                        true => PyValueError::new_err(format!(
                            "a number is out of range: it may be {least} to {most}"
                        )),
                        false => error,
                    }
                })
            }
        }
    )* };
}
numbers!(u32, u64, usize, i64);

/// A number for a parameter that has a default.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    object.extract().map(|Number(number)| number)
}

/// The length of a digest. A number below 0 becomes 0, which no digest has, and a number that is
/// too large becomes the greatest one. So one message is enough for all refused lengths.
pub(crate) struct Length(pub(crate) u64);

impl<'py> FromPyObject<'_, 'py> for Length {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract() {
            Ok(length) => Ok(Self(length)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                let is_less = object.lt(0)?;
                Ok(Self(if is_less { 0 } else { u64::MAX }))
            }
            Err(error) => Err(error),
        }
    }
}

/// `Length` for a parameter that has a default.
pub(crate) fn length(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    object.extract().map(|Length(length)| length)
}

/// A number in a structure, where PyO3 would turn every error into a `TypeError`.
pub(crate) struct Later(Py<PyAny>);

impl<'py> FromPyObject<'_, 'py> for Later {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(object.to_owned().unbind()))
    }
}

impl Later {
    pub(crate) fn number(&self, py: Python<'_>) -> PyResult<u64> {
        number(self.0.bind(py))
    }

    /// The number if there is one.
    pub(crate) fn optional(given: Option<&Self>, py: Python<'_>) -> PyResult<Option<u64>> {
        given.map(|it| it.number(py)).transpose()
    }
}
