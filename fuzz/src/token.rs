//! Tokens: untrusted input of a client, an issuer or an origin (RFC 9577, RFC 9578).

use std::sync::LazyLock;

use arbitrary::Unstructured;
use sealstone_token::Error;
use sealstone_token::privacypass::directory::{Directory, DirectoryKey};
use sealstone_token::privacypass::header::{self, Offer};
use sealstone_token::privacypass::{
    GenericPending, IssuerKey, IssuerPublicKey, Pending, Token, TokenChallenge, TokenType,
    issue_generic,
};

use crate::PLANTED;
use crate::edit::edited;

/// The largest number of tokens that an issuer gives for one request.
const LIMIT: usize = 3;

/// A type of token, with an example of each message.
struct Golden {
    key: IssuerKey,
    challenge: TokenChallenge,
    /// Saved requests, for one token and for two. RSA has no request for two.
    states: Vec<Vec<u8>>,
    token: Token,
}

/// RSA's key is random. All others are the same in every run.
static GOLDEN: LazyLock<[Golden; 4]> = LazyLock::new(|| {
    TokenType::ALL.map(|kind| {
        let key = match kind {
            TokenType::BlindRsa2048 => IssuerKey::generate(kind),
            _ => IssuerKey::derive(kind, &[7; 32], b"fuzz"),
        };
        golden(key.expect("a key"))
    })
});

fn golden(key: IssuerKey) -> Golden {
    let kind = key.token_type();
    let challenge = TokenChallenge::new(kind, "issuer.example", Some([9; 32]), &["a.example"]);
    let challenge = challenge.expect("names");
    let states = match kind {
        TokenType::BlindRsa2048 => {
            let (pending, _) = Pending::one(&key.public_key(), &challenge).expect("a request");
            vec![pending.encode().expose().to_vec()]
        }
        _ => [1, 2].map(|count| state(&key, &challenge, count)).into(),
    };
    let response = key.issue(&waiting(&states[0]).request());
    let response = response.expect("a response");
    let token = waiting(&states[0]).finalize(&response).expect("a token");
    Golden {
        token: token[0].clone(),
        key,
        challenge,
        states,
    }
}

/// A saved request in the format of spec/token.md, with blinds that are the same in every run.
fn state(key: &IssuerKey, challenge: &TokenChallenge, count: u8) -> Vec<u8> {
    let public = key.public_key();
    let mut state = key.token_type().to_bytes().to_vec();
    state.extend([count, public.as_bytes().len() as u8]);
    state.extend_from_slice(public.as_bytes());
    state.extend_from_slice(&challenge.digest());
    let scalar_len = match key.token_type() {
        TokenType::VoprfP384 => 48,
        _ => 32,
    };
    for number in 1..=count {
        // The last byte is the lowest of ristretto255's, and the highest of the others'.
        let mut blind = vec![number; scalar_len];
        blind[scalar_len - 1] = 1;
        state.extend([number; 32]);
        state.extend(blind);
    }
    state
}

fn waiting(state: &[u8]) -> Pending {
    Pending::decode(state).expect("a saved request")
}

/// Messages of the protocol: no edited response or token is accepted as the issuer's, and parsed
/// messages encode to the same bytes.
pub fn token_message(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    let golden = &GOLDEN[mode % 4];
    match mode / 4 % 8 {
        0 => challenge(&edited(&golden.challenge.encode(), &mut bytes)),
        1 => request(golden, &mut bytes, mode / 32),
        2 => response(golden, &mut bytes, mode / 32),
        3 => generic(golden, &mut bytes),
        4 => token(golden, &edited(&golden.token.encode(), &mut bytes)),
        5 => keys(golden, &mut bytes),
        6 => saved(&edited(
            &golden.states[mode / 32 % golden.states.len()],
            &mut bytes,
        )),
        _ => anything(golden, bytes.take_rest()),
    }
}

fn challenge(bytes: &[u8]) {
    if let Ok(challenge) = TokenChallenge::decode(bytes) {
        assert_eq!(challenge.encode(), bytes);
        assert!(challenge.origins().all(|name| !name.contains(',')));
    }
}

/// An issuer answers requests for its key, with one response for each element and no more.
fn request(golden: &Golden, bytes: &mut Unstructured<'_>, choice: usize) {
    let state = &golden.states[choice % golden.states.len()];
    let request = edited(&waiting(state).request(), bytes);
    let kind = golden.key.token_type();
    if let Ok(response) = golden.key.issue(&request) {
        assert_eq!(request.len(), 3 + kind.blinded_len());
        assert_eq!(response.len(), kind.response_len());
    }
    if let Ok(response) = golden.key.issue_batch(&request, LIMIT) {
        let proof_len = kind.response_len() - kind.blinded_len();
        assert_eq!(response.len(), request.len() - 3 + proof_len);
        assert!(request.len() <= 3 + 2 + LIMIT * kind.blinded_len());
    }
}

/// A response that finalizes is the issuer's.
fn response(golden: &Golden, bytes: &mut Unstructured<'_>, choice: usize) {
    let index = choice % golden.states.len();
    let pending = waiting(&golden.states[index]);
    let right = match index {
        0 => golden.key.issue(&pending.request()),
        _ => golden.key.issue_batch(&pending.request(), LIMIT),
    };
    let right = right.expect("a response");
    let response = edited(&right, bytes);
    match pending.finalize(&response) {
        Ok(tokens) => {
            assert_eq!(tokens[0], golden.token);
            assert_eq!(response, right, "only this response is right");
        }
        // The planted bug: the proof is ignored.
        Err(Error::Proof) if PLANTED => panic!("nobody proved it"),
        Err(_) => {}
    }
}

