//! X25519 and Ed25519 against dalek.

use ed25519_dalek::Signer;
use proptest::prelude::*;
use sealstone_primitives::dh::x25519;
use sealstone_primitives::sign::ed25519;

use crate::common::secret;

proptest! {
    #[test]
    fn x25519(scalar: [u8; 32], point: [u8; 32]) {
        let ours = x25519::PrivateKey::from_seed(secret(&scalar));
        let theirs = x25519_dalek::StaticSecret::from(scalar);
        let their_public = x25519_dalek::PublicKey::from(&theirs);
        prop_assert_eq!(ours.public_key().as_bytes(), their_public.as_bytes());
        let shared = ours.agree(&x25519::PublicKey::from_bytes(point)).unwrap();
        let their_shared = theirs.diffie_hellman(&x25519_dalek::PublicKey::from(point));
        prop_assert_eq!(shared.expose(), their_shared.as_bytes());
    }

    #[test]
    fn ed25519(seed: [u8; 32], message: Vec<u8>) {
        let ours = ed25519::SigningKey::from_seed(&secret(&seed));
        let theirs = ed25519_dalek::SigningKey::from_bytes(&seed);
        let their_public = theirs.verifying_key();
        prop_assert_eq!(ours.verifying_key().as_bytes(), their_public.as_bytes());
        prop_assert_eq!(ours.sign(&message), theirs.sign(&message).to_bytes());
    }
}
