//! `passport …`

mod backup;
mod creation;
mod export;
mod new;
mod restore;
mod rotate;
mod share;
pub(super) mod show;
mod slot;

use crate::args::PassportCommand;
use crate::context::Context;
use crate::failure::Result;

/// Runs one of them.
pub(crate) fn run(command: PassportCommand, context: &Context) -> Result<()> {
    match command {
        PassportCommand::New(args) => new::run(&args, context),
        PassportCommand::Show(args) => show::run(&args, context),
        PassportCommand::Export(args) => export::run(&args, context),
        PassportCommand::Slot(command) => slot::run(command, context),
        PassportCommand::Rotate(args) => rotate::run(&args, context),
        PassportCommand::Split(args) => share::split(&args, context),
        PassportCommand::Join(args) => share::join(&args, context),
        PassportCommand::Backup(args) => backup::run(&args, context),
        PassportCommand::Restore(args) => restore::run(&args, context),
        PassportCommand::Unlock(args) => super::agent::unlock(&args, context),
        PassportCommand::Lock(args) => super::agent::lock(&args, context),
    }
}
