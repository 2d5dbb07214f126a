//! `token request`

use sealstone_files::keep;
use sealstone_terminal::clock;
use sealstone_token::Error;
use sealstone_token::privacypass::header::Offer;
use sealstone_token::privacypass::{IssuerPublicKey, Pending, TokenChallenge};
use serde_json::json;

use super::files::{self, Form, Secrecy};
use super::hex;
use crate::args::RequestArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

pub(super) fn run(args: &RequestArgs, context: &Context) -> Result<()> {
    keep::must_be_new([args.state.as_path()])?;
    let (key, challenge) = choose(args)?;
    let (pending, request) = match args.count {
        1 => Pending::one(&key, &challenge)?,
        count => Pending::batch(&key, &challenge, usize::from(count))?,
    };
    // The state first: an answer to a request without one would be of no use.
    files::write_secret(&args.state, Secrecy::State, pending.encode().expose())?;
    files::write(&args.output, &request, Form::Message)?;
    let tokens = if args.count == 1 {
        "one token".to_owned()
    } else {
        format!("{} tokens", args.count)
    };
    files::done(
        &args.output,
        context,
        &format!("a request for {tokens}"),
        || {
            json!({
                "token_type": key.token_type().number(),
                "key_id": hex(key.id()),
                "count": args.count,
                "state": args.state.display().to_string(),
            })
        },
    )
}

/// Chooses one of the challenges that the origin offers, one that can be answered, and the key for
/// it.
fn choose(args: &RequestArgs) -> Result<(IssuerPublicKey, TokenChallenge)> {
    let mut offers = files::read_offers(&args.challenge)?;
    if let Some(origin) = &args.origin {
        offers.retain(|offer| offer.challenge.is_for(origin));
    }
    if offers.is_empty() {
        let what = "the challenge is for other hosts than this origin";
        return Err(Failure::new(Exit::Authentication, what).about(offers.name()));
    }
    if let Some(path) = &args.key {
        let key = files::read_public(path)?;
        let offer = offers.iter().find(|offer| asks_for(offer, &key));
        return offers.look(|offers| agreed(key, offer.unwrap_or(&offers[0])));
    }
    if let Some(path) = &args.directory {
        let (directory, now) = (files::read_directory(path)?, clock::now());
        let key = |offer: &Offer| {
            let token_type = offer.challenge.token_type().ok()?;
            Some((directory.key(token_type, now)?.clone(), offer.clone()))
        };
        let (key, offer) = offers.iter().find_map(key).ok_or_else(no_listed_key)?;
        return offers.look(|_| agreed(key, &offer));
    }
    let offer = offers.iter().find(|offer| offer.token_key.is_some());
    let (offer, bytes) = offer
        .and_then(|offer| Some((offer, offer.token_key.as_deref()?)))
        .ok_or_else(no_key)?;
    let key = IssuerPublicKey::decode(offer.challenge.token_type()?, bytes)?;
    Ok((key, offer.challenge.clone()))
}

/// The key, unless the origin names another one. Such an origin would not accept the token, or it
/// gives each of its clients a different key, by which it recognises the client.
fn agreed(key: IssuerPublicKey, offer: &Offer) -> Result<(IssuerPublicKey, TokenChallenge)> {
    let other = offer
        .token_key
        .as_deref()
        .filter(|it| *it != key.as_bytes());
    if asks_for(offer, &key) && other.is_some() {
        let what = "the challenge names another key of the issuer";
        return Err(Failure::new(Exit::Authentication, what)
            .hint("get the issuer's present directory, and a new challenge"));
    }
    Ok((key, offer.challenge.clone()))
}

fn asks_for(offer: &Offer, key: &IssuerPublicKey) -> bool {
    offer.challenge.token_type() == Ok(key.token_type())
}

fn no_key() -> Failure {
    Failure::usage("the challenge does not hold the issuer's key")
        .hint("give it with --key KEY.pub, or the issuer's list of keys with --directory LIST")
}

fn no_listed_key() -> Failure {
    Failure::from(Error::NoEpoch).hint("get the issuer's present directory")
}
