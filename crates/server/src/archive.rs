//! The file of a backup (`spec/service.md`, "Backup").
//!
//! ```
//! use sealstone_server::archive::{Reader, Writer};
//! use sealstone_server::store::Page;
//!
//! let page = Page::Records(vec![("a".to_owned(), b"b".to_vec())]);
//! let mut writer = Writer::new("verifier", 1_767_225_600);
//! let mut file = writer.page(&page)?;
//! file.extend(writer.end(1_767_225_601));
//!
//! let mut reader = Reader::new(file.as_slice());
//! assert_eq!(reader.next_page()?, Some(page));
//! assert_eq!(reader.next_page()?, None);
//! assert_eq!(reader.end().map(|end| end.role.as_str()), Some("verifier"));
//! # Ok::<(), sealstone_server::Error>(())
//! ```

use std::io::Read;

use sealstone_primitives::hash::Sha3_256;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::store::{Key, PASSPORT, Page, Tally, Transfer};
use crate::{Error, Result};

const MAGIC: &[u8] = b"sealstone.service.backup\x00\x01";
/// No frame is longer: a page of a store has up to 4,096 entries, a record up to a mebibyte.
const MAX_FRAME: usize = 8 << 20;
/// A record goes into a frame of its own.
const SET: u8 = b'S';
const MARKS: u8 = b'M';
const COUNTS: u8 = b'C';
const RECORD: u8 = b'R';
const END: u8 = b'E';

/// The end of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// `issuer` or `verifier`.
    pub role: String,
    /// When the backup began, in seconds since 1970.
    pub begun: u64,
    /// When it ended. It holds all that was acknowledged before.
    pub ended: u64,
    /// Its content.
    pub tally: Tally,
}

/// Makes the bytes of a file.
pub struct Writer {
    hasher: Sha3_256,
    is_begun: bool,
    end: End,
}

impl Writer {
    /// The file of a service's backup that begins now.
    #[must_use]
    pub fn new(role: &str, now: u64) -> Self {
        Self {
            hasher: Sha3_256::new(),
            is_begun: false,
            end: End {
                role: role.to_owned(),
                begun: now,
                ended: now,
                tally: Tally::default(),
            },
        }
    }

