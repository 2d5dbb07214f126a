//! Verifying a package.

use super::content::Content;
use super::{HmacKey, Package};
use crate::data::Secret;
use crate::errors::exception;
use crate::number::Later;
use crate::passport::{PublicPassport, now};
use crate::timestamp::{Found, Roots, found};
use crate::trust::TrustStore;
use crate::watch::{Progress, Watch};
use pyo3::prelude::*;
use sealstone::package::{Layer, Report, SignerReport, Verdict, Verifier};
use sealstone::passport::Fingerprint;

/// How a package is verified.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Checks {
    content: Option<Content>,
    signers: Vec<Py<PublicPassport>>,
    trust: Option<Py<TrustStore>>,
    hmac_key: Option<HmacKey>,
    secret: Option<Secret>,
    roots: Option<Py<Roots>>,
    now: Option<Later>,
    require: Vec<String>,
}

impl Checks {
    fn verifier<'a>(
        &'a self,
        hmac_key: Option<&'a [u8]>,
        layers: &[Layer],
        now: u64,
    ) -> Verifier<'a> {
        let mut verifier = Verifier::new();
        for signer in &self.signers {
            verifier = verifier.signer(&signer.get().contact);
        }
        for layer in layers {
            verifier = verifier.require(*layer);
        }
        if let Some(key) = hmac_key {
            verifier = verifier.hmac_key(key);
        }
        if let Some(secret) = &self.secret {
            verifier = verifier.secret(secret);
        }
        if let Some(roots) = &self.roots {
            verifier = verifier.roots(&roots.get().0, now);
        }
        verifier
    }
}

/// The report of a verification.
#[pyclass(frozen, module = "sealstone._native")]
pub(crate) struct Checked(pub(super) Report);

/// Checks all layers and signers.
#[pyfunction]
#[pyo3(signature = (package, checks, progress=None))]
pub(crate) fn package_check(
    py: Python<'_>,
    package: &Bound<'_, Package>,
    checks: Checks,
    progress: Option<Progress>,
) -> PyResult<Checked> {
    let package = &package.get().0;
    let layers: Result<Vec<Layer>, _> = checks.require.iter().map(|it| it.parse()).collect();
    let layers = layers.map_err(|error| exception(py, error))?;
    let hmac_key = checks.hmac_key.as_ref().map(HmacKey::expose).transpose()?;
    let given = checks.content.as_ref().map(|it| it.open(py)).transpose()?;
    if let Some(trust) = &checks.trust {
        trust.get().refresh(py)?;
    }
    let now = Later::optional(checks.now.as_ref(), py)?.unwrap_or_else(now);
    let watch = Watch::new(progress);
    let report = py.detach(|| {
        let opinion = |signer: &Fingerprint, at: Option<u64>| {
            let trust = checks.trust.as_ref();
            trust.map_or(sealstone::trust::Standing::Unknown, |it| {
                it.get().standing(signer, at)
            })
        };
        let key = hmac_key.as_ref().map(|key| &key[..]);
        let verifier = checks.verifier(key, &layers, now).trust(&opinion);
        let Some(given) = &given else {
            return verifier.verify(package);
        };
        let entries = &package.manifest().entries;
        let total = entries
            .iter()
            .fold(0_u64, |sum, it| sum.saturating_add(it.size()));
        let watched = given.watched(&watch, total);
        watched.work(|work| verifier.source_with(&watched, work).verify(package))
    });
    watch
        .end(
            py,
            Ok(report),
            |never: std::convert::Infallible| match never {},
        )
        .map(Checked)
}

/// Fingerprint, role, time, proved time, Ed25519, ML-DSA-65, named, standing, since, counts.
type SignerRow = (
    String,
    &'static str,
    u64,
    Option<u64>,
    bool,
    bool,
    bool,
    &'static str,
    Option<u64>,
    bool,
);

fn signer_row(it: &SignerReport) -> SignerRow {
    (
        it.fingerprint.to_string(),
        it.role.name(),
        it.time,
        it.proved_time,
        it.ed25519,
        it.ml_dsa_65,
        it.named,
        it.standing.name(),
        it.standing.since(),
        it.counts,
    )
}

#[pymethods]
impl Checked {
    #[getter]
    fn good(&self) -> bool {
        self.0.verdict == Verdict::Good
    }

    #[getter]
    fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Number, name, verdict, whether it is required, whether it is missing, and why.
    fn layers(&self) -> Vec<(u64, &'static str, &'static str, bool, bool, &str)> {
        let row = |it: &'_ sealstone::package::LayerReport| {
            let (layer, missing) = (it.layer, it.is_missing());
            (
                layer.number(),
                layer.name(),
                it.verdict.name(),
                it.required,
                missing,
            )
        };
        let layers = self.0.layers.iter();
        layers
            .map(|it| {
                let (number, name, verdict, required, missing) = row(it);
                (number, name, verdict, required, missing, &*it.reason)
            })
            .collect()
    }

    /// The first layer for which nobody should co-sign the package, and why.
    fn prevents_signing(&self) -> Option<String> {
        let mut layers = self.0.layers.iter();
        let layer = layers.find(|it| it.prevents_signing())?;
        Some(format!("{}: {}", layer.layer, layer.reason))
    }

    fn signers(&self) -> Vec<SignerRow> {
        self.0.signers.iter().map(signer_row).collect()
    }

    /// Path and kind of everything that is wrong with files.
    fn findings(&self) -> Vec<(&str, &'static str)> {
        let findings = self.0.findings.iter();
        findings.map(|it| (&*it.path, it.kind.name())).collect()
    }

    fn timestamps<'py>(&self, py: Python<'py>) -> Vec<Found<'py>> {
        self.0.timestamps.iter().map(|it| found(py, it)).collect()
    }
}
