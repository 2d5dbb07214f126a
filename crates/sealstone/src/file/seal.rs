//! Sealing: from a reader to a writer, in constant memory.

use std::io::{Read, Write};

use sealstone_skein::pipeline::{self, Buffer, Sink, Source, fill};
use sealstone_skein::tree;

use super::Workers;
use super::chunk::{CHUNK_LEN, CONTENT_LEN, ChunkCipher, MAX_CHUNKS, payload_len};
use super::chunk_hashes::{ChunkHashes, EndIfPanicking, EndOfHashes};
use super::header::{Header, Suite};
use super::hedge::Hedge;
use super::keys::{FileKeys, Schedule};
use super::one_time::TAG_LEN;
use super::private::{Metadata, Private, Sender};
use super::signer::{FileRoot, Signer};
use super::stanza::{self, Recipient, passphrase, passport};
use super::trailer::{Tail, Trailer};
use crate::passport::Contact;
use crate::wire::armor::{self, ArmorWriter, Label};
use crate::wire::pad;
use crate::{Error, KdfParams, NO_PROGRESS, OnProgress, Passphrase, Result};

/// All choices for a sealed file: recipients, sender, form.
///
/// ```
/// use sealstone::file::{Keys, Sealed, Sealer, Sender, Workers};
/// use sealstone::passport::Passport;
///
/// let (alice, bob) = (Passport::generate("Alice", 0)?, Passport::generate("Bob", 0)?);
/// let mut sealer = Sealer::new();
/// sealer.to_passport(bob.contact()).signed_by(&alice);
/// let mut file = Vec::new();
/// sealer.seal(&b"attack at dawn"[..], &mut file, Workers::default())?;
///
/// let opening = Sealed::read(&file[..])?.unlock(&Keys::new(&[&bob], &[]))?;
/// let Sender::Carried(sender) = opening.sender().clone() else { panic!("the sender travels in the file") };
/// let mut content = Vec::new();
/// opening.open_signed(&sender, &mut content, Workers::default())?;
/// assert_eq!(content, b"attack at dawn");
/// # Ok::<(), sealstone::Error>(())
/// ```
pub struct Sealer<'a> {
    suite: Suite,
    recipients: Vec<Box<dyn Recipient + Send + Sync + 'a>>,
    sender: Option<(&'a dyn Signer, Carry)>,
    metadata: Metadata,
    hide_length: bool,
    armor: bool,
    chunk_hashes: Option<&'a ChunkHashes>,
    on_progress: OnProgress<'a>,
}

/// Whether the sender's public keys travel in the file.
#[derive(Clone, Copy, PartialEq)]
enum Carry {
    Keys,
    Fingerprint,
}

/// Lengths of a file that was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Bytes of content.
    pub content_len: u64,
    /// Bytes of the sealed file before armor.
    pub sealed_len: u64,
}

