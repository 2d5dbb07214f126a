//! Opening, in three steps of fixed order: [`Sealed`] shows the public part, [`Opening`] the part
//! for recipients, and the content follows after the caller has decided about the sender.

use std::io::{Read, Write};

use sealstone_primitives::secret::Secret;
use sealstone_skein::pipeline::{self, Buffer, Sink, Source, fill};
use sealstone_skein::tree;

use super::Workers;
use super::chunk::{self, CHUNK_LEN, CONTENT_LEN, ChunkCipher, MAX_CHUNKS, MIN_CHUNK_LEN};
use super::header::{CUT_SHORT, Header, MAC_LEN, Suite, read_exact};
use super::keys::{FileKeys, Schedule};
use super::private::{Metadata, Private, Sender};
use super::stanza::{self, Description, Fitting, Keys, RecipientInfo, Stanza, WrappedKey};
use super::trailer::{self, Tail, Trailer};
use crate::passport::{Contact, Fingerprint};
use crate::sign::Signature;
use crate::{Error, Result};

/// A sealed file whose header has been read and follows the format. Nothing in it is authenticated.
pub struct Sealed<R> {
    header: Header,
    mac: [u8; MAC_LEN],
    reader: R,
}

/// The key of one sealed file, unwrapped by a recipient. The header is not authenticated yet.
pub struct FileKey {
    key: Secret<32>,
    opened_by: RecipientInfo,
}

/// A sealed file whose header was unlocked and authenticated.
///
/// It shows the metadata and the sender, who is a claim. The content needs a decision about the
/// sender.
pub struct Opening<R> {
    pub(crate) private: Private,
    opened_by: RecipientInfo,
    pub(crate) keys: FileKeys,
    /// Where in the file the payload begins.
    pub(crate) payload_start: u64,
    /// The chunks of a payload whose signatures have verified. No other chunks are released later.
    pub(crate) verified: Option<Vec<tree::Subtree>>,
    pub(crate) reader: R,
}

impl FileKey {
    /// A key that an agent has unwrapped.
    pub(crate) fn unwrapped(key: Secret<32>, opened_by: RecipientInfo) -> Self {
        Self { key, opened_by }
    }
}

impl<R: Read> Sealed<R> {
    /// Reads the header. `reader` gives the binary form: see [`super::Dearmored`].
    ///
    /// # Errors
    /// [`Error::OtherKind`] if this is not a sealed file, [`Error::Malformed`] if it breaks a rule,
    /// [`Error::Unsupported`] if it is of a newer version, [`Error::Altered`] if it is cut short.
    pub fn read(mut reader: R) -> Result<Self> {
        let header = Header::read(&mut reader)?;
        let mut mac = [0; MAC_LEN];
        read_exact(&mut reader, &mut mac)?;
        Ok(Self {
            header,
            mac,
            reader,
        })
    }

    /// The payload cipher.
    pub fn suite(&self) -> Suite {
        self.header.suite
    }

    /// Every recipient, as far as the file tells.
    pub fn recipients(&self) -> impl Iterator<Item = RecipientInfo> {
        self.header.stanzas.iter().map(Stanza::info)
    }

    /// Which keys to try: `own` are the passports of the user, of which the first `current` ones
    /// are tried on anonymous recipients too. `None` if the file is for somebody else.
    pub fn fitting(&self, own: &[Fingerprint], current: usize) -> Option<Fitting> {
        stanza::fitting(&self.header.stanzas, own, current)
    }

    /// Every recipient in words, in the order of [`Sealed::recipients`].
    pub fn descriptions(&self) -> impl Iterator<Item = Description> {
        self.header.stanzas.iter().map(Stanza::describe)
    }

    /// The file key as it is wrapped for each passport, in the order of the file.
    pub fn wrapped_keys(&self) -> impl Iterator<Item = WrappedKey> {
        self.header.stanzas.iter().filter_map(Stanza::for_passport)
    }

