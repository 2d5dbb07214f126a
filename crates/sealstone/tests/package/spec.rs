//! The worked example of `spec/package.md`, recomputed from the text of the page. Its numbers come
//! from `tests/interop/package.py`, which shares no code with this crate.

use std::collections::HashMap;

use data_encoding::HEXLOWER;
use sealstone::package::{
    DigestKind, Entry, EntryContent, Json, Layer, Manifest, Package, RelativePath, Role, Verdict,
    Verifier,
};
use sealstone::passport::Passport;
use sealstone_primitives::hash::{sha3_256, sha3_512};
use sealstone_primitives::kdf;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::{ed25519, ml_dsa_65};

use crate::tree::{Node, Tree};

const PAGE: &str = include_str!("../../../../spec/package.md");
const FILE: &[u8] = include_bytes!("../golden/v1/packages/example.package");
const DOMAIN: &[u8] = b"sealstone.package.v1";
const NOON: u64 = 1_767_225_600;

/// The `name = value` lines of the example. A line that begins with spaces continues the value
/// before it.
struct Example(HashMap<&'static str, Vec<u8>>);

impl Example {
    fn read() -> Self {
        let (_, section) = PAGE.split_once("## Worked example").unwrap();
        let block = section.split("```").nth(1).unwrap();
        let mut values = HashMap::<_, String>::new();
        let mut name = "";
        for line in block.lines().filter(|line| !line.is_empty()) {
            let (new, value) = line.split_once(" = ").unwrap_or((name, line));
            name = new.trim();
            values.entry(name).or_default().push_str(value.trim());
        }
        let decode = |value: &String| HEXLOWER.decode(value.as_bytes()).unwrap();
        Self(values.iter().map(|(k, v)| (*k, decode(v))).collect())
    }

    fn bytes(&self, name: &str) -> &[u8] {
        &self.0[name]
    }

    fn assert(&self, name: &str, found: &[u8]) {
        assert_eq!(
            HEXLOWER.encode(self.bytes(name)),
            HEXLOWER.encode(found),
            "{name}"
        );
    }
}

fn alice() -> Passport {
    let seed: Vec<u8> = (0..32).collect();
    Passport::from_seed(Secret::from_slice(&seed).unwrap(), "Alice", NOON).unwrap()
}

fn secret() -> Vec<u8> {
    (32..64).collect()
}

fn hmac(key: &[u8], data: &[u8]) -> [u8; 32] {
    let mut mac = HmacSha3_256::new(key);
    mac.update(data);
    mac.finish()
}

fn policy() -> Json {
    Json::parse(br#"{ "version": 1, "use": ["research", "teaching"] }"#).unwrap()
}

fn entry(path: &str, content: EntryContent, media_type: Option<&str>) -> Entry {
    Entry {
        path: RelativePath::new(path).unwrap(),
        content,
        media_type: media_type.map(str::to_owned),
        modified: Some(NOON),
    }
}

fn manifest() -> Manifest {
    let hello = EntryContent::File {
        size: 6,
        digest: sha3_256(b"hello\n").to_vec(),
        embedded: true,
    };
    Manifest {
        signers: vec![alice().fingerprint()],
        threshold: 1,
        required: vec![Layer::Hmac],
        time: NOON + 1,
        author: "Alice".to_owned(),
        digest: DigestKind::Sha3_256,
        complete: false,
        entries: vec![
            entry("hello.txt", hello, Some("text/plain")),
            entry("latest", EntryContent::Link("hello.txt".to_owned()), None),
        ],
        policy: Some(sha3_256(policy().as_str().as_bytes())),
        metadata: None,
    }
}

#[test]
fn the_manifest_of_the_page_is_encoded_so() {
    let example = Example::read();
    example.assert("policy", policy().as_str().as_bytes());
    example.assert("manifest", &manifest().encode());
    assert_eq!(
        Manifest::decode(example.bytes("manifest")).unwrap(),
        manifest()
    );
}

#[test]
fn the_package_of_the_page_is_good() {
    let example = Example::read();
    example.assert("SHA3-256(package)", &sha3_256(FILE));
    let package = Package::decode(FILE).unwrap();
    assert_eq!(*package.manifest(), manifest());
    assert_eq!(package.embedded("hello.txt"), Some(&b"hello\n"[..]));
    example.assert("policy", package.policy().unwrap());
    let alice = alice();
    let signed: Vec<_> = package.signatures().collect();
    assert_eq!(signed, [(alice.fingerprint(), Role::Signer, NOON + 2)]);
    let directory = Tree([("latest".to_owned(), Node::Link("hello.txt".to_owned()))].into());
    let secret = secret();
    let report = Verifier::new()
        .signer(alice.contact())
        .hmac_key(alice.package_hmac_key().expose())
        .secret(&secret)
        .source(&directory)
        .verify(&package);
    assert_eq!(report.verdict, Verdict::Good, "{report:?}");
    let verdicts = report.layers.map(|layer| layer.verdict);
    assert_eq!(verdicts[..5], [Verdict::Good; 5]);
    assert_eq!(verdicts[5], Verdict::Absent);
    example.assert("SHA3-256(stamped(0))", &sha3_256(&package.to_stamp()));
}

#[test]
fn every_key_and_tag_follows_from_the_manifest() {
    let example = Example::read();
    let m = sha3_512(example.bytes("manifest"));
    example.assert("M", &m);
    let alice = alice();
    let hmac_key = hmac(
        b"sealstone.package.hmac.v1",
        alice.package_hmac_key().expose(),
    );
    example.assert("HMAC key", &hmac_key);
    example.assert("tag", &hmac(&hmac_key, &m));
    example.assert("prk", &hmac(b"sealstone.package.keys.v1", &secret()));
    let prk = kdf::extract(b"sealstone.package.keys.v1", &[&secret()]);
    let context = [&m[..], &sha3_256(example.bytes("policy"))].concat();
    let confirmation = prk.expand_secret::<32>(&[b"confirmation", &context]);
    example.assert("confirmation", confirmation.expose());
    let key = prk.expand_secret::<32>(&[b"key", &context, b"payload"]);
    example.assert("key(payload)", key.expose());
    let keys = Package::decode(FILE)
        .unwrap()
        .derived_keys(&secret())
        .unwrap();
    assert_eq!(keys.key("payload").unwrap(), key);
}

#[test]
fn the_signatures_are_over_what_the_page_says() {
    let example = Example::read();
    let parts = ["M", "tag", "confirmation"].map(|name| example.bytes(name));
    let head = [&[3][..], &parts.concat()].concat();
    example.assert("head", &head);
    let framed = [
        DOMAIN,
        &[0, 0],
        &(NOON + 2).to_be_bytes(),
        alice().fingerprint().as_bytes(),
        &head,
        &[0; 64],
    ]
    .concat();
    example.assert("framed", &framed);

    let seed: Vec<u8> = (0..32).collect();
    let prk = kdf::extract(b"sealstone.passport.v1", &[&seed]);
    let classical = ed25519::SigningKey::from_seed(&prk.expand_secret(&[b"ed25519"]));
    let signature = classical.sign(&framed);
    example.assert("ed25519", &signature);
    assert!(FILE.windows(64).any(|window| window == signature));

    let post_quantum = ml_dsa_65::SigningKey::from_seed(&prk.expand_secret(&[b"ml-dsa-65"]));
    let expected = example.bytes("SHA3-256(ml-dsa-65)");
    let mut windows = FILE.windows(3309);
    let signature = windows
        .rfind(|window| sha3_256(window)[..] == *expected)
        .unwrap();
    let key = post_quantum.verifying_key();
    assert!(key.verify(&framed, DOMAIN, signature).is_ok());
}
