//! Anonymous tokens: client, issuer, and redemption.

mod keys;

use crate::data::{Data, Secret};
use crate::errors::raise;
use crate::lock::Lock;
use crate::number::Number;
use crate::output::bytes_of;
use crate::watch::{Progress, Watch};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealstone_token::privacypass::directory::Directory;
use sealstone_token::privacypass::{self, TokenChallenge, TokenType, header};
use sealstone_token::{Error, cancellable};
use std::sync::Arc;

pub(crate) use keys::{IssuerKey, IssuerPublicKey};

fn exception(py: Python<'_>, error: Error) -> PyErr {
    let text = error.to_string();
    let name = match error {
        Error::Malformed(what) => return raise(py, "Malformed", (text, what)),
        Error::UnknownType(_) => return raise(py, "Unsupported", (text, "token type")),
        Error::Proof => "proof",
        Error::WrongType { .. } => "wrong-type",
        Error::WrongKey => "wrong-key",
        Error::WrongChallenge => "wrong-challenge",
        Error::Forged => "forged",
        Error::Refused => "refused",
        Error::NoEpoch => "no-epoch",
        // The request of the caller is not possible.
        _ => return PyValueError::new_err(text),
    };
    raise(py, "TokenRefused", (text, name))
}

/// The work is one step, which is not done: how much of a batch is left is not known.
const WORKING: (u64, u64) = (0, 1);

/// Works without Python's lock. A signal or `progress` ends work on a batch. They are asked before
/// it too, because what is made cannot always be taken back.
fn interruptible<T: Send>(
    py: Python<'_>,
    progress: Option<Progress>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    let (done, total) = WORKING;
    let watch = Arc::new(Watch::new(progress));
    watch.look(py, done, total)?;
    let asked = Arc::clone(&watch);
    let goes_on = move || asked.passed(done, total).is_ok();
    let done = py.detach(|| cancellable(goes_on, work));
    watch.result(done, |error| exception(py, error))
}

const NAMES: [(&str, TokenType); 4] = [
    ("p384", TokenType::VoprfP384),
    ("rsa", TokenType::BlindRsa2048),
    ("ristretto255", TokenType::VoprfRistretto255),
    ("p256", TokenType::VoprfP256),
];

fn type_of(name: &str) -> PyResult<TokenType> {
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found.map(|(_, token_type)| *token_type).ok_or_else(|| {
        let names = NAMES.map(|(known, _)| format!("'{known}'")).join(", ");
        PyValueError::new_err(format!("the types of token are {names}"))
    })
}

fn name_of(token_type: TokenType) -> &'static str {
    let found = NAMES.iter().find(|(_, known)| *known == token_type);
    found.map_or("", |(name, _)| name)
}

fn array<const N: usize>(bytes: &[u8], what: &str) -> PyResult<[u8; N]> {
    let wrong = |_| PyValueError::new_err(format!("{what} has {N} bytes"));
    bytes.try_into().map_err(wrong)
}

/// The challenge of an origin: it asks for a token.
#[pyclass(frozen, eq, module = "sealstone.tokens")]
#[derive(PartialEq)]
pub(crate) struct Challenge(TokenChallenge);

#[pymethods]
impl Challenge {
    #[new]
    #[pyo3(signature = (token_type, issuer, *, origins=None, context=None))]
    fn new(
        py: Python<'_>,
        token_type: &str,
        issuer: &str,
        origins: Option<Vec<String>>,
        context: Option<Data>,
    ) -> PyResult<Self> {
        let context = context.map(|it| array(&it, "a context")).transpose()?;
        let origins: Vec<&str> = origins.iter().flatten().map(String::as_str).collect();
        let token_type = type_of(token_type)?;
        let made = py.detach(|| TokenChallenge::new(token_type, issuer, context, &origins));
        made.map(Self).map_err(|error| exception(py, error))
    }

    /// Reads the encoding of RFC 9577.
    #[staticmethod]
    fn decode(py: Python<'_>, data: Data) -> PyResult<Self> {
        let read = py.detach(|| TokenChallenge::decode(&data));
        read.map(Self).map_err(|error| exception(py, error))
    }

    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.encode())
    }

    /// The SHA-256 digest of the encoding, which a token carries.
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.digest())
    }

    #[getter]
    fn token_type(&self, py: Python<'_>) -> PyResult<&'static str> {
        let known = self.0.token_type().map(name_of);
        known.map_err(|error| exception(py, error))
    }

    #[getter]
    fn issuer(&self) -> &str {
        self.0.issuer_name()
    }

    #[getter]
    fn origins(&self) -> Vec<&str> {
        self.0.origins().collect()
    }

    #[getter]
    fn context<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0
            .redemption_context()
            .map(|context| PyBytes::new(py, context))
    }

    fn __hash__(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0.digest();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    fn __repr__(&self) -> String {
        let origins: Vec<_> = self.0.origins().collect();
        format!("<Challenge of {} for {origins:?}>", self.0.issuer_name())
    }
}

/// A token. Its holder shows it once.
#[pyclass(frozen, eq, module = "sealstone.tokens")]
#[derive(PartialEq)]
pub(crate) struct Token(privacypass::Token);

#[pymethods]
impl Token {
    /// Reads the encoding of RFC 9577.
    #[staticmethod]
    fn decode(py: Python<'_>, data: Data) -> PyResult<Self> {
        let read = py.detach(|| privacypass::Token::decode(&data));
        read.map(Self).map_err(|error| exception(py, error))
    }

