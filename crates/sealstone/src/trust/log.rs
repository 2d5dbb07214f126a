//! The file `log`: a chain of authenticated entries (`spec/trust.md`, "Files").

use sealstone_primitives::hash::{Sha3_256, sha3_256};
use sealstone_primitives::mac::HmacSha3_256;

use super::entry::{Entry, MAX_ENTRY};
use super::head::Head;
use super::key::{KeyId, StoreKey};
use super::link::{Link, NO_LINK};
use super::{VERSION, altered};
use crate::{Error, Result};

/// Bytes before the first entry.
pub(super) const HEADER_LEN: usize = 32;
/// Bytes of the longest log.
pub(super) const MAX_LOG: usize = 64 << 20;

const MAGIC: [u8; 16] = *b"SEALTRUST\x01\0\0\0\0\0\0";
const LEN_LEN: usize = 4;
const DIGEST_LEN: usize = 32;
const MAC_LEN: usize = 32;

/// The authentic entries of a log, some of which may have been pruned.
#[derive(Default)]
pub(super) struct Log {
    /// The entries that are left, oldest first.
    entries: Vec<Entry>,
    /// One for every entry that was ever written.
    marks: Vec<Mark>,
    /// Bytes of all frames, without the header.
    size: usize,
}

/// The kept part of every entry.
struct Mark {
    link: Link,
    /// The digest of the entry if it was pruned.
    pruned: Option<[u8; DIGEST_LEN]>,
}

impl Log {
    /// Reads a log under the key that it names. Fails unless the first entries are those that
    /// `head` counts. Later bytes that are not authentic are left out; returns their number.
    pub(super) fn read(bytes: &[u8], key: &StoreKey, head: &Head) -> Result<(Self, usize)> {
        let mut log = Self::default();
        let mut rest = &bytes[HEADER_LEN..];
        while !rest.is_empty() {
            match log.read_frame(rest, key) {
                Ok(after) => rest = after,
                Err(e) if log.len() < head.count() => return Err(e),
                Err(_) => break,
            }
        }
        if log.link_at(head.count()) != Some(head.link()) {
            return Err(altered("its log and its head disagree"));
        }
        Ok((log, rest.len()))
    }

    /// Takes the frame at the beginning of `bytes`; returns the bytes behind it.
    fn read_frame<'b>(&mut self, bytes: &'b [u8], key: &StoreKey) -> Result<&'b [u8]> {
        let malformed = || altered("an entry of its log is malformed");
        let (len, rest) = bytes.split_first_chunk::<LEN_LEN>().ok_or_else(malformed)?;
        match u32::from_be_bytes(*len) {
            0 => self.read_pruned(rest, key).ok_or_else(malformed)?,
            len => self.read_entry(len as usize, rest, key),
        }
    }

    fn read_entry<'b>(&mut self, len: usize, rest: &'b [u8], key: &StoreKey) -> Result<&'b [u8]> {
        let malformed = || altered("an entry of its log is malformed");
        let len = Some(len).filter(|len| *len <= MAX_ENTRY);
        let (encoded, rest) = len
            .and_then(|len| rest.split_at_checked(len))
            .ok_or_else(malformed)?;
        let (mac, rest) = rest.split_first_chunk::<MAC_LEN>().ok_or_else(malformed)?;
        let entry = Entry::decode(encoded).map_err(|_| malformed())?;
        let link = chain(self.link(), entry.is_introduction(), &sha3_256(encoded));
        if entry.sequence != self.len() || mac_of(key, &entry, &link).verify(mac).is_err() {
            return Err(altered("an entry of its log is not authentic"));
        }
        self.take(entry, link, encoded.len());
        Ok(rest)
    }

    /// Takes what stays of a pruned entry; `None` if the bytes are too few.
    fn read_pruned<'b>(&mut self, rest: &'b [u8], key: &StoreKey) -> Option<Result<&'b [u8]>> {
        let (digest, rest) = rest.split_first_chunk::<DIGEST_LEN>()?;
        let (mac, rest) = rest.split_first_chunk::<MAC_LEN>()?;
        let link = chain(self.link(), true, digest);
        if pruned_mac(key, &link).verify(mac).is_err() {
            return Some(Err(altered("an entry of its log is not authentic")));
        }
        self.marks.push(Mark {
            link,
            pruned: Some(*digest),
        });
        self.size += PRUNED_LEN;
        Some(Ok(rest))
    }

    /// Adds `entry`, numbered and checked, if the log stays within `limit` bytes; returns its
    /// frame.
    pub(super) fn push(
        &mut self,
        mut entry: Entry,
        key: &StoreKey,
        limit: usize,
    ) -> Result<Vec<u8>> {
        entry.sequence = self.len();
        entry.check().map_err(|_| Error::Invalid(TEXT_RULES))?;
        let encoded = entry.encode();
        if encoded.len() > MAX_ENTRY {
            return Err(Error::Invalid(
                "the passport is too large for the trust store",
            ));
        }
        if HEADER_LEN + self.size + frame_len(encoded.len()) > limit {
            return Err(Error::StoreFull);
        }
        let link = chain(self.link(), entry.is_introduction(), &sha3_256(&encoded));
        let framed = frame(&encoded, &mac_of(key, &entry, &link).finish());
        self.take(entry, link, encoded.len());
        Ok(framed)
    }

    /// Keeps only the digest of the entries that `goes` names, which must be introductions. Their
    /// place in the chain stays, so that every later link stays what it was.
    pub(super) fn prune(&mut self, goes: impl Fn(&Entry) -> bool) {
        for entry in self.entries.extract_if(.., |entry| goes(entry)) {
            debug_assert!(entry.is_introduction(), "decisions stay");
            let encoded = entry.encode();
            let number = usize::try_from(entry.sequence).expect("it was read into memory");
            self.marks[number].pruned = Some(sha3_256(&encoded));
            self.size -= frame_len(encoded.len()) - PRUNED_LEN;
        }
    }

    /// The whole file under `key`.
    pub(super) fn to_bytes(&self, key: &StoreKey) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_LEN + self.size);
        out.extend_from_slice(&header(&key.id()));
        let mut entries = self.entries.iter();
        for mark in &self.marks {
            match mark.pruned {
                Some(digest) => out.extend(pruned_frame(&digest, key, &mark.link)),
                None => {
                    let entry = entries.next().expect("each mark has its entry");
                    let mac = mac_of(key, entry, &mark.link).finish();
                    out.extend(frame(&entry.encode(), &mac));
                }
            }
        }
        out
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many entries were ever written.
    pub(super) fn len(&self) -> u64 {
        self.marks.len() as u64
    }

    /// How many of them were pruned.
    pub(super) fn pruned(&self) -> u64 {
        self.len() - self.entries.len() as u64
    }

    /// The link of the last entry.
    pub(super) fn link(&self) -> &Link {
        self.marks.last().map_or(&NO_LINK, |mark| &mark.link)
    }

    /// The link of the last of the first `count` entries.
    pub(super) fn link_at(&self, count: u64) -> Option<&Link> {
        match usize::try_from(count).ok()?.checked_sub(1) {
            None => Some(&NO_LINK),
            Some(last) => self.marks.get(last).map(|mark| &mark.link),
        }
    }

    fn take(&mut self, entry: Entry, link: Link, encoded_len: usize) {
        self.entries.push(entry);
        self.marks.push(Mark { link, pruned: None });
        self.size += frame_len(encoded_len);
    }
}

