//! `timestamp renew`

use sealstone::timestamp::{Chain, Options, Refusal, Request, Response};
use sealstone_terminal::clock;
use serde_json::json;

use super::{fetch, files};
use crate::args::RenewArgs;
use crate::commands::message::{self, Form};
use crate::context::Context;
use crate::failure::Result;

pub(super) fn run(args: &RenewArgs, context: &Context) -> Result<()> {
    let roots = files::read_roots(&args.roots)?;
    let chain = files::read_chain(&args.responses)?;
    let hash = files::hash_of(&args.request, args.data.digest_hex.as_ref());
    let mut hashes = chain.hashes()?;
    hashes.push(hash);
    hashes.dedup();
    let digests = files::digests(&args.data, &hashes)?;
    // A chain that has ended already cannot be renewed: its certificates have to be valid now.
    let now = Some(clock::now());
    let today = Options {
        now,
        also_valid_at: now,
        ..Options::default()
    };
    chain.verify(&digests, &roots, &today)?;
    let request = Request::new(chain.renewal(&digests, hash)?, args.request.policy);
    let options = Options {
        now,
        ..Options::answering(&request)
    };
    let accept = |response: &Response| -> std::result::Result<(), Refusal> {
        let mut renewed = Chain::new(chain.responses().to_vec())?;
        renewed.push(response.clone())?;
        let verified = renewed.verify(&digests, &roots, &options);
        verified.map(drop).map_err(|refused| refused.refusal)
    };
    let (response, authority) = fetch::ask(&args.network, &request, accept, context)?;
    message::write(&args.output, response.as_bytes(), Form::Message)?;
    message::done(
        &args.output,
        context,
        &format!("a renewal by {authority}"),
        || json!({"authority": authority, "responses": chain.responses().len() + 1}),
    )
}
