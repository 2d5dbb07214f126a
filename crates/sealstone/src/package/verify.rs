//! Verifying: each layer, each signer, one verdict (`spec/package.md`, "Verifying").

use sealstone_primitives::ct;

use super::bundle::{Parts, is_policy_of};
use super::content::{self, Work};
use super::keys;
use super::stamps::{self, Stamps};
use super::{
    EntryContent, Finding, FindingKind, Layer, LayerReport, Manifest, Package, Role, Source,
    Verdict,
};
use crate::passport::{Contact, Fingerprint};
use crate::timestamp::{Roots, Verified};
use crate::trust::Standing;
use crate::wire::text;

/// The state of a signer, for a signature that existed at this time (`None`: no proved time).
pub type Opinion<'a> = &'a dyn Fn(&Fingerprint, Option<u64>) -> Standing;

/// Checks packages: what it has, and what it requires.
///
/// ```
/// use sealstone::package::{Draft, Package, Verdict, Verifier};
/// use sealstone::passport::Passport;
///
/// let alice = Passport::generate("Alice", 1_790_000_000)?;
/// let mut draft = Draft::new();
/// draft.embed("hello.txt", b"hello")?;
/// let stored = draft.sign(&alice, 1_790_000_000)?.encode();
///
/// let package = Package::decode(&stored)?;
/// let report = Verifier::new().signer(alice.contact()).verify(&package);
/// assert_eq!(report.verdict, Verdict::Good);
/// # Ok::<(), sealstone::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Verifier<'a> {
    named: Vec<Fingerprint>,
    opinion: Option<Opinion<'a>>,
    source: Option<(&'a dyn Source, Option<Work<'a>>)>,
    hmac_key: Option<&'a [u8]>,
    secret: Option<&'a [u8]>,
    roots: Option<(&'a Roots, u64)>,
    required: Vec<Layer>,
}

/// Everything that a verifier found.
#[derive(Clone, Debug)]
pub struct Report {
    /// [`Verdict::Good`] or [`Verdict::Bad`].
    pub verdict: Verdict,
    /// One line for people: why the package is bad, or who signed it.
    pub reason: String,
    /// The six layers, in order.
    pub layers: [LayerReport; 6],
    /// Every signature, in the order of the package.
    pub signers: Vec<SignerReport>,
    /// Findings of layer 1 on files, in the order of their paths.
    pub findings: Vec<Finding>,
    /// The statements of the timestamps, in order, if the layer is good.
    pub timestamps: Vec<Verified>,
}

/// One signature.
#[derive(Clone, Debug)]
pub struct SignerReport {
    /// The fingerprint that the signature claims.
    pub fingerprint: Fingerprint,
    /// Whether the manifest names that signer.
    pub role: Role,
    /// When it was made, by the signer's clock: seconds since 1970.
    pub time: u64,
    /// When it existed at the latest, by the timestamps.
    pub proved_time: Option<u64>,
    /// Whether the Ed25519 signature is right.
    pub ed25519: bool,
    /// Whether the ML-DSA-65 signature is right.
    pub ml_dsa_65: bool,
    /// Whether the user named this signer.
    pub named: bool,
    /// The state of the signer at that time.
    pub standing: Standing,
    /// Whether the signature counts.
    pub counts: bool,
}

/// Verdict and reason of one layer.
pub(super) type Outcome = (Verdict, String);

impl<'a> Verifier<'a> {
    /// One that accepts no signer, and checks what needs no key and no files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts this signer, who must have signed.
    #[must_use]
    pub fn signer(mut self, signer: &Contact) -> Self {
        self.named.push(signer.fingerprint());
        self
    }

    /// Accepts signers that are approved at the time of their signature. A signer that the user
    /// named is refused nevertheless if the opinion is denied, revoked or compromised.
    #[must_use]
    pub fn trust(mut self, opinion: Opinion<'a>) -> Self {
        self.opinion = Some(opinion);
        self
    }