    /// The bytes of a page.
    ///
    /// # Errors
    /// If a name or an entry is too long.
    pub fn page(&mut self, page: &Page) -> Result<Vec<u8>> {
        self.end.tally.add(page);
        let mut bytes = self.begin();
        match page {
            Page::Set {
                name,
                until,
                is_open,
            } => {
                let head = [&until.to_be_bytes()[..], &[u8::from(*is_open)]].concat();
                frame(&mut bytes, SET, &[&head, name.as_bytes()])?;
            }
            Page::Marks { set, marks } => {
                let mut entries = Vec::new();
                for (key, made) in marks {
                    entries.extend(key);
                    entries.push(u8::try_from(made.len()).map_err(|_| too_long())?);
                    entries.extend(made);
                }
                frame(&mut bytes, MARKS, &[&named(set)?, &entries])?;
            }
            Page::Counts { set, counts } => {
                let entry = |(key, count): &(Key, u64)| [&key[..], &count.to_be_bytes()].concat();
                let entries: Vec<u8> = counts.iter().flat_map(entry).collect();
                frame(&mut bytes, COUNTS, &[&named(set)?, &entries])?;
            }
            Page::Records(records) => {
                for (name, value) in records {
                    frame(&mut bytes, RECORD, &[&named(name)?, value])?;
                }
            }
        }
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    /// The bytes of a record that is not a part of the tally.
    ///
    /// # Errors
    /// If it is too long.
    pub fn record(&mut self, name: &str, value: &[u8]) -> Result<Vec<u8>> {
        let mut bytes = self.begin();
        frame(&mut bytes, RECORD, &[&named(name)?, value])?;
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    fn begin(&mut self) -> Vec<u8> {
        match std::mem::replace(&mut self.is_begun, true) {
            true => Vec::new(),
            false => MAGIC.to_vec(),
        }
    }

    /// The last bytes.
    #[must_use]
    pub fn end(mut self, now: u64) -> Vec<u8> {
        self.end.ended = now;
        let mut bytes = self.begin();
        let end = serde_json::to_vec(&self.end).unwrap_or_default();
        // The end is as long as there are sets: far from the limit.
        drop(frame(&mut bytes, END, &[&end]));
        self.hasher.update(&bytes);
        bytes.extend(self.hasher.finish());
        bytes
    }
}

fn too_long() -> Error {
    Error::Damaged("an entry that is too long".to_owned())
}

fn named(name: &str) -> Result<Vec<u8>> {
    let len = u16::try_from(name.len()).map_err(|_| too_long())?;
    Ok([&len.to_be_bytes()[..], name.as_bytes()].concat())
}

fn frame(bytes: &mut Vec<u8>, kind: u8, parts: &[&[u8]]) -> Result<()> {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    let len = u32::try_from(len)
        .ok()
        .filter(|len| *len as usize <= MAX_FRAME);
    bytes.push(kind);
    bytes.extend(len.ok_or_else(too_long)?.to_be_bytes());
    parts.iter().for_each(|part| bytes.extend(*part));
    Ok(())
}

/// Writes all bytes of a backup, while the store works.
///
/// # Errors
/// If the store fails, or `bytes` are not wanted any more.
pub async fn produce(
    store: &dyn Transfer,
    role: &str,
    passport: Option<Vec<u8>>,
    bytes: mpsc::Sender<Vec<u8>>,
) -> Result<()> {
    let nobody = |_| Error::Config("nobody takes the backup any more".to_owned());
    let (sink, pages) = mpsc::channel(2);
    let mut writer = Writer::new(role, Clock::system().now());
    let written = &mut writer;
    let write = async {
        // Without a listener, the store ends its copy.
        let mut pages = pages;
        while let Some(page) = pages.recv().await {
            bytes.send(written.page(&page)?).await.map_err(nobody)?;
        }
        Ok::<_, Error>(())
    };
    let (ended, written) = tokio::join!(store.pages(sink), write);
    written?;
    let ended = ended?;
    if let Some(passport) = passport {
        bytes
            .send(writer.record(PASSPORT, &passport)?)
            .await
            .map_err(nobody)?;
    }
    bytes.send(writer.end(ended)).await.map_err(nobody)
}

/// Reads a file.
pub struct Reader<R> {
    source: R,
    hasher: Option<Sha3_256>,
    end: Option<End>,
}

impl<R: Read> Reader<R> {
    /// A file from its beginning.
    pub fn new(source: R) -> Self {
        Self {
            source,
            hasher: None,
            end: None,
        }
    }

    /// The digest at the end, after all pages: the file is as it was written.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The next page; none at the end.
    ///
    /// # Errors
    /// If it is not a backup, was altered, or is not whole.
    pub fn next_page(&mut self) -> Result<Option<Page>> {
        if self.end.is_some() {
            return Ok(None);
        }
        if self.hasher.is_none() {
            self.hasher = Some(Sha3_256::new());
            if self.read(MAGIC.len())? != MAGIC {
                return Err(wrong(
                    "it is not a backup of sealstone-server, or of a later version",
                ));
            }
        }
        let head = self.read(5)?;
        let len = head[1..]
            .iter()
            .fold(0, |len, byte| len << 8 | usize::from(*byte));
        if len > MAX_FRAME {
            return Err(altered());
        }
        let body = self.read(len)?;
        match head[0] {
            END => self.finish(&body).map(|()| None),
            kind => page(kind, &body).ok_or_else(altered).map(Some),
        }
    }

    fn finish(&mut self, body: &[u8]) -> Result<()> {
        let hasher = self.hasher.take().ok_or_else(altered)?;
        let (digest, mut more) = (self.read(32)?, [0]);
        if digest != hasher.finish() || self.source.read(&mut more).map_err(unreadable)? != 0 {
            return Err(altered());
        }
        self.end = Some(serde_json::from_slice(body).map_err(|_| altered())?);
        Ok(())
    }

    fn read(&mut self, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.source.read_exact(&mut bytes).map_err(unreadable)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&bytes);
        }
        Ok(bytes)
    }
}

