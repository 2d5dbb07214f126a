//! A package as it is stored, and the exact bytes that each layer covers (`spec/package.md`).

use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};
use sealstone_primitives::hash::{sha3_256, sha3_512};

use super::manifest::{MAX_ENTRIES, MAX_SIGNERS, Manifest};
use super::signer::{DOMAIN, SignerKeys};
use super::{EntryContent, Json, Layer, MAX_POLICY};
use crate::passport::Fingerprint;
use crate::wire::cbor;
use crate::{Error, Kind, Result};

/// A package: manifest, policy, signatures, timestamps, embedded content.
///
/// Its encoding was checked, nothing else: [`Verifier`](super::Verifier) checks the layers.
#[derive(Clone)]
pub struct Package {
    pub(super) manifest: Manifest,
    pub(super) parts: Parts,
}

/// CDDL `bundle`.
#[derive(Clone, Encode, Decode)]
#[cbor(map)]
pub(super) struct Parts {
    #[cbor(n(0), with = "minicbor::bytes")]
    pub(super) manifest: Vec<u8>,
    #[cbor(n(1), with = "minicbor::bytes")]
    pub(super) policy: Option<Vec<u8>>,
    #[cbor(n(2), with = "minicbor::bytes")]
    pub(super) tag: Option<[u8; 32]>,
    #[cbor(n(3), with = "minicbor::bytes")]
    pub(super) confirmation: Option<[u8; 32]>,
    #[cbor(n(4), decode_with = "cbor::at_most::<_, _, MAX_SIGNERS>")]
    pub(super) signatures: Vec<Signature>,
    #[cbor(n(5), decode_with = "cbor::at_most::<_, _, MAX_TIMESTAMPS>")]
    pub(super) timestamps: Vec<Timestamp>,
    #[cbor(n(6), decode_with = "cbor::at_most::<_, _, MAX_ENTRIES>")]
    pub(super) embedded: Vec<ByteVec>,
}

/// Whether a signer is one of those that the manifest names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Named in the manifest.
    Signer,
    /// Attests to have seen the package and all signatures before.
    CounterSigner,
}

/// CDDL `signature`.
#[derive(Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct Signature {
    #[n(0)]
    role: u64,
    #[n(1)]
    pub(super) time: u64,
    #[n(2)]
    pub(super) signer: SignerKeys,
    #[cbor(n(3), with = "minicbor::bytes")]
    pub(super) ed25519: [u8; 64],
    #[cbor(n(4), with = "minicbor::bytes")]
    pub(super) ml_dsa_65: Vec<u8>,
}

/// CDDL `timestamp`.
#[derive(Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct Timestamp {
    #[n(0)]
    pub(super) covers: u64,
    #[cbor(n(1), with = "minicbor::bytes")]
    pub(super) response: Vec<u8>,
    /// SHA3-256 of the response: it has bytes that no signature covers.
    #[cbor(n(2), with = "minicbor::bytes")]
    pub(super) digest: [u8; 32],
}

/// The first bytes of every package; the last one is the version.
pub(super) const PREFIX: &[u8; 10] = b"\x89PACK\r\n\x1a\n\x01";
/// The longest package, in bytes.
pub const MAX_PACKAGE: u64 = 1 << 30;
/// The most embedded content of a package, in bytes.
pub const MAX_EMBEDDED: usize = 1 << 26;
const MAX_TIMESTAMPS: usize = 32;
const MAX_RESPONSE: usize = 1 << 20;
const ML_DSA_65_LEN: usize = 3309;
const STAMP_DOMAIN: &[u8] = b"sealstone.package.timestamp.v1\0";

impl Package {
    /// Whether `start`, the first bytes of a file, are those of a package of any version.
    pub fn is_package(start: &[u8]) -> bool {
        let magic = &PREFIX[..PREFIX.len() - 1];
        start.starts_with(magic)
    }

    /// The bytes to store.
    pub fn encode(&self) -> Vec<u8> {
        [&PREFIX[..], &cbor::encode(&self.parts)].concat()
    }

