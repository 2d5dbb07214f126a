//! `hash --check`: compares files with their lines.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use sealstone_primitives::ct;
use serde_json::{Value, json};

use super::algorithm::{ARGUMENTS, Algorithm};
use super::arguments::Arguments;
use super::line::{Line, result_line};
use super::{hash_file, write_line};
use crate::args::HashFileArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::input::{Input, name_of};

/// Checks the files that the lines of `lists` name. Returns whether all are right.
pub(super) fn run(
    lists: &[PathBuf],
    args: &HashFileArgs,
    algorithm: &Algorithm,
    arguments: &Arguments,
    context: &Context,
) -> Result<bool> {
    let mut checker = Checker {
        args,
        algorithm,
        arguments,
        context,
        results: Vec::new(),
    };
    let mut all_well = true;
    for list in lists {
        match checker.list(list) {
            Ok(well) => all_well &= well,
            Err(failure) if failure.is_silent() => return Err(failure),
            Err(failure) => {
                context.report_as(&failure, Exit::DIFFERS);
                all_well = false;
            }
        }
    }
    if context.json() {
        let results = checker.results;
        context.print(String::new, || json!({"checked": results}))?;
    }
    Ok(all_well)
}

struct Checker<'a> {
    args: &'a HashFileArgs,
    algorithm: &'a Algorithm,
    arguments: &'a Arguments,
    context: &'a Context,
    /// For machines.
    results: Vec<Value>,
}

/// The results of one list.
#[derive(Default)]
struct Count {
    well_formed: u64,
    malformed: u64,
    /// Malformed lines that contain NUL.
    with_nul: u64,
    unreadable: u64,
    differing: u64,
    missing: u64,
    /// Differing files whose line does not name its algorithm.
    differing_bare: u64,
    right: u64,
}

/// The result of one line.
enum Verdict {
    Right,
    Differs,
    /// It could not be read, or needs other arguments; this has been reported.
    Unreadable,
    Missing,
}

/// Longer lines are malformed: a name has at most a few thousand bytes, a hash 16 MiB of digits.
const MAX_LINE: u64 = 1 << 25;

