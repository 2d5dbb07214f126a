//! `timestamp request`

use sealstone::timestamp::{Digests, Request};
use serde_json::json;

use super::files;
use crate::args::{Hex, StampRequestArgs};
use crate::commands::message::{self, Form};
use crate::commands::stored::Stored;
use crate::context::Context;
use crate::failure::Result;

pub(super) fn run(args: &StampRequestArgs, context: &Context) -> Result<()> {
    let hash = files::hash_of(&args.query, args.data.digest_hex.as_ref());
    let digests = match &args.package {
        Some(path) => Digests::of(&[hash], &Stored::read(path)?.package.to_stamp()),
        None => files::digests(&args.data, &[hash])?,
    };
    let imprint = match args.renew.is_empty() {
        true => files::imprint(&digests, hash)?,
        false => files::read_chain(&args.renew)?.renewal(&digests, hash)?,
    };
    let digest = Hex::encode(imprint.digest());
    let request = Request::new(imprint, args.query.policy);
    message::write(&args.output, &request.encode(), Form::Message)?;
    message::done(
        &args.output,
        context,
        "a request for a timestamp",
        || json!({"hash": hash.to_string(), "digest": digest}),
    )
}