    /// Reads a package. No layer is checked yet.
    ///
    /// # Errors
    /// [`Error::OtherKind`] if it is not a package; [`Error::Malformed`] if a rule of the format is
    /// broken; [`Error::Unsupported`] for a newer version.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        if !Self::is_package(bytes) {
            return Err(Kind::Package.missing(bytes));
        }
        let Some(bundle) = bytes.strip_prefix(PREFIX) else {
            return Err(Error::Unsupported("package"));
        };
        if bytes.len() as u64 > MAX_PACKAGE {
            return Err(Error::Malformed("package: longer than 1 GiB"));
        }
        let parts: Parts = cbor::decode(bundle, "package")?;
        let manifest = Manifest::decode(&parts.manifest)?;
        let package = Self { manifest, parts };
        package.check()?;
        Ok(package)
    }

    /// The signed bytes. They prove nothing before the package was verified.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The policy, as the package has it.
    pub fn policy(&self) -> Option<&[u8]> {
        self.parts.policy.as_deref()
    }

    /// The claimed signers, with their role and the time by their clock.
    pub fn signatures(&self) -> impl ExactSizeIterator<Item = (Fingerprint, Role, u64)> {
        let signatures = self.parts.signatures.iter();
        signatures.map(|it| (it.signer.fingerprint(), it.role(), it.time))
    }

    /// The responses of time-stamping authorities, first one first.
    pub fn timestamps(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.parts.timestamps.iter().map(|it| &it.response[..])
    }

    /// The embedded content of the entry at `path`.
    pub fn embedded(&self, path: &str) -> Option<&[u8]> {
        let embedded = self
            .manifest
            .entries
            .iter()
            .filter(|entry| matches!(entry.content, EntryContent::File { embedded: true, .. }));
        let mut pairs = embedded.zip(&self.parts.embedded);
        pairs
            .find(|(entry, _)| entry.path.as_str() == path)
            .map(|(_, bytes)| &bytes[..])
    }

    /// The layers that are there, in order. Whether they hold is for the verifier to say.
    pub fn layers(&self) -> Vec<Layer> {
        let is_there = |layer: &Layer| match layer {
            Layer::Content | Layer::Ed25519 | Layer::MlDsa65 => true,
            Layer::Hmac => self.parts.tag.is_some(),
            Layer::Keys => self.parts.confirmation.is_some(),
            Layer::Timestamp => !self.parts.timestamps.is_empty(),
        };
        Layer::ALL.into_iter().filter(is_there).collect()
    }

    /// Whether everything that the manifest says can be checked without a directory: it names
    /// embedded files alone, and does not say that they are all files of one.
    pub fn has_all_content(&self) -> bool {
        let mut entries = self.manifest.entries.iter();
        !self.manifest.complete && entries.all(|it| it.embedded_size().is_some())
    }

    /// The bytes that a timestamp added now must cover: its imprint is of them.
    pub fn to_stamp(&self) -> Vec<u8> {
        let count = self.parts.signatures.len();
        self.parts.stamped(count, self.parts.timestamps.len())
    }

    /// Adds a timestamp over [`Package::to_stamp`]. The caller has verified the response.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is longer than 1 MiB, or there are 32 already.
    pub fn attach_timestamp(&mut self, response: &[u8]) -> Result<()> {
        if response.len() > MAX_RESPONSE || self.parts.timestamps.len() == MAX_TIMESTAMPS {
            return Err(Error::Invalid(
                "a package takes up to 32 timestamps of up to 1 MiB",
            ));
        }
        self.parts.timestamps.push(Timestamp {
            covers: self.parts.signatures.len() as u64,
            response: response.to_vec(),
            digest: sha3_256(response),
        });
        Ok(())
    }

    /// Every rule of the format that is not one of CBOR or of the manifest.
    fn check(&self) -> Result<()> {
        let parts = &self.parts;
        let policy_fits = |policy: &Vec<u8>| (1..=MAX_POLICY).contains(&policy.len());
        if !parts.policy.as_ref().is_none_or(policy_fits) {
            return Err(Error::Malformed("package: policy"));
        }
        self.check_signatures()?;
        parts.check_timestamps()?;
        let embedded = self
            .manifest
            .entries
            .iter()
            .filter_map(|it| it.embedded_size());
        let total: usize = parts.embedded.iter().map(|bytes| bytes.len()).sum();
        match total <= MAX_EMBEDDED && embedded.count() == parts.embedded.len() {
            true => Ok(()),
            false => Err(Error::Malformed("package: embedded content")),
        }
    }

    fn check_signatures(&self) -> Result<()> {
        let malformed = Error::Malformed("package: signatures");
        let signatures = &self.parts.signatures;
        if !(1..=MAX_SIGNERS).contains(&signatures.len()) {
            return Err(malformed);
        }
        let mut fingerprints = Vec::new();
        let mut places = Vec::new();
        for signature in signatures {
            let fingerprint = signature.signer.fingerprint();
            let place = self.manifest.place_of(&fingerprint);
            let right = signature.ml_dsa_65.len() == ML_DSA_65_LEN
                && signature.role <= 1
                && (signature.role() == Role::Signer) == place.is_some()
                && !fingerprints.contains(&fingerprint);
            if !right {
                return Err(malformed);
            }
            fingerprints.push(fingerprint);
            places.push(place.unwrap_or(usize::MAX));
        }
        let signed = places.first().is_some_and(|place| *place != usize::MAX);
        match signed && places.is_sorted() {
            true => Ok(()),
            false => Err(malformed),
        }
    }
}