impl Checker<'_> {
    fn list(&mut self, path: &Path) -> Result<bool> {
        let name = name_of(path);
        let input = Input::open(Some(path), "the list")?;
        let mut lines = BufReader::new(&input);
        let end = if self.args.zero { 0 } else { b'\n' };
        let mut count = Count::default();
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            (&mut lines).take(MAX_LINE).read_until(end, &mut line)?;
            if line.is_empty() {
                break;
            }
            let is_cut = line.len() as u64 == MAX_LINE && !line.ends_with(&[end]);
            if is_cut {
                lines.skip_until(end)?;
            }
            let line = line.strip_suffix(&[end]).unwrap_or(&line);
            let is_empty = line.is_empty() || (line == b"\r" && !self.args.zero);
            if line.starts_with(b"#") || is_empty {
                continue;
            }
            let parsed = Line::parse(line, self.args.zero).filter(|_| !is_cut);
            match parsed.and_then(|line| self.complete(line)) {
                Some((line, algorithm)) => self.check(&line, &algorithm, &mut count)?,
                None => {
                    count.malformed += 1;
                    count.with_nul += u64::from(line.contains(&0));
                    if self.args.checking.warn {
                        self.context
                            .warn(&format!("{name}: line {number} is malformed"));
                    }
                }
            }
        }
        self.conclude(&name, &count)
    }

    /// The line and its algorithm: that of the options unless the line names one.
    fn complete(&self, line: Line) -> Option<(Line, Algorithm)> {
        let algorithm = line.algorithm.unwrap_or(*self.algorithm);
        (line.hash.len() == algorithm.output_bytes()).then_some((line, algorithm))
    }

    fn check(&mut self, line: &Line, algorithm: &Algorithm, count: &mut Count) -> Result<()> {
        let verdict = self.verdict(line, algorithm);
        let (counter, word) = match verdict {
            Verdict::Right => (&mut count.right, "OK"),
            Verdict::Differs => (&mut count.differing, "FAILED"),
            Verdict::Unreadable => (&mut count.unreadable, "FAILED open or read"),
            Verdict::Missing => (&mut count.missing, ""),
        };
        // The result is only about the beginning of the file.
        let word = match (&verdict, algorithm.message_bits) {
            (Verdict::Right, Some(bits)) => format!("{word} (first {bits} bits)"),
            _ => word.to_owned(),
        };
        *counter += 1;
        count.well_formed += 1;
        count.differing_bare +=
            u64::from(matches!(verdict, Verdict::Differs) && line.algorithm.is_none());
        if self.context.json() {
            self.results.push(json!({
                "name": line.path.to_string_lossy(),
                "algorithm": algorithm.to_string(),
                "result": kind(&verdict),
            }));
        }
        let wanted = match verdict {
            Verdict::Right => !self.context.quiet(),
            Verdict::Missing => false,
            _ => true,
        };
        if wanted && !self.args.checking.status && !self.context.json() {
            write_line(&result_line(&line.path, &word))?;
        }
        Ok(())
    }

    fn verdict(&self, line: &Line, algorithm: &Algorithm) -> Verdict {
        if self.args.checking.ignore_missing && is_missing(&line.path) {
            return Verdict::Missing;
        }
        let hash = self
            .matches_options(line, algorithm)
            .and_then(|()| hash_file(&line.path, algorithm, self.arguments, self.context));
        match hash {
            Ok(hash) if ct::eq(&hash.bytes, &line.hash) => Verdict::Right,
            Ok(_) => Verdict::Differs,
            Err(failure) => {
                if !self.args.checking.status {
                    self.context.report_as(&failure, Exit::DIFFERS);
                }
                Verdict::Unreadable
            }
        }
    }

    /// A line must have been made with exactly the given arguments. With a key, or an option that
    /// chooses the algorithm, it must also have the algorithm of the options: otherwise an attacker
    /// who alters the list could choose a shorter hash, or one without the key.
    fn matches_options(&self, line: &Line, algorithm: &Algorithm) -> Result<()> {
        let name = line.path.display();
        for ((argument, made), given) in ARGUMENTS
            .iter()
            .zip(algorithm.uses)
            .zip(self.algorithm.uses)
        {
            if made != given {
                let what = if made { "needs" } else { "was made without" };
                return Err(
                    Failure::usage(format!("its line {what} the argument `{argument}`"))
                        .about(name),
                );
            }
        }
        let is_told = self.algorithm.uses[0] || self.args.skein.chooses();
        if is_told && algorithm != self.algorithm {
            let failure = Failure::usage(format!(
                "its line is of {algorithm}, not of {}",
                self.algorithm
            ));
            let hint = match self.algorithm.uses[0] {
                true => "with a key, give the options that the lines were made with",
                false => {
                    "without --algorithm, --tree, --output-bits and --message-bits, lines say what they are"
                }
            };
            return Err(failure.hint(hint).about(name));
        }
        Ok(())
    }

    /// Reports what is wrong with a list. Returns whether nothing is.
    fn conclude(&self, name: &str, count: &Count) -> Result<bool> {
        if count.well_formed == 0 {
            let failure = Failure::usage("no well-formed line");
            return Err(match count.with_nul {
                0 => failure,
                _ => failure.hint("lines that end with NUL are checked with --zero"),
            }
            .about(name));
        }
        if self.args.checking.ignore_missing && count.missing == count.well_formed {
            return Err(Failure::usage("no file was verified").about(name));
        }
        let warnings = [
            (count.malformed, "line is malformed", "lines are malformed"),
            (
                count.unreadable,
                "file could not be checked",
                "files could not be checked",
            ),
            (
                count.differing,
                "file is NOT what its line says",
                "files are NOT what their lines say",
            ),
        ];
        for (n, one, many) in warnings
            .into_iter()
            .filter(|(n, ..)| *n > 0 && !self.args.checking.status)
        {
            self.context
                .warn(&format!("{n} {}", if n == 1 { one } else { many }));
        }
        if count.right == 0
            && count.differing_bare == count.well_formed
            && !self.args.checking.status
        {
            self.context.warn(&format!(
                "lines without the name of an algorithm are taken for {}",
                self.algorithm
            ));
        }
        let malformed = if self.args.checking.strict {
            count.malformed
        } else {
            0
        };
        Ok(count.unreadable + count.differing + malformed == 0)
    }
}

fn is_missing(path: &Path) -> bool {
    path != Path::new("-") && matches!(path.try_exists(), Ok(false))
}

fn kind(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "ok",
        Verdict::Differs => "differs",
        Verdict::Unreadable => "unreadable",
        Verdict::Missing => "missing",
    }
}
