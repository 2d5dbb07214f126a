//! `hash --check`: compares files with their lines.

use std::ffi::OsStr;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sealstone_primitives::ct;
use sealstone_skein::sums::{
    Algorithm, Arguments, ChecksumLine, Count, Expected, Found, Lines, Refusal, Verdict,
    result_line,
};
use serde_json::{Value, json};

use super::{hash_file, write_line};
use crate::args::HashFileArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::input;

/// Checks the files that the lines of `lists` name. Returns whether all are right.
pub(super) fn run(
    lists: &[PathBuf],
    args: &HashFileArgs,
    algorithm: Algorithm,
    arguments: &Arguments,
    context: &Context,
) -> Result<bool> {
    let mut checker = Checker {
        args,
        expected: Expected {
            algorithm,
            chosen: args.skein.chooses(),
        },
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
    expected: Expected,
    arguments: &'a Arguments,
    context: &'a Context,
    /// For machines.
    results: Vec<Value>,
}

impl Checker<'_> {
    fn list(&mut self, path: &Path) -> Result<bool> {
        let input = input::open(path, "the list")?;
        let name = input.name();
        let mut count = Count::default();
        let lines = Lines::new(BufReader::new(&input), self.expected, self.args.zero);
        for found in lines {
            match found? {
                Found::Checksum(line, algorithm) => self.check(&line, &algorithm, &mut count)?,
                Found::Malformed { number, with_nul } => {
                    count.add_malformed(with_nul);
                    if self.args.checking.warn {
                        self.context
                            .warn(&format!("{name}: line {number} is malformed"));
                    }
                }
            }
        }
        self.conclude(name, &count)
    }

    fn check(
        &mut self,
        line: &ChecksumLine,
        algorithm: &Algorithm,
        count: &mut Count,
    ) -> Result<()> {
        let verdict = self.verdict(line, algorithm);
        count.add(verdict, line);
        if self.context.json() {
            self.results.push(json!({
                "name": path(line).to_string_lossy(),
                "algorithm": algorithm.to_string(),
                "result": verdict.name(),
            }));
        }
        let wanted = match verdict {
            Verdict::Right => !self.context.quiet(),
            Verdict::Missing => false,
            _ => true,
        };
        if wanted && !self.args.checking.status && !self.context.json() {
            write_line(&result_line(&line.name, &verdict.word(algorithm)))?;
        }
        Ok(())
    }

    fn verdict(&self, line: &ChecksumLine, algorithm: &Algorithm) -> Verdict {
        let path = path(line);
        if self.args.checking.ignore_missing && is_missing(path) {
            return Verdict::Missing;
        }
        let accepted = self.expected.accept(algorithm);
        let hash = accepted
            .map_err(|refusal| self.refused(refusal, algorithm).about(path.display()))
            .and_then(|()| hash_file(path, algorithm, self.arguments, self.context));
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

    fn refused(&self, refusal: Refusal, algorithm: &Algorithm) -> Failure {
        let (what, argument) = match refusal {
            Refusal::Needs(argument) => ("needs", argument),
            Refusal::MadeWithout(argument) => ("was made without", argument),
            Refusal::OtherAlgorithm => {
                let expected = self.expected.algorithm;
                let hint = match self.expected.has_key() {
                    true => "with a key, give the options that the lines were made with",
                    false => {
                        "omit --algorithm, --tree, --output-bits and --message-bits: the line \
                         names its algorithm"
                    }
                };
                return Failure::usage(format!("its line is of {algorithm}, not of {expected}"))
                    .hint(hint);
            }
        };
        Failure::usage(format!("its line {what} the argument `{argument}`"))
    }

    /// Reports what is wrong with a list. Returns whether the list is right.
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
                "file does NOT match its hash",
                "files do NOT match their hashes",
            ),
        ];
        for (n, one, many) in warnings
            .into_iter()
            .filter(|(n, ..)| *n > 0 && !self.args.checking.status)
        {
            self.context
                .warn(&format!("{n} {}", if n == 1 { one } else { many }));
        }
        if count.is_probably_other_algorithm() && !self.args.checking.status {
            self.context.warn(&format!(
                "lines without the name of an algorithm are taken for {}",
                self.expected.algorithm
            ));
        }
        Ok(count.is_well(self.args.checking.strict))
    }
}

fn path(line: &ChecksumLine) -> &Path {
    Path::new(OsStr::from_bytes(&line.name))
}

fn is_missing(path: &Path) -> bool {
    path != Path::new("-") && matches!(path.try_exists(), Ok(false))
}
