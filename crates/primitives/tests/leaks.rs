//! No path, successful or not, leaks a C object. The test has its own process, so that its memory
//! shows only this.
#![cfg(target_os = "linux")]

use std::mem::forget;

use sealstone_primitives::kem::ml_kem_1024::{DecapsulationKey, EncapsulationKey};
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::ml_dsa_65::{SigningKey, VerifyingKey};

const ROUNDS: usize = 4_000;
/// A kilobyte a round: each object that could leak is larger.
const TOO_MUCH_KIB: usize = ROUNDS;

#[test]
fn nothing_is_left_behind() {
    let signing = SigningKey::from_seed(&Secret::random());
    let signature = signing.sign(b"message", b"").unwrap();
    let public = signing.verifying_key().to_bytes();
    let unreduced = [0xff; 1568];
    let grown = growth_kib(|| {
        assert!(EncapsulationKey::from_bytes(&unreduced).is_err());
        assert!(VerifyingKey::from_bytes(&public[1..]).is_err());
        assert!(signing.sign(b"message", &[0; 256]).is_err());
        let key = VerifyingKey::from_bytes(&*public).unwrap();
        assert!(key.verify(b"another", b"", &*signature).is_err());
        assert!(
            key.clone()
                .verify(b"message", &[0; 256], &*signature)
                .is_err()
        );
        assert!(key.verify(b"message", b"", &*signature).is_ok());
    });
    assert!(grown < TOO_MUCH_KIB, "{grown} KiB");

    let grown = growth_kib(|| {
        let key = DecapsulationKey::from_seed(&Secret::random());
        let (ciphertext, shared) = key.encapsulation_key().encapsulate();
        assert_eq!(key.decapsulate(&ciphertext), shared);
    });
    assert!(grown < TOO_MUCH_KIB, "{grown} KiB");

    // A planted leak, which the check above must see.
    let grown = growth_kib(|| forget(VerifyingKey::from_bytes(&*public).unwrap()));
    assert!(grown > TOO_MUCH_KIB, "{grown} KiB");
}

/// The growth of the process's memory from a few rounds to many.
fn growth_kib(round: impl Fn()) -> usize {
    (0..100).for_each(|_| round());
    let before = resident_kib();
    (0..ROUNDS).for_each(|_| round());
    resident_kib().saturating_sub(before)
}

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
