//! `selftest --proofs`: whether the machine code of this program is code that was proved.
//!
//! The list of proved functions is what `sealstone-prove --write-json` writes; the one in this
//! program was taken from there by `cargo xtask assurance --proofs`.

use sealstone_primitives::hash::sha256;
use sealstone_proved::{Kernel, List, Program};
use serde_json::{Value, json};
use std::path::Path;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

const PROVED: &str = include_str!("proved.json");

/// The command's name in lists of proofs.
const COMMAND: &str = "sealstone";

/// Compares this program with its own list, or with that of `file`.
pub(super) fn run(file: Option<&Path>, context: &Context) -> Result<()> {
    let proved = match file {
        None => PROVED.into(),
        Some(file) => std::fs::read_to_string(file)
            .map_err(|error| Failure::new(Exit::Io, format!("{}: {error}", file.display())))?,
    };
    let path = std::env::current_exe().map_err(|error| unreadable(&error.to_string()))?;
    let bytes = std::fs::read(&path).map_err(|error| unreadable(&error.to_string()))?;
    let program = Program::parse(&bytes, |bytes| sha256(&[bytes]));
    let program = program.map_err(|why| unreadable(&why.to_string()))?;
    conclude(&list(&proved)?, &program, context)
}

fn unreadable(why: &str) -> Failure {
    let what = format!("cannot check the machine code of this program: {why}");
    Failure::new(Exit::Io, what)
        .hint("proofs are about programs for x86-64 Linux that still have their symbols")
}

fn list(text: &str) -> Result<List> {
    List::read(text, COMMAND).ok_or_else(|| {
        Failure::new(Exit::Format, "this is not a list of proofs")
            .hint("`make prove` writes one: target/proofs.json")
    })
}

fn conclude(list: &List, program: &Program<'_>, context: &Context) -> Result<()> {
    let found = |kernel| (kernel, program.has_kernel(kernel));
    let kernels: Vec<(&Kernel, bool)> = list.kernels.iter().map(found).collect();
    let proved = kernels.iter().all(|(_, is_here)| *is_here);
    let text = || kernels.iter().copied().map(line).collect();
    context.print(text, || {
        let kernels: Vec<Value> = kernels.iter().copied().map(value).collect();
        json!({ "proved": proved, "kernels": kernels })
    })?;
    if proved {
        return Ok(());
    }
    let what = "not all kernels of this program have the proved machine code";
    Err(Failure::new(Exit::Internal, what).hint(
        "another compiler makes other machine code: `make prove` proves it and lists it in \
         target/proofs.json",
    ))
}

fn digests(kernel: &Kernel) -> impl Iterator<Item = &str> {
    kernel.functions.iter().map(|function| &function.sha256[..])
}

fn line((kernel, is_here): (&Kernel, bool)) -> String {
    let word = if is_here { "proved " } else { "UNKNOWN" };
    let short = digests(kernel).map(|digest| digest.get(..16).unwrap_or(digest));
    let short: Vec<&str> = short.collect();
    let (name, set) = (&kernel.name, &kernel.set);
    format!("{word} {name:32} {set:8} {}\n", short.join(" "))
}

fn value((kernel, is_here): (&Kernel, bool)) -> Value {
    json!({
        "kernel": kernel.name,
        "instruction_set": kernel.set,
        "proved": is_here,
        "sha256": digests(kernel).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_this_program_has_kernels_with_functions() {
        let kernels = list(PROVED).unwrap().kernels;
        assert!(kernels.len() > 30, "{} kernels", kernels.len());
        assert!(kernels.iter().all(|kernel| kernel.is_proved));
    }

    #[test]
    fn a_file_that_is_no_list_is_refused() {
        assert_eq!(list("{}").unwrap_err().exit, Exit::Format);
    }
}
