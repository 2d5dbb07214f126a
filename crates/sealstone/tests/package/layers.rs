//! Layers: their checks, required layers, and layers that cannot be removed.

use sealstone::Error;
use sealstone::package::{Draft, Json, Layer, Package, Verdict, Verifier};
use sealstone_primitives::hash::sha3_256;

use crate::common::{HMAC_KEY, POLICY, SECRET, TIME, draft, package, passport, stored, verdicts};

/// A verifier with all keys.
fn verifier() -> Verifier<'static> {
    Verifier::new()
        .signer(passport(1).contact())
        .hmac_key(HMAC_KEY)
        .secret(SECRET)
}

#[test]
fn a_whole_package_is_good() {
    let report = verifier().verify(&stored(&package()));
    assert_eq!(verdicts(&report), "ggggga");
    assert_eq!(report.verdict, Verdict::Good, "{}", report.reason);
    let required: Vec<bool> = report.layers.iter().map(|it| it.required).collect();
    assert_eq!(required, [true, true, true, true, true, false]);
}

#[test]
fn a_required_layer_that_is_not_checked_makes_the_package_bad() {
    let package = stored(&package());
    let signer = passport(1);
    let without_key = Verifier::new().signer(signer.contact()).secret(SECRET);
    let report = without_key.verify(&package);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("guggga", Verdict::Bad)
    );
    assert!(report.reason.starts_with("hmac: "), "{}", report.reason);
    let without_secret = Verifier::new().signer(signer.contact()).hmac_key(HMAC_KEY);
    let report = without_secret.verify(&package);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("ggggua", Verdict::Bad)
    );
}

#[test]
fn a_layer_that_nobody_requires_may_be_unchecked() {
    let mut draft = Draft::new();
    draft.embed("a", b"").unwrap();
    draft.hmac(HMAC_KEY).unwrap();
    let package = stored(&draft.sign(&passport(1), TIME).unwrap());
    let signer = passport(1);
    let verifier = Verifier::new().signer(signer.contact());
    let report = verifier.verify(&package);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("guggaa", Verdict::Good)
    );
    // The verifier's own requirement counts, independent of the signer's.
    let report = verifier.clone().require(Layer::Hmac).verify(&package);
    assert_eq!(report.verdict, Verdict::Bad);
    let report = verifier.clone().require(Layer::Timestamp).verify(&package);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("guggab", Verdict::Bad)
    );
    assert!(
        report.reason.contains("you require it"),
        "{}",
        report.reason
    );
    let report = verifier.hmac_key(&[8; 32]).verify(&package);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("gbggaa", Verdict::Bad)
    );
}

#[test]
fn a_missing_layer_that_the_signer_requires_is_noticed() {
    let mut draft = draft().unwrap();
    draft.require(Layer::Timestamp).unwrap();
    let package = stored(&draft.sign(&passport(1), TIME).unwrap());
    let report = verifier().verify(&package);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("gggggb", Verdict::Bad)
    );
    assert!(
        report.reason.contains("the signer requires it"),
        "{}",
        report.reason
    );
}

/// A thief of the signing keys has neither key nor secret, and omits their layers.
#[test]
fn a_key_or_a_secret_that_is_given_requires_its_layer() {
    let signer = passport(1);
    let mut draft = Draft::new();
    draft.embed("a", b"").unwrap();
    let package = stored(&draft.sign(&signer, TIME).unwrap());
    let verifier = || Verifier::new().signer(signer.contact());
    assert_eq!(verifier().verify(&package).verdict, Verdict::Good);
    let with_key = verifier().hmac_key(HMAC_KEY).verify(&package);
    let with_secret = verifier().secret(SECRET).verify(&package);
    assert_eq!(verdicts(&with_key), "gbggaa");
    assert_eq!(verdicts(&with_secret), "gaggba");
    for report in [with_key, with_secret] {
        assert_eq!(report.verdict, Verdict::Bad);
    }
}

#[test]
fn another_key_or_secret_is_seen_by_its_layer() {
    let package = stored(&package());
    let cases: [(&[u8], &[u8], &str); 3] = [
        (&[8; 32], SECRET, "gbggga"),
        (HMAC_KEY, &[8; 32], "ggggba"),
        // HMAC alone would accept the key with appended zeros.
        (&[HMAC_KEY, &[0]].concat(), SECRET, "gbggga"),
    ];
    for (key, secret, expected) in cases {
        let signer = passport(1);
        let verifier = Verifier::new().signer(signer.contact());
        let report = verifier.hmac_key(key).secret(secret).verify(&package);
        assert_eq!(
            (verdicts(&report).as_str(), report.verdict),
            (expected, Verdict::Bad)
        );
    }
}

