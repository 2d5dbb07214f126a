//! The gate `attestation` over HTTP: each refusal, single use, keys from a URL.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::hash::sha256;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::ed25519::SigningKey;
use serde_json::{Value, json};

use crate::gates::{ask, outcome, refused, request};
use crate::world::{Service, World, now};

/// An attesting service.
pub(crate) struct Attester(SigningKey);

impl Attester {
    pub(crate) fn new() -> Self {
        Self(SigningKey::from_seed(&Secret::random()))
    }

    /// Its keys as a JWK set.
    pub(crate) fn keys(&self, kid: &str) -> String {
        let x = URL_SAFE_NO_PAD.encode(self.0.verifying_key().as_bytes());
        let key = json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "use": "sig", "x": x});
        json!({"keys": [key]}).to_string()
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.0.sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    /// The demand of the gate `partner` for a request.
    pub(crate) fn attest(&self, request: &[u8], sub: &str) -> String {
        self.with(request, |claims| claims["sub"] = sub.into())
    }

    fn with(&self, request: &[u8], change: impl Fn(&mut Value)) -> String {
        let jti: [u8; 16] = sealstone_primitives::rng::array();
        let mut claims = json!({
            "iss": "https://partner.example", "aud": ["other", "https://issuer.example"],
            "exp": now() + 60, "nbf": now(), "iat": now(),
            "jti": URL_SAFE_NO_PAD.encode(jti),
            "sealstone-request": URL_SAFE_NO_PAD.encode(sha256(&[request])),
        });
        change(&mut claims);
        self.sign(
            &json!({"alg": "EdDSA", "kid": "one", "typ": "JWT"}),
            &claims,
        )
    }
}

/// The table of a gate whose keys are in a file.
pub(crate) fn partner(world: &World, attester: &Attester) -> String {
    let path = world.path("keys.json");
    std::fs::write(&path, attester.keys("one")).expect("a file");
    table(&format!("keys-file = {:?}", path.display().to_string()))
}

fn table(keys: &str) -> String {
    format!(
        "[gates.partner]\nkind = \"attestation\"\nissuer = \"https://partner.example\"\n\
         audience = \"https://issuer.example\"\nlifetime = 120\n{keys}\n"
    )
}

fn proof(text: &str) -> [String; 1] {
    [format!("partner {text}")]
}

fn issuer(world: &World, attester: &Attester) -> Service {
    let config = format!("[issuer]\ngate = \"partner\"\n{}", partner(world, attester));
    world.configured(&config)
}

#[test]
fn an_attestation_is_used_once_also_after_a_kill() {
    let (world, attester) = (World::new(), Attester::new());
    let issuer = issuer(&world, &attester);
    let mine = request(&issuer);
    assert_eq!(
        outcome(&ask(&issuer, &mine, &[])),
        refused(401, "gate-required")
    );
    let shown = attester.with(&mine, |claims| claims["jti"] = "first".into());
    assert_eq!(ask(&issuer, &mine, &proof(&shown)).status, 200);
    assert_eq!(
        ask(&issuer, &mine, &proof(&shown)).status,
        200,
        "the same request, repeated"
    );
    // Another attestation with the same name, for another request.
    let other = request(&issuer);
    let again = attester.with(&other, |claims| claims["jti"] = "first".into());
    let used = ask(&issuer, &other, &proof(&again));
    assert_eq!(outcome(&used), refused(403, "gate-refused"));
    assert_eq!(used.json()["detail"], "the proof was used before");
    drop(issuer);
    let issuer = world.issuer(&["--config", &world.path("config.toml").display().to_string()]);
    let used = ask(&issuer, &other, &proof(&again));
    assert_eq!(
        used.json()["detail"],
        "the proof was used before",
        "after a kill"
    );
    let third = request(&issuer);
    let fresh = attester.with(&third, |_| {});
    assert_eq!(ask(&issuer, &third, &proof(&fresh)).status, 200);
}

