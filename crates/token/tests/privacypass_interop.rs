//! Privacy Pass between Sealstone and other implementations: their client with our issuer and
//! verifier, and our client with their issuer and origin. One is Cloudflare's library for
//! JavaScript, the other the crate `privacypass`.
//!
//! Run by `scripts/test-interop`, which sets `SEALSTONE_INTEROP_NODE` to the path of the library,
//! and `SEALSTONE_INTEROP_PRIVACYPASS` to the program that calls the crate.

#[path = "shared/common.rs"]
mod common;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use common::hex;
use sealstone_token::privacypass::{
    IssuerKey, IssuerPublicKey, Pending, Token, TokenChallenge, TokenType, header,
};
use serde_json::{Value, json};

/// Each run has new keys, nonces and blinds.
const RUNS: usize = 4;

/// An implementation that is not ours.
struct Implementation {
    /// The variable with its path.
    variable: &'static str,
    command: fn(OsString) -> Command,
    types: &'static [TokenType],
    /// The types for which it supports batches.
    batches: &'static [TokenType],
}

const IMPLEMENTATIONS: [Implementation; 2] = [
    Implementation {
        variable: "SEALSTONE_INTEROP_NODE",
        command: |library| {
            let mut node = Command::new("node");
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/peer.mjs");
            node.arg(script).arg(library);
            node
        },
        types: &[TokenType::VoprfP384, TokenType::BlindRsa2048],
        batches: &[],
    },
    Implementation {
        variable: "SEALSTONE_INTEROP_PRIVACYPASS",
        command: Command::new,
        types: &[
            TokenType::VoprfP384,
            TokenType::BlindRsa2048,
            TokenType::VoprfRistretto255,
        ],
        batches: &[TokenType::VoprfP384, TokenType::VoprfRistretto255],
    },
];

/// Runs `test` with each available implementation.
fn with_each(test: impl Fn(&mut Peer, &Implementation)) {
    for implementation in &IMPLEMENTATIONS {
        match std::env::var_os(implementation.variable) {
            Some(place) => test(
                &mut Peer::start((implementation.command)(place)),
                implementation,
            ),
            None => println!(
                "skipped: {} is not set, run scripts/test-interop",
                implementation.variable
            ),
        }
    }
}

