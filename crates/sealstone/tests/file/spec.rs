//! The worked example of `spec/file.md`, recomputed from the text of the page. Its numbers come
//! from `tests/interop/file.py`, which shares no code with this crate.

use std::collections::HashMap;

use data_encoding::HEXLOWER;
use sealstone::Passphrase;
use sealstone::file::{Keys, Sealed, Workers};
use sealstone::passport::Passport;
use sealstone_primitives::aead::XChaCha20Poly1305;
use sealstone_primitives::dh::x25519;
use sealstone_primitives::hash::{sha3_256, sha3_512};
use sealstone_primitives::kdf;
use sealstone_primitives::kem::ml_kem_1024;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;

const PAGE: &str = include_str!("../../../../spec/file.md");
const PASSPHRASE: &[u8] = b"correct horse battery staple";
/// Prefix, header and header MAC of the file.
const HEAD_LEN: usize = 16 + 0xd3 + 32;

/// The `name = value` lines of one block of the example. A line that begins with spaces continues
/// the value before it.
struct Block(HashMap<&'static str, Vec<u8>>);

impl Block {
    fn read(index: usize) -> Self {
        let (_, section) = PAGE.split_once("## Worked example").unwrap();
        let (section, _) = section.split_once("\n## ").unwrap();
        let block = section.split("```").skip(1).step_by(2).nth(index).unwrap();
        let mut values = HashMap::<_, String>::new();
        let mut name = "";
        for line in block.lines().filter(|line| !line.is_empty()) {
            let (new, value) = line.split_once(" = ").unwrap_or((name, line));
            name = new.trim();
            values.entry(name).or_default().push_str(value.trim());
        }
        let decode = |value: &String| HEXLOWER.decode(value.as_bytes()).unwrap();
        Self(values.iter().map(|(k, v)| (*k, decode(v))).collect())
    }

    fn bytes(&self, name: &str) -> &[u8] {
        &self.0[name]
    }

    fn secret<const N: usize>(&self, name: &str) -> Secret<N> {
        Secret::from_slice(self.bytes(name)).unwrap()
    }

    fn assert_secret(&self, name: &str, found: &Secret<32>) {
        assert_eq!(found, &self.secret(name), "{name}");
    }

    fn sealed(&self, key: &str, plaintext: &[u8]) -> Vec<u8> {
        sealed(&self.secret(key), &[0; 24], plaintext)
    }
}

fn sealed(key: &Secret<32>, nonce: &[u8; 24], plaintext: &[u8]) -> Vec<u8> {
    let mut bytes = plaintext.to_vec();
    let tag = XChaCha20Poly1305::new(key).seal_in_place(nonce, b"", &mut bytes);
    [&bytes[..], &tag].concat()
}

#[test]
fn the_file_of_the_page_opens() {
    let file = Block::read(0);
    let passphrase = Passphrase::new(PASSPHRASE).unwrap();
    let opening = Sealed::read(file.bytes("file"))
        .unwrap()
        .unlock(&Keys::new(&[], &[&passphrase]))
        .unwrap();
    assert_eq!(opening.payload_start(), HEAD_LEN as u64);
    assert!(!opening.sender().is_signed());
    let metadata = opening.metadata().clone();
    assert_eq!(metadata.name.as_deref(), Some("a.txt"));
    assert_eq!(
        (metadata.modified, metadata.note),
        (Some(1_767_225_600), None)
    );
    let mut content = Vec::new();
    opening
        .open_unsigned(&mut content, Workers::new(1))
        .unwrap();
    assert_eq!(content, b"hello\n");
}

#[test]
fn every_key_follows_from_the_file_key() {
    let file = Block::read(0);
    let (head, _) = file.bytes("file").split_at(HEAD_LEN);
    let (authentic, mac) = head.split_at(HEAD_LEN - 32);
    let mut extract = HmacSha3_256::new(b"sealstone.file.v1");
    extract.update(file.bytes("file key"));
    assert_eq!(extract.finish()[..], *file.bytes("prk"));

    let prk = kdf::extract(b"sealstone.file.v1", &[file.bytes("file key")]);
    let h = sha3_512(head);
    assert_eq!(h[..], *file.bytes("H"));
    file.assert_secret("header MAC key", &prk.expand_secret(&[b"header-mac"]));
    file.assert_secret("private key", &prk.expand_secret(&[b"private"]));
    file.assert_secret("payload key", &prk.expand_secret(&[b"payload", &h]));
    file.assert_secret("trailer key", &prk.expand_secret(&[b"trailer", &h]));

    let mut header_mac = HmacSha3_256::new(file.bytes("header MAC key"));
    header_mac.update(authentic);
    assert_eq!(header_mac.finish()[..], *mac);
    assert_eq!(mac, file.bytes("header MAC"));
}

#[test]
fn every_part_is_sealed_as_the_page_says() {
    let file = Block::read(0);
    let (head, rest) = file.bytes("file").split_at(HEAD_LEN);
    let contains = |part: &[u8]| head.windows(part.len()).any(|window| window == part);

    let wrapped = file.sealed("kek", file.bytes("file key"));
    assert_eq!(wrapped, file.bytes("wrapped"));
    assert!(contains(&wrapped));

    let mut private = [file.bytes("private"), &[1]].concat();
    private.resize(64, 0);
    assert!(contains(&file.sealed("private key", &private)));

    let mut nonce = [0; 24];
    nonce[23] = 1;
    let payload = sealed(&file.secret("payload key"), &nonce, b"hello\n\x01");
    assert_eq!(payload, file.bytes("payload"));
    let lengths = [(payload.len() as u64).to_be_bytes(), 6u64.to_be_bytes()].concat();
    let trailer = file.sealed("trailer key", &lengths);
    assert_eq!(trailer, file.bytes("trailer"));
    assert_eq!(rest, [payload, trailer].concat());
}

#[test]
fn the_passphrase_gives_the_kek() {
    let mut stretched = [0; 32];
    let cost = argon2::Params::new(7168, 5, 1, Some(32)).unwrap();
    let file = Block::read(0);
    let salt = file.bytes("salt");
    argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, cost)
        .hash_password_into(PASSPHRASE, salt, &mut stretched)
        .unwrap();
    assert_eq!(stretched[..], *file.bytes("argon2id"));
    let prk = kdf::extract(b"sealstone.passphrase.v1", &[&stretched]);
    file.assert_secret("commitment", &prk.expand_secret(&[b"commitment"]));
    file.assert_secret("kek", &prk.expand_secret(&[b"kek"]));
}

