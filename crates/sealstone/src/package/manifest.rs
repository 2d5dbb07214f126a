//! The manifest: what the signers sign (`spec/package.md`, "Encoding").

use minicbor::{Decode, Encode};
use sealstone_primitives::hash::{sha3_256, sha3_512};

use super::path::RelativePath;
use super::{Json, Layer};
use crate::passport::Fingerprint;
use crate::wire::{cbor, text};
use crate::{Error, Result};

/// How the content of files is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DigestKind {
    /// SHA3-256 (FIPS 202), 32 bytes.
    #[default]
    Sha3_256,
    /// The Skein-512 tree hash (`spec/tree.md`), 64 bytes: quicker, also for one large file.
    SkeinTree,
}

/// One file or link of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands.
    pub path: RelativePath,
    /// The object there.
    pub content: EntryContent,
    /// `type/subtype` (RFC 6838), if it was given.
    pub media_type: Option<String>,
    /// Modification time in seconds since 1970, if it was recorded. A claim.
    pub modified: Option<u64>,
}

/// The object of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryContent {
    /// A file beside the package, or (`embedded`) inside it.
    File {
        /// Its length in bytes.
        size: u64,
        /// Its digest, 32 or 64 bytes.
        digest: Vec<u8>,
        /// Whether the package contains it.
        embedded: bool,
    },
    /// A symbolic link with this target, which is never followed.
    Link(String),
}

/// Everything that the signers sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The passports that are to sign, in order.
    pub signers: Vec<Fingerprint>,
    /// How many of them have to.
    pub threshold: u64,
    /// Layers that every verifier must find good, besides those that always are required.
    pub required: Vec<Layer>,
    /// When the first signer signed, by their clock: seconds since 1970.
    pub time: u64,
    /// The author; may be empty.
    pub author: String,
    /// How content is hashed.
    pub digest: DigestKind,
    /// Whether the entries are all files of a directory.
    pub complete: bool,
    /// The files, ascending by path.
    pub entries: Vec<Entry>,
    /// SHA3-256 of the policy.
    pub policy: Option<[u8; 32]>,
    /// Free data: a JSON object.
    pub metadata: Option<Json>,
}

/// CDDL `manifest`.
#[derive(Encode, Decode)]
#[cbor(map)]
struct Wire {
    #[n(0)]
    version: u64,
    #[cbor(n(1), decode_with = "cbor::at_most::<_, _, MAX_SIGNERS>")]
    signers: Vec<Fingerprint>,
    #[n(2)]
    threshold: u64,
    #[cbor(n(3), decode_with = "cbor::at_most::<_, _, { Layer::ALL.len() }>")]
    required: Vec<u64>,
    #[n(4)]
    time: u64,
    #[n(5)]
    author: String,
    #[n(6)]
    digest: u64,
    #[n(7)]
    complete: u64,
    #[cbor(n(8), decode_with = "cbor::at_most::<_, _, MAX_ENTRIES>")]
    entries: Vec<WireEntry>,
    #[cbor(n(9), with = "minicbor::bytes")]
    policy: Option<[u8; 32]>,
    #[n(10)]
    metadata: Option<String>,
}

/// CDDL `entry`.
#[derive(Encode, Decode)]
struct WireEntry {
    #[n(0)]
    path: String,
    #[n(1)]
    kind: u64,
    #[n(2)]
    size: u64,
    #[cbor(n(3), with = "minicbor::bytes")]
    content: Vec<u8>,
    #[n(4)]
    media_type: String,
    #[n(5)]
    modified: u64,
}

const VERSION: u64 = 1;
/// The most signers, and the most signatures.
pub(super) const MAX_SIGNERS: usize = 64;
/// The most files and links.
pub(super) const MAX_ENTRIES: usize = 1 << 21;
const MAX_AUTHOR: usize = 256;
const MAX_METADATA: usize = 65_536;
const MAX_TARGET: usize = 4096;
const MAX_MEDIA_TYPE: usize = 255;
const FILE: u64 = 0;
const EMBEDDED: u64 = 1;
const LINK: u64 = 2;

impl DigestKind {
    /// Bytes of a digest.
    fn size(self) -> usize {
        match self {
            Self::Sha3_256 => 32,
            Self::SkeinTree => 64,
        }
    }

    /// The name that reports print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha3_256 => "SHA3-256",
            Self::SkeinTree => "Skein-512 tree",
        }
    }

    fn from_number(number: u64) -> Result<Self> {
        match number {
            0 => Ok(Self::Sha3_256),
            1 => Ok(Self::SkeinTree),
            _ => Err(Error::Malformed("package: unknown kind of digest")),
        }
    }
}

impl Manifest {
    /// The one encoding.
    pub fn encode(&self) -> Vec<u8> {
        cbor::encode(&Wire {
            version: VERSION,
            signers: self.signers.clone(),
            threshold: self.threshold,
            required: self.required.iter().map(|layer| layer.number()).collect(),
            time: self.time,
            author: self.author.clone(),
            digest: u64::from(self.digest == DigestKind::SkeinTree),
            complete: u64::from(self.complete),
            entries: self.entries.iter().map(WireEntry::from).collect(),
            policy: self.policy,
            metadata: self.metadata.as_ref().map(|json| json.as_str().to_owned()),
        })
    }

