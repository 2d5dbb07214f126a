//! The whole lifecycle of a token in one process: challenge, blind, evaluate, finalize, redeem. A
//! second redemption is refused.
//!
//! Run with `cargo run --release -p sealstone-token --example token_lifecycle`.

use std::collections::HashSet;
use std::time::Instant;

use sealstone_token::Error;
use sealstone_token::privacypass::{IssuerKey, Pending, Token, TokenChallenge, TokenType};

fn main() -> Result<(), Error> {
    for token_type in [TokenType::VoprfP384, TokenType::BlindRsa2048] {
        println!("  {token_type}");
        let issuer = IssuerKey::generate(token_type)?;
        lifecycle(&issuer)?;
    }
    batch()
}

/// One token of this issuer, from its challenge to its second redemption.
fn lifecycle(issuer: &IssuerKey) -> Result<(), Error> {
    let mut spent = HashSet::new();
    let token_type = issuer.token_type();

    let (challenge, time) =
        timed(|| TokenChallenge::new(token_type, "issuer.example", None, &["shop.example"]));
    let challenge = challenge?;
    step("origin", "asks for a token", challenge.encode().len(), time);

    let (asked, time) = timed(|| Pending::one(&issuer.public_key(), &challenge));
    let (pending, request) = asked?;
    step("client", "blinds its token", request.len(), time);

    let (response, time) = timed(|| issuer.issue(&request));
    let response = response?;
    step(
        "issuer",
        "evaluates or signs it, unseen",
        response.len(),
        time,
    );

    let (tokens, time) = timed(|| pending.finalize(&response));
    let token = tokens?.remove(0).encode();
    step(
        "client",
        "checks that, takes the blind off",
        token.len(),
        time,
    );

    for turn in ["first", "second"] {
        let (result, time) = timed(|| redeem(issuer, &challenge, &token, &mut spent));
        let verdict = match result? {
            true => "accepts the token",
            false => "refuses it: it was redeemed before",
        };
        println!("    origin   {verdict:<34} {turn} time {time:>12.1} µs");
    }
    Ok(())
}

/// Whether the token is good and new.
fn redeem(
    issuer: &IssuerKey,
    challenge: &TokenChallenge,
    token: &[u8],
    spent: &mut HashSet<[u8; 32]>,
) -> Result<bool, Error> {
    let token = Token::decode(token)?;
    token.answers(challenge)?;
    issuer.verify(&token)?;
    Ok(spent.insert(token.nullifier()))
}

/// A thousand tokens with one proof, on all processors.
fn batch() -> Result<(), Error> {
    const COUNT: usize = 1000;
    let issuer = IssuerKey::generate(TokenType::VoprfRistretto255)?;
    let challenge = TokenChallenge::new(issuer.token_type(), "issuer.example", None, &[])?;
    let (pending, request) = Pending::batch(&issuer.public_key(), &challenge, COUNT)?;
    let (response, time) = timed(|| issuer.issue_batch(&request, COUNT));
    println!("  {COUNT} tokens with one proof, {}", issuer.token_type());
    let rate = COUNT as f64 / time * 1e6;
    println!(
        "    issuer   {:<34} {rate:.0} tokens a second",
        "evaluates all of them"
    );
    let (tokens, time) = timed(|| pending.finalize(&response?));
    let rate = tokens?.len() as f64 / time * 1e6;
    println!(
        "    client   {:<34} {rate:.0} tokens a second",
        "checks the proof, finalizes"
    );
    Ok(())
}

fn step(who: &str, what: &str, bytes: usize, micros: f64) {
    println!("    {who}   {what:<34} {bytes:>4} bytes {micros:>12.1} µs");
}

/// A result, and the microseconds that it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e6)
}