const TEXT_RULES: &str = "label and operator are at most 64 bytes and a note at most 1024, of \
    visible characters; a label has no spaces at its ends and no two in a row";

/// The header of a log under the key with this id.
pub(super) fn header(id: &KeyId) -> [u8; HEADER_LEN] {
    let mut header = [0; HEADER_LEN];
    header[..16].copy_from_slice(&MAGIC);
    header[16..].copy_from_slice(id);
    header
}

/// The id of the key that a log is under.
pub(super) fn key_id(log: &[u8]) -> Result<KeyId> {
    let header = log
        .first_chunk::<HEADER_LEN>()
        .filter(|header| header.starts_with(&MAGIC));
    let id = header.and_then(|header| header.last_chunk::<16>());
    id.copied().ok_or_else(|| altered("its log is malformed"))
}

/// The byte of a log that tells its version.
pub(super) fn version(log: &[u8]) -> Option<u8> {
    log.strip_prefix(&MAGIC[..9])?.first().copied()
}

/// The kind of the entry is in the hash, so that a decision cannot be replaced by the mark of a
/// pruned entry.
fn chain(before: &Link, is_introduction: bool, digest: &[u8; DIGEST_LEN]) -> Link {
    let mut hash = Sha3_256::new();
    hash.update(b"sealstone.trust.link.v1\0");
    hash.update(before);
    hash.update(&[u8::from(!is_introduction)]);
    hash.update(digest);
    hash.finish()
}

fn mac_of(key: &StoreKey, entry: &Entry, link: &Link) -> HmacSha3_256 {
    let mut mac = key.record_mac(&entry.fingerprint);
    mac.update(link);
    mac
}

fn pruned_mac(key: &StoreKey, link: &Link) -> HmacSha3_256 {
    let mut mac = key.pruned_mac();
    mac.update(link);
    mac
}

/// Bytes of the rest of a pruned entry.
const PRUNED_LEN: usize = LEN_LEN + DIGEST_LEN + MAC_LEN;

fn pruned_frame(digest: &[u8; DIGEST_LEN], key: &StoreKey, link: &Link) -> Vec<u8> {
    let mac = pruned_mac(key, link).finish();
    [&[0; LEN_LEN][..], digest, &mac].concat()
}

fn frame(encoded: &[u8], mac: &[u8; MAC_LEN]) -> Vec<u8> {
    let len = u32::try_from(encoded.len()).expect("an entry is at most 16,384 bytes");
    [&len.to_be_bytes()[..], encoded, mac].concat()
}

fn frame_len(encoded_len: usize) -> usize {
    LEN_LEN + encoded_len + MAC_LEN
}

const _: () = assert!(MAGIC[9] == VERSION);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passport::Fingerprint;
    use crate::trust::entry::Event;

    /// A log of one authentic entry that says it has this number.
    fn numbered(sequence: u64, key: &StoreKey) -> Result<(Log, usize)> {
        let text = String::new;
        let entry = Entry {
            sequence,
            time: 0,
            event: Event::Denied,
            fingerprint: Fingerprint::from_bytes([7; 32]),
            label: text(),
            operator: text(),
            note: text(),
            body: None,
            since: None,
            lifecycle: None,
            uses: None,
        };
        let encoded = entry.encode();
        let link = chain(&NO_LINK, entry.is_introduction(), &sha3_256(&encoded));
        let frame = frame(&encoded, &mac_of(key, &entry, &link).finish());
        let head = Head::new(key, 1, link);
        Log::read(&[&header(&key.id())[..], &frame].concat(), key, &head)
    }

    #[test]
    fn an_entry_with_another_number_is_refused_even_if_it_is_authentic() {
        let key = StoreKey::random();
        assert_eq!(numbered(0, &key).unwrap().0.len(), 1);
        for sequence in [1, 2, u64::MAX] {
            assert!(matches!(
                numbered(sequence, &key),
                Err(Error::StoreAltered(_))
            ));
        }
    }
}
