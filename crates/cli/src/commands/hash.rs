//! `hash`: hashes of files, and checking files against them.

use std::io::{self, IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::thread;

use sealstone_skein::Output;
use sealstone_skein::tree::Start;
use serde_json::{Value, json};

use self::algorithm::{Algorithm, STANDARD};
use self::arguments::Arguments;
use self::line::{Style, digits};
use crate::args::{HashFileArgs, State, TreeValue};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::input::{DASH, Input, name_of};
use crate::io::output::print;
use crate::progress::{Counter, Progress};
use crate::text::printable;

mod algorithm;
mod arguments;
mod check;
mod line;
mod serial;

pub(super) fn run(args: &HashFileArgs, context: &Context) -> Result<()> {
    let arguments = Arguments::read(args, context)?;
    let algorithm = Algorithm::of(&args.skein, arguments.uses());
    let files = files(args);
    let all_well = match args.check {
        true => check::run(&files, args, &algorithm, &arguments, context)?,
        false => show(&files, args, &algorithm, &arguments, context)?,
    };
    match all_well {
        true => Ok(()),
        // As with sha256sum; what is wrong has been said.
        false => Err(Failure::silent(Exit::DIFFERS)),
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
            Ok(hash) => write_line(&style.line(algorithm, path, &hash.bytes))?,
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

/// Writes a line, on a terminal nothing that it would obey.
fn write_line(line: &[u8]) -> Result<()> {
    if stdout().is_terminal() {
        print(printable(&String::from_utf8_lossy(line)).as_bytes())
    } else {
        print(line)
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
    let input = Input::open(Some(path), "the message")?;
    let counter = Counter::default();
    let _progress = Progress::bytes(context, "hashing", input.remaining(), &counter);
    let parameters = arguments.parameters(algorithm);
    let is_parallel = algorithm.state == State::Skein512
        && algorithm.tree == Some(STANDARD)
        && algorithm.message_bits.is_none();
    let bytes = if is_parallel {
        let mut bytes = vec![0; algorithm.output_bytes()];
        hash_in_parallel(&input, &Start::with(&parameters), &counter)?.read(&mut bytes);
        bytes
    } else {
        let hash = serial::hash(&input, algorithm, &parameters, &counter);
        hash.map_err(|failure| match failure.exit {
            Exit::Usage => failure.about(name_of(path)),
            _ => failure,
        })?
    };
    Ok(Hash {
        bytes,
        size: counter.bytes(),
    })
}

/// The tree hash of the rest of `input`. Regular files are read at many places at the same time.
fn hash_in_parallel(input: &Input, start: &Start, counter: &Counter) -> io::Result<Output<8>> {
    let workers = threads().min(MAX_WORKERS);
    let from = input.position();
    match input.regular() {
        Some(_) => start.hash_at(
            &|at, bytes| {
                let n = input.read_at(bytes, from + at)?;
                counter.add(n as u64);
                Ok(n)
            },
            workers,
        ),
        None => start.hash_stream(&mut counter.count(input), workers),
    }
}

/// More threads than this hash faster than anything can be read.
const MAX_WORKERS: usize = 64;

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
