//! `timestamp attach`

use std::path::Path;

use sealstone::package::{Layer, Package, Verdict, Verifier};
use sealstone::timestamp::{Imprint, Request, Response, Roots, check_answer};
use sealstone_terminal::clock;
use sealstone_terminal::text::shown;
use serde_json::json;

use super::files;
use crate::args::{AttachArgs, NetworkArgs};
use crate::commands::stored::Stored;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::named::Parse;

pub(super) fn run(args: &AttachArgs, context: &Context) -> Result<()> {
    let stored = Stored::read(&args.package)?;
    let roots = args.roots.as_deref().map(files::read_roots).transpose()?;
    let data = stored.package.to_stamp();
    let response = match &args.response {
        Some(path) => read(path, &data)?,
        None => {
            let network = NetworkArgs::patient(args.authorities.clone());
            super::stamp(&data, &network, roots.as_ref(), context)?
        }
    };
    let mut package = stored.package.clone();
    package.attach_timestamp(response.as_bytes())?;
    match &roots {
        Some(roots) => must_hold(&package, roots).about(shown(&args.package))?,
        // Otherwise asking for the response has warned already.
        None if args.response.is_some() => {
            context.warn("the timestamp was not verified: give --roots");
        }
        None => {}
    }
    stored.replace(&package)?;
    let count = package.timestamps().len();
    let text = format!("{} has {count} timestamp(s)", shown(&args.package));
    context.result(&text, || {
        json!({"package": shown(&args.package), "timestamps": count, "verified": roots.is_some()})
    })
}

/// A response that covers `data`, no matter who made it.
fn read(path: &Path, data: &[u8]) -> Result<Response> {
    let read = |bytes: &[u8]| {
        let response = Response::parse(bytes)?;
        response.granted()?;
        let request = Request {
            imprint: Imprint::of(response.hash()?, data),
            policy: None,
            nonce: None,
            certificates: false,
        };
        check_answer(&response, &request)?;
        Ok::<_, sealstone::timestamp::Refusal>(response)
    };
    files::read_response(path)?.parse(read)
}

/// Refuses a timestamp that does not hold together with those before it.
fn must_hold(package: &Package, roots: &Roots) -> Result<()> {
    let report = Verifier::new().roots(roots, clock::now()).verify(package);
    let layer = report.layers.iter().find(|it| it.layer == Layer::Timestamp);
    match layer {
        Some(layer) if layer.verdict != Verdict::Good => {
            let what = format!("nothing was changed: {}", layer.reason);
            Err(Failure::new(Exit::Timestamp, what))
        }
        _ => Ok(()),
    }
}
