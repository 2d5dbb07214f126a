//! Guarantees of the public functions: input of the wrong length is an error, never a panic; inputs
//! of variable length may have any length; refused secrets are wiped.

use sealstone_primitives::aead::{Aes256Gcm, XChaCha20Poly1305};
use sealstone_primitives::kem::ml_kem_1024::{
    Ciphertext, DecapsulationKey, EncapsulationKey, hazmat,
};
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::{Secret, SecretVec};
use sealstone_primitives::sign::ml_dsa::{
    MAX_CONTEXT_LEN, MlDsa65, MlDsa87, ParameterSet, SigningKey, VerifyingKey,
};
use sealstone_primitives::{Error, ct, hash, kdf, rng};

#[path = "shared/common.rs"]
mod common;
use common::pattern;

/// Lengths around every significant length.
fn lengths() -> impl Iterator<Item = usize> {
    [16, 32, 64, 136, 1568, 1952, 2592, 3168, 3309, 4627, 5000]
        .into_iter()
        .flat_map(|len| [len - 1, len, len + 1])
        .chain([0, 1])
}

#[test]
fn parsing_accepts_one_length_only() {
    let whole = |parsed: Result<(), Error>, len: usize, expected: usize| {
        assert_eq!(
            parsed.is_ok(),
            len == expected,
            "{len} bytes where {expected} are meant"
        );
    };
    for len in lengths() {
        let bytes = vec![1; len];
        whole(Secret::<32>::from_slice(&bytes).map(drop), len, 32);
        whole(Ciphertext::from_bytes(&bytes).map(drop), len, 1568);
        whole(EncapsulationKey::from_bytes(&bytes).map(drop), len, 1568);
        whole(
            VerifyingKey::<MlDsa65>::from_bytes(&bytes).map(drop),
            len,
            1952,
        );
        whole(
            VerifyingKey::<MlDsa87>::from_bytes(&bytes).map(drop),
            len,
            2592,
        );
        // The right length is not enough for an expanded key.
        assert!(hazmat::from_expanded(&bytes).is_err());
    }
}

#[test]
fn ml_dsa_takes_any_message_and_short_contexts_only() {
    check_ml_dsa::<MlDsa65>();
    check_ml_dsa::<MlDsa87>();
}

fn check_ml_dsa<P: ParameterSet>() {
    let key = SigningKey::<P>::from_seed(&Secret::random());
    let public = key.verifying_key();
    let signature = key.sign(b"", b"").unwrap();
    for len in lengths() {
        assert_eq!(key.sign(&pattern(len), &[]).map(drop), Ok(()));
        assert!(public.verify(b"", b"", &vec![1; len]).is_err());
    }
    for len in [
        MAX_CONTEXT_LEN - 1,
        MAX_CONTEXT_LEN,
        MAX_CONTEXT_LEN + 1,
        65536 + 5,
    ] {
        let context = pattern(len);
        let signed = key.sign(b"", &context);
        assert_eq!(signed.is_ok(), len <= MAX_CONTEXT_LEN, "{len}");
        if let Ok(signed) = signed {
            assert!(public.verify(b"", &context, (*signed).as_ref()).is_ok());
        }
        assert!(public.verify(b"", &context, (*signature).as_ref()).is_err());
    }
}

#[test]
fn aead_takes_any_length_and_wipes_what_it_refuses() {
    let key = Secret::random();
    let (xchacha, gcm) = (XChaCha20Poly1305::new(&key), Aes256Gcm::new(&key));
    for len in lengths() {
        let (plain, aad) = (pattern(len), pattern(len / 2));
        let mut data = plain.clone();
        let tag = xchacha.seal_in_place(&[3; 24], &aad, &mut data);
        let mut refused = data.clone();
        assert_eq!(
            xchacha.open_in_place(&[4; 24], &aad, &mut refused, &tag),
            Err(Error)
        );
        assert_eq!(refused, vec![0; len]);
        xchacha
            .open_in_place(&[3; 24], &aad, &mut data, &tag)
            .unwrap();
        assert_eq!(data, plain);

        let tag = gcm.seal_in_place(&[3; 12], &aad, &mut data);
        let mut refused = data.clone();
        assert_eq!(
            gcm.open_in_place(&[4; 12], &aad, &mut refused, &tag),
            Err(Error)
        );
        assert_eq!(refused, vec![0; len]);
        gcm.open_in_place(&[3; 12], &aad, &mut data, &tag).unwrap();
        assert_eq!(data, plain);
    }
}