impl Default for Sealer<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Sealer<'a> {
    /// The defaults: suite 1, no recipients, unsigned.
    pub fn new() -> Self {
        Self {
            suite: Suite::default(),
            recipients: Vec::new(),
            sender: None,
            metadata: Metadata::default(),
            hide_length: false,
            armor: false,
            chunk_hashes: None,
            on_progress: NO_PROGRESS,
        }
    }

    /// Adds a recipient whose fingerprint anyone can see in the file.
    pub fn to_passport(&mut self, contact: &'a Contact) -> &mut Self {
        let anonymous = false;
        self.add(passport::To { contact, anonymous })
    }

    /// Adds a recipient that the file does not name. A reader tries every such stanza.
    pub fn to_anonymous(&mut self, contact: &'a Contact) -> &mut Self {
        let anonymous = true;
        self.add(passport::To { contact, anonymous })
    }

    /// Adds a passphrase.
    pub fn to_passphrase(&mut self, passphrase: &'a Passphrase, params: KdfParams) -> &mut Self {
        self.add(passphrase::To { passphrase, params })
    }

    fn add(&mut self, recipient: impl Recipient + Send + Sync + 'a) -> &mut Self {
        self.recipients.push(Box::new(recipient));
        self
    }

    /// Signs as `signer`; its public keys travel in the file, for recipients only.
    pub fn signed_by(&mut self, signer: &'a dyn Signer) -> &mut Self {
        self.sender = Some((signer, Carry::Keys));
        self
    }

    /// Signs as `signer`. Only its fingerprint travels, for recipients that have its public
    /// passport.
    pub fn signed_without_carrying(&mut self, signer: &'a dyn Signer) -> &mut Self {
        self.sender = Some((signer, Carry::Fingerprint));
        self
    }

    /// Name, time and note for the recipients.
    pub fn metadata(&mut self, metadata: Metadata) -> &mut Self {
        self.metadata = metadata;
        self
    }

    /// Pads the file so that its length tells little.
    ///
    /// The content is padded by Padmé, to at most 12 % more. The length then depends neither on
    /// the metadata nor on whether the file is signed, and by whom.
    pub fn hide_length(&mut self) -> &mut Self {
        self.hide_length = true;
        self
    }

    /// Writes text instead of bytes.
    pub fn armored(&mut self) -> &mut Self {
        self.armor = true;
        self
    }

    /// Records the hash of each chunk of a signed file as soon as the chunk is written. This is for
    /// a content that ends with the hashes of its own beginning ([`crate::archive`]).
    pub fn note_chunk_hashes(&mut self, hashes: &'a ChunkHashes) -> &mut Self {
        self.chunk_hashes = Some(hashes);
        self
    }

    /// Reports the progress of key derivations.
    pub fn on_progress(&mut self, on_progress: OnProgress<'a>) -> &mut Self {
        self.on_progress = on_progress;
        self
    }

    /// Chooses the payload cipher.
    pub fn suite(&mut self, suite: Suite) -> &mut Self {
        self.suite = suite;
        self
    }

    /// Seals everything that `input` gives into `output`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no recipient or too many; [`Error::Malformed`] if the
    /// metadata is out of range; [`Error::Altered`] if a fault spoilt the signatures;
    /// [`Error::Io`]. After an error, throw away what was written: it is not a sealed file.
    pub fn seal(
        &self,
        input: impl Read + Send,
        output: impl Write + Send,
        workers: Workers,
    ) -> Result<Receipt> {
        self.prepare()?.seal(input, output, workers)
    }

    /// Does all that needs no content: derives keys, wraps the file key, builds the header.
    ///
    /// The length of the sealed file is then known before it is written.
    ///
    /// ```
    /// use sealstone::file::{Sealer, Workers};
    /// use sealstone::passport::Passport;
    ///
    /// let (bob, content) = (Passport::generate("Bob", 0)?, b"attack at dawn");
    /// let mut sealer = Sealer::new();
    /// sealer.to_passport(bob.contact());
    /// let prepared = sealer.prepare()?;
    /// let sealed_len = prepared.sealed_len(content.len() as u64);
    /// let mut file = Vec::with_capacity(sealed_len as usize);
    /// prepared.seal(&content[..], &mut file, Workers::default())?;
    /// assert_eq!(file.len() as u64, sealed_len);
    /// # Ok::<(), sealstone::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no recipient or too many; [`Error::Malformed`] if the
    /// metadata is out of range.
    pub fn prepare(&self) -> Result<Prepared<'_, 'a>> {
        let secret = self
            .sender
            .map(|(signer, _)| signer.file_hedge())
            .transpose()?;
        let hedge = Hedge::new(secret.as_ref());
        let schedule = Schedule::new(&hedge.file_key());
        let header = Header::new(
            self.suite,
            stanza::wrap_all(&self.recipients, &hedge, self.on_progress)?,
            self.private_part(&schedule)?,
        )?;
        let mac = schedule.header_mac(&header);
        let keys = schedule.file_keys(&header, &mac);
        let head = [&header.encoded[..], &mac].concat();
        Ok(Prepared {
            sealer: self,
            head,
            keys,
        })
    }

    fn private_part(&self, schedule: &Schedule) -> Result<Vec<u8>> {
        self.metadata.check()?;
        Ok(schedule.private_cipher().seal(&self.private().encode()))
    }

    fn private(&self) -> Private {
        let sender = match self.sender {
            None => Sender::Unsigned,
            Some((signer, Carry::Fingerprint)) => Sender::Named(signer.public().fingerprint()),
            Some((signer, Carry::Keys)) => Sender::Carried(Box::new(signer.public().clone())),
        };
        Private {
            sender,
            metadata: self.metadata.clone(),
            uniform: self.hide_length,
        }
    }

    fn seal_payload(
        &self,
        cipher: &ChunkCipher,
        input: impl Read + Send,
        output: &mut (impl Write + Send),
        workers: Workers,
    ) -> Result<Payload> {
        let signed = self.sender.is_some();
        let mut source = ContentSource::new(input, self.hide_length);
        let hashes = self.chunk_hashes.filter(|_| signed);
        if let (Some(hashes), false) = (self.chunk_hashes, signed) {
            // No hashes will come.
            hashes.end();
        }
        // The end of the run also ends the waiting of a source.
        let _end = self.chunk_hashes.map(EndOfHashes);
        let mut sink = PayloadSink {
            output,
            payload: Payload::default(),
            root: signed.then(tree::Root::new),
            hashes,
        };
        let work = |chunk: &mut SealChunk| {
            let _end = self.chunk_hashes.map(EndIfPanicking);
            chunk.len = cipher.seal(
                chunk.index,
                chunk.last,
                chunk.buffer.first(chunk.len + TAG_LEN),
            );
            chunk.node = signed.then(|| tree::subtree(chunk.index, chunk.buffer.first(chunk.len)));
            Ok(())
        };
        pipeline::run(workers.count(), &mut source, &work, &mut sink)?;
        let PayloadSink {
            mut payload, root, ..
        } = sink;
        payload.content_len = source.content_len;
        payload.root = root.map(tree::Root::finish);
        Ok(payload)
    }

    fn trailer(&self, keys: FileKeys, payload: &Payload) -> Result<Vec<u8>> {
        let trailer = Trailer {
            payload_len: payload.len,
            content_len: payload.content_len,
        };
        let sign = |((signer, _), root): ((&dyn Signer, Carry), [u8; 64])| {
            signer.sign_root(&FileRoot {
                header_digest: keys.header_digest,
                payload_len: payload.len,
                content_len: payload.content_len,
                root,
            })
        };
        let signature = self.sender.zip(payload.root).map(sign).transpose()?;
        let plaintext = trailer.encode(signature.as_ref(), self.hide_length);
        Ok(keys.trailer.seal(&plaintext))
    }
}

