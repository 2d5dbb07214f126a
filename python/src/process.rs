//! The process that made a secret.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The process whose memory holds a secret: a forked child does not have those pages, and reading
/// them would end it.
#[derive(Clone, Copy)]
pub(crate) struct Home(u32);

impl Home {
    pub(crate) fn here() -> Self {
        Self(std::process::id())
    }

    /// Refuses to go on in a forked child. `again` says what to do there.
    pub(crate) fn check(self, again: &str) -> PyResult<()> {
        if self.0 == std::process::id() {
            return Ok(());
        }
        let text = format!("its secrets stayed in the process that forked this one: {again} here");
        Err(PyRuntimeError::new_err(text))
    }
}
