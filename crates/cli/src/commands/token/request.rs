//! `token request`

use sealstone_token::privacypass::{IssuerPublicKey, Pending};
use serde_json::json;

use super::files::{self, Form, Secrecy};
use super::hex;
use crate::args::RequestArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::io::keep;

pub(super) fn run(args: &RequestArgs, context: &Context) -> Result<()> {
    keep::must_be_new([args.state.as_path()])?;
    let offer = files::read_challenge(&args.challenge)?;
    let key = match (&args.key, &offer.token_key) {
        (Some(path), _) => files::read_public(path)?,
        (None, Some(bytes)) => IssuerPublicKey::decode(offer.challenge.token_type()?, bytes)?,
        (None, None) => {
            return Err(
                Failure::usage("the challenge does not hold the issuer's key")
                    .hint("give it with --key KEY.pub"),
            );
        }
    };
    let (pending, request) = match args.count {
        1 => Pending::one(&key, &offer.challenge)?,
        count => Pending::batch(&key, &offer.challenge, usize::from(count))?,
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