    /// Reads the value of an `Authorization` header.
    #[staticmethod]
    fn from_header(py: Python<'_>, value: &str) -> PyResult<Self> {
        let read = py.detach(|| header::parse_authorization(value));
        read.map(Self).map_err(|error| exception(py, error))
    }

    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.encode())
    }

    /// The value of an `Authorization` header that shows the token.
    #[getter]
    fn header(&self) -> String {
        header::authorization(&self.0)
    }

    #[getter]
    fn token_type(&self) -> &'static str {
        name_of(self.0.token_type())
    }

    #[getter]
    fn key_id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.key_id())
    }

    /// The mark of a token that was spent: 32 bytes.
    #[getter]
    fn nullifier<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.nullifier())
    }

    fn __hash__(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0.nullifier();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    fn __repr__(&self) -> String {
        format!("<Token {}>", name_of(self.0.token_type()))
    }
}

/// Tokens that were asked for and not yet received, with the secrets that blind them.
#[pyclass(frozen, module = "sealstone.tokens")]
pub(crate) struct Pending(Lock<Option<privacypass::Pending>>);

#[pymethods]
impl Pending {
    /// Asks for one token that answers the challenge, or for `count` with one proof.
    ///
    /// `progress(0, 1)` is called before the work on a batch, and about ten times a second while it
    /// lasts. It cancels by raising.
    #[new]
    #[pyo3(signature = (key, challenge, count=None, *, progress=None))]
    fn new(
        py: Python<'_>,
        key: &Bound<'_, IssuerPublicKey>,
        challenge: &Bound<'_, Challenge>,
        count: Option<Number<usize>>,
        progress: Option<Progress>,
    ) -> PyResult<Self> {
        let (key, challenge) = (&key.get().0, &challenge.get().0);
        let (pending, _) = interruptible(py, progress, || match count {
            None => privacypass::Pending::one(key, challenge),
            Some(Number(count)) => privacypass::Pending::batch(key, challenge, count),
        })?;
        Ok(Self(Lock::new(Some(pending))))
    }

    /// Reads what `save` gave. `progress` is that of the constructor.
    #[staticmethod]
    #[pyo3(signature = (data, *, progress=None))]
    fn restore(py: Python<'_>, data: Secret, progress: Option<Progress>) -> PyResult<Self> {
        let pending = interruptible(py, progress, || privacypass::Pending::decode(&data))?;
        Ok(Self(Lock::new(Some(pending))))
    }

    /// The request to send. It is always the same: to send it again is safe.
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let request = self.look(py, privacypass::Pending::request)?;
        bytes_of(py, request)
    }

    /// Everything, to be kept secret until the response arrives.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.look(py, privacypass::Pending::encode)?;
        Ok(PyBytes::new(py, saved.expose()))
    }

    /// Checks the issuer's response, and makes the tokens. `progress` is that of the constructor.
    /// What it cancels may be finalized again.
    #[pyo3(signature = (response, *, progress=None))]
    fn finalize(
        &self,
        py: Python<'_>,
        response: Data,
        progress: Option<Progress>,
    ) -> PyResult<Vec<Token>> {
        let held = self.0.hold(py)?;
        let tokens = interruptible(py, progress, || {
            held.with(|slot| {
                let finalized = slot.take().map(|it| it.finalize_or_keep(&response));
                finalized.transpose().map_err(|(error, kept)| {
                    *slot = kept.map(|it| *it);
                    error
                })
            })
        })?;
        drop(held);
        let tokens = tokens.ok_or_else(used)?;
        Ok(tokens.into_iter().map(Token).collect())
    }

    fn __repr__(&self) -> &'static str {
        "Pending(...)"
    }
}

fn used() -> PyErr {
    PyValueError::new_err("it was finalized already: its secrets are wiped; ask for new tokens")
}

impl Pending {
    fn look<T: Send>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&privacypass::Pending) -> T + Send,
    ) -> PyResult<T> {
        let held = self.0.hold(py)?;
        let looked = py.detach(|| held.with(|slot| slot.as_ref().map(look)));
        looked.ok_or_else(used)
    }
}

/// The value of a `WWW-Authenticate` header.
#[pyfunction]
#[pyo3(signature = (challenge, key=None, max_age=None))]
pub(crate) fn token_challenge_header(
    challenge: &Bound<'_, Challenge>,
    key: Option<&Bound<'_, IssuerPublicKey>>,
    max_age: Option<Number<u64>>,
) -> String {
    header::challenge(&header::Offer {
        challenge: challenge.get().0.clone(),
        token_key: key.map(|key| key.get().0.as_bytes().to_vec()),
        max_age: max_age.map(|it| it.0),
    })
}

/// A challenge with the issuer's key in bytes and the seconds for which it is good.
type Offer<'py> = (Challenge, Option<Bound<'py, PyBytes>>, Option<u64>);

/// The offers of a `WWW-Authenticate` header that this version understands.
#[pyfunction]
pub(crate) fn token_challenges<'py>(py: Python<'py>, value: &str) -> PyResult<Vec<Offer<'py>>> {
    let offers = py.detach(|| header::parse_challenges(value));
    let offers = offers.map_err(|error| exception(py, error))?;
    let row = |it: header::Offer| {
        let key = it.token_key.map(|key| PyBytes::new(py, &key));
        (Challenge(it.challenge), key, it.max_age)
    };
    Ok(offers.into_iter().map(row).collect())
}

/// A key with the time before which no client should use it.
type DirectoryRow = (IssuerPublicKey, Option<u64>);

/// The request path and the keys of an issuer's directory.
#[pyfunction]
pub(crate) fn token_directory(py: Python<'_>, json: &str) -> PyResult<(String, Vec<DirectoryRow>)> {
    let read = py.detach(|| Directory::from_json(json));
    let directory = read.map_err(|error| exception(py, error))?;
    let keys = directory.keys.into_iter();
    let keys = keys.map(|it| (IssuerPublicKey(it.key), it.not_before));
    Ok((directory.request_uri, keys.collect()))
}
