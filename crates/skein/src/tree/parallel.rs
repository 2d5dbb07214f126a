//! The tree hash of a message that is read: pieces go through all processors.

use std::io::{self, Read};

use super::{PIECE, Root, Start, Subtree};
use crate::output::Output;
use crate::pipeline::{Buffer, Sink, Source, fill, run};

impl Start {
    /// Hashes everything that `reader` gives, with that number of threads. Memory is one piece a
    /// thread.
    ///
    /// # Errors
    /// The reader's error.
    pub fn hash_stream(
        &self,
        reader: &mut (impl Read + Send),
        workers: usize,
    ) -> io::Result<Output<8>> {
        let mut source = Stream {
            reader,
            next: 0,
            ended: false,
        };
        let work = |piece: &mut Piece| {
            piece.hash(self);
            Ok(())
        };
        let mut piece = Piece::default();
        source.next(&mut piece)?;
        work(&mut piece)?;
        let mut root = self.root_of(piece);
        // A short message needs no threads.
        if !source.ended {
            run(workers, &mut source, &work, &mut root)?;
        }
        Ok(root.output())
    }

    /// Hashes the bytes that `read_at` gives for positions from 0 on. The threads all read at the
    /// same time. The message ends where nothing more can be read.
    ///
    /// # Errors
    /// The error of `read_at`.
    pub fn hash_at(
        &self,
        read_at: &(impl Fn(u64, &mut [u8]) -> io::Result<usize> + Sync),
        workers: usize,
    ) -> io::Result<Output<8>> {
        let work = |piece: &mut Piece| {
            let from = piece.index * PIECE as u64;
            piece.fill(|filled, bytes| read_at(from + filled as u64, bytes))?;
            piece.hash(self);
            Ok(())
        };
        let mut piece = Piece::default();
        work(&mut piece)?;
        let is_last = piece.is_last();
        let mut root = self.root_of(piece);
        if !is_last {
            run(workers, &mut Positions(1), &work, &mut root)?;
        }
        Ok(root.output())
    }

    /// The root with its first piece.
    fn root_of(&self, mut first: Piece) -> Root {
        let mut root = self.root();
        first.subtree.take().into_iter().for_each(|s| root.push(s));
        root
    }
}

/// A piece on its way, in a buffer that is used again.
struct Piece {
    index: u64,
    buffer: Buffer,
    len: usize,
    subtree: Option<Subtree>,
}

impl Default for Piece {
    fn default() -> Self {
        Self {
            index: 0,
            buffer: Buffer::new(PIECE),
            len: 0,
            subtree: None,
        }
    }
}

impl Piece {
    /// Reads to the end of the piece or of the message; `read` gets the position in the piece.
    fn fill(
        &mut self,
        mut read: impl FnMut(usize, &mut [u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut filled = 0;
        let read = |bytes: &mut [u8]| {
            let n = read(filled, bytes)?;
            filled += n;
            Ok(n)
        };
        self.len = fill(read, &mut self.buffer, 0, PIECE)?;
        Ok(())
    }

    /// Only the first piece of a message may be empty.
    fn hash(&mut self, start: &Start) {
        let is_some = self.len > 0 || self.index == 0;
        let bytes = self.buffer.first(self.len);
        self.subtree = is_some.then(|| start.subtree(self.index, bytes));
    }

    fn is_last(&self) -> bool {
        self.len < PIECE
    }
}

/// Gives out positions; the worker reads there.
struct Positions(u64);

impl Source<Piece> for Positions {
    type Error = io::Error;

    fn next(&mut self, piece: &mut Piece) -> io::Result<bool> {
        piece.index = self.0;
        self.0 += 1;
        Ok(true)
    }
}

/// Reads one piece after the other.
struct Stream<'r, R> {
    reader: &'r mut R,
    next: u64,
    /// A terminal can be read again behind its end.
    ended: bool,
}

impl<R: Read + Send> Source<Piece> for Stream<'_, R> {
    type Error = io::Error;

    fn next(&mut self, piece: &mut Piece) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        piece.index = self.next;
        self.next += 1;
        piece.fill(|_, bytes| self.reader.read(bytes))?;
        self.ended = piece.is_last();
        Ok(true)
    }
}

/// Takes pieces up to the first short one: a file may change while it is read.
impl Sink<Piece> for Root {
    type Error = io::Error;

    fn take(&mut self, piece: &mut Piece) -> io::Result<bool> {
        piece.subtree.take().into_iter().for_each(|s| self.push(s));
        Ok(!piece.is_last())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::hash;

    #[test]
    fn both_ways_to_read_give_the_hash() {
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE, 7 * PIECE + 9] {
            let message: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let read_at = |at: u64, bytes: &mut [u8]| {
                let from = message.len().min(at as usize);
                (&message[from..]).read(bytes)
            };
            for workers in [1, 3] {
                let outputs = [
                    Start::new().hash_stream(&mut &message[..], workers),
                    Start::new().hash_at(&read_at, workers),
                ];
                for output in outputs {
                    let mut found = [0; 64];
                    output.unwrap().read(&mut found);
                    assert_eq!(found, hash(&message), "{len} with {workers}");
                }
            }
        }
    }

    #[test]
    fn an_error_ends_both() {
        let broken = |at: u64, bytes: &mut [u8]| match at < 3 * PIECE as u64 {
            true => Ok(bytes.len()),
            false => Err(io::ErrorKind::Unsupported.into()),
        };
        let error = Start::new().hash_at(&broken, 3).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::Unsupported.into())
            }
        }
        let mut reader = io::repeat(7).take(3 * PIECE as u64).chain(Broken);
        let error = Start::new().hash_stream(&mut reader, 3).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }
}