/// A sealed file that lacks its content only: see [`Sealer::prepare`].
pub struct Prepared<'s, 'a> {
    sealer: &'s Sealer<'a>,
    /// Prefix, header and MAC.
    head: Vec<u8>,
    keys: FileKeys,
}

impl Prepared<'_, '_> {
    /// The length of the whole sealed file, armor included, for content of this length.
    pub fn sealed_len(&self, content_len: u64) -> u64 {
        let Self { sealer, head, .. } = self;
        let ends = head.len() + Tail::of(&sealer.private()).sealed_len();
        let padded_len = padded_len(content_len, sealer.hide_length);
        let binary = payload_len(padded_len).saturating_add(ends as u64);
        match sealer.armor {
            true => armor::encoded_len(Label::File, binary),
            false => binary,
        }
    }

    /// Seals everything that `input` gives into `output`.
    ///
    /// # Errors
    /// As for [`Sealer::seal`].
    pub fn seal(
        self,
        input: impl Read + Send,
        mut output: impl Write + Send,
        workers: Workers,
    ) -> Result<Receipt> {
        if !self.sealer.armor {
            return self.seal_binary(input, &mut output, workers);
        }
        let mut armor = ArmorWriter::new(Label::File, output);
        let receipt = self.seal_binary(input, &mut armor, workers)?;
        armor.finish()?;
        Ok(receipt)
    }

    fn seal_binary(
        self,
        input: impl Read + Send,
        output: &mut (impl Write + Send),
        workers: Workers,
    ) -> Result<Receipt> {
        let Self { sealer, head, keys } = self;
        output.write_all(&head)?;
        let payload = sealer.seal_payload(&keys.payload, input, output, workers)?;
        let trailer = sealer.trailer(keys, &payload)?;
        output.write_all(&trailer)?;
        output.flush()?;
        Ok(Receipt {
            content_len: payload.content_len,
            sealed_len: head.len() as u64 + payload.len + trailer.len() as u64,
        })
    }
}

/// Lengths and root of a payload.
#[derive(Default)]
struct Payload {
    len: u64,
    content_len: u64,
    root: Option<[u8; 64]>,
}

struct SealChunk {
    index: u64,
    last: bool,
    /// [`CHUNK_LEN`] bytes, of which `len` are the padded plaintext, later the ciphertext and tag.
    buffer: Buffer,
    len: usize,
    node: Option<tree::Subtree>,
}

impl Default for SealChunk {
    fn default() -> Self {
        Self {
            index: 0,
            last: false,
            buffer: Buffer::new(CHUNK_LEN),
            len: 0,
            node: None,
        }
    }
}

