//! AES-256-GCM (CAVS 14.0): all records with 96-bit nonces and 128-bit tags, the supported sizes.

use sealstone_primitives::aead::Aes256Gcm;

use crate::common::{counted, secret, vectors};
use crate::records::{Record, parse};

#[test]
fn seal() {
    run("ciphers/AES/GCM/gcmEncryptExtIV256.rsp", |record| {
        let mut data = record.bytes("PT");
        let tag =
            cipher(record).seal_in_place(&record.array("IV"), &record.bytes("AAD"), &mut data);
        assert_eq!(
            (data, tag.to_vec()),
            (record.bytes("CT"), record.bytes("Tag"))
        );
    });
}

#[test]
fn open() {
    run("ciphers/AES/GCM/gcmDecrypt256.rsp", |record| {
        let mut data = record.bytes("CT");
        let opened = cipher(record).open_in_place(
            &record.array("IV"),
            &record.bytes("AAD"),
            &mut data,
            &record.array("Tag"),
        );
        assert_eq!(opened.is_err(), record.has("FAIL"));
        if opened.is_ok() {
            assert_eq!(data, record.bytes("PT"));
        } else {
            assert!(data.iter().all(|byte| *byte == 0), "wiped on failure");
        }
    });
}

fn run(file: &str, check: fn(&Record)) {
    let Some(text) = vectors(file) else { return };
    let records = parse(&text, "Count");
    let ours = records
        .iter()
        .filter(|record| record.number("IVlen") == 96 && record.number("Taglen") == 128);
    let executed = ours.map(check).count();
    println!(
        "{file}: {} records have other nonce or tag sizes",
        records.len() - executed
    );
    // 15 to a group; the groups are 5 lengths of text times 5 of associated data.
    counted(file, executed, 5 * 5 * 15);
}

fn cipher(record: &Record) -> Aes256Gcm {
    Aes256Gcm::new(&secret(&record.bytes("Key")))
}
