//! The one header that each member has in a tar file.

use std::io::Read;

use tar::{EntryType, Header};

use super::entry::{Entry, EntryKind};
use super::{BLOCK, padded};
use crate::{Error, Result};

/// The longest records: a path, a target, and some numbers.
const MAX_RECORDS: u64 = 16_384;
/// The largest number of 11 octal digits.
const MAX_OCTAL: u64 = 0o777_7777_7777;
/// The name of a sparse file for programs that know none.
const SPARSE_NAME: &[u8] = b"GNUSparseFile.0/sparse";
const EXTENDED_NAME: &[u8] = b"PaxHeader";
const NAME_LEN: usize = 100;

const BAD: Error = Error::Malformed("a header in the archive");

/// The header of a member.
pub(super) fn encode(entry: &Entry) -> Vec<u8> {
    let records = records(entry);
    let mut bytes = Vec::with_capacity(3 * BLOCK);
    if !records.is_empty() {
        let size = records.len() as u64;
        let block = block(EXTENDED_NAME, 0o644, size, 0, EntryType::XHeader, b"");
        bytes.extend_from_slice(block.as_bytes());
        bytes.extend_from_slice(&records);
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    }
    let kind = match entry.kind {
        EntryKind::Directory => EntryType::Directory,
        EntryKind::Link { .. } => EntryType::Symlink,
        _ => EntryType::Regular,
    };
    let name = match entry.kind {
        EntryKind::Sparse { .. } => SPARSE_NAME.to_vec(),
        _ => full_name(entry),
    };
    let size = Some(entry.stored()).filter(|size| *size <= MAX_OCTAL);
    let time = octal_time(entry.modified);
    let block = block(
        &name,
        entry.mode,
        size.unwrap_or(0),
        time.unwrap_or(0),
        kind,
        entry.target(),
    );
    bytes.extend_from_slice(block.as_bytes());
    bytes
}

/// Reads the next header, with its bytes; `None` at the end of the tar file.
pub(super) fn read(reader: &mut impl Read) -> Result<Option<(Entry, Vec<u8>)>> {
    let mut bytes = block_of(reader)?.to_vec();
    if bytes.iter().all(|&byte| byte == 0) {
        let zeros = block_of(reader)?;
        let ended = zeros.iter().all(|&byte| byte == 0);
        return if ended { Ok(None) } else { Err(BAD) };
    }
    let mut records = Records::default();
    if Header::from_byte_slice(&bytes).entry_type() == EntryType::XHeader {
        let size = size_of(&bytes)?;
        if size > MAX_RECORDS {
            return Err(BAD);
        }
        let all = padded(size).ok_or(BAD)?;
        let start = bytes.len();
        bytes.resize(start + all as usize, 0);
        reader.read_exact(&mut bytes[start..]).map_err(cut_short)?;
        records = Records::parse(&bytes[start..start + size as usize])?;
        bytes.extend_from_slice(&block_of(reader)?);
    }
    let entry = entry(&bytes[bytes.len() - BLOCK..], records)?;
    entry.check()?;
    // There is one header for each member, so that all programs read the same in it.
    match encode(&entry) == bytes {
        true => Ok(Some((entry, bytes))),
        false => Err(BAD),
    }
}

/// An archive that ends too early is cut short, whatever else fails says so itself.
pub(super) fn cut_short(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => Error::Malformed("an archive that is cut short"),
        _ => error.into(),
    }
}

fn block_of(reader: &mut impl Read) -> Result<[u8; BLOCK]> {
    let mut block = [0; BLOCK];
    reader.read_exact(&mut block).map_err(cut_short)?;
    Ok(block)
}

fn block(name: &[u8], mode: u32, size: u64, time: u64, kind: EntryType, target: &[u8]) -> Header {
    let mut header = Header::new_ustar();
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size);
    header.set_mtime(time);
    header.set_entry_type(kind);
    let old = header.as_old_mut();
    fill(&mut old.name, name);
    fill(&mut old.linkname, target);
    header.set_cksum();
    header
}