/// Their side: a process that answers each line with one.
struct Peer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(mut command: Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = piped.spawn().expect("a program that starts");
        Self {
            input: process.stdin.take().expect("a pipe"),
            output: BufReader::new(process.stdout.take().expect("a pipe")),
            process,
        }
    }

    /// The answer to `command`. It has a field `error` if the peer refused.
    fn ask(&mut self, command: &Value) -> Value {
        writeln!(self.input, "{command}").expect("a peer that reads");
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("a peer that answers");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn text(&mut self, command: &Value, field: &str) -> String {
        let answer = self.ask(command);
        let text = answer[field].as_str();
        text.unwrap_or_else(|| panic!("{command}: {answer}"))
            .to_owned()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended before. Only the answers count.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The value of a header with a challenge for tokens of `key`.
fn challenge(key: &IssuerKey, run: usize) -> (TokenChallenge, String) {
    let origins: &[&str] = if run == 0 {
        &[]
    } else {
        &["origin.example", "other.example"]
    };
    let context = (run > 1).then_some([7; 32]);
    let challenge =
        TokenChallenge::new(key.token_type(), "issuer.example", context, origins).expect("names");
    let value = header::challenge(&header::Offer {
        challenge: challenge.clone(),
        token_key: Some(key.public_key().as_bytes().to_vec()),
        max_age: (!run.is_multiple_of(2)).then_some(60),
    });
    (challenge, value)
}

/// The request of their client.
fn requested(peer: &mut Peer, key: &IssuerKey, run: usize) -> (TokenChallenge, Vec<u8>) {
    let (challenge, value) = challenge(key, run);
    let request = peer.text(&json!({"command": "request", "header": value}), "request");
    (challenge, hex(&request))
}

#[test]
fn their_client_gets_tokens_from_our_issuer() {
    with_each(|peer, theirs| {
        for token_type in theirs.types {
            let key = IssuerKey::generate(*token_type).expect("a key");
            for run in 0..RUNS {
                let (challenge, request) = requested(peer, &key, run);
                let response = text(&key.issue(&request).expect("a response"));
                let finalize = json!({"command": "finalize", "response": response});
                let value = peer.text(&finalize, "header");
                assert_redeemed(&value, &challenge, &key);
            }
        }
    });
}

/// Asserts that their client's header has a token for the challenge that is valid under the key.
fn assert_redeemed(header: &str, challenge: &TokenChallenge, key: &IssuerKey) {
    let token = header::parse_authorization(header).expect("a header");
    token
        .answers(challenge)
        .expect("an answer to the challenge");
    key.verify(&token).expect("a valid token");
}

#[test]
fn their_client_refuses_an_altered_response() {
    with_each(|peer, theirs| {
        for token_type in theirs.types {
            let key = IssuerKey::generate(*token_type).expect("a key");
            let (_, request) = requested(peer, &key, 1);
            let mut response = key.issue(&request).expect("a response");
            *response.last_mut().expect("bytes") ^= 1;
            let answer = peer.ask(&json!({"command": "finalize", "response": text(&response)}));
            assert!(answer["error"].is_string(), "{token_type:?}: {answer}");
        }
    });
}

#[test]
fn their_client_gets_batches_from_our_issuer() {
    with_each(|peer, theirs| {
        for token_type in theirs.batches {
            let key = IssuerKey::generate(*token_type).expect("a key");
            for run in 0..RUNS {
                let (challenge, value) = challenge(&key, run);
                let request = json!({"command": "request", "header": value, "count": run + 1});
                let request = hex(&peer.text(&request, "request"));
                let response = key.issue_batch(&request, RUNS).expect("a response");
                let finalize = json!({"command": "finalize", "response": text(&response)});
                let headers = peer.ask(&finalize)["headers"].take();
                let headers = headers.as_array().expect("a list of headers");
                assert_eq!(headers.len(), run + 1);
                for header in headers {
                    assert_redeemed(header.as_str().expect("a header"), &challenge, &key);
                }
            }
        }
    });
}

/// Their origin's challenge with their issuer's key, for a request of `count` tokens.
fn challenged(
    peer: &mut Peer,
    token_type: TokenType,
    run: usize,
    count: Option<usize>,
) -> (IssuerPublicKey, TokenChallenge) {
    let context = if run.is_multiple_of(2) {
        String::new()
    } else {
        text(&[9; 32])
    };
    let number = token_type.number();
    let ask = json!({"command": "challenge", "type": number, "context": context, "count": count});
    let value = peer.text(&ask, "header");
    let offer = header::parse_challenges(&value)
        .expect("a header")
        .remove(0);
    let key = offer.token_key.expect("a key in the challenge");
    let key = IssuerPublicKey::decode(token_type, &key).expect("a key");
    (key, offer.challenge)
}

/// Their issuer's response.
fn issued(peer: &mut Peer, request: &[u8]) -> Vec<u8> {
    let issue = json!({"command": "issue", "request": text(request)});
    hex(&peer.text(&issue, "response"))
}

#[test]
fn our_client_gets_tokens_from_their_issuer() {
    with_each(|peer, theirs| {
        for token_type in theirs.types {
            for run in 0..RUNS {
                let (key, challenge) = challenged(peer, *token_type, run, None);
                let (pending, request) = Pending::one(&key, &challenge).expect("a request");
                let response = issued(peer, &request);
                let token = pending.finalize(&response).expect("a token").remove(0);
                assert_taken(peer, &token);
            }
        }
    });
}

#[test]
fn our_client_refuses_their_altered_response() {
    with_each(|peer, theirs| {
        for token_type in theirs.types {
            let (key, challenge) = challenged(peer, *token_type, 1, None);
            let (pending, request) = Pending::one(&key, &challenge).expect("a request");
            let mut response = issued(peer, &request);
            *response.last_mut().expect("bytes") ^= 1;
            assert!(pending.finalize(&response).is_err(), "{token_type:?}");
        }
    });
}

#[test]
fn our_client_gets_batches_from_their_issuer() {
    with_each(|peer, theirs| {
        for token_type in theirs.batches {
            for count in 1..=RUNS {
                let (key, challenge) = challenged(peer, *token_type, count, Some(count));
                let (pending, request) =
                    Pending::batch(&key, &challenge, count).expect("a request");
                let response = issued(peer, &request);
                let tokens = pending.finalize(&response).expect("tokens");
                assert_eq!(tokens.len(), count);
                tokens.iter().for_each(|token| assert_taken(peer, token));
            }
        }
    });
}

/// Asserts that their origin accepts our token, and no altered one.
fn assert_taken(peer: &mut Peer, token: &Token) {
    assert!(accepted(peer, token), "{token:?}");
    let mut forged = token.encode();
    *forged.last_mut().expect("bytes") ^= 1;
    let forged = Token::decode(&forged).expect("a token");
    assert!(!accepted(peer, &forged), "{token:?}");
}

/// Whether their origin accepts our token.
fn accepted(peer: &mut Peer, token: &Token) -> bool {
    let value = header::authorization(token);
    let answer = peer.ask(&json!({"command": "verify", "header": value}));
    answer["valid"]
        .as_bool()
        .unwrap_or_else(|| panic!("{answer}"))
}
