//! `hash`: hashes of files, and checking files against them.

use std::io::{self, ErrorKind, IsTerminal, stdout};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;

use sealstone_files::Input;
use sealstone_skein::sums::{Algorithm, Arguments, ReadAt, STANDARD, State, Style, Uses, digits};
use sealstone_terminal::progress::{Counter, Progress};
use sealstone_terminal::text::printable;
use serde_json::{Value, json};

use crate::args::{HashFileArgs, SkeinArgs, TreeValue};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::output::print;
use crate::io::{DASH, input};

mod arguments;
mod check;

pub(super) fn run(args: &HashFileArgs, context: &Context) -> Result<()> {
    let arguments = arguments::read(args, context)?;
    let algorithm = algorithm(&args.skein, arguments.uses());
    let files = files(args);
    let all_well = match args.check {
        true => check::run(&files, args, algorithm, &arguments, context)?,
        false => show(&files, args, &algorithm, &arguments, context)?,
    };
    match all_well {
        true => Ok(()),
        // As with sha256sum. The errors have been printed.
        false => Err(Failure::silent(Exit::DIFFERS)),
    }
}

/// The algorithm that the options choose.
fn algorithm(args: &SkeinArgs, uses: Uses) -> Algorithm {
    let state = args.algorithm.unwrap_or(State::Skein512);
    let tree = match &args.tree {
        Some(Some(TreeValue::Shape(shape))) => Some(*shape),
        Some(_) => Some(STANDARD),
        None => args.algorithm.is_none().then_some(STANDARD),
    };
    Algorithm {
        state,
        output_bits: args.output_bits.unwrap_or(state.bits()),
        tree,
        uses,
        message_bits: args.message_bits,
    }
}

/// The files that are named; a file may stand behind `--tree`.
fn files(args: &HashFileArgs) -> Vec<PathBuf> {
    let mut files = args.files.clone();
    if let Some(Some(TreeValue::File(first))) = &args.skein.tree {
        files.insert(0, first.clone());
    }
    if files.is_empty() {
        files.push(DASH.into());
    }
    files
}

/// Writes a line for every file. Whether all could be read.
fn show(
    files: &[PathBuf],
    args: &HashFileArgs,
    algorithm: &Algorithm,
    arguments: &Arguments,
    context: &Context,
) -> Result<bool> {
    let style = Style {
        tag: args.tag || *algorithm != Algorithm::BARE && !args.untagged,
        zero: args.zero,
    };
    let mut results = Vec::new();
    let mut all_well = true;
    for path in files {
        match hash_file(path, algorithm, arguments, context) {
            Ok(hash) if context.json() => results.push(entry(path, &hash)),
            Ok(hash) => {
                write_line(&style.line(algorithm, path.as_os_str().as_bytes(), &hash.bytes))?;
            }
            Err(failure) => {
                context.report_as(&failure, Exit::DIFFERS);
                all_well = false;
            }
        }
    }
    if context.json() {
        context.print(
            String::new,
            || json!({"algorithm": algorithm.to_string(), "files": results}),
        )?;
    }
    Ok(all_well)
}

fn entry(path: &Path, hash: &Hash) -> Value {
    json!({"name": path.to_string_lossy(), "size": hash.size, "hash": digits(&hash.bytes)})
}

/// Writes a line. A terminal gets its printable form.
fn write_line(line: &[u8]) -> Result<()> {
    if stdout().is_terminal() {
        Ok(print(printable(&String::from_utf8_lossy(line)).as_bytes())?)
    } else {
        Ok(print(line)?)
    }
}

/// The hash of a file, and how many bytes were read for it.
struct Hash {
    bytes: Vec<u8>,
    size: u64,
}

fn hash_file(
    path: &Path,
    algorithm: &Algorithm,
    arguments: &Arguments,
    context: &Context,
) -> Result<Hash> {
    let input = input::open(path, "the message")?;
    let counter = Counter::default();
    let _progress = Progress::bytes(context.progress(), "hashing", input.remaining(), &counter);
    let from = input.position();
    let read_at = |at, bytes: &mut [u8]| {
        let n = input.read_at(bytes, from + at)?;
        counter.add(n as u64);
        Ok(n)
    };
    // A regular file is read at many places at the same time.
    let read_at: Option<&ReadAt<'_>> = input.regular().is_some().then_some(&read_at);
    let hash = algorithm.hash(
        arguments,
        counter.count(&input),
        read_at,
        threads().min(MAX_WORKERS),
    );
    Ok(Hash {
        bytes: hash.map_err(|e| explain(e, &input))?,
        size: counter.bytes(),
    })
}

fn explain(error: io::Error, input: &Input) -> Failure {
    match error.kind() {
        ErrorKind::UnexpectedEof => Failure::usage(error.to_string())
            .hint("give fewer --message-bits")
            .about(input.name()),
        _ => error.into(),
    }
}

/// More threads than this hash faster than anything can be read.
const MAX_WORKERS: usize = 64;

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