    /// Bytes of the header, its prefix and its MAC: the payload begins behind them.
    pub fn header_len(&self) -> u64 {
        (self.header.encoded.len() + MAC_LEN) as u64
    }

    /// Unwraps the file key, authenticates the header and decrypts the private part.
    ///
    /// # Errors
    /// [`Error::NotRecipient`] or [`Error::WrongPassphrase`] if nothing in `keys` fits;
    /// [`Error::KdfLimit`] before memory is taken; [`Error::Altered`] if the header was altered.
    pub fn unlock(self, keys: &Keys<'_>) -> Result<Opening<R>> {
        let key = self.file_key(keys)?;
        self.unlock_with(&key)
    }

    /// As [`Sealed::unlock`] with the key from [`Sealed::file_key`].
    ///
    /// # Errors
    /// [`Error::Altered`] if the header was altered, or the key is that of another file.
    pub fn unlock_with(self, key: &FileKey) -> Result<Opening<R>> {
        let schedule = Schedule::new(&key.key);
        schedule.check_header_mac(&self.header, &self.mac)?;
        let private = schedule
            .private_cipher()
            .open(&self.header.private)
            .ok_or(Error::Altered("header"))?;
        Ok(Opening {
            private: Private::decode(&private)?,
            opened_by: key.opened_by,
            keys: schedule.file_keys(&self.header, &self.mac),
            payload_start: self.header_len(),
            verified: None,
            reader: self.reader,
        })
    }

    /// Unwraps the file key alone, so that a user who mistyped a passphrase can try again.
    ///
    /// Stanzas that name a passport come first, then anonymous ones, then passphrases, which cost
    /// most. A generated passphrase may be typed with spaces or capitals instead of dashes.
    ///
    /// # Errors
    /// [`Error::NotRecipient`] or [`Error::WrongPassphrase`] if nothing in `keys` fits;
    /// [`Error::KdfLimit`] before memory is taken.
    pub fn file_key(&self, keys: &Keys<'_>) -> Result<FileKey> {
        let (key, opened_by) = stanza::unwrap_any(&self.header.stanzas, keys)?;
        Ok(FileKey { key, opened_by })
    }
}

impl<R: Read + Send> Opening<R> {
    /// The sender that the file names.
    pub fn sender(&self) -> &Sender {
        &self.private.sender
    }

    /// Name, time and note.
    pub fn metadata(&self) -> &Metadata {
        &self.private.metadata
    }

    /// Whether the length of the content is hidden ([`super::Sealer::hide_length`]).
    pub fn hides_length(&self) -> bool {
        self.private.uniform
    }

    /// The recipient whose key opened the file.
    pub fn opened_by(&self) -> RecipientInfo {
        self.opened_by
    }

    /// Where in the file the payload begins.
    pub fn payload_start(&self) -> u64 {
        self.payload_start
    }

    /// Bytes of content, if the whole binary file has `file_len`. `None` if the file hides them, or
    /// if no file has this length.
    ///
    /// This is a claim until the content is opened: the file may have been altered.
    pub fn content_len(&self, file_len: u64) -> Option<u64> {
        let trailer_len = Tail::of(&self.private).sealed_len() as u64;
        let payload_len = file_len.checked_sub(self.payload_start + trailer_len)?;
        let padded_len = chunk::padded_len(payload_len)?;
        (!self.private.uniform).then_some(padded_len)
    }

    /// Replaces the reader of the payload, for callers that read a file twice.
    ///
    /// The reader that `replace` returns must stand at the same place.
    ///
    /// # Errors
    /// If `replace` fails.
    pub fn with_payload<Q, E>(
        self,
        replace: impl FnOnce(R) -> Result<Q, E>,
    ) -> Result<Opening<Q>, E> {
        let Self {
            private,
            opened_by,
            keys,
            payload_start,
            verified,
            reader,
        } = self;
        Ok(Opening {
            private,
            opened_by,
            keys,
            payload_start,
            verified,
            reader: replace(reader)?,
        })
    }

