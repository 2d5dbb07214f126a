//! The rule for which Ed25519 signatures are accepted (documented in `sign::ed25519`), on the edge
//! cases where implementations differ.

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT as B, EIGHT_TORSION};
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::{Digest, Sha512};
use sealstone_primitives::sign::ed25519::VerifyingKey;

#[path = "shared/common.rs"]
mod common;
use common::{counted, hex, hex_array};

/// The twelve vectors of table 6 of Chalkias, Garillot, Nikolaenko, "Taming the many EdDSAs" (SSR
/// 2020): message, key, signature, and whether our rule accepts it.
#[test]
fn taming_the_many_eddsas() {
    let executed = TAMING
        .iter()
        .enumerate()
        .map(|(number, (message, key, signature, accepted))| {
            let verified = verify(&hex_array(key), &hex(message), &hex_array(signature));
            assert_eq!(verified, *accepted, "vector {number}");
        })
        .count();
    counted("Taming the many EdDSAs", executed, 12);
}

/// All pairs of a public key A and a commitment R from: the encodings of the small-order points,
/// canonical and not; large-order points with each small-order component. S is what makes the
/// cofactored equation hold, and S + L.
#[test]
fn every_pair_of_edge_case_points() {
    let (keys, commitments) = (edge_points(3), edge_points(5));
    let (mut executed, mut accepted) = (0, 0);
    for key in &keys {
        for commitment in &commitments {
            for message in [&b"one"[..], b"two", b"three"] {
                let k = challenge(&commitment.encoded, &key.encoded, message);
                let s = commitment.log + k * key.log;
                for s in [s.to_bytes(), plus_order(s)] {
                    let signature = [commitment.encoded, s].concat().try_into().unwrap();
                    let expected = rule(&key.encoded, &commitment.encoded, &s, k);
                    assert_eq!(verify(&key.encoded, message, &signature), expected);
                    executed += 1;
                    accepted += usize::from(expected);
                }
            }
        }
    }
    counted(
        "Ed25519 edge-case pairs",
        executed,
        (14 + 8) * (14 + 8) * 3 * 2,
    );
    // Both outcomes occur: 8 x 8 pairs of large-order points, of which about one in eight cancel.
    assert!(accepted > 24 && accepted < 600, "{accepted} accepted");
}

/// Every point of small order is refused as a key, in every encoding. This recomputes the list in
/// the crate.
#[test]
fn small_order_keys_are_refused() {
    for point in edge_points(3)
        .iter()
        .filter(|point| point.log == Scalar::ZERO)
    {
        assert!(
            VerifyingKey::from_bytes(&point.encoded).is_err(),
            "{:02x?}",
            point.encoded
        );
    }
}

/// y = p, p + 1, …, 2^255 - 1, with either sign: none is canonical. y = p - 2 and below are
/// canonical.
#[test]
fn non_canonical_keys_are_refused() {
    for sign in [0, 0x80] {
        for low in 0xed..=0xff_u8 {
            assert!(
                VerifyingKey::from_bytes(&near_p(low, sign)).is_err(),
                "p + {}",
                low - 0xed
            );
        }
        for low in 0..0xec_u8 {
            assert!(
                VerifyingKey::from_bytes(&near_p(low, sign)).is_ok(),
                "p - {}",
                0xed - low
            );
        }
    }
}

fn verify(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    VerifyingKey::from_bytes(key).is_ok_and(|key| key.verify(message, signature).is_ok())
}

/// The documented rule, with dalek's arithmetic: A canonical and not of small order, S < L, and R =
/// [S]B - [k]A as bytes.
fn rule(key: &[u8; 32], commitment: &[u8; 32], s: &[u8; 32], k: Scalar) -> bool {
    let Some(a) = CompressedEdwardsY(*key).decompress() else {
        return false;
    };
    let s: Option<Scalar> = Scalar::from_canonical_bytes(*s).into();
    let Some(s) = s else { return false };
    a.compress().0 == *key && !a.is_small_order() && (s * B - k * a).compress().0 == *commitment
}

/// An encoded point \[log\]B + torsion.
struct EdgePoint {
    encoded: [u8; 32],
    log: Scalar,
}

