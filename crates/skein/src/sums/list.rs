//! Lists of lines, and checking files against them.

use std::io::{self, BufRead, Read};

use super::{ARGUMENTS, Algorithm, ChecksumLine, Uses};

/// The lines of a list, in order.
pub struct Lines<R> {
    reader: R,
    expected: Expected,
    zero: bool,
    number: u64,
    line: Vec<u8>,
}

/// A line of a list that is not a comment and not empty.
#[derive(Debug, PartialEq)]
pub enum Found {
    /// A line of the right form, and its algorithm.
    Checksum(ChecksumLine, Algorithm),
    /// A malformed line.
    Malformed {
        /// Its number, from 1.
        number: u64,
        /// Whether it contains NUL: then lines probably end with NUL.
        with_nul: bool,
    },
}

/// Longer lines are malformed: a name has at most a few thousand bytes, a hash 16 MiB of digits.
const MAX_LINE: u64 = 1 << 25;

impl<R: BufRead> Lines<R> {
    /// Lines that end with NUL if `zero`, else with a line feed.
    pub fn new(reader: R, expected: Expected, zero: bool) -> Self {
        Self {
            reader,
            expected,
            zero,
            number: 0,
            line: Vec::new(),
        }
    }

    fn read(&mut self) -> io::Result<Option<Found>> {
        let end = if self.zero { 0 } else { b'\n' };
        loop {
            self.number += 1;
            self.line.clear();
            let mut limited = self.reader.by_ref().take(MAX_LINE);
            if limited.read_until(end, &mut self.line)? == 0 {
                return Ok(None);
            }
            let is_cut = self.line.len() as u64 == MAX_LINE && !self.line.ends_with(&[end]);
            if is_cut {
                self.reader.skip_until(end)?;
            }
            let line = self.line.strip_suffix(&[end]).unwrap_or(&self.line);
            let is_empty = line.is_empty() || (line == b"\r" && !self.zero);
            if line.starts_with(b"#") || is_empty {
                continue;
            }
            let parsed = ChecksumLine::parse(line, self.zero).filter(|_| !is_cut);
            let found = parsed.and_then(|line| self.expected.complete(line));
            return Ok(Some(found.unwrap_or_else(|| self.malformed(line))));
        }
    }

    fn malformed(&self, line: &[u8]) -> Found {
        Found::Malformed {
            number: self.number,
            with_nul: line.contains(&0),
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Found>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The lines that the caller accepts.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The algorithm of lines that name none.
    pub algorithm: Algorithm,
    /// Whether all lines must have it.
    pub chosen: bool,
}

/// Why a line is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The line needs this argument, which is not given.
    Needs(&'static str),
    /// The line was made without this argument, which is given.
    MadeWithout(&'static str),
    /// The line is of another algorithm.
    OtherAlgorithm,
}

impl Expected {
    /// `None` if the hash has another length than the algorithm makes.
    fn complete(&self, line: ChecksumLine) -> Option<Found> {
        let algorithm = line.algorithm.unwrap_or(self.algorithm);
        (line.hash.len() == algorithm.output_bytes()).then_some(Found::Checksum(line, algorithm))
    }

    /// Whether all lines must have the algorithm: if the caller chose it, or gives a key.
    pub fn is_strict(&self) -> bool {
        self.chosen || self.has_key()
    }

    /// Whether the hashes have a key.
    pub fn has_key(&self) -> bool {
        self.algorithm.uses[0]
    }

    /// A line must have been made with exactly the given arguments. With a key, or an algorithm
    /// that was chosen, it must also have that algorithm: otherwise an attacker who alters the list
    /// could choose a shorter hash, or one without the key.
    ///
    /// # Errors
    /// The first rule that a line of `algorithm` breaks.
    pub fn accept(&self, algorithm: &Algorithm) -> Result<(), Refusal> {
        accept_arguments(algorithm.uses, self.algorithm.uses)?;
        match self.is_strict() && *algorithm != self.algorithm {
            true => Err(Refusal::OtherAlgorithm),
            false => Ok(()),
        }
    }
}

fn accept_arguments(made: Uses, given: Uses) -> Result<(), Refusal> {
    let mut pairs = ARGUMENTS.into_iter().zip(made.into_iter().zip(given));
    match pairs.find(|(_, (made, given))| made != given) {
        Some((argument, (true, _))) => Err(Refusal::Needs(argument)),
        Some((argument, _)) => Err(Refusal::MadeWithout(argument)),
        None => Ok(()),
    }
}

/// The result of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The file has the hash of its line.
    Right,
    /// The file has another hash.
    Differs,
    /// The file could not be read, or the line is not accepted.
    Unreadable,
    /// There is no such file.
    Missing,
}

impl Verdict {
    /// Its name, for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "ok",
            Self::Differs => "differs",
            Self::Unreadable => "unreadable",
            Self::Missing => "missing",
        }
    }

