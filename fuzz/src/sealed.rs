//! Sealed files: header, whole file, contents of a malicious writer, armor.

use std::io::Read;

use arbitrary::Unstructured;
use sealstone::file::{Dearmored, Keys, Metadata, Opening, Sealed, Workers};
use sealstone::passport::PublicPassport;
use sealstone::{Error, Result};

use crate::edit::edited;
use crate::golden::{self, ALICE, BOB, PUBLIC, SEALED};
use crate::{PLANTED, forge};

/// The files among [`SEALED`] that are not armored.
const BINARY: usize = SEALED.len() - 1;
const PREFIX_LEN: usize = 16;
/// A private part: name, time and note.
const PRIVATE: &[u8] = b"\xa3\x01\x65a.txt\x02\x1a\x69\x55\xb9\x00\x03\x64note";

/// Parses any header, and unlocks only those of the writer.
pub fn sealed_header(data: &[u8]) {
    let file = header_bytes(data);
    if PLANTED && file.starts_with(b"\x89SEAL") && file.len() > PREFIX_LEN {
        // The planted bug: the length of the header is not checked.
        let claimed = u32::from_be_bytes([file[12], file[13], file[14], file[15]]);
        std::hint::black_box(file[PREFIX_LEN + claimed as usize]);
    }
    let Ok(sealed) = Sealed::read(&file[..]) else {
        return;
    };
    assert!((1..=1024).contains(&sealed.recipients().count()));
    assert!(sealed.header_len() <= file.len() as u64);
    if let Ok(opening) = sealed.unlock(&Keys::new(&[&BOB], &[])) {
        let head = &file[..opening.payload_start() as usize];
        assert!(
            SEALED.iter().any(|(base, _)| base.starts_with(head)),
            "a header that nobody made"
        );
    }
}

/// Any bytes, an edited file, or an edited header whose length fits.
fn header_bytes(data: &[u8]) -> Vec<u8> {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    let (base, _) = SEALED[mode / 3 % BINARY];
    match mode % 3 {
        0 => bytes.take_rest().to_vec(),
        1 => edited(base, &mut bytes),
        _ => {
            let claimed = u32::from_be_bytes([base[12], base[13], base[14], base[15]]);
            let (header, rest) = base[PREFIX_LEN..].split_at(claimed as usize);
            let header = edited(header, &mut bytes);
            let len = (header.len() as u32).to_be_bytes();
            [&base[..12], &len, &header, rest].concat()
        }
    }
}

/// Opens a golden file after some edits: if that succeeds, it is the golden file.
pub fn sealed_open(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let index = bytes.arbitrary::<u8>().map_or(0, usize::from) % SEALED.len();
    let (base, content_len) = SEALED[index];
    let file = edited(base, &mut bytes);
    match open(&file) {
        Ok(content) => {
            assert!(content == golden::content(content_len), "other content");
            assert!(plain(&file) == plain(base), "a file that nobody made");
        }
        Err(error) => assert!(file != base, "a golden file is refused: {error}"),
    }
}

/// Opens as Bob a file that Alice signed, or an unsigned file.
fn open(file: &[u8]) -> Result<Vec<u8>> {
    let reader = Dearmored::detect(file)?;
    let opening = Sealed::read(reader)?.unlock(&Keys::new(&[&BOB], &[]))?;
    let mut content = Vec::new();
    let opened = match opening.sender().is_signed() {
        true => opening.open_signed(ALICE.contact(), &mut content, Workers::new(1)),
        false => opening.open_unsigned(&mut content, Workers::new(1)),
    };
    match opened {
        // The planted bug: the trailer is ignored.
        Err(Error::Altered("trailer")) if PLANTED => Ok(content),
        Err(error) => Err(error),
        Ok(_) => Ok(content),
    }
}

/// The file without armor, if the armor is valid.
fn plain(file: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match Dearmored::detect(file).and_then(|mut reader| reader.read_to_end(&mut plain)) {
        Ok(_) => plain,
        Err(_) => Vec::new(),
    }
}

/// Private part, chunk and trailer of a malicious writer's choice, correctly encrypted.
pub fn sealed_forged(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let Ok(forged) = Forged::read(&mut bytes) else {
        return;
    };
    let file = forge::file(
        &forged.private,
        &forged.chunk,
        forged.trailer.as_deref(),
        forged.content.len(),
    );
    let opening =
        match Sealed::read(&file[..]).and_then(|sealed| sealed.unlock(&Keys::new(&[&BOB], &[]))) {
            Ok(opening) => opening,
            Err(error) if forged.is_right() => panic!("a right file is refused: {error}"),
            // The planted bug: names are not checked.
            Err(Error::Malformed("file name")) if PLANTED => {
                panic!("opened with a name that is a path")
            }
            Err(_) => return,
        };
    check_metadata(opening.metadata());
    check_content(opening, &forged);
}

