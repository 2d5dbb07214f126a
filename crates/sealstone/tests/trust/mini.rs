//! A second implementation of `spec/trust.md`, written from the specification and not from the
//! crate. It shows that the specification is complete. Without one of its rules, it shows the
//! alterations that this rule catches.

use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::kdf::{self, Prk};
use sealstone_primitives::mac::HmacSha3_256;

use sealstone_primitives::sign::{ed25519, ml_dsa_87};

use super::fixture::Files;

/// The active rules. The real format has all of them.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// The authenticated bytes identify the record's owner, by the MAC key and by the hashed entry.
    pub(crate) bind_fingerprint: bool,
    /// The number of entries is stored outside of the log.
    pub(crate) head: bool,
}

/// An entry without keys.
pub(crate) struct Entry {
    pub(crate) time: u64,
    pub(crate) status: u8,
    pub(crate) fingerprint: [u8; 32],
    pub(crate) label: &'static str,
    pub(crate) operator: &'static str,
    pub(crate) note: &'static str,
    pub(crate) since: Option<u64>,
    /// Further fields with their keys, encoded.
    pub(crate) more: &'static [&'static [u8]],
}

pub(crate) const SPECIFIED: Rules = Rules {
    bind_fingerprint: true,
    head: true,
};

/// The start of field 3 in an entry: after the map, `00 sequence`, `01 time`, `02 status`, and `03
/// 58 20`.
pub(crate) fn fingerprint_at(entry: &[u8]) -> usize {
    let mut at = 1;
    for _ in 0..3 {
        at += 1 + head_len(entry[at + 1]);
    }
    at + 3
}

/// The three files of a store with this secret and these entries.
pub(crate) fn write(secret: &[u8; 32], entries: &[Entry], rules: Rules) -> Files {
    let prk = kdf::extract(b"sealstone.trust.v1", &[secret]);
    let id = expand::<16>(&prk, &[b"id"]);
    let mut log = [&b"SEALTRUST\x01\0\0\0\0\0\0"[..], &id].concat();
    let mut link = [0; 32];
    for (sequence, entry) in entries.iter().enumerate() {
        let encoded = encode(sequence as u64, entry);
        link = chain(&link, &encoded, rules);
        log.extend((encoded.len() as u32).to_be_bytes());
        log.extend(&encoded);
        log.extend(hmac(&record_key(&prk, &entry.fingerprint, rules), &[&link]));
    }
    let count = entries.len() as u64;
    let mac = hmac(
        &expand(&prk, &[b"head"]),
        &[&id, &count.to_be_bytes(), &link],
    );
    let head = [
        &[0x85, 0x01, 0x50][..],
        &id,
        &uint(0, count),
        &[0x58, 32],
        &link,
        &[0x58, 32],
        &mac,
    ]
    .concat();
    let key = [&[0x82, 0x01, 0x81, 0x58, 32][..], secret].concat();
    Files {
        key: Some(key),
        log: Some(log),
        head: Some(head),
    }
}

/// Whether a store at rest (no rekey under way, nothing uncounted) is authentic.
pub(crate) fn verify(files: &Files, rules: Rules) -> bool {
    let (Some(key), Some(log), Some(head)) = (&files.key, &files.log, &files.head) else {
        return false;
    };
    verify_files(key, log, head, rules).is_some()
}

fn verify_files(key: &[u8], log: &[u8], head: &[u8], rules: Rules) -> Option<()> {
    let secret: &[u8; 32] = key
        .strip_prefix(&[0x82, 0x01, 0x81, 0x58, 32])?
        .try_into()
        .ok()?;
    let prk = kdf::extract(b"sealstone.trust.v1", &[secret]);
    let id = expand::<16>(&prk, &[b"id"]);
    let mut rest = log
        .strip_prefix(b"SEALTRUST\x01\0\0\0\0\0\0")?
        .strip_prefix(&id)?;
    let (mut count, mut link) = (0u64, [0; 32]);
    while !rest.is_empty() {
        let len = u32::from_be_bytes(*rest.first_chunk()?) as usize;
        if len == 0 {
            let (digest, mac) = rest.get(4..4 + 64)?.split_at(32);
            link = next_link(&link, 0, digest);
            if mac != hmac(&expand(&prk, &[b"pruned"]), &[&link]) {
                return None;
            }
            count += 1;
            rest = &rest[4 + 64..];
            continue;
        }
        let (entry, mac) = rest.get(4..4 + len + 32)?.split_at(len);
        let sequence = [&[entry[0], 0x00][..], &uint(0, count), &[0x01]].concat();
        let fingerprint: &[u8; 32] = entry.get(fingerprint_at(entry)..)?.first_chunk()?;
        link = chain(&link, entry, rules);
        if !entry.starts_with(&sequence)
            || mac != hmac(&record_key(&prk, fingerprint, rules), &[&link])
        {
            return None;
        }
        count += 1;
        rest = &rest[4 + len + 32..];
    }
    let mac = hmac(
        &expand(&prk, &[b"head"]),
        &[&id, &count.to_be_bytes(), &link],
    );
    let expected = [
        &[0x85, 0x01, 0x50][..],
        &id,
        &uint(0, count),
        &[0x58, 32],
        &link,
        &[0x58, 32],
        &mac,
    ]
    .concat();
    (!rules.head || head == expected).then_some(())
}

