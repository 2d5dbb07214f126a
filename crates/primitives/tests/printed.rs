//! Vectors transcribed from the standards. They need no download.

use sealstone_primitives::aead::XChaCha20Poly1305;
use sealstone_primitives::dh::x25519::{PrivateKey, PublicKey};
use sealstone_primitives::hash::{sha3_256, sha3_512};
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::sign::ed25519::SigningKey;

#[path = "shared/common.rs"]
mod common;
use common::{hex, hex_array, secret};

/// NIST's example values for FIPS 202: the empty message and 1600 bits of 0xa3.
#[test]
fn fips_202_examples() {
    let long = [0xa3; 200];
    assert_eq!(
        sha3_256(b"")[..],
        hex("a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a")
    );
    assert_eq!(
        sha3_256(&long)[..],
        hex("79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787")
    );
    assert_eq!(
        sha3_512(b"")[..],
        hex(concat!(
            "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a6",
            "15b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26"
        ))
    );
    assert_eq!(
        sha3_512(&long)[..],
        hex(concat!(
            "e76dfad22084a8b1467fcf2ffa58361bec7628edf5f3fdc0e4805dc48caeeca8",
            "1b7c13c30adf52a3659584739a2df46be589c51ca1a4a8416df6545a1ce8ba00"
        ))
    );
}

/// NIST's example values for HMAC-SHA3-256: keys shorter than, as long as, and longer than a block.
#[test]
fn hmac_sha3_256_examples() {
    let key = |len: u8| (0..len).collect::<Vec<u8>>();
    let cases: [(&[u8], &[u8], &str); 3] = [
        (
            &key(0x20),
            b"Sample message for keylen<blocklen",
            "4fe8e202c4f058e8dddc23d8c34e467343e23555e24fc2f025d598f558f67205",
        ),
        (
            &key(0x88),
            b"Sample message for keylen=blocklen",
            "68b94e2e538a9be4103bebb5aa016d47961d4d1aa906061313b557f8af2c3faa",
        ),
        (
            &key(0xa8),
            b"Sample message for keylen>blocklen",
            "9bcf2c238e235c3ce88404e813bd2f3a97185ac6f238c63d6229a00b07974258",
        ),
    ];
    for (key, message, tag) in cases {
        let mut mac = HmacSha3_256::new(key);
        mac.update(message);
        assert_eq!(mac.finish()[..], hex(tag));
    }
}

/// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
#[test]
fn xchacha20_poly1305_draft() {
    let key = hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
    let nonce = hex_array("404142434445464748494a4b4c4d4e4f5051525354555657");
    let aad = hex("50515253c0c1c2c3c4c5c6c7");
    let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
    let ciphertext = hex(concat!(
        "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb",
        "731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452",
        "2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9",
        "21f9664c97637da9768812f615c68b13b52e"
    ));
    let cipher = XChaCha20Poly1305::new(&secret(&key));
    let mut data = text.to_vec();
    let tag = cipher.seal_in_place(&nonce, &aad, &mut data);
    assert_eq!(data, ciphertext);
    assert_eq!(tag[..], hex("c0875924c1c7987947deafd8780acf49"));
    cipher.open_in_place(&nonce, &aad, &mut data, &tag).unwrap();
    assert_eq!(data, text);
}

/// RFC 7748 section 6.1.
#[test]
fn x25519_diffie_hellman() {
    let key = |scalar| PrivateKey::from_seed(secret(&hex(scalar)));
    let alice = key("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
    let bob = key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    assert_eq!(
        alice.public_key().as_bytes()[..],
        hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    );
    assert_eq!(
        bob.public_key().as_bytes()[..],
        hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    );
    let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    assert_eq!(alice.agree(bob.public_key()).unwrap().expose()[..], shared);
    assert_eq!(bob.agree(alice.public_key()).unwrap().expose()[..], shared);
}

/// RFC 7748 section 5.2: a thousand iterations from k = u = 9.
#[test]
fn x25519_iterated() {
    let (mut k, mut u) = ([0; 32], [0; 32]);
    (k[0], u[0]) = (9, 9);
    for iteration in 1..=1000 {
        let shared = PrivateKey::from_seed(secret(&k))
            .agree(&PublicKey::from_bytes(u))
            .unwrap();
        (u, k) = (k, *shared.expose());
        if iteration == 1 {
            assert_eq!(
                k[..],
                hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079")
            );
        }
    }
    assert_eq!(
        k[..],
        hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")
    );
}

/// RFC 8032 section 7.1, tests 1 to 3.
#[test]
fn ed25519_rfc_8032() {
    let cases = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            concat!(
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155",
                "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            ),
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            concat!(
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
                "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            ),
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            concat!(
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac",
                "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
            ),
        ),
    ];
    for (seed, public, message, signature) in cases {
        let key = SigningKey::from_seed(&secret(&hex(seed)));
        assert_eq!(key.verifying_key().as_bytes()[..], hex(public));
        assert_eq!(key.sign(&hex(message))[..], hex(signature));
        assert!(
            key.verifying_key()
                .verify(&hex(message), &hex_array(signature))
                .is_ok()
        );
    }
}
