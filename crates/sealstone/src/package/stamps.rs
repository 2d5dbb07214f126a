//! Layer 6: timestamps over the signatures (`spec/package.md`, `spec/timestamp.md`).

use sealstone_primitives::hash::sha3_256;

use super::Role;
use super::bundle::{Parts, Timestamp};
use crate::timestamp::{self, Digests, Options, Response, Roots, Verified};

/// All timestamps of a package that hold, and for each signature its proved time.
pub(super) struct Stamps {
    pub(super) verified: Vec<Verified>,
    pub(super) proved: Vec<Option<u64>>,
}

/// How much later than its proved time a signature may claim to be: clocks differ.
const MAX_SKEW: u64 = 300;

/// Whether every response is the one that was attached. No roots are needed to see that.
pub(super) fn check_digests(parts: &Parts) -> Result<(), String> {
    let is_altered = |it: &Timestamp| sha3_256(&it.response) != it.digest;
    match parts.timestamps.iter().position(is_altered) {
        None => Ok(()),
        Some(index) => {
            let count = parts.timestamps.len();
            Err(format!("timestamp {} of {count}: altered", index + 1))
        }
    }
}

/// Verifies the timestamps of a package that has some.
pub(super) fn check(parts: &Parts, roots: &Roots, now: u64) -> Result<Stamps, String> {
    check_digests(parts)?;
    let count = parts.timestamps.len();
    let mut later = now;
    let mut verified: Vec<Verified> = Vec::with_capacity(count);
    for index in (0..count).rev() {
        let found = check_one(parts, index, roots, now, later)
            .map_err(|why| format!("timestamp {} of {count}: {why}", index + 1))?;
        if verified.last().is_some_and(|after| after.time < found.time) {
            return Err(format!(
                "timestamp {} is older than its predecessor",
                index + 2
            ));
        }
        later = found.time.as_secs();
        verified.push(found);
    }
    verified.reverse();
    let proved = proved_times(parts, &verified);
    let signatures = parts.signatures.iter().zip(&proved);
    for (place, (signature, proved)) in signatures.enumerate() {
        match proved {
            None if signature.role() == Role::Signer => {
                return Err(format!("signature {} is not covered", place + 1));
            }
            Some(proved) if signature.time > proved.saturating_add(MAX_SKEW) => {
                return Err(format!("signature {} claims a later time", place + 1));
            }
            _ => {}
        }
    }
    Ok(Stamps { verified, proved })
}

fn check_one(
    parts: &Parts,
    index: usize,
    roots: &Roots,
    now: u64,
    later: u64,
) -> Result<Verified, String> {
    let verify = || {
        let response = Response::parse(&parts.timestamps[index].response)?;
        let data = Digests::of(
            &[response.hash()?],
            &parts.stamped(parts.covers(index), index),
        );
        let options = Options {
            now: Some(now),
            also_valid_at: Some(later),
            ..Options::default()
        };
        timestamp::verify(&response, &data, roots, &options)
    };
    verify().map_err(|refusal| refusal.to_string())
}

/// For each signature, the latest moment that the first timestamp over it allows.
fn proved_times(parts: &Parts, verified: &[Verified]) -> Vec<Option<u64>> {
    let latest = |index: usize| {
        let found = &verified[index];
        let moment = found.time + found.accuracy.unwrap_or_default();
        moment.as_secs() + u64::from(moment.subsec_nanos() > 0)
    };
    let first_over = |place: usize| (0..verified.len()).find(|&i| parts.covers(i) > place);
    (0..parts.signatures.len())
        .map(|place| first_over(place).map(latest))
        .collect()
}
