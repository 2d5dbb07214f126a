//! The verbs, one file each.

mod agent;
mod batch;
mod completions;
mod edit;
mod hash;
mod inspect;
mod keys;
mod list;
mod manual;
mod message;
mod monitor;
mod open;
mod package;
mod passport;
mod password;
mod reseal;
mod seal;
mod selftest;
mod stored;
mod timestamp;
mod token;
mod trust;

use crate::args::Command;
use crate::context::Context;
use crate::failure::Result;

/// Runs one command.
pub(crate) fn run(command: Command, context: &Context) -> Result<()> {
    match command {
        Command::Passport(command) => passport::run(command, context),
        Command::Seal(args) => seal::run(&args, context),
        Command::Open(args) => open::run(&args, context),
        Command::List(args) => list::run(&args, context),
        Command::Edit(args) => edit::run(&args, context),
        Command::Reseal(args) => reseal::run(&args, context),
        Command::Agent(args) => agent::run(&args, context),
        Command::Inspect(args) => inspect::run(&args, context),
        Command::Sign(args) => package::sign(&args, context),
        Command::Verify(args) => package::verify(&args, context),
        Command::Policy(command) => package::policy(command, context),
        Command::Monitor(command) => monitor::run(&command, context),
        Command::Keys(command) => keys::run(command, context),
        Command::Trust(command) => trust::run(command, context),
        Command::Password(command) => password::run(command, context),
        Command::Timestamp(command) => timestamp::run(&command, context),
        Command::Token(command) => token::run(&command, context),
        Command::Hash(args) => hash::run(&args, context),
        Command::Selftest(args) => selftest::run(&args, context),
        Command::Completions { shell } => completions::script(shell),
        Command::Contacts => completions::contacts(context),
        Command::Man { dir } => manual::pages(dir.as_deref(), context),
    }
}
