//! `timestamp …`: RFC 3161 (`spec/timestamp.md`).

mod attach;
mod fetch;
mod files;
mod renew;
mod request;
mod verify;

use sealstone::timestamp::{ChainRefusal, Imprint, Refusal, Request, Response, Roots, Sha2};

use crate::args::{NetworkArgs, TimestampCommand};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

pub(super) use files::read_roots;

/// Has one of the authorities attest that `data` exists now.
pub(super) fn stamp(
    data: &[u8],
    network: &NetworkArgs,
    roots: Option<&Roots>,
    context: &Context,
) -> Result<Response> {
    let request = Request::new(Imprint::of(Sha2::Sha256, data), None);
    let (response, _) = fetch::ask_and_check(network, &request, roots, context)?;
    Ok(response)
}

/// Runs one of them.
pub(super) fn run(command: &TimestampCommand, context: &Context) -> Result<()> {
    match command {
        TimestampCommand::Request(args) => request::run(args, context),
        TimestampCommand::Fetch(args) => fetch::run(args, context),
        TimestampCommand::Verify(args) => verify::run(args, context),
        TimestampCommand::Attach(args) => attach::run(args, context),
        TimestampCommand::Renew(args) => renew::run(args, context),
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let failure = Self::new(exit_of(&refusal), refusal.to_string());
        match hint(&refusal) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<ChainRefusal> for Failure {
    fn from(refused: ChainRefusal) -> Self {
        let failure = Self::new(exit_of(&refused.refusal), refused.to_string());
        match hint(&refused.refusal) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn exit_of(refusal: &Refusal) -> Exit {
    match refusal {
        Refusal::TooLong | Refusal::Malformed(_) => Exit::Format,
        _ => Exit::Authentication,
    }
}

fn hint(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::NoPath(_) => {
            Some("add the authority's root, or the certificates between, to --roots")
        }
        Refusal::SignerCertificateMissing => Some("add the authority's certificate to --roots"),
        Refusal::Future => Some("set the clock of this computer"),
        Refusal::DataNeeded(_) => Some("give the data itself instead of --digest-hex"),
        _ => None,
    }
}