fn generic(golden: &Golden, bytes: &mut Unstructured<'_>) {
    let together = || {
        let pending = vec![waiting(&golden.states[0]), waiting(&golden.states[0])];
        GenericPending::together(pending).expect("two requests")
    };
    let find = |head: &_| (head == &head_of(golden)).then_some(&golden.key);
    let (pending, request) = together();
    let right = issue_generic(&request, LIMIT, find).expect("a response");
    if let Ok(tokens) = pending.finalize(&edited(&right, bytes)) {
        assert_eq!(tokens.len(), 2);
        tokens.iter().flatten().for_each(|token| {
            assert_eq!(*token, golden.token);
        });
    }
    let _ = issue_generic(&edited(&request, bytes), LIMIT, find);
}

fn head_of(golden: &Golden) -> sealstone_token::privacypass::RequestHead {
    sealstone_token::privacypass::RequestHead {
        token_type: golden.key.token_type(),
        truncated_key_id: golden.key.public_key().truncated_key_id(),
    }
}

/// An accepted token is the golden one.
fn token(golden: &Golden, bytes: &[u8]) {
    let Ok(token) = Token::decode(bytes) else {
        return;
    };
    assert_eq!(token.encode(), bytes);
    let is_golden = token == golden.token;
    assert_eq!(golden.key.verify(&token).is_ok(), is_golden);
    assert!(token.answers(&golden.challenge).is_ok() || !is_golden);
    assert_eq!(token.nullifier() == golden.token.nullifier(), {
        token.authenticator_input() == golden.token.authenticator_input()
    });
}

fn keys(golden: &Golden, bytes: &mut Unstructured<'_>) {
    let kind = golden.key.token_type();
    let public = edited(golden.key.public_key().as_bytes(), bytes);
    if let Ok(key) = IssuerPublicKey::decode(kind, &public) {
        assert_eq!(key.as_bytes(), public);
        // A client blinds for every accepted key. It may refuse a key with small primes.
        let _ = Pending::one(&key, &golden.challenge);
    }
    let secret = golden.key.encode().expect("bytes");
    let secret = edited(secret.expose(), bytes);
    if let Ok(key) = IssuerKey::decode(kind, &secret) {
        assert_eq!(key.encode().expect("bytes").expose(), secret);
    }
}

fn saved(state: &[u8]) {
    if let Ok(pending) = Pending::decode(state) {
        assert_eq!(pending.encode().expose(), state);
        assert_eq!(waiting(state).request(), pending.request());
    }
}

fn anything(golden: &Golden, bytes: &[u8]) {
    challenge(bytes);
    token(golden, bytes);
    saved(bytes);
    let _ = golden.key.issue(bytes);
    let _ = golden.key.issue_batch(bytes, LIMIT);
    let _ = waiting(&golden.states[0]).finalize(bytes);
    let _ = issue_generic(bytes, LIMIT, |_| Some(&golden.key));
}

/// Headers and directories have the same meaning after writing and parsing.
pub fn token_text(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    let golden = &GOLDEN[mode % 4];
    let text = match mode / 4 % 4 {
        0 => edited(challenges(golden).as_bytes(), &mut bytes),
        1 => edited(header::authorization(&golden.token).as_bytes(), &mut bytes),
        2 => edited(listed(golden).to_json().as_bytes(), &mut bytes),
        _ => bytes.take_rest().to_vec(),
    };
    let text = String::from_utf8_lossy(&text);
    read_challenges(&text);
    if let Ok(token) = header::parse_authorization(&text) {
        let again = header::parse_authorization(&header::authorization(&token));
        assert_eq!(again, Ok(token));
    }
    if let Ok(directory) = Directory::from_json(&text) {
        assert_eq!(Directory::from_json(&directory.to_json()), Ok(directory));
    }
}

/// Two challenges, and other schemes.
fn challenges(golden: &Golden) -> String {
    let offer = Offer {
        challenge: golden.challenge.clone(),
        token_key: Some(golden.key.public_key().as_bytes().to_vec()),
        max_age: Some(60),
    };
    let ours = header::challenge(&offer);
    format!("Negotiate YII==, {ours}, Basic realm=\"a, b\\\"\", {ours}")
}

fn listed(golden: &Golden) -> Directory {
    let schedule = sealstone_token::epoch::Schedule::new(1000, 100, 10, 20);
    let lifetime = schedule.expect("a schedule").lifetime(3);
    let key = DirectoryKey {
        key: golden.key.public_key(),
        not_before: Some(lifetime.not_before),
        lifetime: Some(lifetime),
    };
    Directory {
        request_uri: "/token-request".to_owned(),
        keys: vec![key],
    }
}

fn read_challenges(text: &str) {
    // PLANTED: the end of the header ends a quoted string.
    let read = match PLANTED {
        true => format!("{text}\""),
        false => text.to_owned(),
    };
    let Ok(offers) = header::parse_challenges(&read) else {
        return;
    };
    let quotes = text.matches('"').count();
    assert!(quotes.is_multiple_of(2) || text.contains('\\'));
    for offer in offers {
        let again = header::parse_challenges(&header::challenge(&offer));
        assert_eq!(again, Ok(vec![offer]));
    }
}
