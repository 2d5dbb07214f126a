//! Responses of time-stamping authorities, requests, roots files.

use std::time::Duration;

use arbitrary::Unstructured;
use sealstone::timestamp::{
    Digests, Options, Request, Response, Roots, Sha2, Verified, check_answer, verify,
};

use crate::PLANTED;
use crate::edit::edited;
use crate::golden::{REQUEST, STAMPS};

/// What is accepted after edits states what the golden response states, by the same certificates.
pub fn timestamp(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().unwrap_or(0);
    let (response, roots) = STAMPS[usize::from(mode / 4) % STAMPS.len()];
    match mode % 4 {
        0 => drop(Response::parse(bytes.take_rest()).map(|response| response.hash())),
        1 => check(&edited(response, &mut bytes), roots, response, roots),
        2 => check(response, &edited(roots, &mut bytes), response, roots),
        _ => request(&edited(REQUEST, &mut bytes)),
    }
}

fn check(response: &[u8], roots: &[u8], golden: &[u8], golden_roots: &[u8]) {
    match stated(response, roots) {
        Ok(found) => assert_eq!(Ok(found), stated(golden, golden_roots)),
        // As if the signature were not verified.
        Err(reason) => assert!(!(PLANTED && reason == "signature"), "nobody signed it"),
    }
}

/// Time, serial number and the signer's certificate. The path may end at a root that was edited:
/// the roots file says whom to trust.
type Stated = (Duration, Vec<u8>, Vec<u8>);

fn stated(response: &[u8], roots: &[u8]) -> Result<Stated, &'static str> {
    let roots = Roots::parse(roots).map_err(|_| "roots")?;
    let response = Response::parse(response).map_err(|refusal| refusal.name())?;
    let data = Digests::of(&Sha2::ALL, b"hello");
    let verified = verify(&response, &data, &roots, &Options::default());
    let of = |found: Verified| (found.time, found.serial, found.path[0].der.clone());
    verified.map(of).map_err(|refusal| refusal.name())
}

/// A request that is read means the same when it is written again.
fn request(bytes: &[u8]) {
    if let Ok(request) = Request::parse(bytes) {
        assert_eq!(Request::parse(&request.encode()), Ok(request.clone()));
        let other = Response::parse(STAMPS[0].0).expect("the golden response");
        assert!(check_answer(&other, &request).is_err() || request.nonce.is_none());
    }
}
