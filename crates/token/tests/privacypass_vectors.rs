//! Vectors of Privacy Pass: RFC 9577, RFC 9578, the draft on batched tokens. The beginning of a
//! file's name selects the test.

#[path = "shared/common.rs"]
mod common;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use common::{bytes, files, hex, list, name, read, text};
use sealstone_token::privacypass::{
    GenericPending, IssuerKey, IssuerPublicKey, Pending, Token, TokenChallenge, TokenType, header,
    issue_generic,
};
use serde_json::Value;

/// Runs each case of each file whose name begins with `prefix`, and counts them.
fn run(prefix: &str, what: &str, case: impl Fn(&Value)) {
    for file in files("privacypass", prefix).unwrap_or_default() {
        let cases = read(&file);
        assert!(!cases.is_empty(), "{}: no case", file.display());
        cases.iter().for_each(&case);
        println!("{what}, {}: {} cases agree", name(&file), cases.len());
    }
}

/// The known beginnings of names.
const KNOWN: [&str; 8] = [
    "private_p384",
    "private_ristretto255",
    "public",
    "amortized_p384",
    "amortized_ristretto255",
    "generic",
    "rfc9577-header",
    "rfc9577-token",
];

/// An unread file would look like a file whose cases agree.
#[test]
fn every_file_is_read() {
    for file in files("privacypass", "").unwrap_or_default() {
        let known = KNOWN.iter().any(|prefix| name(&file).starts_with(prefix));
        assert!(known, "{}: begins with none of {KNOWN:?}", file.display());
    }
}

#[test]
fn private_tokens() {
    run("private_p384", "RFC 9578 type 0x0001", |case| {
        one(TokenType::VoprfP384, case)
    });
}

#[test]
fn private_tokens_of_ristretto255() {
    run("private_ristretto255", "type 0x0005", |case| {
        one(TokenType::VoprfRistretto255, case)
    });
}

#[test]
fn public_tokens() {
    run("public", "RFC 9578 type 0x0002", |case| {
        one(TokenType::BlindRsa2048, case)
    });
}

#[test]
fn amortized_tokens_of_p384() {
    run("amortized_p384", "batched tokens, P-384", |case| {
        batch(TokenType::VoprfP384, case)
    });
}

#[test]
fn amortized_tokens_of_ristretto255() {
    run(
        "amortized_ristretto255",
        "batched tokens, ristretto255",
        |case| {
            batch(TokenType::VoprfRistretto255, case);
        },
    );
}

#[test]
fn generic_requests() {
    run("generic", "generic batched tokens", generic);
}

#[test]
fn challenge_headers() {
    run("rfc9577-header", "RFC 9577 headers", challenge_header);
}

#[test]
fn authenticator_inputs() {
    run("rfc9577-token", "RFC 9577 tokens", authenticator_input);
}

/// By Python's hashlib, from the definition in spec/token.md.
#[test]
fn the_mark_of_a_spent_token() {
    let token = [&[0xff, 0x01][..], &[1; 32], &[2; 32], &[3; 32], &[4; 32]].concat();
    let mark = Token::decode(&token).expect("a token").nullifier();
    let expected = "0ea5e25a9a0855eaa55f6ef0d3f62ce84118c51ef83dea1ddb12a7ac3d30348f";
    assert_eq!(mark[..], hex(expected));
}

/// The field of this name, or of the name that the vectors in Rust's style have for it.
fn either<'a>(case: &Value, field: &'a str, other: &'a str) -> &'a str {
    if case[field].is_null() { other } else { field }
}

/// The key of a case: a scalar, or the PEM form of a PKCS #8 structure.
fn key(token_type: TokenType, case: &Value) -> IssuerKey {
    let secret = bytes(case, either(case, "skS", "sk_s"));
    let secret = match token_type {
        TokenType::BlindRsa2048 => pem(&secret),
        _ => secret,
    };
    let key = IssuerKey::decode(token_type, &secret).expect("a private key");
    let public = bytes(case, either(case, "pkS", "pk_s"));
    assert_eq!(key.public_key().as_bytes(), public);
    assert_eq!(key.encode().expect("an encoding").expose(), secret);
    key
}

