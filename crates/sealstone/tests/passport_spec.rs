//! The worked example of `spec/passport.md`, recomputed from the text of the page. Its numbers come
//! from `tests/interop/passport.py`, which shares no code with this crate.

use std::collections::HashMap;

use data_encoding::{BASE64, HEXLOWER};
use sealstone::passport::{Passport, SecretPassport, Share, Words};
use sealstone::{KdfLimits, KdfParams, NO_PROGRESS, Passphrase};
use sealstone_primitives::aead::XChaCha20Poly1305;
use sealstone_primitives::dh::x25519;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::kdf;
use sealstone_primitives::kem::ml_kem_1024;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::{ed25519, ml_dsa_65, ml_dsa_87};

const PAGE: &str = include_str!("../../../spec/passport.md");
const PASSPHRASE: &[u8] = b"correct horse battery staple";

/// The `name = value` lines of the worked example. A line that begins with spaces continues the
/// value before it.
struct Example(HashMap<&'static str, String>);

impl Example {
    fn read() -> Self {
        let (_, section) = PAGE
            .split_once("## Worked example")
            .expect("the page has one");
        let (section, _) = section
            .split_once("\n## ")
            .expect("another section follows");
        let mut values = HashMap::new();
        let mut name = "";
        for line in section
            .split("```")
            .skip(1)
            .step_by(2)
            .flat_map(str::lines)
            .filter(|line| !line.is_empty())
        {
            let value = match line.split_once(" = ") {
                Some((new, value)) => {
                    name = new.trim();
                    value
                }
                None => line,
            };
            let text: &mut String = values.entry(name).or_default();
            text.push_str(if text.contains(' ') { " " } else { "" });
            text.push_str(value.trim());
        }
        Self(values)
    }

    fn text(&self, name: &str) -> &str {
        &self.0[name]
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        HEXLOWER.decode(self.text(name).as_bytes()).unwrap()
    }

    fn secret<const N: usize>(&self, name: &str) -> Secret<N> {
        Secret::from_slice(&self.bytes(name)).unwrap()
    }

    fn passport(&self) -> Passport {
        Passport::from_seed(self.secret("root seed"), "Alice", 1_767_225_600).unwrap()
    }

    fn file(&self) -> SecretPassport {
        let digits = BASE64.encode(&self.bytes("file"));
        let lines: Vec<&str> = digits
            .as_bytes()
            .chunks(64)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        let label = "SEALSTONE SECRET PASSPORT-----";
        let text = format!(
            "-----BEGIN {label}\n{}\n-----END {label}\n",
            lines.join("\n")
        );
        SecretPassport::from_armor(text.as_bytes()).unwrap()
    }
}

#[test]
fn every_key_follows_from_the_seed() {
    let example = Example::read();
    let seed = example.bytes("root seed");
    let mut extract = HmacSha3_256::new(b"sealstone.passport.v1");
    extract.update(&seed);
    assert_eq!(extract.finish()[..], example.bytes("prk"));

    let prk = kdf::extract(b"sealstone.passport.v1", &[&seed]);
    for name in [
        "x25519",
        "ed25519",
        "ml-dsa-87",
        "ml-dsa-65",
        "file-mac",
        "hedge",
        "package-mac",
    ] {
        let expected = example.secret::<32>(&format!("Expand {name}"));
        assert_eq!(
            prk.expand_secret::<32>(&[name.as_bytes()]),
            expected,
            "{name}"
        );
    }
    assert_eq!(
        prk.expand_secret::<64>(&[b"ml-kem-1024"]),
        example.secret("Expand ml-kem-1024")
    );
}

#[test]
fn the_fingerprint_follows_from_the_keys() {
    let example = Example::read();
    let digests = [
        sha3_256(
            x25519::PrivateKey::from_seed(example.secret("Expand x25519"))
                .public_key()
                .as_bytes(),
        ),
        sha3_256(
            &ml_kem_1024::DecapsulationKey::from_seed(&example.secret("Expand ml-kem-1024"))
                .encapsulation_key()
                .to_bytes(),
        ),
        sha3_256(
            ed25519::SigningKey::from_seed(&example.secret("Expand ed25519"))
                .verifying_key()
                .as_bytes(),
        ),
        sha3_256(
            &*ml_dsa_87::SigningKey::from_seed(&example.secret("Expand ml-dsa-87"))
                .verifying_key()
                .to_bytes(),
        ),
        sha3_256(
            &*ml_dsa_65::SigningKey::from_seed(&example.secret("Expand ml-dsa-65"))
                .verifying_key()
                .to_bytes(),
        ),
    ];
    for (i, digest) in digests.iter().enumerate() {
        assert_eq!(digest[..], example.bytes(&format!("SHA3-256(k{})", i + 1)));
    }
    let hashed = [b"sealstone.fingerprint.v1\0", &digests.concat()[..]].concat();
    assert_eq!(sha3_256(&hashed)[..], example.bytes("fingerprint"));
    assert_eq!(
        example.passport().fingerprint().as_bytes()[..],
        example.bytes("fingerprint")
    );
}

#[test]
fn the_slot_is_wrapped_as_the_page_says() {
    let example = Example::read();
    let mut stretched = [0; 32];
    let cost = argon2::Params::new(7168, 5, 1, Some(32)).unwrap();
    let salt: Vec<u8> = (0x20..0x40).collect();
    let argon2 = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, cost);
    argon2
        .hash_password_into(PASSPHRASE, &salt, &mut stretched)
        .unwrap();
    assert_eq!(stretched[..], example.bytes("argon2id"));
    let mut extract = HmacSha3_256::new(b"sealstone.slot.v1");
    extract.update(&stretched);
    assert_eq!(extract.finish()[..], example.bytes("slot prk"));
    let prk = kdf::extract(b"sealstone.slot.v1", &[&stretched]);
    let commitment = example.secret::<32>("commitment");
    assert_eq!(prk.expand_secret::<32>(&[b"commitment"]), commitment);
    assert_eq!(prk.expand_secret::<32>(&[b"kek"]), example.secret("kek"));

    let associated = [b"sealstone.slot.v1\0", &example.bytes("context")[..]].concat();
    let mut data = example.bytes("root seed");
    let tag = XChaCha20Poly1305::new(&example.secret("kek")).seal_in_place(
        &[0; 24],
        &associated,
        &mut data,
    );
    assert_eq!([&data[..], &tag].concat(), example.bytes("wrapped"));

    let file = example.bytes("file");
    let (body, tail) = file[3..].split_at(usize::from(file[2]));
    assert_eq!(
        (&file[..2], &tail[..2]),
        (&[0x82, 0x58][..], &[0x58, 32][..])
    );
    let mut mac = HmacSha3_256::new(&example.bytes("Expand file-mac"));
    mac.update(body);
    assert_eq!(mac.finish()[..], example.bytes("MAC"));
    assert_eq!(tail[2..], example.bytes("MAC"));
}

