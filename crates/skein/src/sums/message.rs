//! Hashing a message with any algorithm.

use std::io::{self, ErrorKind, Read};

use super::{Algorithm, Arguments, STANDARD, State};
use crate::pipeline::read_ahead;
use crate::threefish::Block;
use crate::tree::{Start, TreeSkein};
use crate::{Parameters, Skein};

/// Reads into the bytes at a position, counted from the beginning of the message.
pub type ReadAt<'a> = dyn Fn(u64, &mut [u8]) -> io::Result<usize> + Sync + 'a;

impl Algorithm {
    /// Hashes what `reader` gives. That number of threads hash the tree of `spec/tree.md`; they
    /// all use `read_at` if there is one; other algorithms take one thread, and one to read.
    ///
    /// # Errors
    /// The reader's error, and [`ErrorKind::UnexpectedEof`] if the message has fewer bits than
    /// the algorithm hashes.
    pub fn hash(
        &self,
        arguments: &Arguments,
        mut reader: impl Read + Send,
        read_at: Option<&ReadAt<'_>>,
        workers: usize,
    ) -> io::Result<Vec<u8>> {
        let parameters = arguments.parameters(self);
        if self.is_parallel() {
            let start = Start::with(&parameters);
            let mut output = match read_at {
                Some(read_at) => start.hash_at(&read_at, workers)?,
                None => start.hash_stream(&mut reader, workers)?,
            };
            let mut bytes = vec![0; self.output_bytes()];
            output.read(&mut bytes);
            return Ok(bytes);
        }
        match self.state {
            State::Skein256 => self.hash_with::<4>(reader, &parameters),
            State::Skein512 => self.hash_with::<8>(reader, &parameters),
            State::Skein1024 => self.hash_with::<16>(reader, &parameters),
        }
    }

    fn is_parallel(&self) -> bool {
        let is_standard = self.state == State::Skein512 && self.tree == Some(STANDARD);
        is_standard && self.message_bits.is_none()
    }

    fn hash_with<const N: usize>(
        &self,
        reader: impl Read + Send,
        parameters: &Parameters<'_>,
    ) -> io::Result<Vec<u8>>
    where
        [u64; N]: Block<u64>,
    {
        Ok(match self.tree {
            Some(shape) => {
                let mut hasher = TreeSkein::<N>::with(parameters, shape);
                match self.give(reader, |bytes| hasher.update(bytes))? {
                    Some((last, used)) => hasher.finish_bits(last, used),
                    None => hasher.finish(),
                }
            }
            None => {
                let mut hasher = Skein::<N>::with(parameters);
                match self.give(reader, |bytes| hasher.update(bytes))? {
                    Some((last, used)) => hasher.finish_bits(last, used),
                    None => hasher.finish(),
                }
            }
        })
    }

    /// Gives all whole bytes to `take`, and returns the last one if only some of its bits count.
    fn give(
        &self,
        mut reader: impl Read + Send,
        mut take: impl FnMut(&[u8]) + Send,
    ) -> io::Result<Option<(u8, u32)>> {
        let Some(bits) = self.message_bits else {
            read_ahead(reader, take)?;
            return Ok(None);
        };
        let mut seen = 0;
        read_ahead(reader.by_ref().take(bits / 8), |bytes| {
            seen += bytes.len() as u64;
            take(bytes);
        })?;
        let used = (bits % 8) as u32;
        let mut last = Vec::new();
        reader.take(used.min(1).into()).read_to_end(&mut last)?;
        if seen < bits / 8 || (used > 0 && last.is_empty()) {
            let what = format!("has only {} bits", 8 * seen);
            return Err(io::Error::new(ErrorKind::UnexpectedEof, what));
        }
        Ok(last.first().map(|&last| (last, used)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Skein256;

    #[test]
    fn a_message_of_too_few_bits_is_an_error() {
        let algorithm = Algorithm::parse("Skein-256-256+first-12-bits").unwrap();
        let hash = |message: &[u8]| algorithm.hash(&Arguments::default(), message, None, 1);
        assert_eq!(hash(b"a").unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(hash(b"").unwrap_err().to_string(), "has only 0 bits");
        let right = Skein256::new().chain(b"a").finish_bits(b'b' & 0xf0, 4);
        assert_eq!(hash(b"abc").unwrap(), right);
    }
}