    /// Replaces the reader by one that stands at the beginning of the same file.
    ///
    /// # Errors
    /// That of `reader`.
    pub fn restarted<Q: Read>(self, mut reader: Q) -> Result<Opening<Q>> {
        let mut header = reader.by_ref().take(self.payload_start);
        std::io::copy(&mut header, &mut std::io::sink())?;
        self.with_payload(|_| Ok(reader))
    }

    /// Checks everything that [`Opening::open_signed`] checks and writes nothing.
    ///
    /// The reader then stands at its end: see [`Opening::with_payload`].
    ///
    /// A later opening writes only what was verified, even if the file changes in between: the hash
    /// of each chunk is kept, 80 bytes for 1 MiB.
    ///
    /// # Errors
    /// As for [`Opening::open_signed`].
    pub fn verify_signed(&mut self, sender: &Contact, workers: Workers) -> Result<u64> {
        let mut nodes = Vec::new();
        let content_len = self.run(
            Some(sender),
            std::io::sink(),
            workers,
            Seen::Collect(&mut nodes),
        )?;
        self.verified = Some(nodes);
        Ok(content_len)
    }

    /// Writes the content of an unsigned file.
    ///
    /// The file key authenticates each piece before it is written. Only success shows that the file
    /// is whole: after an error, throw away what was written.
    ///
    /// # Errors
    /// [`Error::WrongSender`] if the file is signed; [`Error::Altered`] if it was altered;
    /// [`Error::Io`].
    pub fn open_unsigned(mut self, output: impl Write + Send, workers: Workers) -> Result<u64> {
        self.run(None, output, workers, Seen::Ignore)
    }

    /// Writes the content of a file that `sender` signed.
    ///
    /// The signatures cover the whole file and stand at its end: after an error, throw away what
    /// was written.
    ///
    /// # Errors
    /// [`Error::WrongSender`] if the file names another sender or none; [`Error::Altered`] if it
    /// was altered; [`Error::Io`].
    pub fn open_signed(
        mut self,
        sender: &Contact,
        output: impl Write + Send,
        workers: Workers,
    ) -> Result<u64> {
        let verified = self.verified.take();
        let seen = verified.as_deref().map_or(Seen::Ignore, Seen::Expect);
        self.run(Some(sender), output, workers, seen)
    }

    fn run(
        &mut self,
        sender: Option<&Contact>,
        output: impl Write + Send,
        workers: Workers,
        seen: Seen<'_>,
    ) -> Result<u64> {
        if self.private.sender.fingerprint() != sender.map(Contact::fingerprint) {
            return Err(Error::WrongSender);
        }
        let tail = Tail::of(&self.private);
        let Self { keys, reader, .. } = self;
        let mut source = PayloadSource::new(reader, tail.sealed_len());
        let mut sink = ContentSink::new(output, sender.is_some().then(tree::Root::new), seen);
        pipeline::run(
            workers.count(),
            &mut source,
            &open_chunk(&keys.payload, sender.is_some()),
            &mut sink,
        )?;
        sink.output.flush()?;
        let (trailer, signature) = check_lengths(keys, &source.ahead, source.payload_len, tail)?;
        if trailer.content_len != sink.content_len {
            return Err(Error::Altered("content"));
        }
        if let Some(sender) = sender {
            let (root, signature) = sink.root.zip(signature).ok_or(Error::WrongSender)?;
            check_signature(keys, &trailer, &signature, sender, &root.finish())?;
        }
        Ok(trailer.content_len)
    }
}

/// The work of one worker on a chunk: hash the ciphertext if a signature is to be checked, then
/// decrypt.
fn open_chunk(cipher: &ChunkCipher, signed: bool) -> impl Fn(&mut OpenChunk) -> Result<()> + Sync {
    move |chunk| {
        let bytes = chunk.buffer.first(chunk.len);
        chunk.node = signed.then(|| tree::subtree(chunk.index, bytes));
        chunk.content = cipher.open(chunk.index, chunk.last, bytes)?;
        Ok(())
    }
}

