//! The vectors of Web Authentication Level 3, section 16, and what is changed in them.

use minicbor::Encoder;
use rustls_pki_types::CertificateDer;
use sealstone_primitives::sign::ed25519::SigningKey;

use super::super::Proofs;
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
    // The verdicts if any authenticator is accepted, and with the root certificate of the vectors.
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
    // A certificate of the same authenticator, which is not a root of it.
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

/// The model in a certificate, and whether its extension is critical.
type SaidModel = Option<([u8; 16], bool)>;

/// The answer of a software authenticator, with mistakes that a test can choose.
struct Made {
    id_len: u16,
    client_data: Value,
    /// The algorithm of the statement.
    algorithm: i64,
    /// A unit of its subject, and a model.
    certificate: Option<(&'static str, SaidModel)>,
}

const MODEL: [u8; 16] = [9; 16];
const CHALLENGE: [u8; 32] = [3; 32];

impl Default for Made {
    fn default() -> Self {
        Self {
            id_len: 1,
            client_data: json!({
                "type": "webauthn.create", "challenge": URL_SAFE_NO_PAD.encode(CHALLENGE),
                "origin": "https://example.org",
            }),
            algorithm: -8,
            certificate: None,
        }
    }
}

/// A value in DER.
fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let len = u16::try_from(content.len()).expect("a short value");
    let [high, low] = len.to_be_bytes();
    match len {
        0..128 => [&[tag, low][..], &content].concat(),
        128..256 => [&[tag, 0x81, low][..], &content].concat(),
        _ => [&[tag, 0x82, high, low][..], &content].concat(),
    }
}

/// A certificate for a key of Ed25519, with a signature of nobody.
fn certificate(key: &[u8], unit: &str, model: SaidModel) -> Vec<u8> {
    let algorithm = tlv(0x30, &[&tlv(0x06, &[&[0x2b, 0x65, 0x70]])]);
    let attribute = tlv(
        0x30,
        &[
            &tlv(0x06, &[&[0x55, 4, 11]]),
            &tlv(0x0c, &[unit.as_bytes()]),
        ],
    );
    let name = tlv(0x30, &[&tlv(0x31, &[&attribute])]);
    let time = |text: &str| tlv(0x17, &[text.as_bytes()]);
    let validity = tlv(0x30, &[&time("240101000000Z"), &time("490101000000Z")]);
    let spki = tlv(0x30, &[&algorithm, &tlv(0x03, &[&[0], key])]);
    let extension = model.map(|(model, is_critical)| {
        let oid = [0x2b, 6, 1, 4, 1, 0x82, 0xe5, 0x1c, 1, 1, 4];
        let critical: &[u8] = if is_critical { &[1, 1, 0xff] } else { &[] };
        let value = tlv(0x04, &[&tlv(0x04, &[&model])]);
        let extension = tlv(0x30, &[&tlv(0x06, &[&oid]), critical, &value]);
        tlv(0xa3, &[&tlv(0x30, &[&extension])])
    });
    let content = tlv(
        0x30,
        &[
            &[0xa0, 3, 2, 1, 2, 2, 1, 7],
            &algorithm,
            &name,
            &validity,
            &name,
            &spki,
            &extension.unwrap_or_default(),
        ],
    );
    tlv(0x30, &[&content, &algorithm, &tlv(0x03, &[&[0; 65]])])
}

impl Made {
    /// The client data, and the object with a statement of the format `packed`.
    fn bytes(&self) -> (Vec<u8>, Vec<u8>) {
        let key = SigningKey::from_seed(&Secret::random());
        let point = *key.verifying_key().as_bytes();
        let mut data = sha256(&[b"example.org"]).to_vec();
        data.extend([&[0x41][..], &[0; 4], &MODEL, &self.id_len.to_be_bytes()].concat());
        data.extend(vec![7; usize::from(self.id_len)]);
        let mut cose = Encoder::new(&mut data);
        let fixed = cose
            .map(4)
            .and_then(|e| e.i64(1)?.i64(1)?.i64(3)?.i64(-8)?.i64(-1)?.i64(6));
        fixed.and_then(|e| e.i64(-2)?.bytes(&point)).expect("room");
        let client_data = self.client_data.to_string().into_bytes();
        let signed = [&data[..], &sha256(&[&client_data])].concat();
        let signature = key.sign(&signed).to_vec();
        let mut object = Vec::new();
        let mut encoder = Encoder::new(&mut object);
        let count = 2 + u64::from(self.certificate.is_some());
        let head = encoder
            .map(3)
            .and_then(|e| e.str("fmt")?.str("packed")?.str("attStmt")?.map(count));
        head.and_then(|e| {
            e.str("alg")?
                .i64(self.algorithm)?
                .str("sig")?
                .bytes(&signature)
        })
        .expect("room");
        if let Some((unit, model)) = self.certificate {
            let certificate = certificate(&point, unit, model);
            encoder
                .str("x5c")
                .and_then(|e| e.array(1)?.bytes(&certificate))
                .expect("room");
        }
        encoder
            .str("authData")
            .and_then(|e| e.bytes(&data))
            .expect("room");
        (client_data, object)
    }

