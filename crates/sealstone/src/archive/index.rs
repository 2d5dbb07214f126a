//! The index behind the tar file, and the footer that tells where it is.

use std::io::Read;

use super::entry::{Entry, EntryKind};
use super::header::cut_short;
use crate::{Error, Result};

pub(super) const FOOTER: usize = 48;
const MAGIC: &[u8; 16] = b"sealstone.dir.v1";

const BAD: Error = Error::Malformed("the index of the archive");

/// The record of a member.
pub(super) fn record(entry: &Entry) -> Vec<u8> {
    let kind = match entry.kind {
        EntryKind::File { .. } => b'0',
        EntryKind::Directory => b'5',
        EntryKind::Link { .. } => b'2',
        EntryKind::Sparse { .. } => b'S',
    };
    let target = entry.target();
    let mut bytes = Vec::with_capacity(31 + entry.path.len() + target.len());
    bytes.extend((entry.path.len() as u16).to_be_bytes());
    bytes.extend(&entry.path);
    bytes.push(kind);
    bytes.extend((entry.mode as u16).to_be_bytes());
    bytes.extend(entry.modified.to_be_bytes());
    bytes.extend(entry.size().to_be_bytes());
    bytes.extend(entry.stored().to_be_bytes());
    bytes.extend((target.len() as u16).to_be_bytes());
    bytes.extend(target);
    bytes
}

/// Reads a record. The member follows the rules of the page, on its own.
pub(super) fn read_record(reader: &mut impl Read) -> Result<Entry> {
    let path = text(reader)?;
    let [kind] = array(reader)?;
    let mode = u16::from_be_bytes(array(reader)?).into();
    let modified = i64::from_be_bytes(array(reader)?);
    let size = u64::from_be_bytes(array(reader)?);
    let stored = u64::from_be_bytes(array(reader)?);
    let target = text(reader)?;
    let kind = match kind {
        b'0' => EntryKind::File { size },
        b'5' => EntryKind::Directory,
        b'2' => EntryKind::Link {
            target: target.clone(),
        },
        b'S' => EntryKind::Sparse { size, stored },
        _ => return Err(BAD),
    };
    let entry = Entry {
        path,
        kind,
        mode,
        modified,
    };
    entry.check()?;
    let same = (entry.size(), entry.stored(), entry.target()) == (size, stored, &target[..]);
    if same { Ok(entry) } else { Err(BAD) }
}

fn array<const N: usize>(reader: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes).map_err(cut_short)?;
    Ok(bytes)
}

/// At most 65,535 bytes.
fn text(reader: &mut impl Read) -> Result<Vec<u8>> {
    let length = u16::from_be_bytes(array(reader)?);
    let mut bytes = vec![0; length.into()];
    reader.read_exact(&mut bytes).map_err(cut_short)?;
    Ok(bytes)
}

/// The lengths of the parts of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    /// Bytes of the tar file.
    pub(super) tar: u64,
    /// Bytes of the index.
    pub(super) index: u64,
    /// Members.
    pub(super) entries: u64,
    /// Hashes of chunks.
    pub(super) hashes: u64,
}

impl Footer {
    pub(super) fn encode(&self) -> [u8; FOOTER] {
        let mut bytes = [0; FOOTER];
        let numbers = [self.tar, self.index, self.entries, self.hashes];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        bytes[32..].copy_from_slice(MAGIC);
        bytes
    }

    /// Reads the footer of an archive of `content_len` bytes.
    pub(super) fn decode(bytes: &[u8; FOOTER], content_len: u64) -> Result<Self> {
        let (numbers, magic) = bytes.split_at(32);
        if magic != MAGIC {
            return Err(Error::Malformed("not an archive, or one that is cut short"));
        }
        let (numbers, _) = numbers.as_chunks::<8>();
        let [tar, index, entries, hashes] =
            [0, 1, 2, 3].map(|i: usize| u64::from_be_bytes(numbers[i]));
        let footer = Self {
            tar,
            index,
            entries,
            hashes,
        };
        match footer.content_len() == Some(content_len)
            && (hashes == 0 || hashes == footer.chunks())
        {
            true => Ok(footer),
            false => Err(BAD),
        }
    }

    /// The length of the archive.
    fn content_len(&self) -> Option<u64> {
        let hashes = self.hashes.checked_mul(64)?;
        let parts = [self.index, hashes, FOOTER as u64];
        parts
            .iter()
            .try_fold(self.tar, |sum, part| sum.checked_add(*part))
    }

    /// The chunks before the one that has the last byte of the index.
    pub(super) fn chunks(&self) -> u64 {
        let end = self.tar.saturating_add(self.index);
        end.saturating_sub(1) / crate::file::CONTENT_LEN as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_that_does_not_add_up_is_refused() {
        let footer = Footer {
            tar: 5 << 20,
            index: 77,
            entries: 1,
            hashes: 5,
        };
        let length = (5 << 20) + 77 + 5 * 64 + 48;
        assert_eq!(Footer::decode(&footer.encode(), length).unwrap(), footer);
        assert!(Footer::decode(&footer.encode(), length + 1).is_err());
        for hashes in [1, 4, 6, u64::MAX / 64, u64::MAX] {
            let bad = Footer { hashes, ..footer }.encode();
            let length = 5 << 20 | 77;
            for more in [0, 48, 64 + 48, 4 * 64 + 48, 6 * 64 + 48] {
                assert!(Footer::decode(&bad, length + more).is_err());
            }
        }
        for (tar, index) in [
            (u64::MAX, 0),
            (0, u64::MAX),
            (u64::MAX, u64::MAX),
            (u64::MAX - 47, 0),
        ] {
            let bad = Footer {
                tar,
                index,
                hashes: 0,
                ..footer
            }
            .encode();
            assert!((0..300).all(|length| Footer::decode(&bad, length).is_err()));
        }
    }

    #[test]
    fn a_record_that_says_two_things_is_refused() {
        let link = Entry {
            path: b"a".to_vec(),
            kind: EntryKind::Link {
                target: b"b".to_vec(),
            },
            mode: 0o777,
            modified: -5,
        };
        let bytes = record(&link);
        assert_eq!(read_record(&mut &bytes[..]).unwrap(), link);
        // The size of a link, the mode of a link, and another type.
        for (place, value) in [(21, 1), (29, 1), (5, 0), (3, b'0'), (3, b'x')] {
            let mut bad = bytes.clone();
            bad[place] = value;
            assert!(read_record(&mut &bad[..]).is_err(), "{place}");
        }
        for end in 0..bytes.len() {
            assert!(read_record(&mut &bytes[..end]).is_err());
        }
    }
}
