//! After the last owner is dropped, secrets are nowhere in memory: neither on the heap nor on the
//! stack of the thread that used them. The search must also find each secret while it is alive.

use sealstone_primitives::aead::{Aes256Gcm, XChaCha20Poly1305};
use sealstone_primitives::dh::x25519::PrivateKey;
use sealstone_primitives::kdf;
use sealstone_primitives::kem::ml_kem_1024::DecapsulationKey;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::{Secret, SecretVec};
use sealstone_primitives::sign::{ed25519, ml_dsa_65, ml_dsa_87};

use crate::memory::{Needle, occurrences, occurrences_after, secret};

/// Searches `digits` during `work`, which gets the secret of those digits, and afterwards.
fn assert_wiped(digits: &'static str, work: impl FnOnce(Secret<32>, &dyn Fn()) + Send) {
    let needle = Needle::new(digits);
    let left = occurrences_after(needle, || {
        work(secret(digits), &|| {
            assert!(occurrences(needle) > 0, "found while alive")
        });
    });
    assert_eq!(left, 0, "copies left behind");
}

#[test]
fn a_copy_left_behind_is_noticed() {
    const DIGITS: &str = "9d3c1f6e0b7a48d5c2e19f8b64a7035dfe21c8b96d40a3f7582e1b0c9d6f4a13";
    let mut heap = Box::new([0; 32]);
    let left = occurrences_after(Needle::new(DIGITS), || {
        heap.copy_from_slice(secret::<32>(DIGITS).expose());
    });
    assert!(left > 0, "on the heap");
    heap.fill(0);
    let left = occurrences_after(Needle::new(DIGITS), || {
        std::hint::black_box(*secret::<32>(DIGITS).expose());
    });
    assert!(left > 0, "on the stack");
}

#[test]
fn secrets() {
    assert_wiped(
        "3b8f52e6a90d7c41e8b36f0592dca71468fb0e3d9c57a2418e6d0bf37c95a21e",
        |secret, is_there| {
            let mut copy = secret.duplicate();
            drop(secret);
            is_there();
            let moved = Secret::from_array(copy.expose_mut());
            assert_eq!(copy, Secret::zeroed());
            is_there();
            let mut bytes = SecretVec::with_capacity(100);
            bytes.extend_from_slice(moved.expose()).unwrap();
            drop(moved);
            is_there();
            bytes.clear();
        },
    );
}

#[test]
fn vectors_that_were_taken_over() {
    assert_wiped(
        "e5107b3c84d2f9a66b0e91c7358fda42a1c97e60d38b254f9c06e71ad5b8230f",
        |secret, is_there| {
            let taken = SecretVec::from_vec(secret.expose().to_vec());
            drop(secret);
            is_there();
            assert_eq!(taken.len(), 32);
        },
    );
}

#[test]
fn aead_keys() {
    assert_wiped(
        "58c09e2d7f4ab1638d05f7ce92b43a6107ed9c58b2f6413a8ce05d7914fb62a8",
        |key, is_there| {
            let cipher = XChaCha20Poly1305::new(&key);
            drop(key);
            is_there();
            exercise(
                |data| cipher.seal_in_place(&[1; 24], b"aad", data),
                |data, tag| cipher.open_in_place(&[1; 24], b"aad", data, tag),
            );
        },
    );
    assert_wiped(
        "c17a4e85d9306fb2a8e15c740df3926b4be8075ac39d61f20e7d84b65fa1c93d",
        |key, is_there| {
            let cipher = Aes256Gcm::new(&key);
            drop(key);
            is_there();
            exercise(
                |data| cipher.seal_in_place(&[1; 12], b"aad", data),
                |data, tag| cipher.open_in_place(&[1; 12], b"aad", data, tag),
            );
        },
    );
}

fn exercise(
    seal: impl Fn(&mut [u8]) -> [u8; 16],
    open: impl Fn(&mut [u8], &[u8; 16]) -> Result<(), sealstone_primitives::Error>,
) {
    for len in [0, 1, 100, 5000] {
        let mut data = vec![7; len];
        let mut tag = seal(&mut data);
        open(&mut data.clone(), &tag).unwrap();
        tag[0] ^= 1;
        open(&mut data, &tag).unwrap_err();
    }
}