#[test]
fn the_file_of_the_page_opens() {
    let example = Example::read();
    let file = example.file();
    let slot = &file.slots()[0];
    assert_eq!(
        (slot.id(), slot.name(), slot.created()),
        (1, "laptop", 1_767_225_601)
    );
    assert_eq!(slot.params(), KdfParams::new(7168, 5, 1).unwrap());
    let unlocked = file
        .unlock(
            &Passphrase::new(PASSPHRASE).unwrap(),
            None,
            &KdfLimits::default(),
            NO_PROGRESS,
        )
        .unwrap();
    assert_eq!(
        unlocked.passport().fingerprint(),
        example.passport().fingerprint()
    );
}

#[test]
fn the_backups_of_the_page_restore() {
    let example = Example::read();
    let passport = example.passport();
    assert_eq!(*passport.words().expose(), example.text("words"));
    let words = Words::parse(example.text("words")).unwrap();
    assert_eq!(
        Passport::from_words(&words, "Alice", 0)
            .unwrap()
            .fingerprint(),
        passport.fingerprint()
    );

    let shares = ["share 1", "share 3"].map(|name| Share::parse(example.text(name)).unwrap());
    assert_eq!(
        shares
            .each_ref()
            .map(|share| (share.number(), share.threshold())),
        [(1, 2), (3, 2)]
    );
    assert_eq!(*shares[1].expose(), example.text("share 3"));
    assert_eq!(
        Passport::from_shares(&shares, "Alice", 0)
            .unwrap()
            .fingerprint(),
        passport.fingerprint()
    );
}
