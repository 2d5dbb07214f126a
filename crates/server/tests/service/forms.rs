//! The interfaces that clients rely on: start, RFC 9578, one redemption, end.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_server::client::Client;
use sealstone_token::privacypass::directory::{Directory, MEDIA_TYPE, WELL_KNOWN_PATH};
use sealstone_token::privacypass::{GenericPending, Pending, Token, TokenType, header};
use serde_json::{Value, json};

use crate::world::{World, get, mode_of, now, post, problem, redeem, token};

#[test]
fn a_token_is_redeemed_once_with_nothing_configured() {
    let world = World::with_rsa();
    let issuer = world.issuer(&[]);
    assert_eq!(issuer.ready["gate"], "pow", "nobody asked for none");
    let verifier = world.verifier(issuer.url(), &[]);
    for service in [&issuer, &verifier] {
        assert_eq!(get(&format!("{}/healthz", service.url())).0, 200);
        assert_eq!(get(&format!("{}/readyz", service.url())).0, 200);
    }
    let token = token(issuer.url(), verifier.url());
    assert_eq!(redeem(verifier.url(), &token), (200, String::new()));
    assert_eq!(redeem(verifier.url(), &token), (401, "spent".to_owned()));
    assert_eq!(verifier.stop(), Some(0));
    assert_eq!(issuer.stop(), Some(0));
    for secret in ["service.passport", "service.passphrase", "store.redb"] {
        assert_eq!(
            mode_of(&world.path("issuer").join(secret)),
            0o600,
            "{secret}"
        );
    }
}

#[test]
fn restarts_keep_keys_and_spent_tokens() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let verifier = world.verifier(issuer.url(), &[]);
    let address = verifier.address().to_owned();
    let (first, second) = (
        token(issuer.url(), verifier.url()),
        token(issuer.url(), verifier.url()),
    );
    assert_eq!(redeem(verifier.url(), &first).0, 200);
    let url = issuer.url().to_owned();
    let listen = issuer.address().to_owned();
    let before = get(&format!("{url}{WELL_KNOWN_PATH}")).1;
    assert_eq!((issuer.stop(), verifier.stop()), (Some(0), Some(0)));

    let issuer = world.issuer(&["--gate", "none", "--listen", &listen]);
    let after = get(&format!("{}{WELL_KNOWN_PATH}", issuer.url())).1;
    let keys = |value: &Value| {
        let keys = value["token-keys"].as_array().expect("keys").iter();
        keys.map(|key| key["token-key"].to_string())
            .collect::<Vec<_>>()
    };
    assert!(keys(&before).iter().all(|key| keys(&after).contains(key)));
    let verifier = world.verifier(issuer.url(), &["--listen", &address]);
    assert_eq!(redeem(verifier.url(), &first), (401, "spent".to_owned()));
    assert_eq!(redeem(verifier.url(), &second).0, 200);
}

#[test]
fn the_directory_is_of_rfc_9578() {
    let world = World::with_rsa();
    let issuer = world.issuer(&[]);
    let client = Client::new(issuer.url());
    let answer = client.get(&format!("{}{WELL_KNOWN_PATH}", issuer.url()), None);
    let answer = answer.expect("an answer");
    assert_eq!(answer.status, 200);
    let directory = Directory::from_json(&String::from_utf8_lossy(&answer.body));
    let directory = directory.expect("a directory");
    for kind in [TokenType::VoprfP384, TokenType::BlindRsa2048] {
        assert!(directory.key(kind, now()).is_some(), "{kind}");
    }
    assert_eq!(MEDIA_TYPE, "application/private-token-issuer-directory");
}

/// The answer of `POST /token-request`: status and problem.
fn ask(issuer: &str, media_type: &str, body: &[u8]) -> (u16, String) {
    let client = Client::new(issuer);
    let answer = client.post(&format!("{issuer}/token-request"), media_type, body, &[]);
    let answer = answer.expect("an answer");
    (answer.status, problem(&answer.json()).to_owned())
}

