//! The vectors of Web Authentication Level 3, section 16, and what is changed in them.

use rustls_pki_types::CertificateDer;

use super::*;

/// 24 November 2026.
const NOW: u64 = 1_795_478_400;
/// 1 January 2024: the certificates begin.
const BEGIN: u64 = 1_704_067_200;
/// 1 January 3024: they end.
const END: u64 = 33_260_976_000;

#[derive(Deserialize)]
struct Vectors {
    root: String,
    cases: Vec<Case>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    challenge: String,
    client_data: String,
    object: String,
}

fn decode(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).expect("base64url")
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("vectors.json")).expect("vectors")
}

fn case(name: &str) -> Case {
    let cases = vectors().cases.into_iter();
    let mut found = cases.filter(|case| case.name == name);
    found.next().unwrap_or_else(|| panic!("no {name}"))
}

fn policy(has_roots: bool) -> Policy {
    Policy {
        rp_id_hash: sha256(&[b"example.org"]),
        origins: vec!["https://example.org".to_owned()],
        is_user_verified: false,
        roots: has_roots.then(|| roots(&decode(&vectors().root))),
        models: Vec::new(),
    }
}

fn roots(certificate: &[u8]) -> Roots {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("roots.pem");
    let body = base64::engine::general_purpose::STANDARD.encode(certificate);
    let pem = format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n");
    std::fs::write(&path, pem).expect("a file");
    Roots::read(&path).expect("roots")
}

fn check(case: &Case, policy: &Policy, now: u64) -> std::result::Result<(), Failure> {
    let challenge = decode(&case.challenge);
    check_bytes(
        &decode(&case.client_data),
        &decode(&case.object),
        &challenge,
        policy,
        now,
    )
}

fn check_bytes(
    client_data: &[u8],
    object: &[u8],
    challenge: &[u8],
    policy: &Policy,
    now: u64,
) -> std::result::Result<(), Failure> {
    Registration::parse(client_data, object)?.check(challenge, policy, now)
}

#[test]
fn published_credentials_pass_as_far_as_they_should() {
    let format = "the attestation is of another format than none and packed";
    let key = "the authenticator data has no credential for ES256, EdDSA or RS256";
    let within = "the page stands within another one";
    let alone = "no maker vouches for the authenticator";
    let silent = "the authenticator does not say what it is";
    // Of any authenticator, and with the root certificate of the vectors.
    let expected = [
        ("none-es256", None, Some(silent)),
        ("packed-self-es256", None, Some(alone)),
        ("none-es256-crossOrigin", Some(within), Some(within)),
        ("none-es256-topOrigin", Some(within), Some(within)),
        ("none-es256-long-credential-id", None, Some(silent)),
        ("packed-es256", None, None),
        ("packed-es384", Some(key), Some(key)),
        ("packed-es512", Some(key), Some(key)),
        ("packed-rs256", None, None),
        ("packed-eddsa", None, None),
        ("packed-ed448", Some(key), Some(key)),
        ("tpm-es256", Some(format), Some(format)),
        ("android-key-es256", Some(format), Some(format)),
        ("apple-es256", Some(format), Some(format)),
        ("fido-u2f-es256", Some(format), Some(format)),
    ];
    let names: Vec<String> = vectors().cases.into_iter().map(|case| case.name).collect();
    assert_eq!(names, expected.map(|(name, ..)| name));
    for (name, of_any, with_roots) in expected {
        for (has_roots, why) in [(false, of_any), (true, with_roots)] {
            let done = check(&case(name), &policy(has_roots), NOW);
            assert_eq!(
                done.err(),
                why.map(Failure::Wrong),
                "{name}, roots {has_roots}"
            );
        }
    }
}

