//! `keys …`

mod change;
mod own;
mod show;

use sealstone::trust::Status;

use crate::args::KeysCommand;
use crate::context::Context;
use crate::failure::Result;

/// Runs one of them.
pub(crate) fn run(command: KeysCommand, context: &Context) -> Result<()> {
    match command {
        KeysCommand::List => show::list(context),
        KeysCommand::Show(args) => show::one(&args, context),
        KeysCommand::Set(args) => change::set(&args, context),
        KeysCommand::Rotate(args) => change::rotate(&args, context),
        KeysCommand::Deprecate(args) => change::deprecate(&args, context),
        KeysCommand::Revoke(args) => change::end(&args, Status::Revoked, context),
        KeysCommand::Compromised(args) => change::end(&args, Status::Compromised, context),
    }
}
