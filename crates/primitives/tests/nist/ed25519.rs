//! Ed25519: the 1024 vectors of the original authors (`sign.input`).

use sealstone_primitives::sign::ed25519::SigningKey;

use crate::common::{array, counted, hex, secret, vectors};

#[test]
fn sign_input() {
    let file = "asymmetric/Ed25519/sign.input";
    let Some(text) = vectors(file) else { return };
    counted(file, text.lines().map(check).count(), 1024);
}

/// A line is seed ‖ public key : public key : message : signature ‖ message.
fn check(line: &str) {
    let fields: Vec<Vec<u8>> = line.split(':').map(hex).collect();
    let (message, signature) = (&fields[2], array(&fields[3][..64]));
    let key = SigningKey::from_seed(&secret(&fields[0][..32]));
    assert_eq!(key.verifying_key().as_bytes()[..], fields[1]);
    assert_eq!(key.sign(message), signature);
    assert!(key.verifying_key().verify(message, &signature).is_ok());

    let mut forged = signature;
    forged[usize::from(message.first().copied().unwrap_or(7)) % 64] ^= 1;
    assert!(key.verifying_key().verify(message, &forged).is_err());
}
