//! The gate `webauthn` over HTTP, with a software authenticator.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use minicbor::Encoder;
use sealstone_primitives::hash::sha256;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::ed25519::SigningKey;
use serde_json::{Value, json};

use crate::gates::{ask, outcome, refused, request};
use crate::world::{Service, World};

const CONFIG: &str = "[issuer]\ngate = \"key\"\n[gates.key]\nkind = \"webauthn\"\n\
                      rp-id = \"site.example\"\norigins = [\"https://site.example\"]\n";

/// The issuer's current challenge.
fn asked(issuer: &Service, request: &[u8]) -> Value {
    let answer = ask(issuer, request, &[]);
    assert_eq!(outcome(&answer), refused(401, "gate-required"));
    answer.json()["gate"].clone()
}

/// The challenge that the page passes to the authenticator.
fn bound(gate: &Value, request: &[u8]) -> [u8; 32] {
    let challenge = URL_SAFE_NO_PAD.decode(gate["challenge"].as_str().expect("a challenge"));
    let label = b"sealstone.service.webauthn.challenge\0";
    sha256(&[label, &challenge.expect("base64url"), &sha256(&[request])])
}

/// A new credential of an authenticator without attestation.
fn create(gate: &Value, challenge: &[u8; 32], flags: u8) -> [String; 1] {
    let client_data = json!({
        "type": "webauthn.create", "challenge": URL_SAFE_NO_PAD.encode(challenge),
        "origin": "https://site.example", "crossOrigin": false,
    });
    let key = SigningKey::from_seed(&Secret::random());
    let mut data = sha256(&[gate["rp-id"].as_str().expect("a domain").as_bytes()]).to_vec();
    data.extend([&[flags][..], &[0; 4], &[0; 16], &[0, 1, 7]].concat());
    let mut cose = Encoder::new(&mut data);
    cose.map(4)
        .and_then(|e| e.i64(1)?.i64(1)?.i64(3)?.i64(-8)?.i64(-1)?.i64(6))
        .expect("room");
    let point = key.verifying_key();
    cose.i64(-2)
        .and_then(|e| e.bytes(point.as_bytes()))
        .expect("room");
    let mut object = Vec::new();
    let mut encoder = Encoder::new(&mut object);
    let head = encoder
        .map(3)
        .and_then(|e| e.str("fmt")?.str("none")?.str("attStmt")?.map(0));
    head.and_then(|e| e.str("authData")?.bytes(&data))
        .expect("room");
    let parts = [client_data.to_string().into_bytes(), object];
    let parts = parts.map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let challenge = gate["challenge"].as_str().expect("a challenge");
    [format!("key {challenge}.{parts}")]
}

/// Flags: the user was present, and there is a credential.
const FLAGS: u8 = 0x41;

#[test]
fn a_credential_is_for_one_request_and_used_once() {
    let world = World::new();
    let issuer = world.configured(CONFIG);
    let (mine, other) = (request(&issuer), request(&issuer));
    let gate = asked(&issuer, &mine);
    assert_eq!(gate["kind"], "webauthn");
    assert_eq!(gate["algorithms"], json!([-7, -8, -257]));
    let proof = create(&gate, &bound(&gate, &mine), FLAGS);
    let of_other = ask(&issuer, &other, &proof);
    assert_eq!(outcome(&of_other), refused(403, "gate-refused"));
    assert_eq!(
        of_other.json()["detail"],
        "the credential is for another request"
    );
    assert_eq!(ask(&issuer, &mine, &proof).status, 200);
    assert_eq!(
        ask(&issuer, &mine, &proof).status,
        200,
        "the same request, repeated"
    );
    // The same challenge, for another request, after a kill.
    let again = create(&gate, &bound(&gate, &other), FLAGS);
    drop(issuer);
    let issuer = world.issuer(&["--config", &world.path("config.toml").display().to_string()]);
    let used = ask(&issuer, &other, &again);
    assert_eq!(used.json()["detail"], "the proof was used before");
    let fresh = asked(&issuer, &other);
    let proof = create(&fresh, &bound(&fresh, &other), FLAGS);
    assert_eq!(ask(&issuer, &other, &proof).status, 200);
}

#[test]
fn wrong_credentials_are_refused_with_a_reason() {
    let world = World::new();
    let issuer = world.configured(CONFIG);
    let mine = request(&issuer);
    let gate = asked(&issuer, &mine);
    let challenge = bound(&gate, &mine);
    let [right] = create(&gate, &challenge, FLAGS);
    let mut foreign = gate.clone();
    foreign["challenge"] = URL_SAFE_NO_PAD.encode([7; 56]).into();
    let cases = [
        (right.replace('.', ":"), "CHALLENGE.CLIENT-DATA.ATTESTATION"),
        (format!("{right}.AA"), "CHALLENGE.CLIENT-DATA.ATTESTATION"),
        (format!("{right}{}", "A".repeat(20_000)), "too long"),
        (
            create(&foreign, &challenge, FLAGS)[0].clone(),
            "not of this gate",
        ),
        (
            create(&gate, &challenge, 0x40)[0].clone(),
            "did not check its user",
        ),
        (create(&gate, &challenge, 0x01)[0].clone(), "no credential"),
        (create(&gate, &[0; 32], FLAGS)[0].clone(), "another request"),
    ];
    for (proof, why) in cases {
        let answer = ask(&issuer, &mine, &[proof]);
        let said = answer.json()["detail"].to_string();
        // A head that is too long may be refused before the gate.
        assert!(said.contains(why) || answer.status == 431, "{why}: {said}");
    }
    assert_eq!(
        ask(&issuer, &mine, &[right]).status,
        200,
        "nothing was burnt"
    );
}