fn encode(sequence: u64, entry: &Entry) -> Vec<u8> {
    let text = |text: &str| [&uint(3, text.len() as u64)[..], text.as_bytes()].concat();
    let parts = [
        vec![
            0xa7 + u8::from(entry.since.is_some()) + entry.more.len() as u8,
            0x00,
        ],
        uint(0, sequence),
        vec![0x01],
        uint(0, entry.time),
        vec![0x02, entry.status, 0x03, 0x58, 32],
        entry.fingerprint.to_vec(),
        vec![0x04],
        text(entry.label),
        vec![0x05],
        text(entry.operator),
        vec![0x06],
        text(entry.note),
        entry
            .since
            .map_or(vec![], |since| [&[0x08][..], &uint(0, since)].concat()),
        entry.more.concat(),
    ];
    parts.concat()
}

/// The head of a CBOR item of a major type (RFC 8949 section 3).
fn uint(major: u8, value: u64) -> Vec<u8> {
    let first = major << 5;
    match value {
        0..24 => vec![first | value as u8],
        24..0x100 => vec![first | 24, value as u8],
        0x100..0x1_0000 => [&[first | 25][..], &(value as u16).to_be_bytes()].concat(),
        0x1_0000..0x1_0000_0000 => [&[first | 26][..], &(value as u32).to_be_bytes()].concat(),
        _ => [&[first | 27][..], &value.to_be_bytes()].concat(),
    }
}

/// The mark of a pruned entry in place of the last frame of `frames`, forged by a program that has
/// the key of the store.
pub(crate) fn forged_mark(key: &[u8], log: &[u8], frames: &[usize], digest: &[u8; 32]) -> Vec<u8> {
    let prk = kdf::extract(b"sealstone.trust.v1", &[&key[5..37]]);
    let link = frames.windows(2).fold([0; 32], |link, frame| {
        let frame = &log[frame[0]..frame[1]];
        match frame.len() {
            68 => next_link(&link, 0, &frame[4..36]),
            len => chain(&link, &frame[4..len - 32], SPECIFIED),
        }
    });
    let mac = hmac(&expand(&prk, &[b"pruned"]), &[&next_link(&link, 0, digest)]);
    [&[0; 4][..], digest, &mac].concat()
}

/// Whether `signature` holds both signatures of the keys in a full `passport-body` over the head.
pub(crate) fn verify_signature(signature: &[u8], body: &[u8], head: &[u8]) -> Option<()> {
    // `87 01 58 20 signer count 58 20 link time 58 40 ed25519 59 12 13 ml-dsa-87`.
    let (signer, rest) = signature
        .strip_prefix(&[0x87, 0x01, 0x58, 0x20])?
        .split_at_checked(32)?;
    let (count, rest) = read_uint(rest)?;
    let (link, rest) = rest.strip_prefix(&[0x58, 0x20])?.split_at_checked(32)?;
    let (time, rest) = read_uint(rest)?;
    let (classical, rest) = rest.strip_prefix(&[0x58, 0x40])?.split_at_checked(64)?;
    let post_quantum = rest.strip_prefix(&[0x59, 0x12, 0x13])?;
    let counted = head.windows(link.len()).any(|part| part == link);
    let domain = b"sealstone.trust.v1";
    let message = [signer, &count.to_be_bytes(), link, &time.to_be_bytes()].concat();
    let framed = [&domain[..], &[0], &message].concat();
    // `a8 00 01 01 58 20 x25519 02 59 06 20 ml-kem 03 58 20 ed25519 04 59 0a 20 ml-dsa-87 …`.
    let ed25519_key = 3 + 3 + 32 + 4 + 1568 + 3;
    let ml_dsa_key = ed25519_key + 32 + 4;
    let key = body.get(ed25519_key..ed25519_key + 32)?.try_into().ok()?;
    let key = ed25519::VerifyingKey::from_bytes(key).ok()?;
    key.verify(&framed, classical.try_into().ok()?).ok()?;
    let key = body.get(ml_dsa_key..ml_dsa_key + 2592)?;
    let key = ml_dsa_87::VerifyingKey::from_bytes(key).ok()?;
    key.verify(&framed, domain, post_quantum).ok()?;
    counted.then_some(())
}

fn read_uint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let len = head_len(*bytes.first()?);
    let (head, rest) = bytes.split_at_checked(len)?;
    let value = match len {
        1 => u64::from(head[0]),
        _ => head[1..]
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)),
    };
    Some((value, rest))
}

/// The length of the CBOR head that begins with this byte.
fn head_len(first: u8) -> usize {
    match first & 0x1f {
        24 => 2,
        25 => 3,
        26 => 5,
        27 => 9,
        _ => 1,
    }
}

fn chain(before: &[u8; 32], entry: &[u8], rules: Rules) -> [u8; 32] {
    let mut entry = entry.to_vec();
    let at = fingerprint_at(&entry);
    if !rules.bind_fingerprint {
        entry[at..at + 32].fill(0);
    }
    // `02 status 03 58 20` is before field 3. With field 7 the map has eight fields.
    let is_introduction = entry[0] == 0xa8 && entry[at - 4] == 0;
    next_link(before, u8::from(!is_introduction), &sha3_256(&entry))
}

fn next_link(before: &[u8; 32], kind: u8, digest: &[u8]) -> [u8; 32] {
    sha3_256(&[&b"sealstone.trust.link.v1\0"[..], before, &[kind], digest].concat())
}

fn record_key(prk: &Prk, fingerprint: &[u8; 32], rules: Rules) -> [u8; 32] {
    if rules.bind_fingerprint {
        expand(prk, &[b"record", fingerprint])
    } else {
        expand(prk, &[b"record"])
    }
}

fn expand<const N: usize>(prk: &Prk, info: &[&[u8]]) -> [u8; N] {
    *prk.expand_secret(info).expose()
}

fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = HmacSha3_256::new(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finish()
}
