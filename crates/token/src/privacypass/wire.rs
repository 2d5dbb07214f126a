//! Reading and writing of TLS presentation language (RFC 8446 section 3) and of the variable
//! lengths of RFC 9000 section 16.

use crate::Error;

/// The rest of a message.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Over `bytes`, which errors call `what`.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(Error::Malformed(self.what))?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        Ok(self.take(N)?.try_into().expect("as many as taken"))
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    /// Bytes behind a length of one byte.
    pub(crate) fn short_vector(&mut self) -> Result<&'a [u8], Error> {
        let len = self.u8()?;
        self.take(len.into())
    }

    /// Bytes behind a length of two bytes.
    pub(crate) fn vector(&mut self) -> Result<&'a [u8], Error> {
        let len = self.u16()?;
        self.take(len.into())
    }

    /// Bytes behind a variable length, which must be in its shortest form.
    pub(crate) fn variable_vector(&mut self) -> Result<&'a [u8], Error> {
        let first = *self.rest.first().ok_or(Error::Malformed(self.what))?;
        let bytes = self.take(1 << (first >> 6))?;
        let value = bytes
            .iter()
            .fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        let value = value & (u64::MAX >> (66 - 8 * bytes.len()));
        let malformed = Error::Malformed(self.what);
        if variable_len(value) != bytes.len() {
            return Err(malformed);
        }
        self.take(usize::try_from(value).map_err(|_| malformed)?)
    }

    /// Everything that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Fails if bytes are left.
    pub(crate) fn finish(self) -> Result<(), Error> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(Error::Malformed(self.what))
        }
    }
}

/// The number of bytes of the shortest form of `value`.
fn variable_len(value: u64) -> usize {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Appends `bytes` behind their variable length.
pub(crate) fn put_variable_vector(out: &mut Vec<u8>, bytes: &[u8]) {
    let value = bytes.len() as u64;
    let len = variable_len(value);
    let prefix = (len.ilog2() as u64) << (8 * len - 2);
    out.extend_from_slice(&(prefix | value).to_be_bytes()[8 - len..]);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9000 appendix A.1, as lengths of zeros where that is possible.
    #[test]
    fn variable_lengths() {
        for (len, prefix) in [
            (37, &[0x25][..]),
            (63, &[0x3f]),
            (64, &[0x40, 0x40]),
            (15_293, &[0x7b, 0xbd]),
            (16_384, &[0x80, 0, 0x40, 0]),
        ] {
            let mut out = Vec::new();
            put_variable_vector(&mut out, &vec![7; len]);
            assert_eq!(out[..prefix.len()], *prefix);
            let mut reader = Reader::new(&out, "test");
            assert_eq!(reader.variable_vector(), Ok(&vec![7; len][..]));
            reader.finish().expect("nothing left");
        }
        let longest = [0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c];
        assert!(
            Reader::new(&longest, "test").variable_vector().is_err(),
            "far too long"
        );
    }

    /// RFC 9000 appendix A.1: two bytes 0x4025 decode to 37 as well. Not here.
    #[test]
    fn only_the_shortest_length_is_read() {
        let mut long = vec![0x40, 0x25];
        long.extend([0; 37]);
        assert!(Reader::new(&long, "test").variable_vector().is_err());
    }

    #[test]
    fn nothing_is_read_behind_the_end() {
        assert!(Reader::new(&[], "test").variable_vector().is_err());
        assert!(Reader::new(&[0x40], "test").variable_vector().is_err());
        assert!(Reader::new(&[2, 0], "test").variable_vector().is_err());
        assert!(Reader::new(&[0, 2, 0], "test").vector().is_err());
        assert!(Reader::new(&[2, 0], "test").short_vector().is_err());
        assert!(Reader::new(&[0], "test").finish().is_err());
    }
}