    /// Reads the one encoding of a manifest that keeps all rules.
    ///
    /// # Errors
    /// [`Error::Malformed`] or [`Error::Unsupported`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        cbor::check_version(bytes, VERSION, "package")?;
        let wire: Wire = cbor::decode(bytes, "package: manifest")?;
        let digest = DigestKind::from_number(wire.digest)?;
        let entries = wire.entries.into_iter();
        let manifest = Self {
            signers: wire.signers,
            threshold: wire.threshold,
            required: wire
                .required
                .into_iter()
                .map(Layer::optional)
                .collect::<Result<_>>()?,
            time: wire.time,
            author: wire.author,
            digest,
            complete: flag(wire.complete)?,
            entries: entries
                .map(|entry| entry.parse(digest))
                .collect::<Result<_>>()?,
            policy: wire.policy,
            metadata: wire
                .metadata
                .map(|json| Json::from_canonical(json.as_bytes()))
                .transpose()?,
        };
        manifest.check()?;
        Ok(manifest)
    }

    /// SHA3-512 of an encoding: M of the specification.
    pub(super) fn digest_of(encoded: &[u8]) -> [u8; 64] {
        sha3_512(encoded)
    }

    /// Every rule that is not one of the encoding.
    pub(super) fn check(&self) -> Result<()> {
        self.check_signers()?;
        if !self.required.is_sorted_by(|a, b| a.number() < b.number()) {
            return Err(Error::Malformed("package: order of required layers"));
        }
        text::check_line(&self.author, 0, MAX_AUTHOR, "package: author")?;
        if !self.entries.is_sorted_by(|a, b| a.path < b.path) {
            return Err(Error::Malformed("package: order of files"));
        }
        if RelativePath::clash(self.entries.iter().map(|entry| &entry.path)).is_some() {
            return Err(Error::Malformed("package: two paths clash"));
        }
        let metadata = self.metadata.as_ref();
        if metadata.is_some_and(|json| !json.is_object() || json.as_str().len() > MAX_METADATA) {
            return Err(Error::Malformed("package: metadata"));
        }
        Ok(())
    }

    fn check_signers(&self) -> Result<()> {
        let mut sorted = self.signers.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let all_differ = sorted.len() == self.signers.len();
        let threshold = usize::try_from(self.threshold).unwrap_or(usize::MAX);
        let right = all_differ
            && (1..=MAX_SIGNERS).contains(&self.signers.len())
            && (1..=self.signers.len()).contains(&threshold);
        match right {
            true => Ok(()),
            false => Err(Error::Malformed("package: signers")),
        }
    }

    /// The place of a signer among those who are to sign.
    pub(super) fn place_of(&self, signer: &Fingerprint) -> Option<usize> {
        self.signers.iter().position(|named| named == signer)
    }

    /// The digest that the manifest of this policy has.
    pub(super) fn policy_digest(policy: &[u8]) -> [u8; 32] {
        sha3_256(policy)
    }
}

impl From<&Entry> for WireEntry {
    fn from(entry: &Entry) -> Self {
        let (kind, size, content) = match &entry.content {
            EntryContent::File {
                size,
                digest,
                embedded,
            } => {
                let kind = if *embedded { EMBEDDED } else { FILE };
                (kind, *size, digest.clone())
            }
            EntryContent::Link(target) => (LINK, target.len() as u64, target.clone().into_bytes()),
        };
        Self {
            path: entry.path.as_str().to_owned(),
            kind,
            size,
            content,
            media_type: entry.media_type.clone().unwrap_or_default(),
            modified: entry.modified.unwrap_or(0),
        }
    }
}

impl WireEntry {
    fn parse(self, digest: DigestKind) -> Result<Entry> {
        let malformed = || Error::Malformed("package: entry");
        let path = RelativePath::new(&self.path).map_err(|_| Error::Malformed("package: path"))?;
        if self.size > i64::MAX as u64 || !is_media_type(&self.media_type) {
            return Err(malformed());
        }
        let content = match self.kind {
            FILE | EMBEDDED if self.content.len() == digest.size() => EntryContent::File {
                size: self.size,
                digest: self.content,
                embedded: self.kind == EMBEDDED,
            },
            LINK if self.size == self.content.len() as u64 => {
                let target = String::from_utf8(self.content).map_err(|_| malformed())?;
                check_target(&target).map_err(|_| malformed())?;
                EntryContent::Link(target)
            }
            _ => return Err(malformed()),
        };
        Ok(Entry {
            path,
            content,
            media_type: Some(self.media_type).filter(|given| !given.is_empty()),
            modified: Some(self.modified).filter(|time| *time != 0),
        })
    }
}

/// The target of a link: a line of 1 to 4096 bytes.
pub(super) fn check_target(target: &str) -> Result<()> {
    text::check_line(target, 1, MAX_TARGET, "package: target of a link")
}

/// Empty, or `type/subtype` of restricted names (RFC 6838 section 4.2).
pub(super) fn is_media_type(text: &str) -> bool {
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.len() <= 127
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
    };
    let typed = |(kind, subtype)| name(kind) && name(subtype);
    text.len() <= MAX_MEDIA_TYPE && (text.is_empty() || text.split_once('/').is_some_and(typed))
}

fn flag(number: u64) -> Result<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::Malformed("package: manifest")),
    }
}