#[test]
fn derived_keys_are_bound_to_label_policy_manifest_and_secret() {
    let package = package();
    let keys = package.derived_keys(SECRET).unwrap();
    let key = |label| *keys.key(label).unwrap().expose();
    assert_eq!(key("data"), key("data"));
    assert_ne!(key("data"), key("index"));
    assert!(keys.key("").is_err() && keys.key(&"a".repeat(256)).is_err());
    assert!(keys.key(&"a".repeat(255)).is_ok());
    assert!(matches!(
        package.derived_keys(&[8; 32]),
        Err(Error::Altered(_))
    ));
    let mut other_policy = draft().unwrap();
    other_policy.policy(Json::parse(b"{}").unwrap());
    let mut other_author = draft().unwrap();
    other_author.author("Somebody Else").unwrap();
    for other in [other_policy, other_author] {
        let other = other.sign(&passport(1), TIME).unwrap();
        let other = other.derived_keys(SECRET).unwrap().key("data").unwrap();
        assert_ne!(key("data"), *other.expose());
    }
}

#[test]
fn the_policy_and_everything_else_can_be_read_again() {
    let package = stored(&package());
    assert_eq!(package.policy(), Some(&br#"{"use":"research only"}"#[..]));
    assert_eq!(package.embedded("a.txt"), Some(&b"content"[..]));
    assert_eq!(package.embedded("b.txt"), None);
    let manifest = package.manifest();
    assert_eq!(
        (manifest.author.as_str(), manifest.time),
        ("An Author", TIME)
    );
    assert_eq!(manifest.policy, Some(Json::parse(POLICY).unwrap().digest()));
    assert_eq!(manifest.required, [Layer::Hmac, Layer::Keys]);
    assert_eq!(
        manifest.metadata.as_ref().unwrap().as_str(),
        r#"{"version":3}"#
    );
}

/// A handwritten package can have any bytes there. In the second one, only the signatures are
/// wrong.
#[test]
fn a_policy_that_is_not_canonical_is_bad_although_its_digest_is_right() {
    let bytes = package().encode();
    let policy = Json::parse(POLICY).unwrap();
    for (other, expected) in [
        (br#" {"use":"researchonly"}"#, "bbbbba"),
        (br#"{"use":"research-only"}"#, "gbbbba"),
    ] {
        let altered = replaced(&bytes, policy.as_str().as_bytes(), other);
        let altered = replaced(&altered, &policy.digest(), &sha3_256(other));
        let report = verifier().verify(&Package::decode(&altered).unwrap());
        assert_eq!(verdicts(&report), expected);
    }
}

/// The bytes with the only occurrence of one part replaced.
fn replaced(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let at: Vec<usize> = (0..bytes.len())
        .filter(|&at| bytes[at..].starts_with(part))
        .collect();
    assert_eq!((at.len(), part.len()), (1, by.len()));
    [&bytes[..at[0]], by, &bytes[at[0] + part.len()..]].concat()
}

#[test]
fn a_part_of_another_package_does_not_fit() {
    let mut other = draft().unwrap();
    other.author("Somebody Else").unwrap();
    let (mine, other) = (
        package().encode(),
        other.sign(&passport(1), TIME).unwrap().encode(),
    );
    assert_eq!(
        mine.len(),
        other.len() - "Somebody Else".len() + "An Author".len()
    );
    // The rest of one package after the manifest of the other. Tag, confirmation and signatures
    // have equal lengths in both.
    let end = mine.len() - 3000;
    let tail = other.len() - (mine.len() - end);
    let mixed = [&mine[..end], &other[tail..]].concat();
    let report = verifier().verify(&Package::decode(&mixed).unwrap());
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("gggbga", Verdict::Bad)
    );
}

#[test]
fn values_that_a_draft_cannot_hold_are_refused() {
    let mut draft = Draft::new();
    for key in [&[0; 31][..], &[0; 1025]] {
        assert!(Draft::new().hmac(key).is_err());
        assert!(Draft::new().derive_keys(key).is_err());
    }
    assert!(draft.require(Layer::Hmac).is_err());
    assert!(draft.require(Layer::Keys).is_err());
    draft.require(Layer::Timestamp).unwrap();
    draft.require(Layer::Content).unwrap();
    assert!(draft.author("a\nb").is_err());
    assert!(draft.author(&"a".repeat(257)).is_err());
    assert!(draft.metadata(Json::parse(b"[]").unwrap()).is_err());
    assert!(draft.embed("../a", b"").is_err());
    assert!(draft.media_type("text").is_err());
    assert!(draft.media_type("text/plain; charset=utf-8").is_err());
    draft.embed("a", b"").unwrap();
    draft.media_type("text/plain").unwrap();
    let mut twice = Draft::new();
    twice.embed("a", b"").unwrap();
    twice.embed("A", b"").unwrap();
    assert!(matches!(
        twice.sign(&passport(1), TIME),
        Err(Error::Invalid(_))
    ));
    let package = draft.sign(&passport(1), TIME).unwrap();
    assert_eq!(package.manifest().required, [Layer::Timestamp]);
    assert_eq!(
        package.manifest().entries[0].media_type.as_deref(),
        Some("text/plain")
    );
}
