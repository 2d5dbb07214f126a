//! Argon2.

mod memory;

use crate::data::{Data, Secret};
use crate::lock::long;
use crate::number::{Later, Number};
use crate::output::{secret_of, zeros};
use crate::view::Buffer;
use crate::watch::{Progress, Watch};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sealstone_argon2::{Argon2, Error, Limits, Params, Variant, Version, calibrate_with};
use std::time::Duration;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

pub(crate) use memory::Memory;

/// A secret that enters every hash and is not stored with it. Its bytes are wiped when the last
/// reference goes, and never shown. They are in ordinary memory: servers make their hashers before
/// they fork, and a child does not have the pages that hold other secrets.
#[pyclass(frozen, module = "sealstone.argon2")]
pub(crate) struct Pepper(Zeroizing<Vec<u8>>);

#[pymethods]
impl Pepper {
    #[new]
    fn new(secret: Secret) -> PyResult<Self> {
        if secret.is_empty() {
            return Err(PyValueError::new_err("a pepper needs at least one byte"));
        }
        Ok(Self(Zeroizing::new(secret.to_vec())))
    }

    fn __repr__(&self) -> &'static str {
        "Pepper(...)"
    }
}

/// The inputs of Argon2, without the password: `(type, version, time_cost, memory_cost,
/// parallelism, salt, pepper, data)`.
#[derive(FromPyObject)]
pub(crate) struct Task(
    Later,
    Later,
    Later,
    Later,
    Later,
    Data,
    Option<Py<Pepper>>,
    Data,
);

impl Task {
    /// The numbers, which are objects of the caller's: read them once, as they may change.
    fn params(&self, py: Python<'_>) -> PyResult<Params> {
        let numbers = [&self.0, &self.1, &self.2, &self.3, &self.4];
        let [kind, version, passes, memory, lanes] = numbers.map(|it| it.number(py));
        let (kind, version) = (kind?, version?);
        let costs = [memory?, passes?, lanes?];
        Self::params_of(kind, version, costs).map_err(exception)
    }

    fn params_of(kind: u64, version: u64, costs: [u64; 3]) -> Result<Params, Error> {
        let variant = match kind {
            0 => Variant::Argon2d,
            1 => Variant::Argon2i,
            2 => Variant::Argon2id,
            _ => return Err(Error::Parameter("a type of 0 (d), 1 (i) or 2 (id)")),
        };
        let version = match version {
            0x10 => Version::V0x10,
            0x13 => Version::V0x13,
            _ => return Err(Error::Parameter("version 16 or 19")),
        };
        let [memory, passes, lanes] = costs.map(cost);
        let params = Params::new(memory?, passes?, lanes?)?;
        Ok(params.with_variant(variant).with_version(version))
    }

    /// Fills `tag` in memory of `memory`, with Python's lock given up.
    fn run(
        &self,
        py: Python<'_>,
        params: Params,
        password: &[u8],
        tag: &mut [u8],
        memory: &Memory,
        watch: &Watch,
    ) -> PyResult<()> {
        let salt: &[u8] = &self.5;
        let secret = self.6.as_ref().map_or(&[][..], |it| &it.get().0);
        let mut place = memory.take(py, params.memory_kib().into(), watch)?;
        let progress = |at: sealstone_argon2::Progress| watch.at(at.done, at.total);
        let argon2 = Argon2::new(params)
            .secret(secret)
            .associated_data(&self.7)
            .threads(place.threads(&params))
            .cancel(watch.cancel())
            .progress(&progress);
        let done = py.detach(|| {
            let done = argon2.hash(password, salt, tag, place.arena());
            drop(place);
            done
        });
        watch.end(py, done, exception)
    }
}

/// The hash of a password, `hash_len` bytes; their number, if they go `into` a buffer.
#[pyfunction]
#[pyo3(signature = (password, task, hash_len, memory, progress=None, into=None))]
pub(crate) fn argon2_hash<'py>(
    py: Python<'py>,
    password: Secret,
    task: Task,
    hash_len: Number<u32>,
    memory: &Bound<'_, Memory>,
    progress: Option<Progress>,
    into: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let params = task.params(py)?;
    let length = hash_len.0 as usize;
    let into = into.map(Buffer::of).transpose()?;
    into.as_ref()
        .map_or(Ok(()), |it| it.expect(length as u64))?;
    let mut tag = long(py, length, || zeros(length))?;
    let watch = Watch::new(progress);
    task.run(py, params, &password, &mut tag, memory.get(), &watch)?;
    secret_of(py, tag, into)
}

/// Whether the hash of the password is `tag`; compares in constant time. `limits` are the most KiB
/// and the most KiB times passes.
#[pyfunction]
#[pyo3(signature = (password, task, tag, memory, limits, progress=None))]
pub(crate) fn argon2_verify(
    py: Python<'_>,
    password: Secret,
    task: Task,
    tag: Data,
    memory: &Bound<'_, Memory>,
    limits: Option<(Number<u64>, Number<u64>)>,
    progress: Option<Progress>,
) -> PyResult<bool> {
    let params = task.params(py)?;
    if let Some((Number(memory_kib), Number(work_kib))) = limits {
        let limits = Limits {
            memory_kib,
            work_kib,
        };
        limits.check(&params).map_err(exception)?;
    }
    let mut computed = long(py, tag.len(), || zeros(tag.len()))?;
    let watch = Watch::new(progress);
    task.run(py, params, &password, &mut computed, memory.get(), &watch)?;
    Ok(long(py, tag.len(), || computed.ct_eq(&tag).into()))
}

/// The strongest parameters that take at most `seconds`: `(memory_cost, time_cost, seconds)`.
/// `progress` is that of each hash which is measured.
#[pyfunction]
#[pyo3(signature = (seconds, memory_cost, parallelism, progress=None))]
pub(crate) fn argon2_calibrate(
    py: Python<'_>,
    seconds: f64,
    memory_cost: Number<u32>,
    parallelism: Number<u32>,
    progress: Option<Progress>,
) -> PyResult<(u32, u32, f64)> {
    let target = Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err("a time in seconds must be positive"))?;
    let watch = Watch::new(progress);
    let progress = |at: sealstone_argon2::Progress| watch.at(at.done, at.total);
    let found = py.detach(|| {
        calibrate_with(target, memory_cost.0, parallelism.0, |argon2| {
            argon2.cancel(watch.cancel()).progress(&progress)
        })
    });
    let found = watch.end(py, found, exception)?;
    let (memory, passes) = (found.params.memory_kib(), found.params.passes());
    Ok((memory, passes, found.time.as_secs_f64()))
}

fn cost(number: u64) -> Result<u32, Error> {
    u32::try_from(number).map_err(|_| Error::Parameter("numbers from 0 to 2^32 - 1"))
}

fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::OutOfMemory(_) => PyMemoryError::new_err(text),
        Error::Random | Error::Pool | Error::Cancelled => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
