//! `token issue`

use sealstone_token::Error;
use sealstone_token::privacypass::{IssuerKey, RequestHead, issue_generic};
use serde_json::json;

use super::files::{self, Form};
use crate::args::IssueArgs;
use crate::context::Context;
use crate::failure::Result;
use crate::named::Parse;

pub(super) fn run(args: &IssueArgs, context: &Context) -> Result<()> {
    let keys: Vec<IssuerKey> = args
        .keys
        .iter()
        .map(|path| files::read_key(path, context))
        .collect::<Result<_>>()?;
    let request = files::read(&args.request, "the request")?;
    let limit = usize::from(args.limit);
    let response = request.parse(|bytes| answer(bytes, &keys, limit))?;
    files::write(&args.output, &response, Form::Message)?;
    files::done(
        &args.output,
        context,
        "a response",
        || json!({"bytes": response.len()}),
    )
}

/// The response to any form of request: their beginnings and lengths tell them apart.
fn answer(request: &[u8], keys: &[IssuerKey], limit: usize) -> Result<Vec<u8>, Error> {
    let find = |head: &RequestHead| {
        keys.iter().find(|key| {
            key.token_type() == head.token_type
                && key.public_key().truncated_key_id() == head.truncated_key_id
        })
    };
    match RequestHead::of(request) {
        Ok(head) => {
            let key = find(&head).ok_or(Error::WrongKey)?;
            match request.len() == 3 + head.token_type.blinded_len() {
                true => key.issue(request),
                false => key.issue_batch(request, limit),
            }
        }
        // A request for several keys begins with a length, which is not a type.
        Err(error) => issue_generic(request, limit, find).map_err(|other| match other {
            Error::Malformed(_) => error,
            other => other,
        }),
    }
}