#[test]
fn requests_that_are_none_are_problems() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let one = "application/private-token-request";
    for (media_type, body, status, name) in [
        (
            "application/json",
            &b"{}"[..],
            415,
            "unsupported-media-type",
        ),
        ("", b"", 415, "unsupported-media-type"),
        (one, b"", 422, "invalid-request"),
        (one, &[0, 1, 0], 422, "invalid-request"),
        (one, &[0, 9, 0, 0], 422, "invalid-request"),
        (one, &[0xff; 300], 422, "invalid-request"),
        (one, &vec![0; 70_000], 413, "too-large"),
        (
            "application/private-token-generic-batch-request",
            b"\0",
            422,
            "invalid-request",
        ),
        (
            "application/private-token-generic-batch-request",
            b"\xff",
            422,
            "invalid-request",
        ),
        (
            "application/private-token-amortized-batch-request",
            b"\0\x05\0",
            422,
            "invalid-request",
        ),
    ] {
        let asked = ask(issuer.url(), media_type, body);
        assert_eq!(
            asked,
            (status, name.to_owned()),
            "{media_type}: {} bytes",
            body.len()
        );
    }
    let nothing = get(&format!("{}/nothing", issuer.url()));
    assert_eq!((nothing.0, problem(&nothing.1)), (404, "not-found"));
    let method = get(&format!("{}/token-request", issuer.url()));
    assert_eq!((method.0, problem(&method.1)), (405, "method-not-allowed"));
}

#[test]
fn batches_of_all_forms() {
    let world = World::with_rsa();
    let issuer = world.configured("[issuer]\ngate = \"none\"\n[keys]\ntypes = [1, 2, 5, 0xff01]");
    let verifier = world.verifier(issuer.url(), &[]);
    let client = Client::new(issuer.url());
    let rsa = client
        .challenge(&format!("{}/verify", verifier.url()))
        .expect("a challenge");
    let challenge = |kind| {
        let name = sealstone_token::privacypass::TokenChallenge::new(kind, "issuer", None, &["o"]);
        name.expect("names")
    };
    for kind in [
        TokenType::VoprfP384,
        TokenType::VoprfRistretto255,
        TokenType::VoprfP256,
    ] {
        let asked = challenge(kind);
        let key = client.key(&asked, now()).expect("a key");
        let (pending, request) = Pending::batch(&key, &asked, 7).expect("a request");
        let media_type = "application/private-token-amortized-batch-request";
        let response = client.issue(media_type, &request, 7).expect("a response");
        assert_eq!(
            pending.finalize(&response).expect("tokens").len(),
            7,
            "{kind}"
        );
        let (_, large) = Pending::batch(&key, &asked, 101).expect("a request");
        assert_eq!(
            ask(issuer.url(), media_type, &large),
            (413, "too-large".to_owned())
        );
    }
    let key = client.key(&rsa.challenge, now()).expect("a key");
    let wanted = [(&key, &rsa.challenge); 3];
    let (pending, request) = GenericPending::new(&wanted).expect("a request");
    let media_type = "application/private-token-generic-batch-request";
    let response = client.issue(media_type, &request, 3).expect("a response");
    let tokens: Vec<Token> = pending
        .finalize(&response)
        .expect("a response")
        .into_iter()
        .map(|token| token.expect("a token"))
        .collect();
    assert_eq!(verify_batch(verifier.url(), &tokens), [true; 3]);
    assert_eq!(verify_batch(verifier.url(), &tokens), [false; 3]);
}

#[test]
fn a_batch_with_a_wrong_operation_spends_nothing() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let verifier = world.verifier(issuer.url(), &[]);
    let tokens = [(); 2].map(|()| token(issuer.url(), verifier.url()));
    for wrong in [json!(""), json!("x".repeat(65)), json!(7)] {
        let entries = json!([
            {"token": text(&tokens[0]), "operation": "order-1"},
            {"token": text(&tokens[1]), "operation": wrong},
        ]);
        let url = format!("{}/v1/verify/batch", verifier.url());
        let (status, value) = post(&url, &json!({"tokens": entries}));
        assert_eq!((status, problem(&value)), (400, "malformed"), "{wrong}");
    }
    assert_eq!(verify_batch(verifier.url(), &tokens), [true; 2]);
}

