//! Timestamps of third parties (RFC 3161).

use crate::data::Data;
use crate::errors::raise;
use crate::number::Number;
use crate::passport::now;
use crate::stream::{Source, Watched};
use crate::watch::{Progress, Watch};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealstone::timestamp::{
    self, Chain, ChainRefusal, Digests, Imprint, MAX_ROOTS_LEN, Options, Policy, Refusal, Response,
    RootsError, Sha2, Verified,
};
use std::io::Read;

/// Certificates of authorities that the caller trusts.
#[pyclass(frozen, module = "sealstone.timestamps")]
pub(crate) struct Roots(pub(crate) timestamp::Roots);

#[pymethods]
impl Roots {
    /// Reads certificates in PEM or DER, from a path or bytes-like data.
    #[staticmethod]
    fn load(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut bytes = Vec::new();
        let source = Source::of(source)?;
        let limit = MAX_ROOTS_LEN as u64 + 1;
        py.detach(|| source.take(limit).read_to_end(&mut bytes))?;
        let roots = py.detach(|| timestamp::Roots::parse(&bytes));
        let invalid = |error: RootsError| PyValueError::new_err(format!("roots: {error}"));
        roots.map(Self).map_err(invalid)
    }

    /// The number of certificates that are trusted.
    fn __len__(&self) -> usize {
        self.0.anchors()
    }

    fn __repr__(&self) -> String {
        format!("<Roots, {} trusted>", self.0.anchors())
    }
}

/// Time and accuracy in nanoseconds, TSA, policy, serial number, hash, end of the certificates,
/// path as (subject, issuer, DER).
pub(crate) type Found<'py> = (
    u128,
    Option<u128>,
    String,
    String,
    Bound<'py, PyBytes>,
    String,
    u64,
    Vec<(String, String, Bound<'py, PyBytes>)>,
);

pub(crate) fn found<'py>(py: Python<'py>, it: &Verified) -> Found<'py> {
    let bytes = |bytes| PyBytes::new(py, bytes);
    let path = it.path.iter();
    (
        it.time.as_nanos(),
        it.accuracy.map(|accuracy| accuracy.as_nanos()),
        it.tsa().to_owned(),
        it.policy.to_string(),
        bytes(&it.serial),
        it.hash.to_string(),
        it.expires(),
        path.map(|it| (it.subject.clone(), it.issuer.clone(), bytes(&it.der)))
            .collect(),
    )
}

fn refused(py: Python<'_>, at: usize, refusal: &Refusal) -> PyErr {
    let text = match at {
        0 => refusal.to_string(),
        at => format!("renewal {at}: {refusal}"),
    };
    raise(py, "TimestampRefused", (text, refusal.name(), at))
}

fn hash_of(name: &str) -> PyResult<Sha2> {
    match name {
        "sha256" => Ok(Sha2::Sha256),
        "sha384" => Ok(Sha2::Sha384),
        "sha512" => Ok(Sha2::Sha512),
        _ => Err(PyValueError::new_err(
            "a hash is 'sha256', 'sha384' or 'sha512'",
        )),
    }
}

fn policy_of(text: Option<&str>) -> PyResult<Option<Policy>> {
    let parsed = text.map(|text| text.parse::<Policy>()).transpose();
    parsed.map_err(PyValueError::new_err)
}

/// The digests of a source. A signal or `progress` may stop reading it.
fn digests(
    py: Python<'_>,
    hashes: &[Sha2],
    data: &Bound<'_, PyAny>,
    progress: Option<Progress>,
) -> PyResult<Digests> {
    let source = Source::of(data)?;
    let watch = Watch::new(progress);
    let read = py.detach(|| {
        let total = source.length();
        Digests::read(hashes, Watched::new(source, &watch, total))
    });
    watch.end(py, read, PyErr::from)
}

/// The request for a timestamp over data.
#[pyfunction]
#[pyo3(signature = (data, hash, policy=None, progress=None))]
pub(crate) fn timestamp_request<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    hash: &str,
    policy: Option<&str>,
    progress: Option<Progress>,
) -> PyResult<Bound<'py, PyBytes>> {
    let hash = hash_of(hash)?;
    let known = digests(py, &[hash], data, progress)?;
    let digest = known.get(hash).unwrap_or_default();
    let imprint = Imprint::from_digest(hash, digest).map_err(|it| refused(py, 0, &it))?;
    let request = timestamp::Request::new(imprint, policy_of(policy)?);
    Ok(PyBytes::new(py, &request.encode()))
}

/// The request for a renewal of responses over data.
#[pyfunction]
#[pyo3(signature = (data, responses, hash, progress=None))]
pub(crate) fn timestamp_renewal<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    responses: Vec<Data>,
    hash: &str,
    progress: Option<Progress>,
) -> PyResult<Bound<'py, PyBytes>> {
    let hash = hash_of(hash)?;
    let chain = chain(py, &responses)?;
    let known = digests(py, &[hash], data, progress)?;
    let imprint = py.detach(|| chain.renewal(&known, hash));
    let imprint = imprint.map_err(|it| refused(py, 0, &it))?;
    let request = timestamp::Request::new(imprint, None);
    Ok(PyBytes::new(py, &request.encode()))
}

fn chain(py: Python<'_>, responses: &[Data]) -> PyResult<Chain> {
    let parse = |(at, bytes): (usize, &Data)| Response::parse(bytes).map_err(|it| (at, it));
    let chain = py.detach(|| {
        let parsed: Result<Vec<_>, _> = responses.iter().enumerate().map(parse).collect();
        Chain::new(parsed?).map_err(|refusal| (0, refusal))
    });
    chain.map_err(|(at, refusal)| refused(py, at, &refusal))
}

/// Checks that a response answers a request, without knowing whom to trust.
#[pyfunction]
pub(crate) fn timestamp_answer(py: Python<'_>, response: Data, request: Data) -> PyResult<()> {
    let checked = py.detach(|| {
        let request = timestamp::Request::parse(&request)?;
        timestamp::check_answer(&Response::parse(&response)?, &request)
    });
    checked.map_err(|refusal| refused(py, 0, &refusal))
}

/// Verifies a timestamp over data, and its renewals.
#[pyfunction]
#[pyo3(signature = (data, responses, roots, now=None, policy=None, request=None, progress=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "the optional arguments of Python's function"
)]
pub(crate) fn timestamp_verify<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    responses: Vec<Data>,
    roots: &Bound<'_, Roots>,
    now: Option<Number<u64>>,
    policy: Option<&str>,
    request: Option<Data>,
    progress: Option<Progress>,
) -> PyResult<Vec<Found<'py>>> {
    let chain = chain(py, &responses)?;
    let mut options = match request {
        None => Options::default(),
        Some(bytes) => {
            let parsed = timestamp::Request::parse(&bytes);
            Options::answering(&parsed.map_err(|refusal| refused(py, 0, &refusal))?)
        }
    };
    options.now = Some(now.map_or_else(self::now, |it| it.0));
    options.policy = policy_of(policy)?.or(options.policy);
    let because = |it: ChainRefusal| refused(py, it.at, &it.refusal);
    let hashes = chain.hashes().map_err(because)?;
    let known = digests(py, &hashes, data, progress)?;
    let roots = &roots.get().0;
    let verified = py.detach(|| chain.verify(&known, roots, &options));
    let verified = verified.map_err(because)?;
    Ok(verified.iter().map(|it| found(py, it)).collect())
}