#[test]
fn the_passport_stanza_unwraps() {
    let stanza = Block::read(1);
    let seed: Vec<u8> = (0..32).collect();
    let prk = kdf::extract(b"sealstone.passport.v1", &[&seed]);
    let x25519 = x25519::PrivateKey::from_seed(prk.expand_secret(&[b"x25519"]));
    let ml_kem = ml_kem_1024::DecapsulationKey::from_seed(&prk.expand_secret(&[b"ml-kem-1024"]));
    let rk = ml_kem.encapsulation_key().to_bytes();
    assert_eq!(*x25519.public_key().as_bytes(), *stanza.bytes("rx"));
    assert_eq!(sha3_256(&rk)[..], *stanza.bytes("SHA3-256(rk)"));

    let ephemeral = x25519::PrivateKey::from_seed(stanza.secret("e"));
    let epk = ephemeral.public_key();
    assert_eq!(*epk.as_bytes(), *stanza.bytes("epk"));
    stanza.assert_secret("ss_x", &x25519.agree(epk).unwrap());
    let ct = ml_kem_1024::Ciphertext::from_bytes(stanza.bytes("ct")).unwrap();
    let (same, _) = ml_kem
        .encapsulation_key()
        .encapsulate_derived(&stanza.secret("m"));
    assert!(ct == same);
    stanza.assert_secret("ss_k", &ml_kem.decapsulate(&ct));

    let parts = ["ss_k", "ss_x", "ct", "epk"].map(|name| stanza.bytes(name));
    let ikm = [&parts.concat()[..], &rk, stanza.bytes("rx")].concat();
    let mut extract = HmacSha3_256::new(b"sealstone.stanza.v1");
    extract.update(&ikm);
    assert_eq!(extract.finish()[..], *stanza.bytes("prk"));
    let alice = Passport::from_seed(Secret::from_slice(&seed).unwrap(), "Alice", 0).unwrap();
    let fingerprint = alice.fingerprint();
    let info = [&b"kek"[..], fingerprint.as_bytes()];
    let kek = kdf::extract(b"sealstone.stanza.v1", &[&ikm]).expand_secret(&info);
    stanza.assert_secret("kek", &kek);
    let file_key = Block::read(0);
    let wrapped = stanza.sealed("kek", file_key.bytes("file key"));
    assert_eq!(wrapped, stanza.bytes("wrapped"));
}

#[test]
fn every_random_value_follows_from_the_hedge() {
    let file = Block::read(0);
    let fresh: Vec<u8> = (0..32).collect();
    let time = [&1_767_225_600u64.to_be_bytes()[..], &5u32.to_be_bytes()[..]].concat();
    let hedge_of = |block: &Block, secret: &[u8]| {
        let ikm = [&fresh[..], secret, &time].concat();
        let mut extract = HmacSha3_256::new(b"sealstone.hedge.v1");
        extract.update(&ikm);
        assert_eq!(extract.finish()[..], *block.bytes("hedge"));
        kdf::extract(b"sealstone.hedge.v1", &[&ikm])
    };
    let hedge = hedge_of(&file, &[0; 32]);
    file.assert_secret("file key", &hedge.expand_secret(&[b"file key"]));
    file.assert_secret("salt", &hedge.expand_secret(&[b"salt", &[0; 4]]));
    let stanza = Block::read(1);
    let second = 1u32.to_be_bytes();
    stanza.assert_secret("e", &hedge.expand_secret(&[b"x25519", &second]));
    stanza.assert_secret("m", &hedge.expand_secret(&[b"ml-kem-1024", &second]));
    let signed = Block::read(2);
    let hedge = hedge_of(&signed, signed.bytes("s"));
    signed.assert_secret("file key", &hedge.expand_secret(&[b"file key"]));
}
