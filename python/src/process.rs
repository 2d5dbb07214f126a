//! The process that made a secret, and its processors.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::num::NonZero;
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// Processors of this process. Asked once: the system answers from files of control groups, which
/// takes longer than a short hash.
pub(crate) fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| available_parallelism().map_or(1, NonZero::get))
}

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