fn verify_batch(verifier: &str, tokens: &[Token]) -> Vec<bool> {
    let tokens: Vec<Value> = tokens
        .iter()
        .map(|token| json!({"token": text(token)}))
        .collect();
    let (status, value) = post(
        &format!("{verifier}/v1/verify/batch"),
        &json!({"tokens": tokens}),
    );
    assert_eq!(status, 200);
    let results = value["results"].as_array().expect("results").iter();
    results.map(|result| result["accepted"] == true).collect()
}

fn text(token: &Token) -> String {
    URL_SAFE_NO_PAD.encode(token.encode())
}

#[test]
fn the_json_interface_spends_checks_and_repeats() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let verifier = world.verifier(issuer.url(), &[]);
    let token = token(issuer.url(), verifier.url());
    let check = || {
        post(
            &format!("{}/v1/check", verifier.url()),
            &json!({"token": text(&token)}),
        )
        .1
    };
    let verify = |operation: &Value| {
        let body = json!({"token": text(&token), "operation": operation});
        post(&format!("{}/v1/verify", verifier.url()), &body)
    };
    assert_eq!(
        (&check()["valid"], &check()["spent"]),
        (&json!(true), &json!(false))
    );
    let first = verify(&json!("order-1")).1;
    assert_eq!(
        (&first["accepted"], &first["repeated"]),
        (&json!(true), &json!(false))
    );
    let again = verify(&json!("order-1")).1;
    assert_eq!(
        (&again["accepted"], &again["repeated"]),
        (&json!(true), &json!(true))
    );
    for operation in [json!("order-2"), Value::Null] {
        let refused = verify(&operation).1;
        assert_eq!(
            (&refused["accepted"], &refused["reason"]),
            (&json!(false), &json!("spent"))
        );
    }
    assert_eq!(check()["spent"], true);
    assert_eq!(redeem(verifier.url(), &token).1, "spent");
    for body in [
        json!({}),
        json!({"token": "="}),
        json!({"token": 7}),
        json!([]),
    ] {
        let (status, value) = post(&format!("{}/v1/verify", verifier.url()), &body);
        let is_known = status == 400 && problem(&value) == "malformed";
        assert!(
            is_known || value["reason"] == "malformed",
            "{body}: {value}"
        );
    }
    assert_eq!(verify(&json!("x".repeat(65))).0, 400);
}

#[test]
fn tokens_that_are_wrong_are_refused_with_a_reason() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let verifier = world.verifier(issuer.url(), &[]);
    let url = format!("{}/verify", verifier.url());
    let token = token(issuer.url(), verifier.url());
    let altered = |at: usize| {
        let mut bytes = token.encode();
        bytes[at] ^= 1;
        header::authorization(&Token::decode(&bytes).expect("a token"))
    };
    for (value, reason) in [
        (String::new(), "malformed"),
        ("Bearer abc".to_owned(), "malformed"),
        ("PrivateToken token=\"AAAA\"".to_owned(), "malformed"),
        (altered(2), "forged"),
        (altered(40), "wrong-challenge"),
        (altered(70), "unknown-key"),
        (altered(353), "forged"),
    ] {
        let answer = Client::new("").get(&url, Some(&value)).expect("an answer");
        assert_eq!(answer.status, 401, "{value}");
        assert_eq!(answer.json()["reason"], reason, "{value}");
        assert_eq!(answer.challenges.len(), 1, "it offers a challenge");
    }
    assert_eq!(
        redeem(verifier.url(), &token).0,
        200,
        "refusals spent nothing"
    );
}

#[test]
fn an_issuer_can_verify_its_own_tokens_of_all_types() {
    let world = World::with_rsa();
    let config = "[issuer]\ngate = \"none\"\nverify = true\n[keys]\ntypes = [1, 2, 5, 0xff01]";
    let issuer = world.configured(config);
    let client = Client::new(issuer.url());
    let answer = client
        .get(&format!("{}/verify", issuer.url()), None)
        .expect("an answer");
    assert_eq!(answer.challenges.len(), 4);
    for value in &answer.challenges {
        let offer = header::parse_challenges(value)
            .expect("a challenge")
            .remove(0);
        let token = client.token(&offer.challenge, now()).expect("a token");
        assert_eq!(redeem(issuer.url(), &token).0, 200, "{value}");
        assert_eq!(redeem(issuer.url(), &token).1, "spent", "{value}");
    }
}