#[test]
fn one_cipher_serves_many_threads() {
    let cipher = XChaCha20Poly1305::new(&Secret::random());
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let cipher = &cipher;
            scope.spawn(move || {
                for round in 0..100_u8 {
                    let mut nonce = [thread; 24];
                    nonce[23] = round;
                    let mut data = pattern(1000);
                    let tag = cipher.seal_in_place(&nonce, &[], &mut data);
                    cipher.open_in_place(&nonce, &[], &mut data, &tag).unwrap();
                    assert_eq!(data, pattern(1000));
                }
            });
        }
    });
}

#[test]
fn every_flipped_bit_is_refused() {
    let cipher = XChaCha20Poly1305::new(&Secret::random());
    let mut data = pattern(70);
    let tag = cipher.seal_in_place(&[0; 24], b"aad", &mut data);
    for bit in 0..data.len() * 8 {
        let mut changed = data.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(
            cipher.open_in_place(&[0; 24], b"aad", &mut changed, &tag),
            Err(Error)
        );
    }
    for bit in 0..tag.len() * 8 {
        let mut changed = tag;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(
            cipher.open_in_place(&[0; 24], b"aad", &mut data.clone(), &changed),
            Err(Error)
        );
    }
}

#[test]
fn mac_hash_and_kdf_take_any_length() {
    for len in lengths() {
        let data = pattern(len);
        let mut mac = HmacSha3_256::new(&data);
        mac.update(&data);
        assert_eq!(mac.verify(&data), Err(Error));
        assert_ne!(hash::sha3_256(&data), [0; 32]);
        let mut okm = vec![0; len];
        kdf::extract(&data, &[&data])
            .expand(&[&data], &mut okm)
            .unwrap();
        assert!(len < 16 || okm != vec![0; len]);
    }
}

#[test]
fn constant_time_equality_is_equality() {
    for len in lengths() {
        let a = pattern(len);
        assert!(ct::eq(&a, &a.clone()));
        assert!(!ct::eq(&a, &pattern(len + 1)));
        for at in [0, len / 2, len.saturating_sub(1)]
            .into_iter()
            .filter(|at| *at < len)
        {
            let mut b = a.clone();
            b[at] ^= 0x80;
            assert!(!ct::eq(&a, &b));
        }
    }
}

#[test]
fn secret_vectors_keep_their_capacity() {
    let mut secret = SecretVec::with_capacity(5000);
    secret.extend_from_slice(&pattern(4999)).unwrap();
    assert_eq!(secret.extend_from_slice(b"xy"), Err(Error));
    assert_eq!(
        secret.expose(),
        pattern(4999),
        "unchanged by what did not fit"
    );
    secret.extend_from_slice(b"x").unwrap();
    secret.truncate(3);
    secret.truncate(100);
    assert_eq!(secret.expose(), [0, 1, 2]);
    assert_eq!(secret.duplicate(), secret);
    assert_eq!(secret.duplicate().capacity(), 5000);
    let empty = SecretVec::with_capacity(0);
    assert!(empty.is_empty() && empty.duplicate() == SecretVec::from_vec(Vec::new()));
}

/// Chi-square over six faces at 60,000 throws: 5 degrees of freedom exceed 40 once in six million.
#[test]
fn random_numbers_below_a_bound_are_uniform() {
    let mut faces = [0_u32; 6];
    for _ in 0..60_000 {
        faces[rng::below(6) as usize] += 1;
    }
    let chi_square: f64 = faces
        .iter()
        .map(|count| (f64::from(*count) - 10_000.0).powi(2) / 10_000.0)
        .sum();
    assert!(chi_square < 40.0, "{faces:?}");
    assert_eq!(rng::below(1), 0);
    // A bound with a bias under modulo reduction: the lower third would be twice as frequent as the
    // rest.
    let bound = 3 << 30;
    let low = (0..30_000)
        .filter(|_| rng::below(bound) < bound / 3)
        .count();
    assert!(
        (9_400..10_600).contains(&low),
        "{low} of 30000 in the lower third"
    );
}

#[test]
fn key_pairs_survive_the_round_trip_of_their_public_halves() {
    let key = DecapsulationKey::from_seed(&Secret::random());
    let public = EncapsulationKey::from_bytes(&key.encapsulation_key().to_bytes()).unwrap();
    assert_eq!(public, key.encapsulation_key());
    let (ciphertext, shared) = public.clone().encapsulate();
    assert_eq!(
        key.decapsulate(&Ciphertext::from_bytes(ciphertext.as_bytes()).unwrap()),
        shared
    );
    let other = DecapsulationKey::from_seed(&Secret::random());
    assert_ne!(other.decapsulate(&ciphertext), shared);
}
