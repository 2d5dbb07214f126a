//! Packages: any bytes, edits of good ones, and packages of a malicious signer.

use std::sync::LazyLock;

use arbitrary::Unstructured;
use sealstone::package::{EntryContent, Json, Manifest, Package, Report, Verdict, Verifier};
use sealstone_primitives::hash::sha3_256;

use crate::edit::{edited, is_thorough};
use crate::golden::{ALICE, BOB, PACKAGES};
use crate::{PLANTED, forge};

/// Content of the one file of the first golden package.
const HELLO: &[u8] = &[0, 1, 2, 3, 4, 5];
const POLICY: &[u8] = br#"{"a":[1.5e-7,true,"\u001f"],"b":{"c":null}}"#;

/// A decoded package encodes to the same bytes, and only a golden one is good.
pub fn package(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    let base = PACKAGES[mode / 5 % PACKAGES.len()];
    let thorough = is_thorough(&mut bytes);
    match mode % 5 {
        0 => check(bytes.take_rest(), thorough),
        1 => check(&edited(base, &mut bytes), thorough),
        2 => check(&with_manifest(base, &mut bytes), thorough),
        3 => check_signed(&mut bytes, thorough),
        _ => check_json(&edited(POLICY, &mut bytes)),
    }
}

fn check(bytes: &[u8], thorough: bool) {
    let golden = PACKAGES.contains(&bytes);
    let Ok(package) = Package::decode(bytes) else {
        assert!(!golden, "a golden package is refused");
        return;
    };
    assert!(package.encode() == bytes, "another encoding");
    check_manifest(package.manifest());
    if thorough || golden {
        let is_good = is_good(&verify(&package));
        assert_eq!(is_good, golden, "a package that nobody signed");
    }
}

fn is_good(report: &Report) -> bool {
    if PLANTED {
        // The planted bug: a wrong ML-DSA-65 signature is ignored.
        return report
            .layers
            .iter()
            .all(|it| it.verdict != Verdict::Bad || it.layer.number() == 4);
    }
    report.verdict == Verdict::Good
}

/// Verifies with the keys of both golden packages. Bob signed the second too.
fn verify(package: &Package) -> Report {
    let (key, secret) = (sha3_256(b"a shared key"), sha3_256(b"a shared secret"));
    let mut verifier = Verifier::new()
        .signer(ALICE.contact())
        .hmac_key(&key)
        .secret(&secret);
    if package.signatures().len() > 1 {
        verifier = verifier.signer(BOB.contact());
    }
    verifier.verify(package)
}

/// A golden package with an edited manifest whose length fits.
fn with_manifest(base: &[u8], bytes: &mut Unstructured<'_>) -> Vec<u8> {
    let manifest = manifest_of(base);
    let end = forge::BUNDLE_START + forge::bstr(manifest).len();
    let edited = forge::bstr(&edited(manifest, bytes));
    [&base[..forge::BUNDLE_START], &edited, &base[end..]].concat()
}

/// The encoded manifest of a golden package.
fn manifest_of(base: &[u8]) -> &'static [u8] {
    static MANIFESTS: LazyLock<[Vec<u8>; PACKAGES.len()]> = LazyLock::new(|| {
        PACKAGES.map(|base| {
            let package = Package::decode(base).expect("a golden package");
            package.manifest().encode()
        })
    });
    &MANIFESTS[usize::from(base == PACKAGES[1])]
}

/// Any edited manifest, signed by Alice.
fn check_signed(bytes: &mut Unstructured<'_>, thorough: bool) {
    let base = manifest_of(PACKAGES[0]);
    let manifest = edited(base, bytes);
    let embedded = match bytes.ratio(1, 8) {
        Ok(true) => bytes.bytes(bytes.len()).expect("all that are left"),
        _ => HELLO,
    };
    let sign = match thorough {
        true => forge::signatures,
        false => forge::stale_signatures,
    };
    let file = forge::package(&manifest, embedded, sign);
    let Ok(package) = Package::decode(&file) else {
        assert!(manifest != base, "a right package is refused");
        return;
    };
    assert!(package.encode() == file, "another encoding");
    assert!(package.manifest().encode() == manifest, "another manifest");
    check_manifest(package.manifest());
    if !thorough {
        return;
    }
    let report = verify(&package);
    let [_, _, ed25519, ml_dsa_65, ..] = report.layers.map(|it| it.verdict);
    assert_eq!((ed25519, ml_dsa_65), (Verdict::Good, Verdict::Good));
    if manifest == base && embedded == HELLO {
        assert_eq!(
            report.verdict,
            Verdict::Good,
            "this target signs another format"
        );
    }
    if report.verdict == Verdict::Good {
        check_good(&package, embedded);
    }
}

/// Checks the facts that a reader of a good package relies on.
fn check_good(package: &Package, embedded: &[u8]) {
    let manifest = package.manifest();
    assert!(manifest.required.is_empty() && manifest.threshold == 1 && manifest.policy.is_none());
    for entry in &manifest.entries {
        let EntryContent::File { size, digest, .. } = &entry.content else {
            panic!("a link without a directory")
        };
        assert_eq!(*size, embedded.len() as u64);
        assert_eq!(digest[..], sha3_256(embedded));
    }
}

fn check_manifest(manifest: &Manifest) {
    let signers = manifest.signers.len() as u64;
    assert!((1..=64).contains(&signers) && (1..=signers).contains(&manifest.threshold));
    assert!(manifest.author.len() <= 256 && !manifest.author.chars().any(char::is_control));
    assert!(manifest.entries.is_sorted_by(|a, b| a.path < b.path));
    for entry in &manifest.entries {
        let path = entry.path.as_str();
        assert!(!path.contains(['\\', '\0']) && !path.chars().any(char::is_control));
        let is_name = |part: &str| !matches!(part, "" | "." | "..") && part.len() <= 255;
        assert!(
            path.split('/').all(is_name),
            "a path that leaves the directory"
        );
    }
    if let Some(metadata) = &manifest.metadata {
        assert!(metadata.is_object());
        check_json(metadata.as_str().as_bytes());
    }
}

/// Checks that the canonical form of a canonical form is itself.
fn check_json(text: &[u8]) {
    if let Ok(json) = Json::parse(text) {
        let again = Json::parse(json.as_str().as_bytes()).expect("a canonical form is JSON");
        assert_eq!(again, json);
    } else {
        assert!(text != POLICY, "a right policy is refused");
    }
}