/// The key that XChaCha20 derives from key and nonce prefix; values of draft-irtf-cfrg-xchacha-03
/// section 2.2.1.
#[test]
fn xchacha_subkeys() {
    const SUBKEY: &str = "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc";
    let key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let mut nonce = [0; 24];
    nonce[..16].copy_from_slice(&[
        0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0, 0x31, 0x41, 0x59, 0x27,
    ]);
    let left = occurrences_after(Needle::new(SUBKEY), || {
        let cipher = XChaCha20Poly1305::new(&secret(key));
        exercise(
            |data| cipher.seal_in_place(&nonce, b"aad", data),
            |data, tag| cipher.open_in_place(&nonce, b"aad", data, tag),
        );
    });
    assert_eq!(left, 0, "copies left behind");
}

#[test]
fn hmac_and_hkdf_keys() {
    assert_wiped(
        "7e25d8b1063fca94e1b05d68973ac24f0d86fe31b95c72a0483be69d1f57c80a",
        |key, is_there| {
            is_there();
            let mut mac = HmacSha3_256::new(key.expose());
            mac.update(b"message");
            let okm = mac.finish_secret();
            let prk = kdf::extract(key.expose(), &[key.expose(), okm.expose()]);
            drop(prk.expand_secret::<100>(&[b"info", key.expose()]));
        },
    );
}

#[test]
fn x25519_keys() {
    assert_wiped(
        "a8d30f6b92e54c17d06b8fa2e3951c7d64f80ba93e7251cd0a9e46b3871fd25c",
        |seed, is_there| {
            let key = PrivateKey::from_seed(seed);
            is_there();
            key.agree(PrivateKey::generate().public_key()).unwrap();
        },
    );
}

#[test]
fn ed25519_keys() {
    assert_wiped(
        "1fb6407ad8c9e35202fd71b84e96a3c5d7e0489b2c61f53ab80d9e746135cfa2",
        |seed, is_there| {
            let key = ed25519::SigningKey::from_seed(&seed);
            drop(seed);
            is_there();
            key.verifying_key()
                .verify(b"message", &key.sign(b"message"))
                .unwrap();
        },
    );
}

/// The seeds, and secrets of the expanded keys, of the first, second and third of NIST's known
/// answers.
mod of_known_answers {
    pub(super) const XI_87: &str =
        "f696484048ec21f96cf50a56d0759c448f3779752f0383d37449690694cf7a68";
    pub(super) const K_87: &str =
        "c1f189ce692781ab4fc4fde69fedac0bd4bdc2720d806aa5d0fdd9c100afcdd1";
    pub(super) const XI_65: &str =
        "6de62e3465a55c9c78a07d265be8540b3e58b0801a124d07ff12b438d5202ea0";
    pub(super) const K_65: &str =
        "0bc69a7bdbbd97a6ee93cc7c9b92852aaa0f8933c7c957ab66d2291dca65734e";
    pub(super) const D: &str = "63470357110828f25b23edc80ed280ecd398a9f53251c3332754de2af0b15e90";
    pub(super) const Z: &str = "1eaae6bb91b27cd748c402c4111140d5a942cf3c95ff7977f88d2ef515bb26d0";
    pub(super) const S_HEAD: &str =
        "facb01872a06f1a053a0d03c9c742732c96f4b6a46bf16cd53e93d35b57c6453";
}

#[test]
fn ml_dsa_keys() {
    use of_known_answers::{K_65, K_87, XI_65, XI_87};
    for digits in [XI_87, K_87] {
        assert_wiped(digits, |_, is_there| {
            let key = ml_dsa_87::SigningKey::from_seed(&secret(XI_87));
            is_there();
            key.sign(b"message", b"context").unwrap();
        });
    }
    for digits in [XI_65, K_65] {
        assert_wiped(digits, |_, is_there| {
            let key = ml_dsa_65::SigningKey::from_seed(&secret(XI_65));
            is_there();
            key.sign(b"message", b"context").unwrap();
        });
    }
}

#[test]
fn ml_kem_keys() {
    use of_known_answers::{D, S_HEAD, Z};
    for digits in [D, Z, S_HEAD] {
        assert_wiped(digits, |_, is_there| {
            let key = DecapsulationKey::from_seed(&secret(&[D, Z].concat()));
            is_there();
            let (ciphertext, shared) = key.encapsulation_key().encapsulate();
            assert_eq!(key.decapsulate(&ciphertext), shared);
        });
    }
}
