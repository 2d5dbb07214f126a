//! XChaCha20-Poly1305, HMAC and HKDF with SHA3-256, SHA3.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305 as Oracle, XNonce};
use hkdf::SimpleHkdf;
use hmac::{Mac, SimpleHmac};
use proptest::collection::vec;
use proptest::prelude::*;
use sealstone_primitives::aead::XChaCha20Poly1305;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::{hash, kdf};
use sha3::{Digest, Sha3_256, Sha3_512};

use crate::common::secret;

fn parts(parts: &[Vec<u8>]) -> Vec<&[u8]> {
    parts.iter().map(Vec::as_slice).collect()
}

fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=max)
}

proptest! {
    #[test]
    fn xchacha20_poly1305(key: [u8; 32], nonce: [u8; 24], aad in bytes(200), text in bytes(2000)) {
        let cipher = XChaCha20Poly1305::new(&secret(&key));
        let mut ours = text.clone();
        let tag = cipher.seal_in_place(&nonce, &aad, &mut ours);

        let mut theirs = text.clone();
        let oracle = Oracle::new(&key.into());
        let their_tag = oracle
            .encrypt_inout_detached(&XNonce::from(nonce), &aad, theirs.as_mut_slice().into())
            .unwrap();
        prop_assert_eq!(&ours, &theirs);
        prop_assert_eq!(&tag[..], &their_tag[..]);

        cipher.open_in_place(&nonce, &aad, &mut ours, &tag).unwrap();
        prop_assert_eq!(ours, text);
    }

    #[test]
    fn hmac_sha3_256(key in bytes(300), message in bytes(1000), cut: prop::sample::Index) {
        let (head, tail) = message.split_at(cut.index(message.len() + 1));
        let mut ours = HmacSha3_256::new(&key);
        ours.update(head);
        ours.update(tail);
        let mut theirs = <SimpleHmac<Sha3_256> as KeyInit>::new_from_slice(&key).unwrap();
        theirs.update(&message);
        prop_assert_eq!(&ours.finish()[..], &theirs.finalize().into_bytes()[..]);
    }

    /// In parts on our side, concatenated on the other.
    #[test]
    fn hkdf_sha3_256(
        salt in bytes(200),
        ikm in vec(bytes(100), 0..4),
        info in vec(bytes(100), 0..4),
        len in 0..=600_usize,
    ) {
        let mut ours = vec![0; len];
        kdf::extract(&salt, &parts(&ikm)).expand(&parts(&info), &mut ours).unwrap();
        let mut theirs = vec![0; len];
        SimpleHkdf::<Sha3_256>::new(Some(&salt), &ikm.concat()).expand(&info.concat(), &mut theirs).unwrap();
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn sha3(data in bytes(1000)) {
        prop_assert_eq!(&hash::sha3_256(&data)[..], &Sha3_256::digest(&data)[..]);
        prop_assert_eq!(&hash::sha3_512(&data)[..], &Sha3_512::digest(&data)[..]);
    }
}

/// The longest output and one byte more (RFC 5869 section 2.3).
#[test]
fn hkdf_longest_output() {
    let prk = kdf::extract(b"salt", &[b"ikm"]);
    let mut ours = vec![0; kdf::MAX_OUTPUT_LEN];
    prk.expand(&[b"info"], &mut ours).unwrap();
    let mut theirs = vec![0; kdf::MAX_OUTPUT_LEN];
    SimpleHkdf::<Sha3_256>::new(Some(b"salt"), b"ikm")
        .expand(b"info", &mut theirs)
        .unwrap();
    assert_eq!(ours, theirs);
    assert_eq!(
        prk.expand_secret::<{ kdf::MAX_OUTPUT_LEN }>(&[b"info"])
            .expose()[..],
        theirs
    );
    assert!(
        prk.expand(&[b"info"], &mut vec![0; kdf::MAX_OUTPUT_LEN + 1])
            .is_err()
    );
}

/// Lengths around the cipher's block and aws-lc's vector widths, up to a chunk of a sealed file.
#[test]
fn xchacha20_poly1305_boundary_sizes() {
    let (key, nonce) = ([7; 32], [9; 24]);
    let cipher = XChaCha20Poly1305::new(&secret(&key));
    let oracle = Oracle::new(&key.into());
    let boundaries = [16, 64, 128, 192, 256, 512, 1024, 65536, 1 << 20];
    for len in boundaries
        .into_iter()
        .flat_map(|len| [len - 1, len, len + 1])
        .chain([0])
    {
        let mut ours = crate::common::pattern(len);
        let mut theirs = ours.clone();
        let tag = cipher.seal_in_place(&nonce, b"", &mut ours);
        let their_tag = oracle
            .encrypt_inout_detached(&XNonce::from(nonce), b"", theirs.as_mut_slice().into())
            .unwrap();
        assert!(ours == theirs && tag[..] == their_tag[..], "{len} bytes");
    }
}