/// Opens the trailer, which must agree with the length of the payload that was found.
pub(crate) fn check_lengths(
    keys: &FileKeys,
    sealed: &[u8],
    payload_len: u64,
    tail: Tail,
) -> Result<(Trailer, Option<Signature>)> {
    let plaintext = keys.trailer.open(sealed).ok_or(Error::Altered("trailer"))?;
    let (trailer, signature) = Trailer::decode(&plaintext, tail)?;
    if trailer.payload_len != payload_len {
        return Err(Error::Altered("content"));
    }
    Ok((trailer, signature))
}

/// Checks both signatures of `sender` over a payload with this root.
pub(crate) fn check_signature(
    keys: &FileKeys,
    trailer: &Trailer,
    signature: &Signature,
    sender: &Contact,
    root: &[u8; 64],
) -> Result<()> {
    let message = trailer.signed_message(&keys.header_digest, root);
    sender
        .verifying()
        .verify(super::DOMAIN, &message, signature, "sender's signature")
}

struct OpenChunk {
    index: u64,
    last: bool,
    /// A chunk and the bytes after it, up to the lookahead, which are kept for the next chunk.
    buffer: Buffer,
    len: usize,
    content: usize,
    node: Option<tree::Subtree>,
}

impl Default for OpenChunk {
    fn default() -> Self {
        let buffer = Buffer::new(CHUNK_LEN + trailer::MAX_LEN + 1);
        Self {
            index: 0,
            last: false,
            buffer,
            len: 0,
            content: 0,
            node: None,
        }
    }
}

/// Cuts the payload into chunks and keeps the trailer behind it.
struct PayloadSource<R> {
    reader: R,
    trailer_len: usize,
    index: u64,
    /// Bytes that were read but not given out. A full chunk with more than `trailer_len` bytes
    /// after it is not the last one.
    ahead: Vec<u8>,
    payload_len: u64,
    over: bool,
}

impl<R: Read> PayloadSource<R> {
    fn new(reader: R, trailer_len: usize) -> Self {
        Self {
            reader,
            trailer_len,
            index: 0,
            ahead: Vec::new(),
            payload_len: 0,
            over: false,
        }
    }
}

impl<R: Read + Send> Source<OpenChunk> for PayloadSource<R> {
    type Error = Error;

    fn next(&mut self, chunk: &mut OpenChunk) -> Result<bool> {
        if self.over {
            return Ok(false);
        }
        let most = CHUNK_LEN + self.trailer_len + 1;
        let kept = self.ahead.len();
        chunk.buffer.first(kept).copy_from_slice(&self.ahead);
        let read = |bytes: &mut [u8]| self.reader.read(bytes);
        let len = fill(read, &mut chunk.buffer, kept, most)?;
        chunk.index = self.index;
        chunk.last = len < most;
        chunk.len = if chunk.last {
            len.saturating_sub(self.trailer_len)
        } else {
            CHUNK_LEN
        };
        if chunk.len < MIN_CHUNK_LEN || self.index == MAX_CHUNKS {
            return Err(CUT_SHORT);
        }
        self.ahead.clear();
        self.ahead
            .extend_from_slice(&chunk.buffer.first(len)[chunk.len..]);
        self.payload_len += chunk.len as u64;
        self.over = chunk.last;
        self.index += 1;
        Ok(true)
    }
}

/// The use of the chunks' hashes beside the root.
enum Seen<'a> {
    Ignore,
    Collect(&'a mut Vec<tree::Subtree>),
    /// The hashes must be these, in this order.
    Expect(&'a [tree::Subtree]),
}

impl Seen<'_> {
    fn take(&mut self, node: &tree::Subtree) -> Result<()> {
        match self {
            Self::Ignore => {}
            Self::Collect(nodes) => nodes.push(node.clone()),
            Self::Expect(nodes) => match nodes.split_first() {
                Some((expected, rest)) if expected == node => *nodes = rest,
                _ => return Err(Error::Altered("content, between verifying and opening,")),
            },
        }
        Ok(())
    }
}

