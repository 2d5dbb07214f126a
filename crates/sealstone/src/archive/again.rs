//! The same archive, for a file that is sealed again.

use std::io::{self, Read};

use super::read::Members;
use super::ready::Ready;
use super::tail::Tail;
use crate::Result;
use crate::file::ChunkHashes;

/// Gives the archive that a reader gives, with the hashes of the file that is being sealed. It
/// checks the whole archive on the way.
pub struct Again<'a, R> {
    members: Members<R>,
    tail: Tail<'a>,
    ready: Ready,
    next: Next,
}

#[derive(Clone, Copy, PartialEq)]
enum Next {
    Member,
    End,
    Nothing,
}

impl<'a, R: Read> Again<'a, R> {
    /// Reads from the beginning of an archive.
    pub fn new(reader: R, hashes: Option<&'a ChunkHashes>) -> Self {
        Self {
            members: Members::new(reader),
            tail: Tail::new(hashes),
            ready: Ready::default(),
            next: Next::Member,
        }
    }

    fn prepare(&mut self) -> Result<()> {
        let (ready, next) = match self.next {
            Next::Member => match self.members.advance()? {
                Some((entry, _)) => (self.tail.add(&entry)?, Next::Member),
                None => (self.tail.index(), Next::End),
            },
            Next::End => (self.tail.end(), Next::Nothing),
            Next::Nothing => (Vec::new(), Next::Nothing),
        };
        (self.ready, self.next) = (ready.into(), next);
        Ok(())
    }
}

impl<R: Read> Read for Again<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        loop {
            let n = self.ready.give(bytes);
            if n > 0 {
                return Ok(n);
            }
            if self.next == Next::Nothing {
                return Ok(0);
            }
            let n = match self.next {
                Next::Member => self.members.read_stored(bytes)?,
                _ => 0,
            };
            if n > 0 {
                return Ok(n);
            }
            self.prepare()?;
        }
    }
}
