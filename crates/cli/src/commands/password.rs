//! `password …`: Argon2 (RFC 9106), for servers that store users' passwords and for deriving keys.

mod bench;
mod calibrate;
mod hash;
mod inputs;
mod verify;

use sealstone::{KdfLimits, MemorySize};
use sealstone_argon2::{Error, Params, Version};
use serde_json::{Value, json};

use crate::args::PasswordCommand;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

/// Runs one of them.
pub(crate) fn run(command: PasswordCommand, context: &Context) -> Result<()> {
    match command {
        PasswordCommand::Hash(args) => hash::run(&args, context),
        PasswordCommand::Verify(args) => verify::run(&args, context),
        PasswordCommand::Calibrate(args) => calibrate::run(&args, context),
        PasswordCommand::Bench(args) => bench::run(&args, context),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Parameter(_) | Error::TooLong(_) => Self::usage(text),
            Error::OutOfMemory(_) => Self::new(Exit::KeyDerivation, text)
                .hint("close other programs, or choose a smaller --profile or --memory-kib"),
            Error::Malformed(_) => Self::new(Exit::Format, text).hint(
                "one looks like '$argon2id$v=19$m=65536,t=3,p=1$SALT$HASH' (argon2i and argon2d too), in quotes where a shell reads it",
            ),
            Error::Limit { .. } => Self::new(Exit::KeyDerivation, text),
            Error::Mismatch => Self::new(Exit::Authentication, text),
            _ => Self::new(Exit::Internal, text),
        }
    }
}

/// The failure of a command that lacks the options with which `password hash` takes less memory.
fn short_of_memory(error: Error, hint: &str) -> Failure {
    match error {
        Error::OutOfMemory(_) => Failure::from(error).hint(hint),
        _ => error.into(),
    }
}

/// The least `--kdf-max-memory` for these parameters. It limits the memory, and the passes over it.
fn enough(params: &Params) -> MemorySize {
    KdfLimits::enough_for(params.memory_kib().into(), params.work_kib())
}

/// The number of threads that the option asks for, or of processors.
fn threads(option: Option<u16>) -> usize {
    option.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    )
}

/// `argon2id, 64 MiB, 3 iterations, 1 lane`.
fn describe(params: &Params) -> String {
    let count = |n: u32, word| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let version = match params.version() {
        Version::V0x13 => String::new(),
        Version::V0x10 => " of version 1.0".to_owned(),
    };
    format!(
        "{}{version}, {}, {}, {}",
        params.variant().name(),
        MemorySize(params.memory_kib().into()).spaced(),
        count(params.passes(), "iteration"),
        count(params.lanes(), "lane")
    )
}

/// The parameters for machines.
fn to_json(params: &Params) -> Value {
    json!({
        "variant": params.variant().name(),
        "version": params.version() as u32,
        "memory_kib": params.memory_kib(),
        "iterations": params.passes(),
        "parallelism": params.lanes(),
    })
}