impl Parts {
    fn check_timestamps(&self) -> Result<()> {
        let covers: Vec<u64> = self.timestamps.iter().map(|it| it.covers).collect();
        let right = covers.len() <= MAX_TIMESTAMPS
            && covers.is_sorted()
            && covers
                .iter()
                .all(|covers| (1..=self.signatures.len() as u64).contains(covers))
            && self
                .timestamps
                .iter()
                .all(|it| it.response.len() <= MAX_RESPONSE);
        match right {
            true => Ok(()),
            false => Err(Error::Malformed("package: timestamps")),
        }
    }

    /// How many signatures the timestamp at `index` covers.
    pub(super) fn covers(&self, index: usize) -> usize {
        usize::try_from(self.timestamps[index].covers).unwrap_or(usize::MAX)
    }

    /// M of the specification.
    pub(super) fn manifest_digest(&self) -> [u8; 64] {
        Manifest::digest_of(&self.manifest)
    }

    /// `flags ‖ M ‖ tag ‖ confirmation`.
    pub(super) fn head(&self) -> Vec<u8> {
        let flags = u8::from(self.tag.is_some()) + 2 * u8::from(self.confirmation.is_some());
        let mut head = vec![flags];
        head.extend_from_slice(&self.manifest_digest());
        head.extend_from_slice(&self.tag.unwrap_or_default());
        head.extend_from_slice(&self.confirmation.unwrap_or_default());
        head
    }

    /// The bytes that the signature at `index` covers, framed with the domain.
    pub(super) fn framed(
        &self,
        head: &[u8],
        index: usize,
        role: Role,
        time: u64,
        signer: &Fingerprint,
    ) -> Vec<u8> {
        let prior = match role {
            Role::Signer => [0; 64],
            Role::CounterSigner => sha3_512(&self.prior(index)),
        };
        DOMAIN.frame(
            &[
                &[role as u8][..],
                &time.to_be_bytes(),
                signer.as_bytes(),
                head,
                &prior,
            ]
            .concat(),
        )
    }

    /// The signatures before a counter-signature at `index`.
    pub(super) fn prior(&self, index: usize) -> Vec<u8> {
        encode_list(&self.signatures[..index])
    }

    /// The bytes that the timestamp at `index` covers, if it covers this number of signatures.
    pub(super) fn stamped(&self, covers: usize, index: usize) -> Vec<u8> {
        [
            STAMP_DOMAIN,
            &self.head(),
            &encode_list(&self.signatures[..covers]),
            &encode_list(&self.timestamps[..index]),
        ]
        .concat()
    }
}

impl Signature {
    pub(super) fn new(
        role: Role,
        time: u64,
        signer: SignerKeys,
        pair: super::signer::Pair,
    ) -> Self {
        Self {
            role: role as u64,
            time,
            signer,
            ed25519: pair.ed25519,
            ml_dsa_65: pair.ml_dsa_65,
        }
    }

    pub(super) fn role(&self) -> Role {
        match self.role {
            0 => Role::Signer,
            _ => Role::CounterSigner,
        }
    }
}

impl Role {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Signer => "signer",
            Self::CounterSigner => "counter-signer",
        }
    }
}

/// Whether a bundle carries the policy that its manifest names, in canonical form.
pub(super) fn is_policy_of(manifest: &Manifest, policy: Option<&[u8]>) -> bool {
    let digest = policy.map(Manifest::policy_digest);
    let canonical = policy.is_none_or(|policy| Json::from_canonical(policy).is_ok());
    digest == manifest.policy && canonical
}

fn encode_list<T: Encode<()>>(items: &[T]) -> Vec<u8> {
    cbor::encode(&items)
}
