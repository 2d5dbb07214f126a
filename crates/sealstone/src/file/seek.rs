//! Random access to the content of a sealed file.

use std::io::{self, Read, Seek, SeekFrom};

use sealstone_skein::pipeline::Buffer;
use sealstone_skein::tree::{self, Proof};

use super::chunk::{CHUNK_LEN, CONTENT_LEN, MAX_CHUNKS, MIN_CHUNK_LEN};
use super::header::{CUT_SHORT, read_exact};
use super::keys::FileKeys;
use super::open::{Opening, check_lengths, check_signature};
use super::private::{Metadata, Private, Sender};
use super::trailer::{Tail, Trailer};
use crate::passport::Contact;
use crate::sign::Signature;
use crate::{Error, Result};

/// Reads any part of the content of a sealed file. A part costs the chunks that it touches.
///
/// The file key authenticates what is read: anyone who can open the file could have written it. The
/// sender authenticates it only after [`SealedReader::verify_sender`] has read the whole file. From
/// then on, the reader reads only what was verified.
///
/// A reader that has verified the sender can prove single chunks to other recipients
/// ([`SealedReader::prove`]). They then check the sender of a part without reading the rest
/// ([`SealedReader::read_proved`]).
pub struct SealedReader<R> {
    reader: R,
    private: Private,
    keys: FileKeys,
    payload_start: u64,
    lengths: Trailer,
    signature: Option<Signature>,
    position: u64,
    chunk: Buffer,
    /// Number of the chunk that is decrypted in `chunk`, and how much content it has.
    held: Option<(u64, usize)>,
    /// The chunks that the sender signed, once they have been verified.
    verified: Option<Vec<tree::Subtree>>,
}

impl<R: Read + Seek> SealedReader<R> {
    /// Takes over an unlocked file (binary form) and checks its trailer's lengths.
    ///
    /// The sender is not verified yet: anyone who can open the file could have written what is read
    /// before [`SealedReader::verify_sender`].
    ///
    /// # Errors
    /// [`Error::Altered`] if the end of the file is not as it was sealed, [`Error::Io`].
    pub fn new_unverified(opening: Opening<R>) -> Result<Self> {
        let Opening {
            private,
            keys,
            payload_start,
            mut reader,
            ..
        } = opening;
        let tail = Tail::of(&private);
        let trailer_len = tail.sealed_len();
        let end = reader.seek(SeekFrom::End(0))?;
        let payload_len = end
            .checked_sub(payload_start + trailer_len as u64)
            .ok_or(CUT_SHORT)?;
        reader.seek(SeekFrom::Start(payload_start + payload_len))?;
        let mut sealed = vec![0; trailer_len];
        read_exact(&mut reader, &mut sealed)?;
        let (lengths, signature) = check_lengths(&keys, &sealed, payload_len, tail)?;
        let chunks = payload_len.div_ceil(CHUNK_LEN as u64);
        let last_len = payload_len - (chunks.saturating_sub(1)) * CHUNK_LEN as u64;
        if chunks == 0
            || chunks > MAX_CHUNKS
            || last_len < MIN_CHUNK_LEN as u64
            || lengths.content_len > chunks * CONTENT_LEN as u64
        {
            return Err(CUT_SHORT);
        }
        let chunk = Buffer::new(CHUNK_LEN);
        Ok(Self {
            reader,
            private,
            keys,
            payload_start,
            lengths,
            signature,
            position: 0,
            chunk,
            held: None,
            verified: None,
        })
    }

    /// Bytes of content.
    pub fn content_len(&self) -> u64 {
        self.lengths.content_len
    }

    /// The sender that the file names.
    pub fn sender(&self) -> &Sender {
        &self.private.sender
    }

    /// Name, time and note.
    pub fn metadata(&self) -> &Metadata {
        &self.private.metadata
    }

    /// Reads the whole payload once and checks that `sender` signed it.
    ///
    /// # Errors
    /// [`Error::WrongSender`] if the file names another sender or none; [`Error::Altered`] if a
    /// signature does not fit.
    pub fn verify_sender(&mut self, sender: &Contact) -> Result<()> {
        self.verify_sender_by(sender, &[])
    }

