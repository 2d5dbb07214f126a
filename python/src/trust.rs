//! The trust store.

use crate::errors::{about, exception};
use crate::lock::Lock;
use crate::number::Number;
use crate::passport::{PublicPassport, now};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealstone::Error;
use sealstone::passport::{Contact, Fingerprint};
use sealstone::trust::{Change, Decision, Record, Standing, Status};
use sealstone_files::TrustDirectory;
use std::path::{Path, PathBuf};

type Store = sealstone::trust::TrustStore<TrustDirectory>;

/// The passports that the user has seen, and a decision about each, in a directory.
#[pyclass(frozen, module = "sealstone")]
pub(crate) struct TrustStore {
    store: Lock<Store>,
    path: PathBuf,
}

/// Fingerprint, status, label, note, since, time of the last change.
type Row = (String, String, String, String, Option<u64>, u64);

fn row(record: &Record<'_>) -> Row {
    (
        record.fingerprint().to_string(),
        record.status().to_string(),
        record.label().to_owned(),
        record.note().to_owned(),
        record.since(),
        record.changed(),
    )
}

/// The directory of the user's own store, as the command finds it.
fn directory() -> PyResult<PathBuf> {
    let none = || PyValueError::new_err("there is no home directory: name the path");
    sealstone_files::trust_directory().ok_or_else(none)
}

/// The exception for an error of the store in this directory.
fn raised(py: Python<'_>, path: &Path, error: Error) -> PyErr {
    match error {
        Error::Io(error) => about(path, error),
        error => exception(py, error),
    }
}

#[pymethods]
impl TrustStore {
    /// Reads and verifies the store in a directory, by default the user's own. One that does not
    /// exist is empty.
    #[new]
    #[pyo3(signature = (path=None))]
    fn new(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Self> {
        let path = path.map_or_else(directory, Ok)?;
        let opened = py.detach(|| Store::open(TrustDirectory::new(&path)));
        let store = Lock::new(opened.map_err(|e| raised(py, &path, e))?);
        Ok(Self { store, path })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Files and packages of this passport are accepted from now on.
    #[pyo3(signature = (passport, *, note=None))]
    fn approve(
        &self,
        py: Python<'_>,
        passport: &Bound<'_, PublicPassport>,
        note: Option<&str>,
    ) -> PyResult<()> {
        self.decide(py, passport, (Status::Approved, None), note)
    }

    /// Files and packages of this passport are refused from now on.
    #[pyo3(signature = (passport, *, note=None))]
    fn deny(
        &self,
        py: Python<'_>,
        passport: &Bound<'_, PublicPassport>,
        note: Option<&str>,
    ) -> PyResult<()> {
        self.decide(py, passport, (Status::Denied, None), note)
    }

    /// The passport is not its owner's since this time, in seconds since 1970; by default, now.
    #[pyo3(signature = (passport, *, since=None, note=None))]
    fn revoke(
        &self,
        py: Python<'_>,
        passport: &Bound<'_, PublicPassport>,
        since: Option<Number<u64>>,
        note: Option<&str>,
    ) -> PyResult<()> {
        let since = since.map(|it| it.0);
        self.decide(py, passport, (Status::Revoked, since), note)
    }

    /// The status of a passport: `unknown` if it was never seen.
    fn status(&self, py: Python<'_>, passport: &Bound<'_, PublicPassport>) -> PyResult<String> {
        let looked = self.approved(py, &passport.get().contact.fingerprint())?;
        Ok(looked.map_or_else(|status| status, |_| Status::Approved.to_string()))
    }

    /// All records, in the order in which the passports were seen.
    fn rows(&self, py: Python<'_>) -> PyResult<Vec<Row>> {
        self.with(py, |store| {
            store.refresh()?;
            Ok(store.iter().map(|record| row(&record)).collect())
        })
    }

    fn __repr__(&self) -> String {
        format!("<TrustStore {}>", self.path.display())
    }
}

impl TrustStore {
    fn decide(
        &self,
        py: Python<'_>,
        passport: &Bound<'_, PublicPassport>,
        (status, since): (Status, Option<u64>),
        note: Option<&str>,
    ) -> PyResult<()> {
        let contact = &passport.get().contact;
        let time = now();
        let change = Change {
            time,
            operator: "",
            note,
        };
        let decision = Decision {
            fingerprint: contact.fingerprint(),
            contact: Some(contact),
            status,
            since,
            label: None,
        };
        self.with(py, |store| store.decide(&decision, &change).map(drop))
    }

    /// Works without Python's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Store) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let held = self.store.hold(py)?;
        let done = py.detach(|| held.with(work));
        done.map_err(|e| raised(py, &self.path, e))
    }

    /// Reads what other programs have decided since.
    pub(crate) fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Store::refresh)
    }

    /// The user's trust in a signature of this time, as of the last refresh. The lock is held for a
    /// moment only: a progress function may ask the store too. Python must be detached.
    pub(crate) fn standing(&self, signer: &Fingerprint, at: Option<u64>) -> Standing {
        let held = self.store.wait();
        // It was there for the refresh, and this thread has given it up.
        held.map_or(Standing::Unknown, |held| {
            held.with(|store| store.standing(signer, at))
        })
    }

    /// If the passport is approved now: its keys, as far as the store has them. Else its status.
    pub(crate) fn approved(
        &self,
        py: Python<'_>,
        fingerprint: &Fingerprint,
    ) -> PyResult<Result<Option<Contact>, String>> {
        self.with(py, |store| {
            store.refresh()?;
            let Some(record) = store.get(fingerprint) else {
                return Ok(Err(String::from("unknown")));
            };
            match record.status() {
                Status::Approved => Ok(Ok(record.contact()?)),
                other => Ok(Err(other.to_string())),
            }
        })
    }
}
