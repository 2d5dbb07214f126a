//! `password verify`

use std::path::Path;

use sealstone::{KdfLimits, MemorySize};
use sealstone_argon2::{Limits, PasswordHasher, PhcString};
use serde_json::json;

use super::inputs::Inputs;
use super::{describe, enough, short_of_memory, to_json};
use crate::args::VerifyArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::input;
use crate::named::Parse;
use crate::passphrase::Asking;

/// A longer file is rejected: it is not a PHC string.
const MAX_LEN: usize = 4096;

pub(super) fn run(args: &VerifyArgs, context: &Context) -> Result<()> {
    let wanted = args.cost.params()?;
    let text = match &args.hash_file {
        Some(path) => read(path)?,
        None => args.hash.clone().unwrap_or_default(),
    };
    let stored: PhcString = text.parse()?;
    let limits = limits(args.kdf_max_memory);
    // Checked before the password is asked for.
    limits.check(stored.params()).map_err(|error| {
        let enough = enough(stored.params());
        Failure::from(error).hint(format!(
            "if you trust where it comes from, allow it with --kdf-max-memory {enough}"
        ))
    })?;
    let inputs = Inputs::read(&args.inputs, Asking::Once, context)?;
    let verified = inputs.with_argon2(stored.params(), context, |argon2, arena| {
        let hasher = PasswordHasher::with(argon2).limits(limits);
        hasher.verify(&inputs.password, &text, arena).map(drop)
    });
    verified.map_err(|error| {
        let hint = "close other programs, or use a machine with more memory";
        short_of_memory(error, hint)
    })?;
    let outdated = PasswordHasher::new(wanted).needs_rehash(&text)?;
    context.say("the password is the right one");
    if outdated {
        let (old, new) = (describe(stored.params()), describe(&wanted));
        let why = match old == new {
            true if !text.contains("$v=") => {
                "its text names no version, so it is of Argon2 1.0".to_owned()
            }
            true => "its salt or its hash is shorter than in new hashes".to_owned(),
            false => format!("it was made with {old}; new hashes use {new}"),
        };
        context.say(&format!("{why}: hash it again while you have it"));
    }
    context.print(String::new, || {
        json!({"verified": true, "needs_rehash": outdated, "parameters": to_json(stored.params())})
    })
}

fn read(path: &Path) -> Result<String> {
    let file = input::read(path, "the hash", MAX_LEN)?;
    let text = file.parse(|bytes| {
        std::str::from_utf8(bytes)
            .map_err(|_| Failure::new(Exit::Format, "not an Argon2 password hash"))
    })?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn limits(memory: Option<MemorySize>) -> Limits {
    let raised = |MemorySize(memory_kib)| {
        let KdfLimits { work_kib, .. } = KdfLimits::of_memory(memory_kib);
        Limits {
            memory_kib,
            work_kib,
        }
    };
    memory.map_or_else(Limits::default, raised)
}
