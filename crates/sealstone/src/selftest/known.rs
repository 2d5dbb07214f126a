//! Known answers from the standards themselves.

use data_encoding::HEXLOWER;
use sealstone_argon2::blake2b::Blake2b;
use sealstone_argon2::{Arena, Argon2, Cpu, Params};
use sealstone_primitives::aead::{Aes256Gcm, XChaCha20Poly1305};
use sealstone_primitives::dh::x25519;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::kem::ml_kem_1024;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::{ed25519, ml_dsa_87};
use sealstone_skein::tree::{Root, subtree_on};

/// A computation, the standard's result in hexadecimal, and whether they agree.
pub(super) type Answer = (&'static str, &'static str, fn(&str) -> bool);

/// An operation, and whether only the right key undoes it.
pub(super) type RoundTrip = (&'static str, fn() -> bool);

/// One for each primitive, except those of [`ROUND_TRIPS`].
pub(super) const ANSWERS: [Answer; 9] = [
    (
        "SHA3-256: FIPS 202 example",
        "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
        sha3,
    ),
    (
        "HMAC-SHA3-256: NIST's example with a key shorter than a block",
        "4fe8e202c4f058e8dddc23d8c34e467343e23555e24fc2f025d598f558f67205",
        hmac,
    ),
    (
        "Skein-512 tree hash: pyskein, on every instruction set",
        "de1c750589ec367cbc403a0135a545b0a34586c9e35b2a5e4fa077ec3f32a9c89cbc368eefc9c450ae16a93c642e63947ceae1e5ef955c23ca8b9278e2ce5c51",
        skein_tree,
    ),
    (
        "XChaCha20-Poly1305: draft-irtf-cfrg-xchacha-03, A.3.1",
        "bd6d179d3e83d43b9576579493c0e939c0875924c1c7987947deafd8780acf49",
        xchacha,
    ),
    (
        "AES-256-GCM: the GCM specification, test case 14",
        "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919",
        aes_gcm,
    ),
    (
        "BLAKE2b: RFC 7693, A, on every instruction set",
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
        blake2b,
    ),
    (
        "Argon2id: RFC 9106, 5.3, on every instruction set",
        "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
        argon2id,
    ),
    (
        "X25519: RFC 7748, 5.2",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        x25519_vector,
    ),
    (
        "Ed25519: RFC 8032, 7.1, test 1",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511ae5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155",
        ed25519_vector,
    ),
];

/// For primitives that draw random numbers.
pub(super) const ROUND_TRIPS: [RoundTrip; 2] = [
    ("ML-KEM-1024: both sides agree", ml_kem),
    ("ML-DSA-87: signs, verifies, refuses", ml_dsa),
];

fn sha3(expected: &str) -> bool {
    sha3_256(b"abc") == hex(expected)
}

fn hmac(expected: &str) -> bool {
    let key: [u8; 32] = std::array::from_fn(|i| i as u8);
    let mut mac = HmacSha3_256::new(&key);
    mac.update(b"Sample message for keylen<blocklen");
    mac.finish() == hex(expected)
}

/// The worked example of spec/tree.md: 18 leaves, more than fill a register, and two levels above.
fn skein_tree(expected: &str) -> bool {
    let expected = hex(expected);
    let message: Vec<u8> = (0..251).cycle().take(70_000).collect();
    Cpu::available().all(|cpu| {
        let mut root = Root::new();
        root.push(subtree_on(cpu, 0, &message));
        root.finish() == expected
    })
}

fn blake2b(expected: &str) -> bool {
    let expected: [u8; 64] = hex(expected);
    Cpu::available().all(|cpu| Blake2b::on(cpu, &[], 64).chain(b"abc").verify(&expected))
}

fn argon2id(expected: &str) -> bool {
    let expected = hex(expected);
    let Ok(params) = Params::new(32, 3, 4) else {
        return false;
    };
    let argon2 = Argon2::new(params)
        .secret(&[3; 8])
        .associated_data(&[4; 12]);
    Cpu::available().all(|cpu| {
        let mut tag = [0; 32];
        let result = argon2
            .on(cpu)
            .hash(&[1; 32], &[2; 16], &mut tag, &mut Arena::new());
        result.is_ok() && tag == expected
    })
}

/// The first block, and the tag.
fn xchacha(expected: &str) -> bool {
    let key = hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
    let nonce = hex("404142434445464748494a4b4c4d4e4f5051525354555657");
    let aad: [u8; 12] = hex("50515253c0c1c2c3c4c5c6c7");
    let mut text = *b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
    let tag = XChaCha20Poly1305::new(&secret(key)).seal_in_place(&nonce, &aad, &mut text);
    [&text[..16], &tag].concat() == hex::<32>(expected)
}

/// The block, and the tag.
fn aes_gcm(expected: &str) -> bool {
    let mut text = [0; 16];
    let tag = Aes256Gcm::new(&secret([0; 32])).seal_in_place(&[0; 12], b"", &mut text);
    [text, tag].concat() == hex::<32>(expected)
}

fn x25519_vector(expected: &str) -> bool {
    let scalar = hex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
    let point = hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
    let agreed =
        x25519::PrivateKey::from_seed(secret(scalar)).agree(&x25519::PublicKey::from_bytes(point));
    agreed.is_ok_and(|agreed| *agreed.expose() == hex(expected))
}

/// The public key, and the first half of the signature.
fn ed25519_vector(expected: &str) -> bool {
    let key = ed25519::SigningKey::from_seed(&secret(hex(
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    )));
    let signature = key.sign(b"");
    [&key.verifying_key().as_bytes()[..], &signature[..32]].concat() == hex::<64>(expected)
        && key.verifying_key().verify(b"", &signature).is_ok()
}

fn ml_kem() -> bool {
    let key = ml_kem_1024::DecapsulationKey::from_seed(&Secret::random());
    let (ciphertext, sent) = key.encapsulation_key().encapsulate();
    key.decapsulate(&ciphertext).expose() == sent.expose()
}

fn ml_dsa() -> bool {
    let key = ml_dsa_87::SigningKey::from_seed(&Secret::random());
    let Ok(signature) = key.sign(b"message", b"selftest") else {
        return false;
    };
    let verifies = |message: &[u8]| {
        key.verifying_key()
            .verify(message, b"selftest", &signature[..])
            .is_ok()
    };
    verifies(b"message") && !verifies(b"massage")
}

fn secret(bytes: [u8; 32]) -> Secret<32> {
    let mut bytes = bytes;
    Secret::from_array(&mut bytes)
}

/// The bytes that the hexadecimal `text` stands for.
fn hex<const N: usize>(text: &str) -> [u8; N] {
    let bytes = HEXLOWER.decode(text.as_bytes());
    let bytes = bytes.ok().and_then(|bytes| bytes.try_into().ok());
    bytes.expect("the constants are hexadecimal digits of this length")
}