    /// As [`SealedReader::verify_sender`], if the hashes of the first chunks are known from
    /// somewhere ([`super::ChunkHashes`]): those chunks are not read.
    ///
    /// Wrong hashes do not verify. From then on, the reader reads only chunks that have these
    /// hashes.
    ///
    /// # Errors
    /// As [`SealedReader::verify_sender`]; [`Error::Invalid`] if there are as many hashes as
    /// chunks, or more.
    pub fn verify_sender_by(&mut self, sender: &Contact, hashes: &[[u8; 64]]) -> Result<()> {
        if self.private.sender.fingerprint() != Some(sender.fingerprint()) {
            return Err(Error::WrongSender);
        }
        let known = hashes.len() as u64;
        if known >= self.chunks() {
            return Err(Error::Invalid("hashes of chunks that the file has not"));
        }
        self.held = None;
        let mut root = tree::Root::new();
        let mut nodes = Vec::new();
        let mut add = |node: tree::Subtree| {
            nodes.push(node.clone());
            root.push(node);
        };
        for (index, hash) in (0..).zip(hashes) {
            add(tree::Subtree::known(index, *hash));
        }
        for index in known..self.chunks() {
            let len = self.load(index)?;
            add(tree::subtree(index, self.chunk.first(len)));
        }
        let signature = self.signature.as_ref().ok_or(Error::WrongSender)?;
        check_signature(&self.keys, &self.lengths, signature, sender, &root.finish())?;
        self.verified = Some(nodes);
        Ok(())
    }

    /// The proof that the sender signed the chunk of the content at `position`.
    ///
    /// `None` before [`SealedReader::verify_sender`], and behind the end.
    pub fn prove(&self, position: u64) -> Option<Proof> {
        let nodes = self.verified.as_ref()?;
        let mut pieces = tree::Pieces::new();
        nodes.iter().for_each(|node| pieces.push(node.clone()));
        (position < self.lengths.content_len).then_some(())?;
        pieces.prove(position / CONTENT_LEN as u64)
    }

    /// The content from `position` to the end of its chunk, if `proof` shows that `sender` signed
    /// it.
    ///
    /// Reads this chunk only.
    ///
    /// # Errors
    /// [`Error::WrongSender`] if the file names another sender or none; [`Error::Altered`] if the
    /// chunk was altered or the proof is not for it; [`Error::Invalid`] if the content ends before
    /// `position`.
    pub fn read_proved(&mut self, sender: &Contact, position: u64, proof: &Proof) -> Result<&[u8]> {
        if self.private.sender.fingerprint() != Some(sender.fingerprint()) {
            return Err(Error::WrongSender);
        }
        if position >= self.lengths.content_len {
            return Err(Error::Invalid("a position behind the end of the content"));
        }
        let index = position / CONTENT_LEN as u64;
        self.held = None;
        let len = self.load(index)?;
        let root = proof
            .root(self.lengths.payload_len, index, self.chunk.first(len))
            .ok_or(Error::Altered("proof"))?;
        let signature = self.signature.as_ref().ok_or(Error::WrongSender)?;
        check_signature(&self.keys, &self.lengths, signature, sender, &root)?;
        let content = self.decrypt(index, len)?;
        let start = (position % CONTENT_LEN as u64) as usize;
        Ok(&self.chunk.first(content)[start..])
    }

    fn chunks(&self) -> u64 {
        self.lengths.payload_len.div_ceil(CHUNK_LEN as u64)
    }

    /// Reads the ciphertext of a chunk.
    fn load(&mut self, index: u64) -> Result<usize> {
        let start = index * CHUNK_LEN as u64;
        let len = (self.lengths.payload_len - start).min(CHUNK_LEN as u64) as usize;
        self.reader
            .seek(SeekFrom::Start(self.payload_start + start))?;
        read_exact(&mut self.reader, self.chunk.first(len))?;
        Ok(len)
    }

    /// The content of a chunk.
    fn content(&mut self, index: u64) -> Result<usize> {
        if let Some((held, content)) = self.held
            && held == index
        {
            return Ok(content);
        }
        self.held = None;
        let len = self.load(index)?;
        if let Some(nodes) = &self.verified
            && nodes.get(index as usize) != Some(&tree::subtree(index, self.chunk.first(len)))
        {
            return Err(Error::Altered("content, after it was verified,"));
        }
        self.decrypt(index, len)
    }

    /// Decrypts the chunk that was loaded.
    fn decrypt(&mut self, index: u64, len: usize) -> Result<usize> {
        let last = index + 1 == self.chunks();
        let content = self.keys.payload.open(index, last, self.chunk.first(len))?;
        let expected = self
            .lengths
            .content_len
            .saturating_sub(index * CONTENT_LEN as u64)
            .min(CONTENT_LEN as u64);
        if content as u64 != expected {
            return Err(Error::Altered("content"));
        }
        self.held = Some((index, content));
        Ok(content)
    }
}

impl<R: Read + Seek> Read for SealedReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.lengths.content_len || bytes.is_empty() {
            return Ok(0);
        }
        let content = self.content(self.position / CONTENT_LEN as u64)?;
        let start = (self.position % CONTENT_LEN as u64) as usize;
        let n = bytes.len().min(content - start);
        bytes[..n].copy_from_slice(&self.chunk.first(start + n)[start..]);
        self.position += n as u64;
        Ok(n)
    }
}

impl<R> Seek for SealedReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.lengths.content_len.checked_add_signed(offset),
        };
        self.position = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.position)
    }
}
