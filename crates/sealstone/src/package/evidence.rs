//! Evidence: everything that others need to check a package with tools of their own.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use sealstone_primitives::hash::sha3_256;

use super::bundle::{Parts, Signature};
use super::{Entry, EntryContent, Package, Role};
use crate::timestamp::Verified;

/// A file of the evidence.
///
/// ```
/// use sealstone::package::Draft;
/// use sealstone::passport::Passport;
///
/// let alice = Passport::generate("Alice", 1_790_000_000)?;
/// let mut draft = Draft::new();
/// draft.embed("hello.txt", b"hello")?;
/// let package = draft.sign(&alice, 1_790_000_000)?;
///
/// let evidence = package.evidence(&[]);
/// let framed = evidence.iter().find(|it| it.path == "signature-1/framed").unwrap();
/// assert!(framed.bytes.starts_with(b"sealstone.package.v1\0"));
/// # Ok::<(), sealstone::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Its name below a directory: components with `/` between them.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Checks the other files with a shell and OpenSSL.
const SCRIPT: &[u8] = include_bytes!("evidence/check.sh");
const README: &[u8] = include_bytes!("evidence/README.txt");

/// SubjectPublicKeyInfo before an Ed25519 key (RFC 8410).
const ED25519_SPKI: &[u8] = &[0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];
/// SubjectPublicKeyInfo before an ML-DSA-65 key (RFC 9881).
const ML_DSA_65_SPKI: &[u8] = &[
    0x30, 0x82, 7, 0xb2, 0x30, 0x0b, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 0x12, 3, 0x82, 7,
    0xa1, 0,
];

impl Package {
    /// Everything that others need to check this package, as files: the bytes that each layer
    /// covers, keys, signatures, timestamps, embedded content, a script that checks them with
    /// OpenSSL (`check.sh`), and a list of all (`README.txt`).
    ///
    /// `timestamps` is what a verification found; without it, certificates are left out. Nothing
    /// is checked here.
    pub fn evidence(&self, timestamps: &[Verified]) -> Vec<Evidence> {
        let mut files = Files::default();
        files.add("README.txt", README);
        files.add("check.sh", SCRIPT);
        files.add("manifest.cbor", &self.parts.manifest[..]);
        files.add("files.txt", list(&self.manifest.entries));
        files.add("package.sha3-256", hex_line(&self.encode()));
        if let Some(policy) = &self.parts.policy {
            files.add("policy.json", &policy[..]);
        }
        if let Some(tag) = &self.parts.tag {
            files.add("hmac.tag", &tag[..]);
        }
        if let Some(confirmation) = &self.parts.confirmation {
            files.add("keys.confirmation", &confirmation[..]);
        }
        for index in 0..self.parts.signatures.len() {
            files.signature(&self.parts, index);
        }
        for index in 0..self.parts.timestamps.len() {
            files.timestamp(&self.parts, index, timestamps.get(index));
        }
        let is_embedded = |entry: &&Entry| entry.embedded_size().is_some();
        let embedded = self.manifest.entries.iter().filter(is_embedded);
        for (entry, bytes) in embedded.zip(&self.parts.embedded) {
            files.add(format!("content/{}", entry.path), &bytes[..]);
        }
        files.0
    }
}

#[derive(Default)]
struct Files(Vec<Evidence>);

impl Files {
    fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.push(Evidence {
            path: path.into(),
            bytes: bytes.into(),
        });
    }

    fn signature(&mut self, parts: &Parts, index: usize) {
        let Signature {
            time,
            signer,
            ed25519,
            ml_dsa_65,
            ..
        } = &parts.signatures[index];
        let role = parts.signatures[index].role();
        let mut add = |name, bytes| self.add(format!("signature-{}/{name}", index + 1), bytes);
        let fingerprint = signer.fingerprint();
        let framed = parts.framed(&parts.head(), index, role, *time, &fingerprint);
        add("framed", framed);
        if role == Role::CounterSigner {
            add("prior.cbor", parts.prior(index));
        }
        add("fingerprint.input", signer.fingerprint_input());
        let key = [ED25519_SPKI, signer.ed25519()].concat();
        add("ed25519.pem", pem("PUBLIC KEY", &key));
        add("ed25519.sig", ed25519.to_vec());
        let key = [ML_DSA_65_SPKI, signer.ml_dsa_65()].concat();
        add("ml-dsa-65.pem", pem("PUBLIC KEY", &key));
        add("ml-dsa-65.sig", ml_dsa_65.clone());
    }

    fn timestamp(&mut self, parts: &Parts, index: usize, found: Option<&Verified>) {
        let mut add = |name, bytes| self.add(format!("timestamp-{}/{name}", index + 1), bytes);
        let timestamp = &parts.timestamps[index];
        add("stamped", parts.stamped(parts.covers(index), index));
        add("response.tsr", timestamp.response.clone());
        let digest = HEXLOWER.encode(&timestamp.digest) + "\n";
        add("response.sha3-256", digest.into_bytes());
        let Some((anchor, chain)) = found.and_then(|found| found.path.split_last()) else {
            return;
        };
        add("root.pem", pem("CERTIFICATE", &anchor.der));
        if !chain.is_empty() {
            let chain = chain.iter().map(|it| pem("CERTIFICATE", &it.der));
            add("chain.pem", chain.collect::<Vec<_>>().concat());
        }
    }
}

/// A line for each file, as `sha256sum` and `sealstone hash` print them: digest and path.
fn list(entries: &[Entry]) -> String {
    let line = |entry: &Entry| match &entry.content {
        EntryContent::File { digest, .. } => {
            format!("{}  {}\n", HEXLOWER.encode(digest), entry.path)
        }
        EntryContent::Link(_) => String::new(),
    };
    entries.iter().map(line).collect()
}

fn hex_line(bytes: &[u8]) -> String {
    HEXLOWER.encode(&sha3_256(bytes)) + "\n"
}

/// The textual encoding (RFC 7468).
fn pem(label: &str, der: &[u8]) -> Vec<u8> {
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in der.chunks(48) {
        text.push_str(&STANDARD.encode(line));
        text.push('\n');
    }
    text += &format!("-----END {label}-----\n");
    text.into_bytes()
}
