//! Lines: the name of a file and its hash.

use super::Algorithm;

/// The form of lines.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether the algorithm is named.
    pub tag: bool,
    /// Whether lines end with NUL, which no name contains.
    pub zero: bool,
}

/// A line that was read.
#[derive(Debug, PartialEq)]
pub struct ChecksumLine {
    /// The algorithm, if it is named.
    pub algorithm: Option<Algorithm>,
    /// The name of the file, in the bytes of the system.
    pub name: Vec<u8>,
    /// The hash.
    pub hash: Vec<u8>,
}

impl Style {
    /// The line for one file.
    pub fn line(self, algorithm: &Algorithm, name: &[u8], hash: &[u8]) -> Vec<u8> {
        let (escaped, name) = match self.zero {
            true => (false, name.to_vec()),
            false => escape(name),
        };
        let hash = digits(hash);
        let mut line = Vec::new();
        if escaped {
            line.push(b'\\');
        }
        if self.tag {
            line.extend(format!("{algorithm} (").bytes());
            line.extend(name);
            line.extend(format!(") = {hash}").bytes());
        } else {
            line.extend(format!("{hash}  ").bytes());
            line.extend(name);
        }
        line.push(self.end());
        line
    }

    /// The last byte of a line.
    pub fn end(self) -> u8 {
        if self.zero { 0 } else { b'\n' }
    }
}

/// `NAME: WORD`
pub fn result_line(name: &[u8], word: &str) -> Vec<u8> {
    let (escaped, name) = escape(name);
    let mark: &[u8] = if escaped { b"\\" } else { b"" };
    [mark, &name, b": ", word.as_bytes(), b"\n"].concat()
}

impl ChecksumLine {
    /// Reads a line without its end. `None` if it is malformed.
    pub fn parse(line: &[u8], zero: bool) -> Option<Self> {
        let line = line.strip_suffix(b"\r").filter(|_| !zero).unwrap_or(line);
        let line = &line[line
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count()..];
        let (escaped, line) = match line.strip_prefix(b"\\") {
            Some(rest) if !zero => (true, rest),
            _ => (false, line),
        };
        let (algorithm, name, hash) = if line.starts_with(b"Skein-") {
            let (algorithm, name, hash) = tagged(line)?;
            (Some(algorithm), name, hash)
        } else {
            let (name, hash) = bare(line)?;
            (None, name, hash)
        };
        let name = if escaped {
            unescape(name)?
        } else {
            name.to_vec()
        };
        if name.is_empty()
            || name.contains(&0)
            || algorithm.is_some_and(|a: Algorithm| a.output_bytes() != hash.len())
        {
            return None;
        }
        Some(Self {
            algorithm,
            name,
            hash,
        })
    }
}

/// `ALGORITHM (NAME) = DIGITS`
fn tagged(line: &[u8]) -> Option<(Algorithm, &[u8], Vec<u8>)> {
    let open = position(line, b" (")?;
    let close = line.windows(4).rposition(|window| window == b") = ")?;
    let algorithm = Algorithm::parse(str::from_utf8(&line[..open]).ok()?)?;
    let name = line.get(open + 2..close)?;
    Some((algorithm, name, bytes(&line[close + 4..])?))
}

/// `DIGITS  NAME`, or `DIGITS *NAME` as other programs mark binary files
fn bare(line: &[u8]) -> Option<(&[u8], Vec<u8>)> {
    let space = position(line, b" ")?;
    let hash = bytes(&line[..space])?;
    match &line[space + 1..] {
        [b' ' | b'*', name @ ..] => Some((name, hash)),
        _ => None,
    }
}

fn position(line: &[u8], wanted: &[u8]) -> Option<usize> {
    line.windows(wanted.len())
        .position(|window| window == wanted)
}

/// Hexadecimal digits, small.
pub fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let digit = |d: u8| char::from(d).to_digit(16);
    let byte = |&[high, low]: &[u8; 2]| Some((digit(high)? << 4 | digit(low)?) as u8);
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes.filter(|bytes| rest.is_empty() && !bytes.is_empty())
}

/// The name with line breaks escaped, and whether there were any.
fn escape(name: &[u8]) -> (bool, Vec<u8>) {
    let mut out = Vec::new();
    for &byte in name {
        match byte {
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            _ => out.push(byte),
        }
    }
    (out.len() > name.len(), out)
}

fn unescape(name: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = name.iter();
    while let Some(&byte) = rest.next() {
        out.push(match byte {
            b'\\' => match rest.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            _ => byte,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: [u8; 64] = [0xa5; 64];

    fn styles() -> impl Iterator<Item = Style> {
        [(false, false), (false, true), (true, false), (true, true)]
            .into_iter()
            .map(|(tag, zero)| Style { tag, zero })
    }

    #[test]
    fn every_name_comes_back() {
        let names = [
            &b"a"[..],
            b" ",
            b"a b",
            b"*",
            b"\\",
            b"a\nb",
            b"\n",
            b"\\n",
            b"a\r",
            b"\xff",
            b"a) = b",
            b"(a",
            b"Skein-1 (b",
            b"#a",
        ];
        for name in names {
            for style in styles() {
                let line = style.line(&Algorithm::BARE, name, &HASH);
                let (end, line) = line.split_last().unwrap();
                assert_eq!(*end, style.end());
                assert!(style.zero || !line.contains(&b'\n'));
                let read = ChecksumLine::parse(line, style.zero).unwrap();
                assert_eq!(read.name, name);
                assert_eq!(read.hash, HASH);
                assert_eq!(read.algorithm, style.tag.then_some(Algorithm::BARE));
            }
        }
    }

    #[test]
    fn lines_that_sha512sum_accepts_are_accepted() {
        let digits = digits(&HASH);
        for line in [
            format!("{digits} *name"),
            format!("  {digits}  name"),
            format!("{}  name\r", digits.to_uppercase()),
        ] {
            let read = ChecksumLine::parse(line.as_bytes(), false).unwrap();
            assert_eq!((&read.name[..], &read.hash[..]), (&b"name"[..], &HASH[..]));
        }
    }

    #[test]
    fn malformed_lines() {
        let digits = digits(&HASH);
        for line in [
            "",
            "name",
            "a5",
            "a5  ",
            "a5 name",
            "a5  name\0",
            "a  name",
            "xx  name",
            "  name",
            "\\a5  a\\",
            "\\a5  a\\x",
            "SHA256 (name) = a5",
            "Skein-512-512 (name) = a5",
            "Skein-256-8 (name) = ",
            "Skein-256-8 () = a5",
            "Skein-256-8 name = a5",
            "Skein-256-8) = a5",
            &format!("Skein-256-512  (name) = {digits}0"),
        ] {
            assert_eq!(ChecksumLine::parse(line.as_bytes(), false), None, "{line}");
        }
    }
}