fn page(kind: u8, body: &[u8]) -> Option<Page> {
    if kind == SET {
        let (until, rest) = body.split_first_chunk()?;
        let (is_open, name) = rest.split_first()?;
        return Some(Page::Set {
            name: String::from_utf8(name.to_vec()).ok()?,
            until: u64::from_be_bytes(*until),
            is_open: *is_open == 1,
        });
    }
    let (len, rest) = body.split_first_chunk()?;
    let (name, mut rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
    let name = String::from_utf8(name.to_vec()).ok()?;
    match kind {
        MARKS => {
            let mut marks = Vec::new();
            while !rest.is_empty() {
                let (key, after) = rest.split_first_chunk()?;
                let (len, after) = after.split_first()?;
                let (made, after) = after.split_at_checked(usize::from(*len))?;
                marks.push((*key, made.to_vec()));
                rest = after;
            }
            Some(Page::Marks { set: name, marks })
        }
        COUNTS => {
            let mut counts = Vec::new();
            while !rest.is_empty() {
                let (key, after) = rest.split_first_chunk()?;
                let (count, after) = after.split_first_chunk()?;
                counts.push((*key, u64::from_be_bytes(*count)));
                rest = after;
            }
            Some(Page::Counts { set: name, counts })
        }
        RECORD => Some(Page::Records(vec![(name, rest.to_vec())])),
        _ => None,
    }
}

fn wrong(text: &str) -> Error {
    Error::Config(format!("the backup cannot be used: {text}"))
}

fn altered() -> Error {
    wrong("it was altered, or is not whole")
}

fn unreadable(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => altered(),
        _ => wrong(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let set = "spent-1".to_owned();
        let pages = [
            Page::Set {
                name: set.clone(),
                until: 7,
                is_open: true,
            },
            Page::Marks {
                set: set.clone(),
                marks: vec![([1; 32], Vec::new()), ([2; 32], vec![3; 40])],
            },
            Page::Counts {
                set,
                counts: vec![([4; 32], 5)],
            },
            Page::Records(vec![("a".to_owned(), b"b".to_vec())]),
        ];
        let mut writer = Writer::new("issuer", 1);
        let parts = pages.iter().map(|page| writer.page(page).expect("a page"));
        let mut file: Vec<u8> = parts.flatten().collect();
        file.extend(writer.end(2));
        file
    }

    fn read(file: &[u8]) -> Result<End> {
        let (mut reader, mut tally) = (Reader::new(file), Tally::default());
        while let Some(page) = reader.next_page()? {
            tally.add(&page);
        }
        let end = reader.end().expect("an end").clone();
        assert_eq!(tally, end.tally);
        Ok(end)
    }

    #[test]
    fn a_written_backup_is_read() {
        let end = read(&file()).expect("a backup");
        assert_eq!((end.begun, end.ended), (1, 2));
        assert_eq!((end.tally.marks(), end.tally.others()), (2, [1, 1, 1]));
    }

    #[test]
    fn every_altered_byte_and_every_cut_is_seen() {
        let file = file();
        for at in 0..file.len() {
            let mut altered = file.clone();
            altered[at] ^= 1;
            assert!(read(&altered).is_err(), "byte {at}");
            assert!(read(&file[..at]).is_err(), "{at} bytes");
        }
        assert!(read(&[&file[..], b"x"].concat()).is_err());
    }
}
