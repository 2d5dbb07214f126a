//! The command `sealstone`.
#![forbid(unsafe_code)]

mod args;
mod clock;
mod commands;
mod context;
mod exit;
mod hardening;
mod identity;
mod io;
mod message;
mod passphrase;
mod paths;
mod progress;
mod signals;
mod trust;
mod trust_storage;

use std::process::ExitCode;

use clap::Parser;

use args::Cli;
use context::Context;
use exit::Exit;
use message::Failure;

fn main() -> ExitCode {
    hardening::apply();
    signals::install();
    message::report_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => return message::report_usage(&e),
    };
    let context = Context::new(&cli.global);
    let done = std::panic::catch_unwind(|| commands::run(cli.command, &context));
    match done.unwrap_or_else(|_| Err(Failure::silent(Exit::Internal))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => context.report(&failure),
    }
}
