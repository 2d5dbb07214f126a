//! Keys and seals as `spec/file.md` and `spec/passport.md` define them, for files that only a
//! malicious writer makes.

use std::sync::LazyLock;

use sealstone_primitives::aead::XChaCha20Poly1305;
use sealstone_primitives::dh::x25519;
use sealstone_primitives::hash::sha3_512;
use sealstone_primitives::kdf::{self, Prk};
use sealstone_primitives::kem::ml_kem_1024;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::{ed25519, ml_dsa_65, ml_dsa_87};

use crate::golden;

const FILE_KEY: [u8; 32] = [0x5e; 32];

/// A stanza that wraps [`FILE_KEY`] for Bob, in CBOR.
static STANZA: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let bob = passport_keys("bob");
    let rx = x25519::PrivateKey::from_seed(bob.expand_secret(&[b"x25519"]));
    let rk = ml_kem_1024::DecapsulationKey::from_seed(&bob.expand_secret(&[b"ml-kem-1024"]))
        .encapsulation_key();
    let ephemeral = x25519::PrivateKey::from_seed(Secret::from_array(&mut [7; 32]));
    let (epk, rx) = (ephemeral.public_key(), rx.public_key());
    let ss_x = ephemeral.agree(rx).expect("no low-order point");
    let (ct, ss_k) = rk.encapsulate();
    let (ct, rk) = (ct.as_bytes(), rk.to_bytes());
    let ikm: [&[u8]; 6] = [
        ss_k.expose(),
        ss_x.expose(),
        ct,
        epk.as_bytes(),
        &rk,
        rx.as_bytes(),
    ];
    let kek = kdf::extract(b"sealstone.stanza.v1", &ikm)
        .expand_secret(&[b"kek", golden::BOB.fingerprint().as_bytes()]);
    let mut stanza = vec![0x85, 0x01];
    for field in [
        golden::BOB.fingerprint().as_bytes(),
        &epk.as_bytes()[..],
        ct,
        &seal(&kek, 0, &FILE_KEY),
    ] {
        stanza.extend(bstr(field));
    }
    stanza
});

/// The `prk` of a golden passport.
fn passport_keys(name: &str) -> Prk {
    kdf::extract(b"sealstone.passport.v1", &[golden::seed(name).expose()])
}

/// XChaCha20-Poly1305 with the nonce of a last chunk of this number, or of all zeros.
fn seal(key: &Secret<32>, last: u8, plaintext: &[u8]) -> Vec<u8> {
    let mut nonce = [0; 24];
    nonce[23] = last;
    let mut bytes = plaintext.to_vec();
    let tag = XChaCha20Poly1305::new(key).seal_in_place(&nonce, b"", &mut bytes);
    bytes.extend(tag);
    bytes
}

/// A byte string in CBOR.
pub(crate) fn bstr(bytes: &[u8]) -> Vec<u8> {
    let mut out = match bytes.len() {
        len @ 0..24 => vec![0x40 | len as u8],
        len @ 24..0x100 => vec![0x58, len as u8],
        len @ 0x100..0x1_0000 => [&[0x59][..], &(len as u16).to_be_bytes()].concat(),
        len => [&[0x5a][..], &(len as u32).to_be_bytes()].concat(),
    };
    out.extend(bytes);
    out
}

/// An unsigned file for Bob in suite 1 with these plaintexts: private part (including padding), the
/// only chunk, the trailer. `None` means the right trailer for `content_len`.
pub(crate) fn file(
    private: &[u8],
    chunk: &[u8],
    trailer: Option<&[u8]>,
    content_len: usize,
) -> Vec<u8> {
    let prk = kdf::extract(b"sealstone.file.v1", &[&FILE_KEY]);
    let private = seal(&prk.expand_secret(&[b"private"]), 0, private);
    let header = [&[0xa2, 0x00, 0x81][..], &STANZA, &[0x01], &bstr(&private)].concat();
    let mut file = b"\x89SEAL\r\n\x1a\n\x01\x01\x00".to_vec();
    file.extend((header.len() as u32).to_be_bytes());
    file.extend(header);
    let mut mac = HmacSha3_256::new(prk.expand_secret::<32>(&[b"header-mac"]).expose());
    mac.update(&file);
    file.extend(mac.finish());
    let h = sha3_512(&file);
    let payload = seal(&prk.expand_secret(&[b"payload", &h]), 1, chunk);
    let lengths = [payload.len() as u64, content_len as u64]
        .map(u64::to_be_bytes)
        .concat();
    let trailer = seal(
        &prk.expand_secret(&[b"trailer", &h]),
        0,
        trailer.unwrap_or(&lengths),
    );
    [file, payload, trailer].concat()
}