/// Cuts the content into padded plaintexts.
struct ContentSource<R> {
    input: R,
    hide_length: bool,
    index: u64,
    content_len: u64,
    /// At most one byte, read ahead: without one, the chunk is the last.
    ahead: Vec<u8>,
    /// The content's length after padding, once the content has ended.
    padded_len: Option<u64>,
    over: bool,
}

impl<R: Read> ContentSource<R> {
    fn new(input: R, hide_length: bool) -> Self {
        Self {
            input,
            hide_length,
            index: 0,
            content_len: 0,
            ahead: Vec::new(),
            padded_len: None,
            over: false,
        }
    }

    /// Reads as much content as fits and returns its length. Notes the end of the content.
    fn fill(&mut self, buffer: &mut Buffer) -> Result<usize> {
        if self.padded_len.is_some() {
            return Ok(0);
        }
        let kept = self.ahead.len();
        buffer.first(kept).copy_from_slice(&self.ahead);
        let read = |bytes: &mut [u8]| self.input.read(bytes);
        let mut len = fill(read, buffer, kept, CONTENT_LEN + 1)?;
        self.ahead.clear();
        if len > CONTENT_LEN {
            len = CONTENT_LEN;
            self.ahead.push(buffer.first(CONTENT_LEN + 1)[CONTENT_LEN]);
        }
        self.content_len += len as u64;
        if self.ahead.is_empty() {
            self.padded_len = Some(padded_len(self.content_len, self.hide_length));
        }
        Ok(len)
    }
}

impl<R: Read + Send> Source<SealChunk> for ContentSource<R> {
    type Error = Error;

    fn next(&mut self, chunk: &mut SealChunk) -> Result<bool> {
        if self.over {
            return Ok(false);
        }
        if self.index == MAX_CHUNKS {
            return Err(Error::Invalid("a sealed file holds at most 256 TiB"));
        }
        let content = self.fill(&mut chunk.buffer)?;
        // Bytes of this chunk that content and padding fill together.
        let left = self
            .padded_len
            .map_or(u64::MAX, |len| len - self.index * CONTENT_LEN as u64);
        chunk.index = self.index;
        chunk.last = left <= CONTENT_LEN as u64;
        chunk.len = left.min(CONTENT_LEN as u64) as usize + 1;
        pad::pad_slice(chunk.buffer.first(chunk.len), content);
        self.over = chunk.last;
        self.index += 1;
        Ok(true)
    }
}

/// Bytes that content and padding fill together, without the chunks' marks.
fn padded_len(content_len: u64, hide_length: bool) -> u64 {
    match hide_length {
        true => pad::padme(content_len).max(content_len),
        false => content_len,
    }
}

struct PayloadSink<'o, W> {
    output: &'o mut W,
    payload: Payload,
    root: Option<tree::Root>,
    hashes: Option<&'o ChunkHashes>,
}

impl<W: Write + Send> Sink<SealChunk> for PayloadSink<'_, W> {
    type Error = Error;

    fn take(&mut self, chunk: &mut SealChunk) -> Result<bool> {
        let written = self.output.write_all(chunk.buffer.first(chunk.len));
        if let (Err(_), Some(hashes)) = (&written, self.hashes) {
            hashes.end();
        }
        written?;
        self.payload.len += chunk.len as u64;
        if let (Some(root), Some(node)) = (&mut self.root, chunk.node.take()) {
            if let Some(hashes) = self.hashes {
                hashes.push(*node.value());
            }
            root.push(node);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passport::Passport;
    use crate::sign::SIGNATURE_LEN;
    use crate::sign::fault::{self, Fault};

    #[test]
    fn a_signature_that_a_fault_has_spoilt_is_not_written() {
        let alice = Passport::generate("Alice", 0).unwrap();
        let mut sealer = Sealer::new();
        sealer.to_passport(alice.contact()).signed_by(&alice);
        let mut whole = Vec::new();
        let sealed = sealer.seal(&b"content"[..], &mut whole, Workers::new(1));
        assert!(sealed.is_ok());
        for spoilt in [Fault::Ed25519, Fault::MlDsa87] {
            fault::plant(spoilt);
            let mut file = Vec::new();
            let sealed = sealer.seal(&b"content"[..], &mut file, Workers::new(1));
            assert!(matches!(sealed, Err(Error::Altered(_))), "{spoilt:?}");
            assert!(file.len() < whole.len() - SIGNATURE_LEN);
        }
    }
}
