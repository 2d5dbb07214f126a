//! Armor: binary objects as text, in constant memory (`spec/README.md`).
//!
//! The lines between BEGIN and END are read strictly. Text around them, as in a message, is
//! skipped.

use std::io::{self, BufRead, Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::{Error, Result};

/// The kind of an armored object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    File,
    SecretPassport,
    PublicPassport,
}

/// Bytes that one full line carries.
const LINE_BYTES: usize = 48;
/// Characters of one full line.
const LINE_CHARS: usize = 64;
/// Text that may stand before the BEGIN line, and after the END line.
const MAX_AROUND: usize = 65_536;
/// No line that a reader looks at is longer.
const MAX_LINE: usize = 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The beginning of the line before armored text, and of the one behind it.
pub(crate) const BEGIN: &str = "-----BEGIN ";
pub(crate) const END: &str = "-----END ";

impl Label {
    fn name(self) -> &'static str {
        match self {
            Self::File => "SEALSTONE FILE",
            Self::SecretPassport => "SEALSTONE SECRET PASSPORT",
            Self::PublicPassport => "SEALSTONE PUBLIC PASSPORT",
        }
    }

    pub(crate) fn begin(self) -> String {
        format!("{BEGIN}{}-----", self.name())
    }

    fn end(self) -> String {
        format!("{END}{}-----", self.name())
    }

    /// No BEGIN line was found.
    fn missing(self) -> Error {
        match self {
            Self::File => Error::OtherKind {
                wanted: "a sealed file",
                found: None,
            },
            _ => Error::Armor("the BEGIN line is missing or of another kind"),
        }
    }
}

/// `bytes` as armored text.
pub(crate) fn encode(label: Label, bytes: &[u8]) -> String {
    let mut writer = ArmorWriter::new(label, Vec::new());
    let text = writer.write_all(bytes).and_then(|()| writer.finish());
    text.ok()
        .and_then(|text| String::from_utf8(text).ok())
        .expect("a Vec takes every byte, and base64 is ASCII")
}

/// The length of the armored text of an object of this length.
pub(crate) fn encoded_len(label: Label, len: u64) -> u64 {
    let frame = (label.begin().len() + label.end().len() + 2) as u64;
    let lines = len.div_ceil(LINE_BYTES as u64);
    let characters = len.div_ceil(3).saturating_mul(4);
    characters.saturating_add(lines).saturating_add(frame)
}

