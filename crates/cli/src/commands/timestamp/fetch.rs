//! `timestamp fetch`

use std::time::Duration;

use sealstone::timestamp::{
    Digests, Options, Refusal, Request, Response, Roots, check_answer, verify,
};
use sealstone_terminal::clock;
use serde_json::json;

use super::files;
use crate::args::{DataArgs, FetchArgs, NetworkArgs};
use crate::commands::message::{self, Form};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::network::{Client, RetryPolicy};

pub(super) fn run(args: &FetchArgs, context: &Context) -> Result<()> {
    let request = request(args)?;
    let roots = args.roots.as_deref().map(files::read_roots).transpose()?;
    let (response, authority) = ask_and_check(&args.network, &request, roots.as_ref(), context)?;
    message::write(&args.output, response.as_bytes(), Form::Message)?;
    message::done(
        &args.output,
        context,
        &format!("a timestamp of {authority}"),
        || json!({"authority": authority, "verified": roots.is_some()}),
    )
}

fn request(args: &FetchArgs) -> Result<Request> {
    if let Some(path) = &args.query {
        return files::read_request(path);
    }
    let data = DataArgs {
        data: args.data.clone(),
        digest_hex: args.digest_hex.clone(),
    };
    let hash = files::hash_of(&args.request, data.digest_hex.as_ref());
    let imprint = files::imprint(&files::digests(&data, &[hash])?, hash)?;
    Ok(Request::new(imprint, args.request.policy))
}

/// Asks the authorities in turn for a response that answers the request and that the roots trust.
pub(super) fn ask_and_check(
    network: &NetworkArgs,
    request: &Request,
    roots: Option<&Roots>,
    context: &Context,
) -> Result<(Response, String)> {
    let accept = |response: &Response| match roots {
        None => check_answer(response, request),
        Some(roots) => {
            let options = Options {
                now: Some(clock::now()),
                ..Options::answering(request)
            };
            let data = Digests::from_imprint(request.imprint.clone());
            verify(response, &data, roots, &options).map(drop)
        }
    };
    let answer = ask(network, request, accept, context)?;
    if roots.is_none() {
        context.warn("the timestamp was not verified: give --roots");
    }
    Ok(answer)
}

/// Asks the authorities in turn until one gives a response that `accept` accepts. Returns it with
/// the authority's address.
pub(super) fn ask(
    args: &NetworkArgs,
    request: &Request,
    accept: impl Fn(&Response) -> std::result::Result<(), Refusal>,
    context: &Context,
) -> Result<(Response, String)> {
    let client = Client::new(RetryPolicy {
        timeout: Duration::from_secs(args.timeout),
        retries: args.retries,
    });
    let query = request.encode();
    for url in &args.authorities {
        let response = client.stamp(url, &query).and_then(|bytes| {
            let response = Response::parse(&bytes).map_err(|refusal| refusal.to_string())?;
            accept(&response).map_err(|refusal| refusal.to_string())?;
            Ok(response)
        });
        match response {
            Ok(response) => return Ok((response, url.clone())),
            Err(why) => context.warn(&format!("{url}: {why}")),
        }
    }
    let count = args.authorities.len();
    let what = match count {
        1 => "the authority gave no timestamp".to_owned(),
        _ => format!("none of {count} authorities gave a timestamp"),
    };
    Err(Failure::new(Exit::Io, what).hint("try again later, or give another --tsa"))
}
