//! Files, and a verifier with everything at its default.

use std::path::{Path, PathBuf};

use sealstone::timestamp::{Digests, Options, Refusal, Response, Roots, Sha2, Verified, verify};

/// The folder of published responses.
pub(crate) fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/timestamp/vectors")
}

pub(crate) fn read(path: impl AsRef<Path>) -> Vec<u8> {
    let path = path.as_ref();
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn roots(path: impl AsRef<Path>) -> Roots {
    Roots::parse(&read(path)).expect("a roots file")
}

/// Verifies a response over `data`, from its bytes.
pub(crate) fn check(
    response: &[u8],
    data: &[u8],
    roots: &Roots,
    options: &Options,
) -> Result<Verified, Refusal> {
    let digests = Digests::of(&Sha2::ALL, data);
    verify(&Response::parse(response)?, &digests, roots, options)
}

/// The imprint.
pub(crate) const DATA: &[u8] = b"the data that existed";

/// Fails unless a response over [`DATA`] is good.
#[track_caller]
pub(crate) fn accepted(response: &[u8], roots: &Roots, case: &str) -> Verified {
    let verdict = check(response, DATA, roots, &Options::default());
    verdict.unwrap_or_else(|refusal| panic!("{case}: {refusal}"))
}

/// Fails unless a response over [`DATA`] is refused with this name.
#[track_caller]
pub(crate) fn refused(response: &[u8], roots: &Roots, options: &Options, name: &str, case: &str) {
    match check(response, DATA, roots, options) {
        Ok(_) => panic!("{case}: accepted"),
        Err(refusal) => assert_eq!(refusal.name(), name, "{case}: {refusal}"),
    }
}
