//! Edits of a valid object, read from the fuzzer's bytes.

use arbitrary::{Result, Unstructured};

/// The largest number of edits of one object, and the largest insertion.
const MAX_EDITS: usize = 8;
const MAX_INSERTED: usize = 2048;

/// Whether to make and verify signatures too: for one input in eight. Signatures take most of the
/// time, and few inputs test them.
pub(crate) fn is_thorough(bytes: &mut Unstructured<'_>) -> bool {
    bytes.arbitrary::<u8>().is_ok_and(|byte| byte % 8 == 7)
}

/// `object` after a few edits. No bytes, no edits.
pub(crate) fn edited(object: &[u8], bytes: &mut Unstructured<'_>) -> Vec<u8> {
    let mut object = object.to_vec();
    for _ in 0..MAX_EDITS {
        if bytes.is_empty() || edit(&mut object, bytes).is_err() {
            break;
        }
    }
    object
}

fn edit(object: &mut Vec<u8>, bytes: &mut Unstructured<'_>) -> Result<()> {
    let kind: u8 = bytes.int_in_range(0..=7)?;
    let at = position(object, bytes)?;
    match kind {
        0 => replace(object, at, 1, &[bytes.arbitrary()?]),
        1 => replace(
            object,
            at,
            1,
            &[object.get(at).copied().unwrap_or(0) ^ (1 << bytes.int_in_range(0..=7)?)],
        ),
        2 => replace(object, at, length(bytes)?, &[]),
        3 => {
            let len = length(bytes)?.min(bytes.len());
            let inserted = bytes.bytes(len)?.to_vec();
            replace(object, at, 0, &inserted);
        }
        4 => {
            let (from, len) = (position(object, bytes)?, length(bytes)?);
            let copied = object[from..object.len().min(from + len)].to_vec();
            replace(object, at, 0, &copied);
        }
        5 => object.truncate(at),
        6 => replace(
            object,
            at,
            1,
            &cbor_head(bytes.arbitrary()?, bytes.arbitrary()?),
        ),
        _ => {
            let same = vec![bytes.arbitrary()?; length(bytes)?];
            replace(object, at, same.len(), &same);
        }
    }
    Ok(())
}

fn position(object: &[u8], bytes: &mut Unstructured<'_>) -> Result<usize> {
    bytes.int_in_range(0..=object.len())
}

/// A length. Short ones are more frequent.
fn length(bytes: &mut Unstructured<'_>) -> Result<usize> {
    match bytes.arbitrary::<u8>()? {
        short @ 0..=199 => Ok(usize::from(short % 40)),
        _ => bytes.int_in_range(0..=MAX_INSERTED),
    }
}

fn replace(object: &mut Vec<u8>, at: usize, len: usize, with: &[u8]) {
    let end = object.len().min(at + len);
    object.splice(at..end, with.iter().copied());
}

/// The canonical head of a CBOR item, for numbers and lengths that contradict the object.
fn cbor_head(kind: u8, number: u64) -> Vec<u8> {
    let kind = kind << 5;
    // Small numbers and powers of two are more frequent than 64 random bits.
    let number = number >> (number % 64);
    match number {
        0..24 => vec![kind | number as u8],
        24..0x100 => vec![kind | 24, number as u8],
        0x100..0x1_0000 => [&[kind | 25][..], &(number as u16).to_be_bytes()].concat(),
        0x1_0000..0x1_0000_0000 => [&[kind | 26][..], &(number as u32).to_be_bytes()].concat(),
        _ => [&[kind | 27][..], &number.to_be_bytes()].concat(),
    }
}