fn fill(field: &mut [u8; NAME_LEN], text: &[u8]) {
    let length = text.len().min(NAME_LEN);
    field[..length].copy_from_slice(&text[..length]);
}

/// The path, which shows that it is a directory.
fn full_name(entry: &Entry) -> Vec<u8> {
    let slash: &[u8] = if entry.is_directory() { b"/" } else { b"" };
    [&entry.path, slash].concat()
}

fn octal_time(time: i64) -> Option<u64> {
    u64::try_from(time).ok().filter(|time| *time <= MAX_OCTAL)
}

/// Whether all programs read the text in the same way from a field of the header.
fn is_plain(text: &[u8]) -> bool {
    text.len() <= NAME_LEN && text.iter().all(|byte| (0x20..0x7f).contains(byte))
}

fn records(entry: &Entry) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut add = |key: &str, value: &[u8]| bytes.extend(record(key, value));
    let name = full_name(entry);
    let sparse = match entry.kind {
        EntryKind::Sparse { size, .. } => Some(size),
        _ => None,
    };
    if sparse.is_none() && !is_plain(&name) {
        add("path", &name);
    }
    if !is_plain(entry.target()) {
        add("linkpath", entry.target());
    }
    if entry.stored() > MAX_OCTAL {
        add("size", entry.stored().to_string().as_bytes());
    }
    if octal_time(entry.modified).is_none() {
        add("mtime", entry.modified.to_string().as_bytes());
    }
    if let Some(size) = sparse {
        add("GNU.sparse.major", b"1");
        add("GNU.sparse.minor", b"0");
        add("GNU.sparse.name", &entry.path);
        add("GNU.sparse.realsize", size.to_string().as_bytes());
    }
    bytes
}

/// The length in front counts itself.
fn record(key: &str, value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    [format!("{length} {key}=").as_bytes(), value, b"\n"].concat()
}

/// The records of an extended header. Those that are repeated, out of order, or that nothing needs
/// are found when the header is encoded again.
#[derive(Default)]
struct Records {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
    time: Option<i64>,
    sparse_name: Option<Vec<u8>>,
    sparse_size: Option<u64>,
}