#[test]
fn each_claim_is_checked() {
    let (world, attester) = (World::new(), Attester::new());
    let issuer = issuer(&world, &attester);
    let mine = request(&issuer);
    let cases: [(&str, Value, &str); 14] = [
        ("iss", json!("https://other.example"), "another issuer"),
        ("iss", Value::Null, "missing or malformed"),
        ("aud", json!("https://other.example"), "another audience"),
        ("aud", json!([]), "another audience"),
        ("exp", json!(now() - 1), "expired"),
        ("exp", json!(now() + 200), "too long"),
        ("exp", json!(1e300), "too long"),
        ("exp", json!("soon"), "missing or malformed"),
        ("nbf", json!(now() + 100), "not good yet"),
        ("iat", json!(now() + 100), "not good yet"),
        ("jti", json!(""), "1 to 256 bytes"),
        ("jti", json!("j".repeat(257)), "1 to 256 bytes"),
        ("jti", Value::Null, "missing or malformed"),
        ("sealstone-request", json!("AAAA"), "another request"),
    ];
    for (claim, value, why) in cases {
        let text = attester.with(&mine, |claims| claims[claim] = value.clone());
        let answer = ask(&issuer, &mine, &proof(&text));
        assert_eq!(
            outcome(&answer),
            refused(403, "gate-refused"),
            "{claim} {value}"
        );
        let detail = answer.json()["detail"].as_str().unwrap_or("").to_owned();
        assert!(detail.contains(why), "{claim} {value}: {detail}");
    }
    for claim in ["iss", "aud", "exp", "jti", "sealstone-request"] {
        let without = |claims: &mut Value| {
            claims.as_object_mut().expect("an object").remove(claim);
        };
        let answer = ask(&issuer, &mine, &proof(&attester.with(&mine, without)));
        assert_eq!(
            outcome(&answer),
            refused(403, "gate-refused"),
            "without {claim}"
        );
    }
}

#[test]
fn signatures_of_others_are_refused() {
    let (world, attester) = (World::new(), Attester::new());
    let issuer = issuer(&world, &attester);
    let mine = request(&issuer);
    let good = attester.with(&mine, |_| {});
    let (signed, _) = good.rsplit_once('.').expect("a dot");
    let (_, claims) = signed.split_once('.').expect("a dot");
    let none = URL_SAFE_NO_PAD.encode(json!({"alg": "none", "kid": "one"}).to_string());
    let claims: Value = URL_SAFE_NO_PAD
        .decode(claims)
        .map(|bytes| serde_json::from_slice(&bytes).expect("JSON"))
        .expect("base64url");
    let unknown = attester.sign(&json!({"alg": "EdDSA", "kid": "two"}), &claims);
    let confused = attester.sign(&json!({"alg": "ES256", "kid": "one"}), &claims);
    let extended = attester.sign(&json!({"alg": "EdDSA", "crit": ["x"], "x": 1}), &claims);
    for (text, what) in [
        (Attester::new().with(&mine, |_| {}), "another key"),
        (
            format!("{none}.{}.", URL_SAFE_NO_PAD.encode(claims.to_string())),
            "alg none",
        ),
        (format!("{signed}."), "no signature"),
        (unknown, "an unknown key"),
        (confused, "another algorithm"),
        (extended, "an extension"),
        ("a".repeat(9000), "too long"),
        ("nonsense".to_owned(), "no JWT"),
    ] {
        let answer = ask(&issuer, &mine, &proof(&text));
        assert_eq!(outcome(&answer), refused(403, "gate-refused"), "{what}");
    }
    assert_eq!(
        ask(&issuer, &mine, &proof(&good)).status,
        200,
        "and nothing was burnt"
    );
}

/// Answers each request with the current text. An empty text closes the connection.
fn publish(text: Arc<Mutex<String>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(mut stream), body) = (stream, text.lock().expect("no panic").clone()) else {
                continue;
            };
            let mut head = [0; 4096];
            if stream.read(&mut head).is_ok() && !body.is_empty() {
                let length = body.len();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
                // The client may have disconnected.
                drop(stream.write_all((head + &body).as_bytes()));
            }
        }
    });
    format!("http://{address}/keys")
}

#[test]
fn keys_come_from_a_url_and_the_last_good_ones_stay() {
    let (world, attester) = (World::new(), Attester::new());
    let text = Arc::new(Mutex::new(attester.keys("one")));
    let url = publish(text.clone());
    let keys = format!("keys-url = {url:?}\nrefresh = 1");
    let issuer = world.configured(&format!("[issuer]\ngate = \"partner\"\n{}", table(&keys)));
    let passes = |why: &str| {
        let mine = request(&issuer);
        let shown = attester.with(&mine, |_| {});
        assert_eq!(ask(&issuer, &mine, &proof(&shown)).status, 200, "{why}");
    };
    passes("the keys were fetched");
    text.lock().expect("no panic").clear();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    passes("the attester does not answer");
}