fn pem(text: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(text).expect("PEM is ASCII");
    let lines = text.lines().filter(|line| !line.starts_with('-'));
    BASE64_STANDARD
        .decode(lines.collect::<String>())
        .expect("base64")
}

/// The challenge of a case, through the decoder and back.
fn challenge(case: &Value) -> TokenChallenge {
    let encoding = bytes(case, "token_challenge");
    let challenge = TokenChallenge::decode(&encoding).expect("a challenge");
    assert_eq!(challenge.encode(), encoding);
    challenge
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("a value of that length")
}

fn pending(key: &IssuerPublicKey, case: &Value) -> Pending {
    let (nonce, blind) = (array(&bytes(case, "nonce")), bytes(case, "blind"));
    let salt = case["salt"].as_str().map(|salt| array(&hex(salt)));
    Pending::one_with(key, &challenge(case), nonce, &blind, salt.as_ref())
        .expect("a request")
        .0
}

fn one(token_type: TokenType, case: &Value) {
    let key = key(token_type, case);
    let pending = pending(&key.public_key(), case);
    let request = pending.request();
    assert_eq!(request, bytes(case, "token_request"));
    let response = match token_type {
        // The proof has fresh randomness: the test reads the vector's proof, and tries ours below.
        TokenType::BlindRsa2048 => key.issue(&request).expect("a response"),
        _ => bytes(case, "token_response"),
    };
    assert_eq!(response, bytes(case, "token_response"));
    let saved = pending.encode();
    let token = pending.finalize(&response).expect("a token").remove(0);
    assert_eq!(token.encode(), bytes(case, "token"));
    accepted(&key, &token, case);
    // A client that is restarted in between, with our own issuer.
    let pending = Pending::decode(saved.expose()).expect("a saved request");
    let own = key.issue(&pending.request()).expect("a response");
    assert_eq!(pending.finalize(&own).expect("a token"), [token]);
}

fn accepted(key: &IssuerKey, token: &Token, case: &Value) {
    assert_eq!(Token::decode(&token.encode()).as_ref(), Ok(token));
    token
        .answers(&challenge(case))
        .expect("an answer to the challenge");
    key.verify(token).expect("a valid token");
}

fn batch(token_type: TokenType, case: &Value) {
    let key = key(token_type, case);
    let row = |field| {
        list(case, field)
            .iter()
            .map(|v| hex(v.as_str().expect("hex")))
    };
    let nonces: Vec<[u8; 32]> = row("nonces").map(|nonce| array(&nonce)).collect();
    let blinds: Vec<Vec<u8>> = row("blinds").collect();
    let blinds: Vec<&[u8]> = blinds.iter().map(Vec::as_slice).collect();
    let tokens: Vec<Token> = row("tokens")
        .map(|token| Token::decode(&token).expect("a token"))
        .collect();
    let (pending, request) =
        Pending::batch_with(&key.public_key(), &challenge(case), &nonces, &blinds)
            .expect("a request");
    assert_eq!(request, bytes(case, "token_request"));
    let saved = pending.encode();
    let finalized = pending
        .finalize(&bytes(case, "token_response"))
        .expect("tokens");
    assert_eq!(finalized, tokens);
    tokens.iter().for_each(|token| accepted(&key, token, case));
    let pending = Pending::decode(saved.expose()).expect("a saved request");
    let own = key
        .issue_batch(&pending.request(), nonces.len())
        .expect("a response");
    assert_eq!(pending.finalize(&own).expect("tokens"), tokens);
}