impl Records {
    fn parse(mut bytes: &[u8]) -> Result<Self> {
        let mut records = Self::default();
        while !bytes.is_empty() {
            let space = bytes.iter().take(6).position(|&byte| byte == b' ');
            let (digits, _) = bytes.split_at(space.ok_or(BAD)?);
            let length: usize = number(digits)?;
            let (record, rest) = bytes.split_at_checked(length).ok_or(BAD)?;
            let record = record.get(digits.len() + 1..).ok_or(BAD)?;
            let record = record.strip_suffix(b"\n").ok_or(BAD)?;
            let equals = record.iter().position(|&byte| byte == b'=').ok_or(BAD)?;
            records.set(&record[..equals], &record[equals + 1..])?;
            bytes = rest;
        }
        Ok(records)
    }

    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        match key {
            b"path" => self.path = Some(value.to_vec()),
            b"linkpath" => self.target = Some(value.to_vec()),
            b"size" => self.size = Some(number(value)?),
            b"mtime" => self.time = Some(number(value)?),
            b"GNU.sparse.major" | b"GNU.sparse.minor" => {}
            b"GNU.sparse.name" => self.sparse_name = Some(value.to_vec()),
            b"GNU.sparse.realsize" => self.sparse_size = Some(number(value)?),
            _ => return Err(BAD),
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(digits: &[u8]) -> Result<T> {
    let text = std::str::from_utf8(digits).map_err(|_| BAD)?;
    text.parse().map_err(|_| BAD)
}

fn size_of(block: &[u8]) -> Result<u64> {
    Header::from_byte_slice(block).entry_size().map_err(|_| BAD)
}

/// The member that a block and the records before it describe.
fn entry(block: &[u8], records: Records) -> Result<Entry> {
    let header = Header::from_byte_slice(block);
    let until_nul = |field: &[u8]| field.split(|&byte| byte == 0).next().map(<[u8]>::to_vec);
    let old = header.as_old();
    let stored = records.size.map_or_else(|| size_of(block), Ok)?;
    let name = || until_nul(&old.name).unwrap_or_default();
    let mut path = records.path.unwrap_or_else(name);
    let kind = match (header.entry_type(), records.sparse_name) {
        (EntryType::Directory, None) => {
            path.pop();
            EntryKind::Directory
        }
        (EntryType::Symlink, None) => EntryKind::Link {
            target: records
                .target
                .or_else(|| until_nul(&old.linkname))
                .unwrap_or_default(),
        },
        (EntryType::Regular, None) => EntryKind::File { size: stored },
        (EntryType::Regular, Some(name)) => {
            path = name;
            let size = records.sparse_size.ok_or(BAD)?;
            EntryKind::Sparse { size, stored }
        }
        _ => return Err(BAD),
    };
    let time = header.mtime().map_err(|_| BAD)?;
    Ok(Entry {
        path,
        kind,
        mode: header.mode().map_err(|_| BAD)?,
        modified: records
            .time
            .unwrap_or(i64::try_from(time).map_err(|_| BAD)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let paths = [
            &b"a"[..],
            b"a b",
            &[b'n'; 99],
            &[b'n'; 100],
            &[b'n'; 101],
            b"\xe4\n=5 ",
            &[b'/'; 0],
        ];
        let link = |target: &[u8]| EntryKind::Link {
            target: target.to_vec(),
        };
        let kinds = [
            EntryKind::Directory,
            EntryKind::File { size: 0 },
            EntryKind::File { size: MAX_OCTAL },
            EntryKind::File {
                size: MAX_OCTAL + 1,
            },
            EntryKind::Sparse {
                size: 1 << 40,
                stored: 512,
            },
            EntryKind::Sparse {
                size: 1 << 40,
                stored: 1 << 39,
            },
            link(b"../a"),
            link(&[b't'; 101]),
            link(b"\xff"),
        ];
        let times = [
            0,
            -1,
            MAX_OCTAL as i64,
            MAX_OCTAL as i64 + 1,
            i64::MIN,
            i64::MAX,
        ];
        let paths = paths.iter().filter(|path| !path.is_empty());
        let all = paths.flat_map(|path| kinds.iter().map(move |kind| (path, kind)));
        let all = all.flat_map(|(path, kind)| times.iter().map(move |time| (path, kind, time)));
        all.map(|(path, kind, time)| Entry {
            path: path.to_vec(),
            kind: kind.clone(),
            mode: if kind == &kinds[0] { 0 } else { 0o777 },
            modified: *time,
        })
        .collect()
    }

    #[test]
    fn a_written_entry_is_read_again() {
        for entry in entries() {
            entry.check().unwrap();
            let bytes = encode(&entry);
            assert_eq!(bytes.len() % BLOCK, 0);
            let (read, raw) = read(&mut &bytes[..]).unwrap().unwrap();
            assert_eq!((read, raw), (entry, bytes));
        }
    }

    /// Every byte of a header matters: none is passed over, and none is read in two ways.
    #[test]
    fn no_header_has_another_form() {
        let short = entries()
            .into_iter()
            .filter(|entry| entry.path == b"\xe4\n=5 ");
        for entry in short {
            let bytes = encode(&entry);
            for place in 0..bytes.len() {
                let mut altered = bytes.clone();
                altered[place] ^= 1;
                let other = read(&mut &altered[..]).ok().flatten();
                assert!(other.is_none_or(|(other, raw)| other != entry && raw == altered));
            }
        }
    }

    #[test]
    fn long_records_allocate_nothing() {
        for size in [MAX_RECORDS + 1, u64::from(u32::MAX), MAX_OCTAL] {
            let header = block(EXTENDED_NAME, 0o644, size, 0, EntryType::XHeader, b"");
            assert!(matches!(
                read(&mut &header.as_bytes()[..]),
                Err(Error::Malformed(_))
            ));
        }
    }
}
