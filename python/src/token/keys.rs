//! The two halves of an issuer's key.

use super::{Challenge, Token, WORKING, exception, interruptible, name_of, type_of};
use crate::data::{Data, Secret};
use crate::number::Number;
use crate::output::bytes_of;
use crate::watch::{Progress, Watch};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealstone_token::Error;
use sealstone_token::privacypass::{self, TokenType};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The public half of an issuer's key.
#[pyclass(frozen, eq, module = "sealstone.tokens")]
#[derive(PartialEq)]
pub(crate) struct IssuerPublicKey(pub(super) privacypass::IssuerPublicKey);

#[pymethods]
impl IssuerPublicKey {
    /// Reads the encoding of RFC 9578.
    #[staticmethod]
    fn decode(py: Python<'_>, token_type: &str, data: Data) -> PyResult<Self> {
        let token_type = type_of(token_type)?;
        let read = py.detach(|| privacypass::IssuerPublicKey::decode(token_type, &data));
        read.map(Self).map_err(|error| exception(py, error))
    }

    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    /// The SHA-256 digest of the encoding.
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.id())
    }

    #[getter]
    fn token_type(&self) -> &'static str {
        name_of(self.0.token_type())
    }

    /// Checks a token that everybody can verify; returns its mark.
    fn redeem<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'_, Token>,
        challenge: &Bound<'_, Challenge>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        redeem(py, token, challenge, |token| self.0.verify(token))
    }

    fn __hash__(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = *self.0.id();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    fn __repr__(&self) -> String {
        format!("<IssuerPublicKey {:?}>", self.0)
    }
}

/// The mark of a token that answers the challenge and is right.
fn redeem<'py>(
    py: Python<'py>,
    token: &Bound<'_, Token>,
    challenge: &Bound<'_, Challenge>,
    verify: impl FnOnce(&privacypass::Token) -> Result<(), Error> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let (token, challenge) = (&token.get().0, &challenge.get().0);
    let checked = py.detach(|| {
        token.answers(challenge)?;
        verify(token)
    });
    checked.map_err(|error| exception(py, error))?;
    Ok(PyBytes::new(py, &token.nullifier()))
}

/// An issuer's key. Its secret is wiped by `close`, at the end of `with`, and when the last
/// reference goes.
#[pyclass(frozen, module = "sealstone.tokens")]
pub(crate) struct IssuerKey {
    secret: Mutex<Option<Arc<privacypass::IssuerKey>>>,
    public: privacypass::IssuerPublicKey,
}

#[pymethods]
impl IssuerKey {
    /// A new key.
    ///
    /// `progress(0, 1)` is called before, and about ten times a second while an RSA key is made. It
    /// cancels by raising.
    #[staticmethod]
    #[pyo3(signature = (token_type, *, progress=None))]
    fn generate(py: Python<'_>, token_type: &str, progress: Option<Progress>) -> PyResult<Self> {
        let token_type = type_of(token_type)?;
        let watch = Watch::new(progress);
        let (done, total) = WORKING;
        watch.look(py, done, total)?;
        let generate = move || privacypass::IssuerKey::generate(token_type);
        let made = py.detach(|| match token_type {
            TokenType::BlindRsa2048 => watch.leave(WORKING, generate),
            _ => Some(generate()),
        });
        let made = made.ok_or(Error::Cancelled).flatten();
        watch
            .result(made, |error| exception(py, error))
            .map(Self::of)
    }

    /// Reads what `encode` gave.
    #[staticmethod]
    fn decode(py: Python<'_>, token_type: &str, data: Secret) -> PyResult<Self> {
        let token_type = type_of(token_type)?;
        let read = py.detach(|| privacypass::IssuerKey::decode(token_type, &data).map(Self::of));
        read.map_err(|error| exception(py, error))
    }

    /// The secret key, to be stored where nobody else reads it.
    fn encode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.get()?;
        let encoded = py.detach(|| key.encode());
        let encoded = encoded.map_err(|error| exception(py, error))?;
        Ok(PyBytes::new(py, encoded.expose()))
    }

    #[getter]
    fn public(&self) -> IssuerPublicKey {
        IssuerPublicKey(self.public.clone())
    }

    #[getter]
    fn token_type(&self) -> &'static str {
        name_of(self.public.token_type())
    }

    /// Answers a request for one token.
    fn issue<'py>(&self, py: Python<'py>, request: Data) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.get()?;
        let response = py.detach(|| key.issue(&request));
        let response = response.map_err(|error| exception(py, error))?;
        Ok(PyBytes::new(py, &response))
    }

    /// Answers a request for up to `limit` tokens. `progress` is that of `Pending`.
    #[pyo3(signature = (request, limit, *, progress=None))]
    fn issue_batch<'py>(
        &self,
        py: Python<'py>,
        request: Data,
        limit: Number<usize>,
        progress: Option<Progress>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.get()?;
        let response = interruptible(py, progress, || key.issue_batch(&request, limit.0))?;
        bytes_of(py, response)
    }

    /// Checks a token of this key; returns its mark.
    fn redeem<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'_, Token>,
        challenge: &Bound<'_, Challenge>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.get()?;
        redeem(py, token, challenge, |token| key.verify(token))
    }

    /// Whether the secret is wiped.
    #[getter]
    fn closed(&self) -> bool {
        self.slot().is_none()
    }

    /// Wipes the secret; a call that runs on another thread keeps it until it ends.
    fn close(&self) {
        *self.slot() = None;
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        slf.get()?;
        Ok(slf)
    }

    fn __exit__(&self, _type: Py<PyAny>, _value: Py<PyAny>, _traceback: Py<PyAny>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        format!("<IssuerKey {:?}>", self.public)
    }
}

impl IssuerKey {
    fn of(key: privacypass::IssuerKey) -> Self {
        Self {
            public: key.public_key(),
            secret: Mutex::new(Some(Arc::new(key))),
        }
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<privacypass::IssuerKey>>> {
        self.secret.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self) -> PyResult<Arc<privacypass::IssuerKey>> {
        let closed = || PyValueError::new_err("the issuer's key is closed: its secret is wiped");
        self.slot().clone().ok_or_else(closed)
    }
}