    /// The word behind the name of a file, as `sha512sum` writes it.
    pub fn word(self, algorithm: &Algorithm) -> String {
        match (self, algorithm.message_bits) {
            // The result is only about the beginning of the file.
            (Self::Right, Some(bits)) => format!("OK (first {bits} bits)"),
            (Self::Right, None) => "OK".to_owned(),
            (Self::Differs, _) => "FAILED".to_owned(),
            (Self::Unreadable | Self::Missing, _) => "FAILED open or read".to_owned(),
        }
    }
}

/// The results of one list.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// Lines of the right form.
    pub well_formed: u64,
    /// Lines of another form.
    pub malformed: u64,
    /// Malformed lines that contain NUL.
    pub with_nul: u64,
    /// Lines whose file could not be checked.
    pub unreadable: u64,
    /// Files that differ from their lines.
    pub differing: u64,
    /// Files that do not exist.
    pub missing: u64,
    /// Differing files whose line does not name its algorithm.
    pub differing_bare: u64,
    /// Files that are as their lines say.
    pub right: u64,
}

impl Count {
    /// Counts the result of a line.
    pub fn add(&mut self, verdict: Verdict, line: &ChecksumLine) {
        self.well_formed += 1;
        let is_bare = line.algorithm.is_none();
        self.differing_bare += u64::from(verdict == Verdict::Differs && is_bare);
        *match verdict {
            Verdict::Right => &mut self.right,
            Verdict::Differs => &mut self.differing,
            Verdict::Unreadable => &mut self.unreadable,
            Verdict::Missing => &mut self.missing,
        } += 1;
    }

    /// Counts a malformed line.
    pub fn add_malformed(&mut self, with_nul: bool) {
        self.malformed += 1;
        self.with_nul += u64::from(with_nul);
    }

    /// Whether all files that exist are right. Malformed lines count if `strict`.
    pub fn is_well(&self, strict: bool) -> bool {
        let malformed = if strict { self.malformed } else { 0 };
        self.unreadable + self.differing + malformed == 0
    }

    /// Whether the lines are probably of another algorithm: all name none, and all differ.
    pub fn is_probably_other_algorithm(&self) -> bool {
        self.right == 0 && self.differing_bare == self.well_formed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "Skein-256-8";

    fn found(list: &[u8], zero: bool) -> Vec<Found> {
        let algorithm = Algorithm::parse(SHORT).unwrap();
        let expected = Expected {
            algorithm,
            chosen: false,
        };
        Lines::new(list, expected, zero)
            .map(Result::unwrap)
            .collect()
    }

    fn malformed(number: u64, with_nul: bool) -> Found {
        Found::Malformed { number, with_nul }
    }

    #[test]
    fn comments_and_empty_lines_are_passed_over_and_counted() {
        let list = b"# comment\n\n\r\na5  name\nwrong\na5  b\0\na5a5  too long\n";
        let line = ChecksumLine::parse(b"a5  name", false).unwrap();
        assert_eq!(
            found(list, false),
            [
                Found::Checksum(line, Algorithm::parse(SHORT).unwrap()),
                malformed(5, false),
                malformed(6, true),
                malformed(7, false)
            ]
        );
        assert_eq!(found(b"\0\r\0", true), [malformed(2, false)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_one_malformed_line() {
        let mut list = b"a5  ".to_vec();
        list.resize(MAX_LINE as usize + 9, b'x');
        list.extend(b"\na5  name");
        let found = found(&list, false);
        assert_eq!(found[0], malformed(1, false));
        assert!(matches!(&found[1..], [Found::Checksum(line, _)] if line.name == b"name"));
    }

    #[test]
    fn a_line_of_other_arguments_or_of_a_weaker_algorithm_is_refused() {
        let parse = |text| Algorithm::parse(text).unwrap();
        let expected = |algorithm, chosen| Expected { algorithm, chosen };
        let (bare, keyed) = (Algorithm::BARE, parse("Skein-512-512+mac"));
        let short = parse(SHORT);
        assert_eq!(expected(bare, false).accept(&short), Ok(()));
        for (expected, line, refusal) in [
            (expected(bare, false), keyed, Refusal::Needs("mac")),
            (expected(keyed, false), short, Refusal::MadeWithout("mac")),
            (expected(bare, true), short, Refusal::OtherAlgorithm),
            (
                expected(keyed, false),
                parse("Skein-512-8+mac"),
                Refusal::OtherAlgorithm,
            ),
        ] {
            assert_eq!(expected.accept(&line), Err(refusal));
        }
    }
}
