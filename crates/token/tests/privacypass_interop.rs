//! Privacy Pass between Sealstone and Cloudflare's library for JavaScript, both RFC types: its
//! client with our issuer and verifier, and our client with its issuer and origin.
//!
//! Run by `scripts/test-interop`, which says in `SEALSTONE_INTEROP_NODE` where the library is.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use common::hex;
use sealstone_token::privacypass::{
    IssuerKey, IssuerPublicKey, Pending, Token, TokenChallenge, TokenType, header,
};
use serde_json::{Value, json};

const TYPES: [TokenType; 2] = [TokenType::VoprfP384, TokenType::BlindRsa2048];
/// Each run has new keys, nonces and blinds.
const RUNS: usize = 4;

/// Their side: a process that answers each line with one.
struct Peer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start() -> Option<Self> {
        let Some(library) = std::env::var_os("SEALSTONE_INTEROP_NODE") else {
            println!("skipped: run scripts/test-interop");
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/peer.mjs");
        let mut process = Command::new("node")
            .arg(script)
            .arg(library)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node");
        Some(Self {
            input: process.stdin.take().expect("a pipe"),
            output: BufReader::new(process.stdout.take().expect("a pipe")),
            process,
        })
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
        // Whether it ended before is no matter: the answers count.
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
    let Some(mut peer) = Peer::start() else {
        return;
    };
    for token_type in TYPES {
        let key = IssuerKey::generate(token_type).expect("a key");
        for run in 0..RUNS {
            let (challenge, request) = requested(&mut peer, &key, run);
            let response = text(&key.issue(&request).expect("a response"));
            let finalize = json!({"command": "finalize", "response": response});
            let value = peer.text(&finalize, "header");
            let token = header::parse_authorization(&value).expect("a header");
            token
                .answers(&challenge)
                .expect("an answer to the challenge");
            key.verify(&token).expect("a valid token");
        }
    }
}

#[test]
fn their_client_refuses_an_altered_response() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    for token_type in TYPES {
        let key = IssuerKey::generate(token_type).expect("a key");
        let (_, request) = requested(&mut peer, &key, 1);
        let mut response = key.issue(&request).expect("a response");
        *response.last_mut().expect("bytes") ^= 1;
        let answer = peer.ask(&json!({"command": "finalize", "response": text(&response)}));
        assert!(answer["error"].is_string(), "{token_type:?}: {answer}");
    }
}

/// Their origin's challenge with their issuer's key.
fn challenged(
    peer: &mut Peer,
    token_type: TokenType,
    run: usize,
) -> (IssuerPublicKey, TokenChallenge) {
    let context = if run.is_multiple_of(2) {
        String::new()
    } else {
        text(&[9; 32])
    };
    let ask = json!({"command": "challenge", "type": token_type.number(), "context": context});
    let value = peer.text(&ask, "header");
    let offer = header::parse_challenges(&value)
        .expect("a header")
        .remove(0);
    let key = offer.token_key.expect("a key in the challenge");
    let key = IssuerPublicKey::decode(token_type, &key).expect("a key");
    (key, offer.challenge)
}

#[test]
fn our_client_gets_tokens_from_their_issuer() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    for token_type in TYPES {
        for run in 0..RUNS {
            let (key, challenge) = challenged(&mut peer, token_type, run);
            let (pending, request) = Pending::one(&key, &challenge).expect("a request");
            let issue = json!({"command": "issue", "request": text(&request)});
            let response = hex(&peer.text(&issue, "response"));
            let token = pending.finalize(&response).expect("a token").remove(0);
            assert!(accepted(&mut peer, &token), "{token_type:?}");
            let mut forged = token.encode();
            *forged.last_mut().expect("bytes") ^= 1;
            let forged = Token::decode(&forged).expect("a token");
            assert!(!accepted(&mut peer, &forged), "{token_type:?}");
        }
    }
}

/// Whether their origin takes our token.
fn accepted(peer: &mut Peer, token: &Token) -> bool {
    let value = header::authorization(token);
    let answer = peer.ask(&json!({"command": "verify", "header": value}));
    answer["valid"]
        .as_bool()
        .unwrap_or_else(|| panic!("{answer}"))
}
