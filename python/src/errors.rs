//! Errors of the crates as the exceptions of `sealstone.errors`.

use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use sealstone::Error;
use std::io;
use std::path::Path;

/// The exception for `error`.
pub(crate) fn exception(py: Python<'_>, error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Io(error) => error.into(),
        Error::OutOfMemory(_) => PyMemoryError::new_err(text),
        Error::Invalid(_) | Error::UnknownWord(_) => PyValueError::new_err(text),
        Error::Malformed(what) => raise(py, "Malformed", (text, what)),
        Error::Unsupported(what) => raise(py, "Unsupported", (text, what)),
        Error::WrongPassphrase => raise(py, "WrongPassphrase", (text,)),
        Error::NotRecipient => raise(py, "NotARecipient", (text,)),
        Error::Altered(part) => raise(py, "Altered", (text, part)),
        Error::KdfLimit {
            wanted,
            allowed,
            what,
        } => raise(py, "KdfLimit", (text, wanted, allowed, what)),
        Error::KeyLifecycle(_) => raise(py, "KeyLifecycle", (text,)),
        Error::StoreAltered(what) => raise(py, "StoreAltered", (text, what)),
        // WrongSender is decided before; kinds to come have no class of their own yet.
        _ => raise(py, "SealstoneError", (text,)),
    }
}

/// An exception of this name in `sealstone.errors`.
pub(crate) fn raise<'py>(py: Python<'py>, name: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let made = || {
        let class = py.import("sealstone.errors")?.getattr(name)?;
        class.call1(arguments)
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// Calls Python. An exception travels in the error, and comes out of it again as it was.
pub(crate) fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    let ended = || io::Error::other("Python has ended");
    // Not of its own kind: readers try again after an `InterruptedError`.
    Python::try_attach(call)
        .ok_or_else(ended)?
        .map_err(io::Error::other)
}

/// As Python's own `open` raises it.
pub(crate) fn about(path: &Path, error: io::Error) -> PyErr {
    match error
        .raw_os_error()
        .or((error.kind() == io::ErrorKind::AlreadyExists).then_some(17))
    {
        Some(number) => {
            let text = error.to_string();
            let text = text
                .split(" (os error")
                .next()
                .unwrap_or_default()
                .to_owned();
            PyOSError::new_err((number, text, path.to_path_buf()))
        }
        None => error.into(),
    }
}
