//! ML-KEM-1024 against RustCrypto, each side encapsulating to the other.

use ::ml_kem::kem::{Decapsulate, KeyExport, TryKeyInit};
use ::ml_kem::{
    B32, DecapsulationKey as TheirKey, EncapsulationKey as TheirPublicKey, MlKem1024, Seed,
};
use proptest::prelude::*;
use sealstone_primitives::kem::ml_kem_1024::{
    Ciphertext, DecapsulationKey, EncapsulationKey, hazmat,
};

use crate::common::secret;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ml_kem_1024(d: [u8; 32], z: [u8; 32], m: [u8; 32], at: prop::sample::Index, flip in 1_u8..) {
        let seed: [u8; 64] = [d, z].concat().try_into().unwrap();
        let ours = DecapsulationKey::from_seed(&secret(&seed));
        let theirs = TheirKey::<MlKem1024>::from_seed(Seed::from(seed));
        let public = ours.encapsulation_key();
        prop_assert_eq!(&public.to_bytes()[..], &theirs.encapsulation_key().to_bytes()[..]);

        let (ciphertext, shared) = hazmat::encapsulate_deterministic(&public, &m);
        let (their_ciphertext, their_shared) =
            theirs.encapsulation_key().encapsulate_deterministic(&B32::from(m));
        prop_assert_eq!(&ciphertext.as_bytes()[..], &their_ciphertext[..]);
        prop_assert_eq!(&shared.expose()[..], &their_shared[..]);

        let (fresh, shared) = public.encapsulate();
        let opened = theirs.decapsulate(&fresh.as_bytes()[..].try_into().unwrap());
        prop_assert_eq!(&shared.expose()[..], &opened[..]);

        // Both reject a changed ciphertext with the same secret.
        let mut changed = *fresh.as_bytes();
        changed[at.index(changed.len())] ^= flip;
        let rejected = ours.decapsulate(&Ciphertext::from_bytes(&changed).unwrap());
        prop_assert_ne!(&rejected, &shared);
        let they_rejected = theirs.decapsulate(&changed[..].try_into().unwrap());
        prop_assert_eq!(&rejected.expose()[..], &they_rejected[..]);
    }

    /// The modulus check (FIPS 203 section 7.2), one coefficient at a time, on both sides of 3329.
    #[test]
    fn modulus_check(seed: [u8; 32], coefficient in 0..1024_usize, value in prop_oneof![3300..3400_u16, 0..4096_u16]) {
        let key = DecapsulationKey::from_seed(&secret(&[seed, seed].concat()));
        let mut bytes = key.encapsulation_key().to_bytes();
        set_coefficient(&mut bytes, coefficient, value);
        let accepted = EncapsulationKey::from_bytes(&bytes).is_ok();
        prop_assert_eq!(accepted, value < 3329);
        prop_assert_eq!(accepted, TheirPublicKey::<MlKem1024>::new_from_slice(&bytes).is_ok());
    }
}

/// Two 12-bit coefficients to three bytes (FIPS 203 algorithm 5).
fn set_coefficient(bytes: &mut [u8], index: usize, value: u16) {
    let pair = &mut bytes[index / 2 * 3..][..3];
    if index.is_multiple_of(2) {
        pair[0] = value as u8;
        pair[1] = pair[1] & 0xf0 | (value >> 8) as u8;
    } else {
        pair[1] = pair[1] & 0x0f | (value << 4) as u8;
        pair[2] = (value >> 4) as u8;
    }
}
