//! Descriptions of packages: `interop/packages.py` reads and writes the same.

use std::collections::BTreeMap;
use std::path::Path;

use data_encoding::HEXLOWER;
use sealstone::package::{
    DigestKind, Draft, EntryContent, Json, Layer, Listed, Package, RelativePath, Report, Role,
    Verdict, Verifier, Work,
};
use sealstone_primitives::hash::sha3_256;
use serde::{Deserialize, Serialize};

use crate::tree::{Node, Tree, content, person};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) file: String,
    pub(crate) signers: Vec<String>,
    pub(crate) needed: u64,
    pub(crate) required: Vec<u64>,
    pub(crate) time: u64,
    pub(crate) author: String,
    pub(crate) tree: bool,
    pub(crate) complete: bool,
    pub(crate) policy: Option<String>,
    pub(crate) metadata: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) secret: Option<String>,
    pub(crate) entries: Vec<CaseEntry>,
    /// Name, role, time.
    pub(crate) signatures: Vec<(String, u8, u64)>,
    /// The keys of some labels.
    pub(crate) derived: BTreeMap<String, String>,
    /// The responses of time-stamping authorities, over all signatures.
    pub(crate) responses: Vec<String>,
    /// SHA3-256 of the bytes that another timestamp would cover.
    pub(crate) to_stamp: String,
}

/// Path, kind, length or target, media type, modification time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CaseEntry(
    pub(crate) String,
    pub(crate) u8,
    pub(crate) Size,
    pub(crate) String,
    pub(crate) u64,
);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Size {
    Content(usize),
    Target(String),
}

pub(crate) const BESIDE: u8 = 0;
pub(crate) const EMBEDDED: u8 = 1;
pub(crate) const LINK: u8 = 2;

impl Case {
    pub(crate) fn parse_all(text: &str) -> Vec<Self> {
        serde_json::from_str(text).unwrap()
    }

    fn optional(hex: &Option<String>) -> Option<Vec<u8>> {
        hex.as_ref()
            .map(|hex| HEXLOWER.decode(hex.as_bytes()).unwrap())
    }

    pub(crate) fn key(&self) -> Option<Vec<u8>> {
        Self::optional(&self.key)
    }

    pub(crate) fn secret(&self) -> Option<Vec<u8>> {
        Self::optional(&self.secret)
    }

    /// The directory of the files beside the package, made from the description.
    pub(crate) fn directory(&self) -> Tree {
        let mut tree = Tree::default();
        for CaseEntry(path, kind, size, ..) in &self.entries {
            let node = match size {
                _ if *kind == EMBEDDED => continue,
                Size::Content(len) => Node::File(content(*len)),
                Size::Target(target) => Node::Link(target.clone()),
            };
            for (end, _) in path.match_indices('/') {
                tree.0.insert(path[..end].to_owned(), Node::Directory);
            }
            tree.0.insert(path.clone(), node);
        }
        tree
    }

    /// The signed package. Its first signature is by the first signer, at the time of the manifest.
    pub(crate) fn make(&self) -> Package {
        let (key, secret, tree) = (self.key(), self.secret(), self.directory());
        let mut draft = Draft::new();
        draft.digest(self.digest());
        self.add_files(&mut draft, &tree);
        draft.author(&self.author).unwrap();
        if self.complete {
            draft.complete();
        }
        let json =
            |text: &Option<String>| text.as_ref().map(|it| Json::parse(it.as_bytes()).unwrap());
        if let Some(policy) = json(&self.policy) {
            draft.policy(policy);
        }
        if let Some(metadata) = json(&self.metadata) {
            draft.metadata(metadata).unwrap();
        }
        for name in &self.signers[1..] {
            draft.cosigner(person(name).contact());
        }
        draft.threshold(self.needed);
        if let Some(key) = &key {
            draft.hmac(key).unwrap();
        }
        if let Some(secret) = &secret {
            draft.derive_keys(secret).unwrap();
        }
        for layer in &self.required {
            draft.require(layer_of(*layer)).unwrap();
        }
        let mut package = draft.sign(person(&self.signers[0]), self.time).unwrap();
        for (name, role, time) in &self.signatures[1..] {
            match role {
                0 => package.cosign(person(name), *time).unwrap(),
                _ => package.countersign(person(name), *time).unwrap(),
            }
        }
        for response in &self.responses {
            let response = HEXLOWER.decode(response.as_bytes()).unwrap();
            package.attach_timestamp(&response).unwrap();
        }
        package
    }

    fn add_files(&self, draft: &mut Draft<'_>, tree: &Tree) {
        for CaseEntry(path, kind, size, media_type, modified) in &self.entries {
            let modified = Some(*modified).filter(|time| *time != 0);
            let entry = match size {
                Size::Content(len) if *kind == EMBEDDED => {
                    draft.embed(path, &content(*len)).unwrap()
                }
                Size::Content(len) => draft.file(path, &mut &content(*len)[..]).unwrap(),
                Size::Target(_) => {
                    assert_eq!(media_type, "", "a draft gives links no type");
                    let path = RelativePath::new(path).unwrap();
                    let listed = Listed {
                        path,
                        size: 0,
                        modified,
                    };
                    draft.files(tree, &[listed], Work::default()).unwrap();
                    continue;
                }
            };
            entry.media_type = Some(media_type.clone()).filter(|it| !it.is_empty());
            entry.modified = modified;
        }
    }

