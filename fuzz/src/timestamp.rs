//! Responses of time-stamping authorities, requests, roots files.

use std::sync::LazyLock;
use std::time::Duration;

use arbitrary::Unstructured;
use sealstone::timestamp::{
    Digests, Options, Request, Response, Roots, Sha2, Verified, check_answer, verify,
};

use crate::PLANTED;
use crate::edit::{edited, is_thorough};
use crate::golden::{REQUEST, STAMPS};

/// An edited response that is accepted states the same as the golden response, by the same
/// certificates.
pub fn timestamp(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().unwrap_or(0);
    let golden = &GOLDEN[usize::from(mode / 4) % STAMPS.len()];
    let data = match is_thorough(&mut bytes) {
        true => &HELLO,
        false => &OTHER,
    };
    match mode % 4 {
        0 => drop(Response::parse(bytes.take_rest()).map(|response| response.hash())),
        1 => {
            let response = edited(golden.response, &mut bytes);
            check(stated(&response, &golden.roots, data), golden);
        }
        2 => {
            let roots = edited(golden.roots_file, &mut bytes);
            let found = Roots::parse(&roots).map_err(|_| "roots");
            check(
                found.and_then(|roots| stated(golden.response, &roots, data)),
                golden,
            );
        }
        _ => request(&edited(REQUEST, &mut bytes)),
    }
}

/// A published timestamp over `hello`, and its statements.
struct Golden {
    response: &'static [u8],
    roots_file: &'static [u8],
    roots: Roots,
    stated: Result<Stated, &'static str>,
}

static GOLDEN: LazyLock<[Golden; STAMPS.len()]> = LazyLock::new(|| {
    STAMPS.map(|(response, roots_file)| {
        let roots = Roots::parse(roots_file).expect("golden roots");
        let stated = stated(response, &roots, &HELLO);
        Golden {
            response,
            roots_file,
            roots,
            stated,
        }
    })
});

static HELLO: LazyLock<Digests> = LazyLock::new(|| Digests::of(&Sha2::ALL, b"hello"));
/// The digests of data that no golden timestamp covers. Verification reads the whole response, and
/// stops before the signatures.
static OTHER: LazyLock<Digests> = LazyLock::new(|| Digests::of(&Sha2::ALL, b"goodbye"));

fn check(found: Result<Stated, &'static str>, golden: &Golden) {
    match found {
        Ok(found) => assert_eq!(Ok(found), golden.stated),
        // The planted bug: the signature is not verified.
        Err(reason) => assert!(!(PLANTED && reason == "signature"), "nobody signed it"),
    }
}

/// Time, serial number and the signer's certificate. The path may end at an edited root: the roots
/// file decides about trust.
type Stated = (Duration, Vec<u8>, Vec<u8>);

fn stated(response: &[u8], roots: &Roots, data: &Digests) -> Result<Stated, &'static str> {
    let response = Response::parse(response).map_err(|refusal| refusal.name())?;
    let verified = verify(&response, data, roots, &Options::default());
    let of = |found: Verified| (found.time, found.serial, found.path[0].der.clone());
    verified.map(of).map_err(|refusal| refusal.name())
}

/// A parsed request has the same meaning after writing and parsing.
fn request(bytes: &[u8]) {
    static OTHER: LazyLock<Response> =
        LazyLock::new(|| Response::parse(STAMPS[0].0).expect("the golden response"));
    if let Ok(request) = Request::parse(bytes) {
        assert_eq!(Request::parse(&request.encode()), Ok(request.clone()));
        assert!(check_answer(&OTHER, &request).is_err() || request.nonce.is_none());
    }
}