struct Forged {
    private: Vec<u8>,
    chunk: Vec<u8>,
    trailer: Option<Vec<u8>>,
    /// The content of the chunk if it is well-formed.
    content: Vec<u8>,
}

impl Forged {
    fn read(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        let mode: u8 = bytes.arbitrary()?;
        let content: Vec<u8> = bytes.arbitrary()?;
        let trailer: Vec<u8> = bytes.arbitrary()?;
        let chunk = if mode & 1 == 0 {
            [&content, &[1][..]].concat()
        } else {
            content.clone()
        };
        let mut private = if mode & 2 == 0 {
            edited(PRIVATE, bytes)
        } else {
            bytes.bytes(bytes.len())?.to_vec()
        };
        if mode & 4 == 0 {
            private = padded(&private);
        }
        let trailer = (mode & 8 != 0).then_some(trailer);
        Ok(Self {
            private,
            chunk,
            trailer,
            content,
        })
    }

    /// Whether the private part is unchanged. If this is refused, the target forges for another
    /// format.
    fn is_right(&self) -> bool {
        self.private == padded(PRIVATE)
    }
}

fn padded(private: &[u8]) -> Vec<u8> {
    let mut padded = [private, &[1]].concat();
    padded.resize(padded.len().next_multiple_of(64), 0);
    padded
}

fn check_metadata(metadata: &Metadata) {
    if let Some(name) = &metadata.name {
        assert!((1..=255).contains(&name.len()));
        assert!(!name.contains(['/', '\0']) && name != "." && name != "..");
        assert!(!name.chars().any(char::is_control));
    }
    if let Some(note) = &metadata.note {
        assert!((1..=4096).contains(&note.len()));
        assert!(
            !note
                .chars()
                .any(|c| c.is_control() && c != '\n' && c != '\t')
        );
    }
}

fn check_content(opening: Opening<&[u8]>, forged: &Forged) {
    assert!(!opening.sender().is_signed() || forged.private.len() > 32);
    let mut out = Vec::new();
    if opening.open_unsigned(&mut out, Workers::new(1)).is_ok() {
        let end = forged
            .chunk
            .iter()
            .rposition(|&byte| byte != 0)
            .expect("padding");
        assert_eq!(forged.chunk[end], 1);
        assert!(out == forged.chunk[..end], "other content");
        assert!(out.len() == forged.content.len() || forged.trailer.is_some());
    }
}

/// Accepted armor is the canonical armor of its content.
pub fn armor(data: &[u8]) {
    let text = armor_text(data);
    let read = match PLANTED {
        true => ascii_only(&text),
        false => text.clone(),
    };
    check_dearmored(&read, &text);
    if let Ok(passport) = PublicPassport::from_armor(&read) {
        assert_eq!(
            normal(&text, "PUBLIC PASSPORT"),
            passport.to_armor().as_bytes()
        );
    }
}

fn armor_text(data: &[u8]) -> Vec<u8> {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    match mode % 4 {
        0 => bytes.take_rest().to_vec(),
        1 => edited(golden::armor("FILE", SEALED[0].0).as_bytes(), &mut bytes),
        2 => edited(PUBLIC[mode / 4 % PUBLIC.len()], &mut bytes),
        _ => {
            let object = bytes.arbitrary::<Vec<u8>>().unwrap_or_default();
            edited(golden::armor("FILE", &object).as_bytes(), &mut bytes)
        }
    }
}

fn check_dearmored(read: &[u8], text: &[u8]) {
    let mut bytes = Vec::new();
    let Ok(mut reader) = Dearmored::detect(read) else {
        return;
    };
    let armored = reader.is_armored();
    if reader.read_to_end(&mut bytes).is_ok() {
        let again = if armored {
            golden::armor("FILE", &bytes).into_bytes()
        } else {
            read.to_vec()
        };
        assert!(
            again
                == if armored {
                    normal(text, "FILE")
                } else {
                    text.to_vec()
                },
            "not the armor of what was read"
        );
    }
}

/// The first armored object of this label in a text, with LF and without quotes.
pub(crate) fn normal(text: &[u8], label: &str) -> Vec<u8> {
    let [begin, end] = ["BEGIN", "END"].map(|word| format!("-----{word} SEALSTONE {label}-----"));
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut normal = Vec::with_capacity(text.len() + 1);
    for line in text.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let quotes = line.iter().take_while(|b| b"> \t".contains(b));
        let line = &line[quotes.count()..];
        if normal.is_empty() && line != begin.as_bytes() {
            continue;
        }
        let ends = line.trim_ascii_end() == end.as_bytes();
        normal.extend(if ends { line.trim_ascii_end() } else { line });
        normal.push(b'\n');
        if ends {
            break;
        }
    }
    normal
}

/// The planted bug: a reader skips characters outside the alphabet.
fn ascii_only(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(u8::is_ascii).collect()
}