    fn check(&self) -> std::result::Result<(), Failure> {
        let (client_data, object) = self.bytes();
        check_bytes(&client_data, &object, &CHALLENGE, &policy(false), NOW)
    }
}

#[test]
fn each_part_of_client_data_is_checked() {
    assert_eq!(Made::default().check(), Ok(()));
    for (member, value, why) in [
        (
            "type",
            json!("webauthn.get"),
            "the client data is of no new credential",
        ),
        (
            "topOrigin",
            json!("https://example.com"),
            "the page stands within another one",
        ),
        (
            "crossOrigin",
            json!(true),
            "the page stands within another one",
        ),
        (
            "challenge",
            json!("AA"),
            "the credential is for another request",
        ),
    ] {
        let mut made = Made::default();
        made.client_data[member] = value;
        assert_eq!(made.check(), Err(Failure::Wrong(why)), "{member}");
    }
}

#[test]
fn names_of_credentials_have_one_to_1023_bytes() {
    let check = |id_len| {
        Made {
            id_len,
            ..Made::default()
        }
        .check()
        .is_ok()
    };
    let passes = [0, 1, 1023, 1024].map(check);
    assert_eq!(passes, [false, true, true, false]);
}

#[test]
fn nothing_follows_an_object() {
    let (client_data, object) = Made::default().bytes();
    let object = [object, vec![0]].concat();
    let done = check_bytes(&client_data, &object, &CHALLENGE, &policy(false), NOW);
    assert_eq!(
        done,
        Err(Failure::Wrong("the attestation object is malformed"))
    );
}

#[test]
fn certificates_are_those_of_authenticators() {
    let unit = "Authenticator Attestation";
    let foreign = "the certificate is not one of an authenticator";
    let other = "the certificate is for another model";
    // Nobody knows this extension, so that a certificate in which it is critical cannot be read.
    let critical = "the authenticator's certificate is malformed";
    for (certificate, why) in [
        ((unit, None), None),
        ((unit, Some((MODEL, false))), None),
        (("Authenticator attestation", None), Some(foreign)),
        ((unit, Some((MODEL, true))), Some(critical)),
        ((unit, Some(([8; 16], false))), Some(other)),
    ] {
        let made = Made {
            certificate: Some(certificate),
            ..Made::default()
        };
        assert_eq!(
            made.check().err(),
            why.map(Failure::Wrong),
            "{certificate:?}"
        );
    }
    let made = Made {
        algorithm: -7,
        ..Made::default()
    };
    let why = "the attestation has another algorithm than its key";
    assert_eq!(made.check(), Err(Failure::Wrong(why)));
}

#[test]
fn challenges_are_of_this_gate_until_they_expire() {
    let options: Options = serde_json::from_value(json!({
        "rp-id": "example.org", "origins": ["https://example.org"],
    }))
    .expect("options");
    let secret = Secret::from_slice(&[1; 32]).expect("32 bytes");
    let gate = |name| WebAuthn::new(name, &options, &secret).expect("a gate");
    let (ours, other) = (gate("key"), gate("other"));
    let challenge = ours.challenge(NOW);
    assert_eq!(ours.expires(&challenge), Some(NOW + 300));
    assert_eq!(other.expires(&challenge), None);
    assert_eq!(ours.expires(&challenge[1..]), None);
    for at in 0..challenge.len() {
        let mut altered = challenge.clone();
        altered[at] ^= 1;
        assert_eq!(ours.expires(&altered), None, "{at}");
    }
    let shown = format!("key {}.AA.AA", URL_SAFE_NO_PAD.encode(&challenge));
    let proofs = Proofs::parse([shown.as_str()]);
    let check = |now| {
        let done = ours.check(&Ask {
            subject: [0; 32],
            tokens: 1,
            network: None,
            now,
            proofs: &proofs,
        });
        done.err()
    };
    let expired = Some(Failure::Wrong("the challenge has expired"));
    assert_ne!(check(NOW + 299), expired);
    assert_eq!(check(NOW + 300), expired);
}