fn generic(case: &Value) {
    let parts = list(case, "issuance");
    let types: Vec<TokenType> = parts
        .iter()
        .map(|part| text(part, either(part, "type", "token_type")))
        .map(|number| u16::from_str_radix(number, 16).expect("a number"))
        .map(|number| TokenType::from_number(number).expect("a known type"))
        .collect();
    let keys: Vec<IssuerKey> = parts
        .iter()
        .zip(&types)
        .map(|(part, token_type)| key(*token_type, part))
        .collect();
    let together = || {
        let pending = parts
            .iter()
            .zip(&keys)
            .map(|(part, key)| pending(&key.public_key(), part));
        GenericPending::together(pending.collect()).expect("a request")
    };
    let tokens: Vec<Token> = parts
        .iter()
        .map(|part| Token::decode(&bytes(part, "token")).expect("a token"))
        .collect();
    let (pending, request) = together();
    assert_eq!(request, bytes(case, "token_request"));
    let expected: Vec<Result<Token, _>> = tokens.iter().cloned().map(Ok).collect();
    assert_eq!(
        pending.finalize(&bytes(case, "token_response")),
        Ok(expected.clone())
    );
    let own = issue_generic(&request, parts.len(), |head| {
        keys.iter().find(|key| {
            key.token_type() == head.token_type
                && key.public_key().truncated_key_id() == head.truncated_key_id
        })
    });
    assert_eq!(
        together().0.finalize(&own.expect("a response")),
        Ok(expected)
    );
    for ((token, key), part) in tokens.iter().zip(&keys).zip(parts) {
        accepted(key, token, part);
    }
}

fn challenge_header(case: &Value) {
    let value = text(case, "WWW-Authenticate");
    let offers = header::parse_challenges(value).expect("a header");
    let count = (0..)
        .take_while(|n| case.get(format!("token-type-{n}")).is_some())
        .count();
    assert_eq!(offers.len(), count);
    for (n, offer) in offers.iter().enumerate() {
        let field = |field: &str| &case[format!("{field}-{n}")];
        let hex_of = |value: &Value| value.as_str().map(hex);
        assert_eq!(
            Some(u64::from(offer.challenge.token_type_number())),
            field("token-type").as_u64()
        );
        assert_eq!(
            Some(offer.challenge.encode()),
            hex_of(field("token-challenge"))
        );
        assert_eq!(offer.token_key, hex_of(field("token-key")));
        assert_eq!(offer.max_age, field("max-age").as_u64());
        assert_eq!(
            header::parse_challenges(&header::challenge(offer)).expect("our own header"),
            std::slice::from_ref(offer)
        );
    }
    // Our form of the header's first challenge equals the vector's, except for its extra parts.
    let first = header::challenge(&offers[0]);
    let first = first.split(", max-age").next().expect("a beginning");
    assert!(value.starts_with(first), "{first}");
    assert!(value.contains(&BASE64_URL_SAFE.encode(offers[0].challenge.encode())));
}

fn authenticator_input(case: &Value) {
    let token_type: u16 = array::<2>(&bytes(case, "token_type"))
        .map(u16::from)
        .into_iter()
        .fold(0, |n, b| n << 8 | b);
    let token_type = TokenType::from_number(token_type).expect("a known type");
    let ascii = |field| String::from_utf8(bytes(case, field)).expect("ASCII");
    let context = bytes(case, "redemption_context");
    let context = (!context.is_empty()).then(|| array(&context));
    let origins = ascii("origin_info");
    let origins: Vec<&str> = origins.split(',').filter(|name| !name.is_empty()).collect();
    let challenge =
        TokenChallenge::new(token_type, &ascii("issuer_name"), context, &origins).expect("names");
    let expected = bytes(case, "token_authenticator_input");
    let authenticator = vec![0; token_type.authenticator_len()];
    let token = Token::decode(&[&expected[..], &authenticator].concat()).expect("a token");
    assert_eq!(token.authenticator_input(), expected[..]);
    assert_eq!(token.nonce(), &bytes(case, "nonce")[..]);
    assert_eq!(token.key_id(), &bytes(case, "token_key_id")[..]);
    token
        .answers(&challenge)
        .expect("an answer to the challenge");
}