    /// Checks the files of `source`. Without a source, files beside the package are unchecked, and
    /// so are links, and whether a directory has additional files.
    #[must_use]
    pub fn source(mut self, source: &'a dyn Source) -> Self {
        self.source = Some((source, self.source.and_then(|(_, work)| work)));
        self
    }

    /// Checks the files of `source` with these threads.
    #[must_use]
    pub fn source_with(mut self, source: &'a dyn Source, work: Work<'a>) -> Self {
        self.source = Some((source, Some(work)));
        self
    }

    /// Requires an HMAC with this key. A thief of the signer's keys lacks it, and would leave the
    /// layer out.
    #[must_use]
    pub fn hmac_key(mut self, key: &'a [u8]) -> Self {
        self.hmac_key = Some(key);
        self.require(Layer::Hmac)
    }

    /// Requires that keys are derived from this secret.
    #[must_use]
    pub fn secret(mut self, secret: &'a [u8]) -> Self {
        self.secret = Some(secret);
        self.require(Layer::Keys)
    }

    /// Checks timestamps against these roots, at this time: seconds since 1970.
    #[must_use]
    pub fn roots(mut self, roots: &'a Roots, now: u64) -> Self {
        self.roots = Some((roots, now));
        self
    }

    /// Requires a layer that the signer may not require.
    #[must_use]
    pub fn require(mut self, layer: Layer) -> Self {
        self.required.push(layer);
        self
    }

    /// Checks all layers and signers.
    pub fn verify(&self, package: &Package) -> Report {
        let parts = &package.parts;
        let head = parts.head();
        let signatures = check_signatures(parts, &head);
        let (stamped, stamps) = self.timestamp(parts);
        let (content, findings) = self.content(package);
        let checked = [
            content,
            self.hmac(parts),
            signature_layer(&signatures, "Ed25519", |pair| pair.0),
            signature_layer(&signatures, "ML-DSA-65", |pair| pair.1),
            self.keys(package),
            stamped,
        ];
        let layers = self.layers(&package.manifest, checked);
        let signers = self.signers(package, &signatures, &stamps.proved);
        let (verdict, reason) = self.overall(&package.manifest, &layers, &signers);
        Report {
            verdict,
            reason,
            layers,
            signers,
            findings,
            timestamps: stamps.verified,
        }
    }

    fn content(&self, package: &Package) -> (Outcome, Vec<Finding>) {
        let manifest = &package.manifest;
        if let Err(reason) = check_inside(package) {
            return ((Verdict::Bad, reason), Vec::new());
        }
        let findings = match self.source {
            Some((source, work)) => content::check(manifest, source, work.unwrap_or_default()),
            None if !package.has_all_content() => {
                let reason = "the files were not looked at".to_owned();
                return ((Verdict::Unchecked, reason), Vec::new());
            }
            None => Vec::new(),
        };
        let layer = match findings.first() {
            None => (Verdict::Good, summary(manifest)),
            Some(first) => (Verdict::Bad, describe(first, findings.len())),
        };
        (layer, findings)
    }

    fn hmac(&self, parts: &Parts) -> Outcome {
        match (&parts.tag, self.hmac_key) {
            (None, _) => (Verdict::Absent, "the package has no HMAC".to_owned()),
            (Some(_), None) => (Verdict::Unchecked, "no key was given".to_owned()),
            (Some(tag), Some(key)) => {
                let expected = keys::hmac_tag(key, &parts.manifest_digest());
                match ct::eq(&expected, tag) {
                    true => (Verdict::Good, "made by a holder of the key".to_owned()),
                    false => (Verdict::Bad, "made with another key, or altered".to_owned()),
                }
            }
        }
    }

    fn keys(&self, package: &Package) -> Outcome {
        match (&package.parts.confirmation, self.secret) {
            (None, _) => (Verdict::Absent, "no keys are derived".to_owned()),
            (Some(_), None) => (Verdict::Unchecked, "no secret was given".to_owned()),
            (Some(_), Some(secret)) => match package.derived_keys(secret) {
                Ok(_) => (
                    Verdict::Good,
                    "the secret is the signer's; keys follow from it".to_owned(),
                ),
                Err(_) => (Verdict::Bad, "another secret, or altered".to_owned()),
            },
        }
    }

