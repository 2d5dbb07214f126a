//! `token …`: anonymous tokens (RFC 9577, RFC 9578), each step with files.

mod challenge;
mod directory;
mod files;
mod finalize;
mod inspect;
mod issue;
mod keygen;
mod redeem;
mod request;

use sealstone_token::Error;

use crate::args::TokenCommand;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

/// Runs one of them.
pub(super) fn run(command: &TokenCommand, context: &Context) -> Result<()> {
    match command {
        TokenCommand::Keygen(args) => keygen::run(args, context),
        TokenCommand::Challenge(args) => challenge::run(args, context),
        TokenCommand::Request(args) => request::run(args, context),
        TokenCommand::Issue(args) => issue::run(args, context),
        TokenCommand::Finalize(args) => finalize::run(args, context),
        TokenCommand::Redeem(args) => redeem::run(args, context),
        TokenCommand::Directory(args) => directory::run(args, context),
        TokenCommand::Inspect(args) => inspect::run(args, context),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Proof => Self::new(Exit::Authentication, text)
                .hint("the issuer used another key, or its response was changed: ask again"),
            Error::WrongKey => Self::new(Exit::Authentication, text)
                .hint("give the key with this identifier; `sealstone token inspect` shows it"),
            Error::WrongChallenge | Error::Forged | Error::Refused | Error::NoEpoch => {
                Self::new(Exit::Authentication, text)
            }
            Error::NotPublic => Self::usage(text).hint("give the issuer's secret key"),
            Error::NoBatch | Error::NotDerived => Self::usage(text),
            _ => {
                Self::new(Exit::Format, text).hint("`sealstone token inspect` says what a file is")
            }
        }
    }
}

/// Hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