#[test]
fn the_policy_is_kept() {
    let (packed, policy) = (case("packed-es256"), || policy(true));
    let refused = |policy: &Policy, why| {
        let done = check(&packed, policy, NOW);
        assert_eq!(done, Err(Failure::Wrong(why)));
    };
    let rp_id_hash = sha256(&[b"example.com"]);
    refused(
        &Policy {
            rp_id_hash,
            ..policy()
        },
        "the credential is of another domain",
    );
    for origin in [
        "http://example.org",
        "https://example.org.",
        "https://example.org:444",
    ] {
        let origins = vec![origin.to_owned()];
        refused(
            &Policy {
                origins,
                ..policy()
            },
            "the page is of another origin",
        );
    }
    let model = |text| vec![parse_model(text).expect("a model")];
    let models = model("876ca4f5-2071-c3e9-b255-09ef2cdf7ed6");
    assert_eq!(check(&packed, &Policy { models, ..policy() }, NOW), Ok(()));
    let models = model("876ca4f52071c3e9b25509ef2cdf7ed7");
    refused(
        &Policy { models, ..policy() },
        "this model of authenticator does not pass",
    );
    // The vector of this name says that nobody looked who the user is; the one for ES256 does.
    let unknown = case("packed-eddsa");
    let verified = Policy {
        is_user_verified: true,
        ..policy()
    };
    assert_eq!(check(&packed, &verified, NOW), Ok(()));
    let why = "the authenticator did not check its user";
    assert_eq!(check(&unknown, &verified, NOW), Err(Failure::Wrong(why)));
}

#[test]
fn makers_vouch_while_their_certificates_are_good() {
    let packed = case("packed-es256");
    let why = "no known maker vouches for the authenticator";
    for (now, is_good) in [
        (BEGIN - 1, false),
        (BEGIN, true),
        (END, true),
        (END + 1, false),
    ] {
        let expected = if is_good {
            Ok(())
        } else {
            Err(Failure::Wrong(why))
        };
        assert_eq!(check(&packed, &policy(true), now), expected, "{now}");
    }
    // A certificate of the same authenticator, which is no root of it.
    let object = decode(&packed.object);
    let begin = object
        .windows(3)
        .position(|w| w == b"x5c")
        .expect("a chain")
        + 3
        + 1
        + 3;
    let len = usize::from(u16::from_be_bytes([object[begin - 2], object[begin - 1]]));
    let leaf = CertificateDer::from(&object[begin..begin + len]);
    let policy = Policy {
        roots: Some(roots(&leaf)),
        ..policy(true)
    };
    assert_eq!(check(&packed, &policy, NOW), Err(Failure::Wrong(why)));
}

#[test]
fn no_byte_may_change() {
    for name in ["packed-es256", "packed-self-es256"] {
        let (case, policy) = (case(name), policy(name == "packed-es256"));
        let [client_data, object] = [&case.client_data, &case.object].map(|text| decode(text));
        let challenge = decode(&case.challenge);
        for at in 0..object.len() {
            let mut altered = object.clone();
            altered[at] ^= 1;
            let done = check_bytes(&client_data, &altered, &challenge, &policy, NOW);
            assert!(done.is_err(), "{name}: object, {at}");
        }
        for at in 0..client_data.len() {
            let mut altered = client_data.clone();
            altered[at] ^= 1;
            let done = check_bytes(&altered, &object, &challenge, &policy, NOW);
            assert!(done.is_err(), "{name}: client data, {at}");
        }
        for len in 0..object.len() {
            let done = check_bytes(&client_data, &object[..len], &challenge, &policy, NOW);
            assert!(done.is_err(), "{name}: {len} bytes");
        }
        let done = check_bytes(&client_data, &object, &[0; 32], &policy, NOW);
        assert_eq!(
            done,
            Err(Failure::Wrong("the credential is for another request"))
        );
    }
}

#[test]
fn models_are_sixteen_bytes() {
    let bytes = [
        0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    ];
    for text in [
        "00112233-4455-6677-8899-AABBCCDDEEFF",
        "00112233445566778899aabbccddeeff",
    ] {
        assert_eq!(parse_model(text), Some(bytes));
    }
    for text in [
        "",
        "0011",
        "+0112233445566778899aabbccddeeff",
        "0x112233445566778899aabbccddeeff",
    ] {
        assert_eq!(parse_model(text), None, "{text}");
    }
}