    fn timestamp(&self, parts: &Parts) -> (Outcome, Stamps) {
        let none = Stamps {
            verified: Vec::new(),
            proved: vec![None; parts.signatures.len()],
        };
        if parts.timestamps.is_empty() {
            let reason = "the package has no timestamp".to_owned();
            return ((Verdict::Absent, reason), none);
        }
        let Some((roots, now)) = self.roots else {
            let unchecked = |()| (Verdict::Unchecked, "no roots were given".to_owned());
            let digests = stamps::check_digests(parts);
            let outcome = digests.map_or_else(|reason| (Verdict::Bad, reason), unchecked);
            return (outcome, none);
        };
        match stamps::check(parts, roots, now) {
            Ok(stamps) => {
                let tsa = stamps.verified.first().map_or("", Verified::tsa);
                let by = text::shown(tsa);
                ((Verdict::Good, format!("time attested by {by}")), stamps)
            }
            Err(reason) => ((Verdict::Bad, reason), none),
        }
    }

    fn layers(&self, manifest: &Manifest, checked: [Outcome; 6]) -> [LayerReport; 6] {
        let mut found = checked.into_iter();
        Layer::ALL.map(|layer| {
            let (verdict, reason) = found.next().expect("six layers");
            let by_verifier = self.required.contains(&layer);
            let required =
                layer.is_always_required() || by_verifier || manifest.required.contains(&layer);
            let missing = required && verdict == Verdict::Absent;
            let (verdict, reason) = match (missing, by_verifier) {
                (false, _) => (verdict, reason),
                (true, true) => (Verdict::Bad, format!("you require it, and {reason}")),
                (true, false) => (
                    Verdict::Bad,
                    format!("the signer requires it, and {reason}"),
                ),
            };
            LayerReport {
                layer,
                verdict,
                required,
                reason,
                missing,
            }
        })
    }

    fn signers(
        &self,
        package: &Package,
        signatures: &[(bool, bool)],
        proved: &[Option<u64>],
    ) -> Vec<SignerReport> {
        let checked = package.signatures().zip(signatures).zip(proved);
        checked
            .map(|(((fingerprint, role, time), right), proved_time)| {
                let named = self.named.contains(&fingerprint);
                let standing = self.opinion.map_or(Standing::Unknown, |opinion| {
                    opinion(&fingerprint, *proved_time)
                });
                let accepted = match standing {
                    Standing::Approved => true,
                    Standing::Unknown | Standing::Pending => named,
                    Standing::Denied | Standing::Revoked { .. } | Standing::Compromised { .. } => {
                        false
                    }
                };
                SignerReport {
                    fingerprint,
                    role,
                    time,
                    proved_time: *proved_time,
                    ed25519: right.0,
                    ml_dsa_65: right.1,
                    named,
                    standing,
                    counts: accepted && right.0 && right.1 && role == Role::Signer,
                }
            })
            .collect()
    }

    fn overall(
        &self,
        manifest: &Manifest,
        layers: &[LayerReport; 6],
        signers: &[SignerReport],
    ) -> Outcome {
        let spoils = |it: &&LayerReport| {
            it.verdict == Verdict::Bad || (it.required && it.verdict != Verdict::Good)
        };
        if let Some(layer) = layers.iter().find(spoils) {
            return (Verdict::Bad, format!("{}: {}", layer.layer, layer.reason));
        }
        let signed = |named: &&Fingerprint| signers.iter().any(|it| it.fingerprint == **named);
        if let Some(missing) = self.named.iter().find(|named| !signed(named)) {
            let reason = format!("{} has not signed", missing.brief());
            return (Verdict::Bad, reason);
        }
        let refused = |it: &&SignerReport| it.named && !it.counts;
        if let Some(signer) = signers.iter().find(refused) {
            return (Verdict::Bad, not_accepted(signer));
        }
        let count = signers.iter().filter(|it| it.counts).count() as u64;
        if count < manifest.threshold {
            let why = signers.iter().find(|it| !it.counts).map(not_accepted);
            let wanted = manifest.threshold;
            let reason = format!("{count} of {wanted} required signatures count");
            let reason = why.map_or(reason.clone(), |why| format!("{reason}: {why}"));
            return (Verdict::Bad, reason);
        }
        (
            Verdict::Good,
            format!(
                "{count} signature(s) count, {} required",
                manifest.threshold
            ),
        )
    }
}