/// The bytes of the first armored object of this label in `text`.
pub(crate) fn decode(label: Label, text: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    ArmorReader::new(label, text).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes armored text. The caller must call [`ArmorWriter::finish`].
pub(crate) struct ArmorWriter<W> {
    inner: W,
    label: Label,
    started: bool,
    /// Bytes that do not fill a line yet.
    rest: Vec<u8>,
    text: String,
}

impl<W: Write> ArmorWriter<W> {
    pub(crate) fn new(label: Label, inner: W) -> Self {
        Self {
            inner,
            label,
            started: false,
            rest: Vec::with_capacity(LINE_BYTES),
            text: String::new(),
        }
    }

    /// Writes the last line and the end line.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.start();
        if !self.rest.is_empty() {
            BASE64.encode_string(&self.rest, &mut self.text);
            self.text.push('\n');
        }
        self.text.push_str(&self.label.end());
        self.text.push('\n');
        self.inner.write_all(self.text.as_bytes())?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    fn start(&mut self) {
        if !self.started {
            self.started = true;
            self.text.push_str(&self.label.begin());
            self.text.push('\n');
        }
    }

    fn push_line(&mut self, line: &[u8]) {
        BASE64.encode_string(line, &mut self.text);
        self.text.push('\n');
    }
}

impl<W: Write> Write for ArmorWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.start();
        let fill = bytes.len().min(LINE_BYTES - self.rest.len());
        self.rest.extend_from_slice(&bytes[..fill]);
        if self.rest.len() == LINE_BYTES {
            let line = std::mem::take(&mut self.rest);
            self.push_line(&line);
            let mut lines = bytes[fill..].chunks_exact(LINE_BYTES);
            lines.by_ref().for_each(|line| self.push_line(line));
            self.rest = lines.remainder().to_vec();
        }
        self.inner.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Reads the bytes out of armor.
///
/// A departure from the format is an [`Error`] inside the [`io::Error`].
pub(crate) struct ArmorReader<R> {
    inner: R,
    label: Label,
    state: State,
    bytes: [u8; LINE_BYTES],
    at: usize,
    len: usize,
}

#[derive(PartialEq)]
enum State {
    Before,
    Inside,
    /// A line shorter than the others was read: only the end line may follow.
    Last,
    After,
}

impl<R: BufRead> ArmorReader<R> {
    pub(crate) fn new(label: Label, inner: R) -> Self {
        Self {
            inner,
            label,
            state: State::Before,
            bytes: [0; LINE_BYTES],
            at: 0,
            len: 0,
        }
    }

    /// Decodes the next line into `bytes`; leaves it empty at the end.
    fn next_line(&mut self) -> Result<()> {
        (self.at, self.len) = (0, 0);
        if self.state == State::Before {
            self.begin()?;
        }
        if self.state == State::After {
            return Ok(());
        }
        let line = read_line(&mut self.inner)?;
        if line.ends_without_newline && !line.is(&self.label.end()) {
            return Err(CUT_SHORT);
        }
        if line.is(&self.label.end()) {
            self.state = State::After;
            return self.skip_rest();
        }
        let line = line.text;
        if self.state == State::Last || line.is_empty() || line.len() > LINE_CHARS {
            return Err(Error::Armor("a line has the wrong length"));
        }
        self.len = BASE64
            .decode_slice(&line, &mut self.bytes)
            .map_err(|_| Error::Armor("a line is not canonical base64"))?;
        if self.len < LINE_BYTES {
            self.state = State::Last;
        }
        Ok(())
    }

    /// Skips the text before the BEGIN line, and that line.
    fn begin(&mut self) -> Result<()> {
        let mut skipped = 0;
        let mut line = read_line(&mut self.inner)?;
        if let Some(rest) = line.text.strip_prefix(BYTE_ORDER_MARK) {
            line.text = unquoted(rest).to_vec();
        }
        // A line begins after a newline only: the middle of a long line does not count.
        let mut begins = true;
        while !(begins && line.text == self.label.begin().as_bytes()) {
            skipped += line.len;
            if line.len == 0 || skipped > MAX_AROUND {
                return Err(self.label.missing());
            }
            begins = !line.ends_without_newline;
            line = read_line(&mut self.inner)?;
        }
        self.state = State::Inside;
        Ok(())
    }

    /// Skips the text after the END line, which must not hold another object.
    fn skip_rest(&mut self) -> Result<()> {
        let mut skipped = 0;
        loop {
            let line = read_line(&mut self.inner)?;
            skipped += line.len;
            if line.len == 0 {
                return Ok(());
            }
            if skipped > MAX_AROUND || line.is(&self.label.begin()) {
                return Err(Error::TooMuchAfterArmor);
            }
        }
    }
}

impl<R: BufRead> Read for ArmorReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            if self.at == self.len {
                self.next_line()?;
                if self.len == 0 {
                    break;
                }
            }
            let n = (out.len() - done).min(self.len - self.at);
            out[done..done + n].copy_from_slice(&self.bytes[self.at..self.at + n]);
            self.at += n;
            done += n;
        }
        Ok(done)
    }
}

/// A line of text, or the first [`MAX_LINE`] bytes of a longer one.
struct TextLine {
    /// The line without quotes at its beginning, and without its ending (LF or CRLF).
    text: Vec<u8>,
    /// Bytes that were read; none at the end of the input.
    len: usize,
    ends_without_newline: bool,
}

impl TextLine {
    /// Whether this is the line `marker`; white space may follow it.
    fn is(&self, marker: &str) -> bool {
        self.text.trim_ascii_end() == marker.as_bytes()
    }
}

const CUT_SHORT: Error = Error::Armor("cut short, or a line is too long");

fn read_line(inner: &mut impl BufRead) -> Result<TextLine> {
    let mut line = Vec::with_capacity(LINE_CHARS + 2);
    inner
        .by_ref()
        .take(MAX_LINE as u64)
        .read_until(b'\n', &mut line)?;
    let len = line.len();
    let ends_without_newline = line.pop_if(|&mut last| last == b'\n').is_none();
    line.pop_if(|&mut last| last == b'\r');
    Ok(TextLine {
        text: unquoted(&line).to_vec(),
        len,
        ends_without_newline,
    })
}