struct ContentSink<'s, W> {
    output: W,
    root: Option<tree::Root>,
    seen: Seen<'s>,
    content_len: u64,
    /// A chunk that was not full has been seen: only padding may follow.
    ended: bool,
}

impl<'s, W> ContentSink<'s, W> {
    fn new(output: W, root: Option<tree::Root>, seen: Seen<'s>) -> Self {
        Self {
            output,
            root,
            seen,
            content_len: 0,
            ended: false,
        }
    }
}

impl<W: Write + Send> Sink<OpenChunk> for ContentSink<'_, W> {
    type Error = Error;

    fn take(&mut self, chunk: &mut OpenChunk) -> Result<bool> {
        if let (Some(root), Some(node)) = (&mut self.root, chunk.node.take()) {
            self.seen.take(&node)?;
            root.push(node);
        }
        if self.ended && chunk.content != 0 {
            return Err(Error::Malformed("content after its end"));
        }
        self.ended |= chunk.content < CONTENT_LEN;
        self.output.write_all(chunk.buffer.first(chunk.content))?;
        self.content_len += chunk.content as u64;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Sealer;
    use crate::passport::Passport;

    #[test]
    fn a_file_can_be_verified_first_and_then_opened() {
        let alice = Passport::generate("Alice", 0).unwrap();
        let mut file = Vec::new();
        let mut sealer = Sealer::new();
        sealer.to_passport(alice.contact()).signed_by(&alice);
        let content = vec![7; CONTENT_LEN + 1];
        sealer
            .seal(&content[..], &mut file, Workers::new(2))
            .unwrap();

        let passports = [&alice];
        let keys = Keys::new(&passports, &[]);
        let mut opening = Sealed::read(&file[..]).unwrap().unlock(&keys).unwrap();
        let start = opening.payload_start() as usize;
        let verified = opening.verify_signed(alice.contact(), Workers::new(2));
        assert_eq!(verified.unwrap(), content.len() as u64);
        let again = opening.with_payload(|_| Ok::<_, Error>(&file[start..]));
        let mut opened = Vec::new();
        again
            .unwrap()
            .open_signed(alice.contact(), &mut opened, Workers::new(2))
            .unwrap();
        assert!(opened == content);

        *file.last_mut().unwrap() ^= 1;
        let mut opening = Sealed::read(&file[..]).unwrap().unlock(&keys).unwrap();
        assert!(
            opening
                .verify_signed(alice.contact(), Workers::new(2))
                .is_err()
        );
    }

    #[test]
    fn nothing_is_released_of_what_changed_after_it_was_verified() {
        let alice = Passport::generate("Alice", 0).unwrap();
        let mut sealer = Sealer::new();
        sealer.to_passport(alice.contact()).signed_by(&alice);
        let mut file = Vec::new();
        let content = vec![7; 2 * CONTENT_LEN];
        sealer
            .seal(&content[..], &mut file, Workers::new(1))
            .unwrap();

        let passports = [&alice];
        let mut opening = Sealed::read(&file[..])
            .unwrap()
            .unlock(&Keys::new(&passports, &[]))
            .unwrap();
        opening
            .verify_signed(alice.contact(), Workers::new(1))
            .unwrap();
        // Another recipient knows the file key: it encrypts other content into the second chunk.
        let mut changed = file[opening.payload_start() as usize..].to_vec();
        let end = changed.len() - trailer::MAX_LEN;
        let mut evil = vec![9; CONTENT_LEN];
        evil.push(1);
        evil.resize(CHUNK_LEN, 0);
        opening.keys.payload.seal(1, true, &mut evil);
        changed[end - CHUNK_LEN..end].copy_from_slice(&evil);
        let opening = opening
            .with_payload(|_| Ok::<_, Error>(&changed[..]))
            .unwrap();
        let mut out = Vec::new();
        let result = opening.open_signed(alice.contact(), &mut out, Workers::new(1));
        assert!(matches!(result, Err(Error::Altered(_))));
        assert!(
            out == content[..CONTENT_LEN],
            "only what was verified comes out"
        );
    }
}
