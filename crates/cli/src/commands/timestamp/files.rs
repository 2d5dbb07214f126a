//! Files that `timestamp …` reads.

use std::path::{Path, PathBuf};

use sealstone::timestamp::{
    Chain, Digests, Imprint, MAX_LEN, MAX_ROOTS_LEN, Request, Response, Roots, RootsError, Sha2,
};
use sealstone_files::{Document, named};

use crate::args::{DataArgs, Hex, QueryArgs};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::input;
use crate::named::Parse;

pub(in crate::commands) fn read_roots(path: &Path) -> Result<Roots> {
    let file = input::read(path, "the roots", MAX_ROOTS_LEN)?;
    let hint = "it takes certificates in PEM or DER; one must be a root";
    let refused = |error: RootsError| Failure::new(Exit::Format, error.to_string()).hint(hint);
    file.parse(|bytes| Roots::parse(bytes).map_err(refused))
}

pub(super) fn read_request(path: &Path) -> Result<Request> {
    let file = input::read(path, "the request", MAX_LEN)?;
    file.parse(Request::parse)
}

/// The bytes of a response, which may be too many or malformed.
pub(super) fn read_response(path: &Path) -> Result<Document> {
    // One byte more than a response has, so that the check of the length is the verifier's.
    Ok(input::read(path, "the response", MAX_LEN + 1)?)
}

/// Responses that are read to be renewed.
pub(super) fn read_chain(paths: &[PathBuf]) -> Result<Chain> {
    let read = |path: &PathBuf| read_response(path)?.parse(Response::parse);
    let responses = paths.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(Chain::new(responses)?)
}

/// The digests of the data by all `hashes`, or the one that is given.
pub(super) fn digests(args: &DataArgs, hashes: &[Sha2]) -> Result<Digests> {
    match (&args.data, &args.digest_hex) {
        (_, Some(digest)) => given(digest, hashes),
        (Some(path), None) => read_digests(path, hashes),
        (None, None) => Err(Failure::usage("there is no data")),
    }
}

pub(super) fn read_digests(path: &Path, hashes: &[Sha2]) -> Result<Digests> {
    let input = input::open(path, "the data")?;
    Digests::read(hashes, &input).map_err(|error| named(input.name(), &error).into())
}

/// A digest of the hash function that has its length. If its length is that of none, the error is
/// about the first of `hashes`.
fn given(digest: &Hex, hashes: &[Sha2]) -> Result<Digests> {
    let fitting = |hash: &&Sha2| hash.len() == digest.0.len();
    let hash = hashes.iter().chain(&Sha2::ALL).find(fitting);
    let hash = hash.or(hashes.first()).copied().unwrap_or(Sha2::Sha256);
    let imprint = Imprint::from_digest(hash, &digest.0)?;
    Ok(Digests::from_imprint(imprint))
}

/// The hash function of a new request.
pub(super) fn hash_of(args: &QueryArgs, digest: Option<&Hex>) -> Sha2 {
    let fitting = |digest: &Hex| {
        let all = Sha2::ALL.into_iter();
        all.clone().find(|hash| hash.len() == digest.0.len())
    };
    let given = args.hash.map(Sha2::from);
    given
        .or_else(|| digest.and_then(fitting))
        .unwrap_or(Sha2::Sha256)
}

/// The imprint of the data by one hash function.
pub(super) fn imprint(digests: &Digests, hash: Sha2) -> Result<Imprint> {
    let digest = digests.get(hash).ok_or_else(|| {
        Failure::usage(format!("--digest-hex is no {hash} digest"))
            .hint("omit --hash, or give a digest of that hash function")
    })?;
    Ok(Imprint::from_digest(hash, digest)?)
}