/// `line` without the quotes of a message at its beginning.
fn unquoted(line: &[u8]) -> &[u8] {
    let quotes = line.iter().take_while(|b| matches!(b, b'>' | b' ' | b'\t'));
    &line[quotes.count()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: Label = Label::PublicPassport;

    fn body(lines: &str) -> Vec<u8> {
        format!("-----BEGIN SEALSTONE PUBLIC PASSPORT-----\n{lines}-----END SEALSTONE PUBLIC PASSPORT-----\n").into_bytes()
    }

    #[test]
    fn every_length_comes_back() {
        for len in 0..200 {
            let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let text = encode(LABEL, &bytes);
            assert!(text.lines().all(|line| line.len() <= 64));
            assert_eq!(encoded_len(LABEL, len), text.len() as u64);
            assert_eq!(decode(LABEL, text.as_bytes()).unwrap(), bytes, "{len}");
            assert_eq!(
                decode(LABEL, text.replace('\n', "\r\n").as_bytes()).unwrap(),
                bytes,
                "{len} with CRLF"
            );
            assert_eq!(
                decode(LABEL, format!(" \n\t\n{} \n", text.trim_end()).as_bytes()).unwrap(),
                bytes
            );
        }
    }

    #[test]
    fn pieces_of_any_size_make_the_same_text() {
        let bytes: Vec<u8> = (0..1000).map(|i| (i % 251) as u8).collect();
        for piece in [1, 7, 47, 48, 49, 500] {
            let mut writer = ArmorWriter::new(LABEL, Vec::new());
            bytes
                .chunks(piece)
                .for_each(|part| writer.write_all(part).unwrap());
            assert_eq!(writer.finish().unwrap(), encode(LABEL, &bytes).into_bytes());
        }
    }

    #[test]
    fn every_departure_is_refused() {
        let full = "A".repeat(64);
        let bad = [
            (
                "short line inside",
                body(&format!("{}\n{full}\n", "A".repeat(60))),
            ),
            ("long line", body(&format!("{full}AAAA\n"))),
            ("no padding", body("AAA\n")),
            ("bits after the end", body("AAB=\n")),
            ("padding in the middle", body("AA==AAAA\n")),
            ("foreign character", body("AA*A\n")),
            ("space inside", body("AA AA\n")),
            ("empty line", body(&format!("{full}\n\n"))),
            (
                "space after the first line",
                String::from_utf8(body("AAAA\n"))
                    .unwrap()
                    .replacen("-----\n", "----- \n", 1)
                    .into_bytes(),
            ),
            ("other label", encode(Label::File, b"x").into_bytes()),
            (
                "no end",
                b"-----BEGIN SEALSTONE PUBLIC PASSPORT-----\nAAAA\n".to_vec(),
            ),
            (
                "text behind BEGIN",
                String::from_utf8(body("AAAA\n"))
                    .unwrap()
                    .replacen("-----\n", "----- hello\n", 1)
                    .into_bytes(),
            ),
            (
                "BEGIN in the middle of a long line",
                [vec![b'A'; MAX_LINE], body("AAAA\n")].concat(),
            ),
            (
                "too much before",
                [b"hello\n".repeat(11_000), body("AAAA\n")].concat(),
            ),
            (
                "too much after",
                [body("AAAA\n"), b"hello\n".repeat(11_000)].concat(),
            ),
            ("two of them", [body("AAAA\n"), body("AAAA\n")].concat()),
            ("endless blank", vec![b'\n'; 1 << 20]),
            ("endless line", vec![b'A'; 1 << 20]),
        ];
        for (name, text) in bad {
            assert!(
                matches!(
                    decode(LABEL, &text),
                    Err(Error::Armor(_) | Error::TooMuchAfterArmor)
                ),
                "{name} was taken"
            );
        }
    }

    #[test]
    fn armor_is_found_in_a_message() {
        let bytes = [7; 100];
        let text = encode(LABEL, &bytes);
        let quoted =
            |text: &str| -> String { text.lines().map(|line| format!("> {line}\n")).collect() };
        for message in [
            format!("\u{feff}{text}"),
            format!("Hello Bob,\n\nhere is my passport.\n\n{text}\n-- \nAlice\n"),
            format!("Alice wrote:\n{}\nThanks!\n", quoted(&text)),
            quoted(&quoted(&format!("Hello,\n{text}"))),
            format!("\u{feff}{}", quoted(&text)),
            format!("{}\n{text}", "a long line ".repeat(1000)),
            format!("{}{text}", encode(Label::File, b"another object")),
            format!("{text}{}", encode(Label::File, b"another object")),
        ] {
            for message in [message.clone(), message.replace('\n', "\r\n")] {
                assert_eq!(
                    decode(LABEL, message.as_bytes()).unwrap(),
                    bytes,
                    "{message}"
                );
            }
        }
    }

    #[test]
    fn every_cut_is_refused() {
        let text = encode(LABEL, &[7; 100]);
        for len in 0..text.len() - 1 {
            assert!(decode(LABEL, &text.as_bytes()[..len]).is_err(), "{len}");
        }
    }
}