/// Policy and embedded content, which need no source.
fn check_inside(package: &Package) -> Result<(), String> {
    let manifest = &package.manifest;
    if !is_policy_of(manifest, package.policy()) {
        return Err("the policy was altered".to_owned());
    }
    let embedded = manifest
        .entries
        .iter()
        .filter(|it| it.embedded_size().is_some());
    for (entry, bytes) in embedded.zip(&package.parts.embedded) {
        let work = Work::default();
        let found = content::measure(manifest.digest, &mut &bytes[..], entry.size(), work);
        let right = match (&entry.content, found) {
            (EntryContent::File { size, digest, .. }, Ok(found)) => {
                found == (*size, digest.clone())
            }
            _ => false,
        };
        if !right {
            return Err(format!("{}: altered", entry.path));
        }
    }
    Ok(())
}

/// For each signature, whether Ed25519 and whether ML-DSA-65 holds.
fn check_signatures(parts: &Parts, head: &[u8]) -> Vec<(bool, bool)> {
    let signatures = parts.signatures.iter().enumerate();
    let check = |(index, it): (usize, &super::bundle::Signature)| {
        let fingerprint = it.signer.fingerprint();
        let framed = parts.framed(head, index, it.role(), it.time, &fingerprint);
        (
            it.signer.verify_ed25519(&framed, &it.ed25519),
            it.signer.verify_ml_dsa_65(&framed, &it.ml_dsa_65),
        )
    };
    signatures.map(check).collect()
}

fn signature_layer(
    signatures: &[(bool, bool)],
    name: &str,
    of: impl Fn(&(bool, bool)) -> bool,
) -> Outcome {
    let wrong = signatures.iter().filter(|pair| !of(pair)).count();
    match wrong {
        0 => (
            Verdict::Good,
            format!("{} {name} signature(s) over the manifest", signatures.len()),
        ),
        _ => (
            Verdict::Bad,
            format!("{wrong} of {} {name} signature(s) wrong", signatures.len()),
        ),
    }
}

fn summary(manifest: &Manifest) -> String {
    let bytes: u128 = manifest
        .entries
        .iter()
        .map(|it| u128::from(it.size()))
        .sum();
    format!(
        "{} file(s), {bytes} bytes, {}",
        manifest.entries.len(),
        manifest.digest.name()
    )
}

fn describe(first: &Finding, count: usize) -> String {
    let others = match count {
        1 => String::new(),
        _ => format!(", and {} more", count - 1),
    };
    let kind = match first.kind {
        FindingKind::OtherKind => "not the kind of object that was signed",
        other => other.name(),
    };
    format!("{}: {kind}{others}", text::shown(&first.path))
}

fn not_accepted(signer: &SignerReport) -> String {
    let name = signer.fingerprint.brief();
    match signer.standing {
        Standing::Denied => format!("{name} is denied"),
        Standing::Revoked { .. } => format!("{name} is revoked, and no timestamp is older"),
        Standing::Compromised { .. } => {
            format!("{name} is compromised, and no timestamp is older")
        }
        Standing::Pending => format!("{name} is not approved yet"),
        _ if signer.role == Role::CounterSigner => format!("{name} only counter-signed"),
        _ => format!("{name} is not a signer that you named or approved"),
    }
}