/// The start of the manifest in a package: after the prefix, the head of the map and the key 0.
pub(crate) const BUNDLE_START: usize = 12;

/// A package with any manifest and one embedded content, signed by Alice.
pub(crate) fn package(manifest: &[u8], embedded: &[u8], sign: Sign) -> Vec<u8> {
    let time = 1_767_225_600u64.to_be_bytes();
    let (ed25519, ml_dsa_65) = sign(manifest, &time);
    [
        &golden::PACKAGES[0][..BUNDLE_START],
        &bstr(manifest),
        &[0x04, 0x81, 0x85, 0x00, 0x1a],
        &time[4..],
        alice_as_signer(),
        &bstr(&ed25519),
        &bstr(&ml_dsa_65),
        &[0x05, 0x80, 0x06, 0x81],
        &bstr(embedded),
    ]
    .concat()
}

/// Makes the Ed25519 and the ML-DSA-65 signature of a manifest at a time.
pub(crate) type Sign = fn(&[u8], &[u8; 8]) -> ([u8; 64], Vec<u8>);

/// Alice's right signatures.
pub(crate) fn signatures(manifest: &[u8], time: &[u8; 8]) -> ([u8; 64], Vec<u8>) {
    static KEYS: LazyLock<(ed25519::SigningKey, ml_dsa_65::SigningKey)> = LazyLock::new(|| {
        let alice = passport_keys("alice");
        let ml_dsa_65 = ml_dsa_65::SigningKey::from_seed(&alice.expand_secret(&[b"ml-dsa-65"]));
        (
            ed25519::SigningKey::from_seed(&alice.expand_secret(&[b"ed25519"])),
            ml_dsa_65,
        )
    });
    let domain = b"sealstone.package.v1";
    let head = [&[0][..], &sha3_512(manifest), &[0; 64]].concat();
    let fingerprint = golden::ALICE.fingerprint();
    let framed = [
        domain,
        &[0, 0][..],
        time,
        fingerprint.as_bytes(),
        &head,
        &[0; 64],
    ]
    .concat();
    let ml_dsa_65 = KEYS.1.sign(&framed, domain).expect("a short context");
    (KEYS.0.sign(&framed), (*ml_dsa_65).as_ref().to_vec())
}

/// Bytes of the same lengths, for inputs that only test the decoder.
pub(crate) fn stale_signatures(_manifest: &[u8], _time: &[u8; 8]) -> ([u8; 64], Vec<u8>) {
    ([0; 64], vec![0; 3309])
}

/// CDDL `signer`, from the golden package.
fn alice_as_signer() -> &'static [u8] {
    static SIGNER: LazyLock<&[u8]> = LazyLock::new(|| {
        let file = golden::PACKAGES[0];
        let key = [0x59, 0x07, 0xa0];
        let key = file.windows(3).position(|window| window == key);
        let key = key.expect("an ML-DSA-65 key");
        &file[key - 4 * 34 - 1..key + 3 + 1952]
    });
    &SIGNER
}

/// A public passport with any body, in CBOR, signed by Alice's keys.
pub(crate) fn public_passport(body: &[u8]) -> Vec<u8> {
    static KEYS: LazyLock<(ed25519::SigningKey, ml_dsa_87::SigningKey)> = LazyLock::new(|| {
        let alice = passport_keys("alice");
        let ed25519 = ed25519::SigningKey::from_seed(&alice.expand_secret(&[b"ed25519"]));
        (
            ed25519,
            ml_dsa_87::SigningKey::from_seed(&alice.expand_secret(&[b"ml-dsa-87"])),
        )
    });
    let domain = b"sealstone.passport.v1";
    let message = [domain, &b"\0"[..], body].concat();
    let ed25519 = KEYS.0.sign(&message);
    let ml_dsa_87 = KEYS.1.sign(&message, domain).expect("a short context");
    [
        &[0x83][..],
        &bstr(body),
        &bstr(&ed25519),
        &bstr((*ml_dsa_87).as_ref()),
    ]
    .concat()
}
