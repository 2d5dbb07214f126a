//! The map of a file with holes, as GNU tar 1.0 writes it.

use std::io::Read;

use super::BLOCK;
use super::header::cut_short;
use crate::{Error, Result};

/// The most fragments of a file.
pub const MAX_FRAGMENTS: usize = 65_536;

const BAD: Error = Error::Malformed("a map of holes in the archive");

/// The places where a file with holes has content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// Offset and length of each. The last ends where the file ends, and may be empty.
    fragments: Vec<(u64, u64)>,
}

impl Map {
    /// The map of a file of `size` bytes that has content at these offsets and lengths.
    ///
    /// # Errors
    /// [`Error::Malformed`] if they are not in order, empty, behind the end, or more than
    /// [`MAX_FRAGMENTS`].
    pub fn new(size: u64, mut fragments: Vec<(u64, u64)>) -> Result<Self> {
        let end = fragments
            .last()
            .map(|(at, length)| at.saturating_add(*length));
        if end != Some(size) {
            fragments.push((size, 0));
        }
        let map = Self { fragments };
        map.check(size)?;
        Ok(map)
    }

    /// Offset and length of each fragment.
    pub fn fragments(&self) -> &[(u64, u64)] {
        &self.fragments
    }

    /// Bytes in the archive: the map and the content.
    pub fn stored(&self) -> u64 {
        self.content_len() + self.encode().len() as u64
    }

    /// Bytes of content.
    fn content_len(&self) -> u64 {
        self.fragments.iter().map(|(_, length)| length).sum()
    }

    fn check(&self, size: u64) -> Result<()> {
        let mut end = 0;
        let last = self.fragments.len().checked_sub(1).ok_or(BAD)?;
        for (i, (at, length)) in self.fragments.iter().enumerate() {
            if *at < end || *length == 0 && i != last {
                return Err(BAD);
            }
            end = at.checked_add(*length).ok_or(BAD)?;
        }
        match end == size && size <= i64::MAX as u64 && last < MAX_FRAGMENTS {
            true => Ok(()),
            false => Err(BAD),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut text = format!("{}\n", self.fragments.len());
        for (at, length) in &self.fragments {
            text += &format!("{at}\n{length}\n");
        }
        let mut bytes = text.into_bytes();
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }

    /// Reads the map of a file of `size` bytes, of which the archive has `stored`.
    pub(super) fn read(reader: &mut impl Read, size: u64, stored: u64) -> Result<Self> {
        let mut numbers = Numbers {
            reader,
            block: [0; BLOCK],
            at: BLOCK,
        };
        let count = numbers.next()?;
        if count > MAX_FRAGMENTS as u64 {
            return Err(BAD);
        }
        let mut fragments = Vec::new();
        for _ in 0..count {
            fragments.push((numbers.next()?, numbers.next()?));
        }
        numbers.finish()?;
        let map = Self { fragments };
        map.check(size)?;
        match map.stored() == stored {
            true => Ok(map),
            false => Err(BAD),
        }
    }
}

/// The numbers of a map, read block by block.
struct Numbers<'a, R> {
    reader: &'a mut R,
    block: [u8; BLOCK],
    at: usize,
}

impl<R: Read> Numbers<'_, R> {
    fn byte(&mut self) -> Result<u8> {
        if self.at == BLOCK {
            self.reader.read_exact(&mut self.block).map_err(cut_short)?;
            self.at = 0;
        }
        self.at += 1;
        Ok(self.block[self.at - 1])
    }

    fn next(&mut self) -> Result<u64> {
        let mut number: Option<u64> = None;
        loop {
            let byte = self.byte()?;
            number = match (byte, number) {
                (b'\n', Some(number)) => return Ok(number),
                (b'0'..=b'9', None) => Some(u64::from(byte - b'0')),
                // No leading zeros.
                (b'0'..=b'9', Some(number)) if number != 0 => {
                    let tens = number.checked_mul(10).ok_or(BAD)?;
                    Some(tens.checked_add(u64::from(byte - b'0')).ok_or(BAD)?)
                }
                _ => return Err(BAD),
            };
        }
    }

    /// Zero bytes fill the last block.
    fn finish(self) -> Result<()> {
        match self.block[self.at..].iter().all(|&byte| byte == 0) {
            true => Ok(()),
            false => Err(BAD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_comes_back() {
        let many: Vec<(u64, u64)> = (0..1000).map(|i| (i << 20, 4096)).collect();
        for (size, fragments) in [
            (0, vec![]),
            (1 << 40, vec![]),
            (1 << 40, vec![(5, 7)]),
            (12, vec![(5, 7)]),
            (1 << 30, many),
        ] {
            let map = Map::new(size, fragments).unwrap();
            let bytes = map.encode();
            let read = Map::read(&mut &bytes[..], size, map.stored()).unwrap();
            assert_eq!(read, map);
            assert!(Map::read(&mut &bytes[..], size + 1, map.stored()).is_err());
            assert!(Map::read(&mut &bytes[..], size, map.stored() + 1).is_err());
        }
    }

    #[test]
    fn a_map_that_overlaps_or_overflows_is_refused() {
        for fragments in [
            vec![(0, 5), (4, 8)],
            vec![(6, 6), (0, 5)],
            vec![(0, 0), (6, 6)],
            vec![(u64::MAX, 2)],
            vec![(u64::MAX - 1, 1)],
            vec![(13, 1)],
        ] {
            assert!(Map::new(12, fragments).is_err());
        }
        for text in [
            "",
            "x",
            "-1\n",
            "+1\n",
            "01\n12\n0\n",
            "1\n12",
            "1\n012\n0\n",
            "1\n\n0\n",
            "1\n12\n0\nx",
            "99999999999999999999\n",
            "65537\n",
            "0\n",
            "1\n0\n18446744073709551616\n",
        ] {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(BLOCK, 0);
            assert!(Map::read(&mut &bytes[..], 12, 512).is_err(), "{text}");
        }
    }
}
