//! Shared by the tests of sealed files.

use std::sync::LazyLock;

use sealstone::file::{Keys, Opening, Sealed, Sealer, Workers};
use sealstone::passport::Passport;
use sealstone::{Error, Result};

pub(crate) static ALICE: LazyLock<Passport> =
    LazyLock::new(|| Passport::generate("Alice", 1).unwrap());
pub(crate) static BOB: LazyLock<Passport> = LazyLock::new(|| Passport::generate("Bob", 2).unwrap());
pub(crate) static CAROL: LazyLock<Passport> =
    LazyLock::new(|| Passport::generate("Carol", 3).unwrap());

/// Bytes of a full chunk in the file.
pub(crate) const CHUNK_LEN: usize = 1 << 20;
/// The most content of a chunk.
pub(crate) const CONTENT_LEN: usize = CHUNK_LEN - 17;
/// The trailer of a signed and an unsigned file.
pub(crate) const SIGNED_TRAILER_LEN: usize = 4723;
pub(crate) const UNSIGNED_TRAILER_LEN: usize = 32;

/// Content that repeats with an odd period, so that swapped blocks show.
pub(crate) fn content(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// Seals for Bob, as Alice.
pub(crate) fn sealed_by_alice(content: &[u8]) -> Vec<u8> {
    let mut sealer = Sealer::new();
    sealer.to_passport(BOB.contact()).signed_by(&*ALICE);
    seal(&sealer, content)
}

/// Seals for Bob, unsigned.
pub(crate) fn sealed_unsigned(content: &[u8]) -> Vec<u8> {
    let mut sealer = Sealer::new();
    sealer.to_passport(BOB.contact());
    seal(&sealer, content)
}

/// Signs, hides the length, and armors by `choices`: its remainder by 3, and the bits 4 and 8.
pub(crate) fn choose(sealer: &mut Sealer<'_>, choices: u32) {
    match choices % 3 {
        0 => &mut *sealer,
        1 => sealer.signed_by(&*ALICE),
        _ => sealer.signed_without_carrying(&*ALICE),
    };
    if choices & 4 != 0 {
        sealer.hide_length();
    }
    if choices & 8 != 0 {
        sealer.armored();
    }
}

pub(crate) fn seal(sealer: &Sealer<'_>, content: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let receipt = sealer.seal(content, &mut file, Workers::new(3)).unwrap();
    assert_eq!(receipt.content_len, content.len() as u64);
    file
}

pub(crate) fn unlock<'f>(file: &'f [u8], passport: &Passport) -> Result<Opening<&'f [u8]>> {
    Sealed::read(file)?.unlock(&Keys::new(&[passport], &[]))
}

/// Opens as Bob: as Alice's file if it claims to be signed, else as unsigned.
pub(crate) fn open_as_bob(file: &[u8]) -> Result<Vec<u8>> {
    let opening = unlock(file, &BOB)?;
    let mut out = Vec::new();
    match opening.sender().is_signed() {
        true => opening.open_signed(ALICE.contact(), &mut out, Workers::new(2))?,
        false => opening.open_unsigned(&mut out, Workers::new(2))?,
    };
    Ok(out)
}

/// Asserts that a changed file is refused with the right kind of error.
pub(crate) fn assert_refused(file: &[u8], what: &str) {
    match open_as_bob(file) {
        Ok(_) => panic!("{what}: was opened"),
        Err(
            Error::Altered(_)
            | Error::Malformed(_)
            | Error::OtherKind { .. }
            | Error::Armor(_)
            | Error::TooMuchAfterArmor
            | Error::Unsupported(_)
            | Error::NotRecipient
            | Error::WrongSender,
        ) => {}
        Err(other) => panic!("{what}: unexpected {other:?}"),
    }
}
