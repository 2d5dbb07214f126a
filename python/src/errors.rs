//! Errors of the crates as the exceptions of `sealstone.errors`.

use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sealstone::Error;
use sealstone::lifecycle::{Refusal, Stage};
use std::io;
use std::path::Path;

/// The exception for `error`.
pub(crate) fn exception(py: Python<'_>, error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Io(error) => system(error),
        Error::OutOfMemory(_) => PyMemoryError::new_err(text),
        Error::Invalid(_) | Error::UnknownWord(_) | Error::StoreFull => PyValueError::new_err(text),
        Error::Malformed(what) | Error::Armor(what) => raise(py, "Malformed", (text, what)),
        Error::OtherKind { .. } | Error::TooMuchAfterArmor => {
            raise(py, "Malformed", (text.clone(), text))
        }
        Error::Unsupported(what) => raise(py, "Unsupported", (text, what)),
        Error::WrongPassphrase => wrong_passphrase(py, Vec::new(), None),
        Error::NotRecipient => not_a_recipient(py, Vec::new(), Vec::new()),
        Error::Altered(part) => raise(py, "Altered", (text, part)),
        Error::KdfLimit {
            wanted,
            allowed,
            what,
        } => raise(py, "KdfLimit", (text, wanted, allowed, what)),
        Error::KeyLifecycle(refusal) => lifecycle(py, text, refusal),
        Error::StoreAltered(what) => raise(py, "StoreAltered", (text, what)),
        // WrongSender is decided before; kinds to come have no class of their own yet.
        _ => raise(py, "SealstoneError", (text,)),
    }
}

/// No passphrase that the caller gave fits the recipients, in words, or the passport of this
/// fingerprint.
pub(crate) fn wrong_passphrase(
    py: Python<'_>,
    recipients: Vec<String>,
    fingerprint: Option<String>,
) -> PyErr {
    let text = Error::WrongPassphrase.to_string();
    let recipients = PyTuple::new(py, recipients);
    recipients.map_or_else(
        |error| error,
        |recipients| raise(py, "WrongPassphrase", (text, recipients, fingerprint)),
    )
}

/// None of the passports of these fingerprints is among the recipients, in words.
pub(crate) fn not_a_recipient(
    py: Python<'_>,
    recipients: Vec<String>,
    given: Vec<String>,
) -> PyErr {
    let text = Error::NotRecipient.to_string();
    let fields = PyTuple::new(py, recipients).and_then(|it| Ok((it, PyTuple::new(py, given)?)));
    fields.map_or_else(
        |error| error,
        |(recipients, given)| raise(py, "NotARecipient", (text, recipients, given)),
    )
}

/// The reason by its name, with the stage or the time that it is about.
fn lifecycle(py: Python<'_>, text: String, refusal: Refusal) -> PyErr {
    let (name, stage, time) = match refusal {
        Refusal::Stage(stage) => ("stage", Some(stage), None),
        Refusal::NotYet(time) => ("not-yet", None, Some(time)),
        Refusal::Over(time) => ("over", None, Some(time)),
        Refusal::UsedUp { .. } => ("used-up", None, None),
        Refusal::ClockBack { latest, .. } => ("clock-back", None, Some(latest)),
        Refusal::Change(stage, _) => ("change", Some(stage), None),
    };
    let stage = stage.map(Stage::name);
    raise(py, "KeyLifecycle", (text, name, stage, time))
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

/// An error as Python's own functions raise it: with its number, if the system gave one.
fn system(error: io::Error) -> PyErr {
    match number_of(&error) {
        Some(number) => PyOSError::new_err((number, words(number))),
        None => error.into(),
    }
}

/// As Python's own `open` raises it.
pub(crate) fn about(path: &Path, error: io::Error) -> PyErr {
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return PyValueError::new_err("embedded null byte");
    }
    match number_of(&error) {
        Some(number) => PyOSError::new_err((number, words(number), path.as_os_str().to_owned())),
        None => error.into(),
    }
}

/// `EEXIST`.
const EXISTS: i32 = 17;

/// The system's number, also of an error that others hold.
fn number_of(error: &io::Error) -> Option<i32> {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Some(EXISTS);
    }
    let mut inner = error
        .get_ref()
        .map(|it| it as &(dyn std::error::Error + 'static));
    while let Some(it) = inner {
        if let Some(held) = it.downcast_ref::<io::Error>() {
            return number_of(held);
        }
        inner = it.source();
    }
    error.raw_os_error()
}

/// The meaning of the system's number.
fn words(number: i32) -> String {
    let text = io::Error::from_raw_os_error(number).to_string();
    let words = text.split(" (os error").next();
    words.unwrap_or_default().to_owned()
}