    fn digest(&self) -> DigestKind {
        match self.tree {
            true => DigestKind::SkeinTree,
            false => DigestKind::Sha3_256,
        }
    }

    /// Verifies with all inputs of the description.
    pub(crate) fn verify(&self, bytes: &[u8], directory: &Tree) -> sealstone::Result<Report> {
        let package = Package::decode(bytes)?;
        let (key, secret) = (self.key(), self.secret());
        let mut verifier = Verifier::new().source(directory);
        for (name, role, _) in &self.signatures {
            if *role == 0 {
                verifier = verifier.signer(person(name).contact());
            }
        }
        if let Some(key) = &key {
            verifier = verifier.hmac_key(key);
        }
        if let Some(secret) = &secret {
            verifier = verifier.secret(secret);
        }
        Ok(verifier.verify(&package))
    }

    /// Asserts that the package in `folder` is good and matches the description.
    pub(crate) fn check(&self, folder: &Path) {
        let bytes = std::fs::read(folder.join(&self.file)).unwrap();
        let directory = Tree::read(&folder.join(self.file.strip_suffix(".package").unwrap()));
        let report = self.verify(&bytes, &directory).unwrap();
        let name = &self.file;
        assert_eq!(report.verdict, Verdict::Good, "{name}: {report:#?}");
        for (layer, given) in [(1, &self.key), (4, &self.secret)] {
            let expected = if given.is_some() {
                Verdict::Good
            } else {
                Verdict::Absent
            };
            assert_eq!(report.layers[layer].verdict, expected, "{name}");
        }
        let package = Package::decode(&bytes).unwrap();
        assert!(package.encode() == bytes, "{name}: another encoding");
        self.check_manifest(&package);
        self.check_signatures(&package);
        self.check_keys(&package);
    }

    fn check_manifest(&self, package: &Package) {
        let (manifest, name) = (package.manifest(), &self.file);
        let signers: Vec<_> = self
            .signers
            .iter()
            .map(|it| person(it).fingerprint())
            .collect();
        assert_eq!(manifest.signers, signers, "{name}");
        assert_eq!(manifest.threshold, self.needed, "{name}");
        let required: Vec<u64> = manifest.required.iter().map(|it| it.number()).collect();
        assert_eq!(required, self.required, "{name}");
        assert_eq!(
            (manifest.time, &manifest.author),
            (self.time, &self.author),
            "{name}"
        );
        assert_eq!(
            (manifest.digest, manifest.complete),
            (self.digest(), self.complete),
            "{name}"
        );
        let policy = package.policy().map(|it| std::str::from_utf8(it).unwrap());
        assert_eq!(policy, self.policy.as_deref(), "{name}");
        let metadata = manifest.metadata.as_ref().map(Json::as_str);
        assert_eq!(metadata, self.metadata.as_deref(), "{name}");
        let entries: Vec<CaseEntry> = manifest
            .entries
            .iter()
            .map(|entry| {
                let (kind, size) = match &entry.content {
                    EntryContent::Link(target) => (LINK, Size::Target(target.clone())),
                    EntryContent::File { size, embedded, .. } => {
                        let kind = if *embedded { EMBEDDED } else { BESIDE };
                        (kind, Size::Content(*size as usize))
                    }
                };
                let media_type = entry.media_type.clone().unwrap_or_default();
                let path = entry.path.as_str().to_owned();
                CaseEntry(path, kind, size, media_type, entry.modified.unwrap_or(0))
            })
            .collect();
        assert_eq!(entries, self.entries, "{name}");
    }

    fn check_signatures(&self, package: &Package) {
        let signed: Vec<_> = package.signatures().collect();
        let expected: Vec<_> = self.signatures.iter().map(signature).collect();
        assert_eq!(signed, expected, "{}", self.file);
        let responses: Vec<_> = package.timestamps().map(|it| HEXLOWER.encode(it)).collect();
        assert_eq!(responses, self.responses, "{}", self.file);
        assert_eq!(to_stamp(package), self.to_stamp, "{}", self.file);
    }

    fn check_keys(&self, package: &Package) {
        let Some(secret) = self.secret() else { return };
        let keys = package.derived_keys(&secret).unwrap();
        assert!(!self.derived.is_empty(), "{}", self.file);
        for (label, expected) in &self.derived {
            let key = keys.key(label).unwrap();
            assert_eq!(
                HEXLOWER.encode(key.expose()),
                *expected,
                "{} {label}",
                self.file
            );
        }
    }
}

fn signature(
    (name, role, time): &(String, u8, u64),
) -> (sealstone::passport::Fingerprint, Role, u64) {
    let role = match role {
        0 => Role::Signer,
        _ => Role::CounterSigner,
    };
    (person(name).fingerprint(), role, *time)
}

/// SHA3-256 of the bytes that another timestamp would cover.
pub(crate) fn to_stamp(package: &Package) -> String {
    HEXLOWER.encode(&sha3_256(&package.to_stamp()))
}

fn layer_of(number: u64) -> Layer {
    let mut layers = Layer::ALL.into_iter();
    layers.find(|layer| layer.number() == number).unwrap()
}