fn edge_points(log: u64) -> Vec<EdgePoint> {
    let small = small_order_encodings()
        .into_iter()
        .map(|encoded| EdgePoint {
            encoded,
            log: Scalar::ZERO,
        });
    let log = Scalar::from(log);
    let mixed = EIGHT_TORSION
        .iter()
        .map(|torsion: &EdwardsPoint| EdgePoint {
            encoded: (log * B + torsion).compress().0,
            log,
        });
    small.chain(mixed).collect()
}

/// The eight canonical encodings and the six others: y + p where that fits (y = 0 and 1, either
/// sign), and x = 0 with a negative sign (y = 1 and -1).
fn small_order_encodings() -> Vec<[u8; 32]> {
    let canonical = EIGHT_TORSION.iter().map(|point| point.compress().0);
    let others = [
        near_p(0xed, 0),
        near_p(0xed, 0x80),
        near_p(0xee, 0),
        near_p(0xee, 0x80),
        near_p(0xec, 0x80),
        {
            let mut minus_zero = [0; 32];
            (minus_zero[0], minus_zero[31]) = (1, 0x80);
            minus_zero
        },
    ];
    canonical.chain(others).collect()
}

/// The encoding with y = 2^255 - 256 + `low` and the given sign bit.
fn near_p(low: u8, sign: u8) -> [u8; 32] {
    let mut encoded = [0xff; 32];
    (encoded[0], encoded[31]) = (low, 0x7f | sign);
    encoded
}

/// k = SHA-512(R ‖ A ‖ M) mod L.
fn challenge(commitment: &[u8; 32], key: &[u8; 32], message: &[u8]) -> Scalar {
    let digest = Sha512::new()
        .chain_update(commitment)
        .chain_update(key)
        .chain_update(message)
        .finalize();
    Scalar::from_bytes_mod_order_wide(&digest.into())
}

/// S + L, little-endian.
fn plus_order(s: Scalar) -> [u8; 32] {
    // L - 1 is -1 mod L.
    let order_minus_one = (-Scalar::ONE).to_bytes();
    let mut sum = [0; 32];
    let mut carry = 1;
    for (i, byte) in sum.iter_mut().enumerate() {
        carry += u16::from(s.to_bytes()[i]) + u16::from(order_minus_one[i]);
        *byte = carry as u8;
        carry >>= 8;
    }
    sum
}

/// Message, key, signature, accepted by our rule.
const TAMING: [(&str, &str, &str, bool); 12] = [
    // 0: A of small order, R of small order, S = 0.
    (
        "8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        concat!(
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "0000000000000000000000000000000000000000000000000000000000000000"
        ),
        false,
    ),
    // 1: A of small order.
    (
        "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        concat!(
            "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
            "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04"
        ),
        false,
    ),
    // 2: A with a small-order component, R of small order: the equation holds.
    (
        "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        concat!(
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
            "8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e"
        ),
        true,
    ),
    // 3: A and R with small-order components that cancel.
    (
        "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        concat!(
            "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f",
            "87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009"
        ),
        true,
    ),
    // 4: A and R with small-order components that only the cofactored equation accepts.
    (
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        concat!(
            "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed512",
            "5ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09"
        ),
        false,
    ),
    // 5: A with a small-order component that only the cofactored equation accepts.
    (
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        concat!(
            "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7",
            "e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405"
        ),
        false,
    ),
    // 6: S > L.
    (
        "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        concat!(
            "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e",
            "547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514"
        ),
        false,
    ),
    // 7: S far above L.
    (
        "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        concat!(
            "8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa1942",
            "7e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22"
        ),
        false,
    ),
    // 8: R of small order, not canonical.
    (
        "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        concat!(
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f"
        ),
        false,
    ),
    // 9: R of small order, not canonical.
    (
        "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        concat!(
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "ca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908"
        ),
        false,
    ),
    // 10: A of small order, not canonical.
    (
        "e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        concat!(
            "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc",
            "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04"
        ),
        false,
    ),
    // 11: A of small order, not canonical.
    (
        "39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        concat!(
            "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc",
            "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04"
        ),
        false,
    ),
];
