//! ML-KEM-1024 known answers: key pair from d ‖ z, encapsulation with a known message,
//! decapsulation of a good and of a bad ciphertext.

use sealstone_primitives::kem::ml_kem_1024::{Ciphertext, DecapsulationKey, hazmat};

use crate::common::{counted, secret, vectors};
use crate::records::{Record, parse};

#[test]
fn known_answers() {
    let file = "asymmetric/MLKEM/kat_MLKEM_1024.rsp";
    let Some(text) = vectors(file) else { return };
    let executed = parse(&text, "count").iter().map(check).count();
    counted(file, executed, 1000);
}

fn check(record: &Record) {
    let count = record.text("count");
    let seed = [record.bytes("d"), record.bytes("z")].concat();
    let key = DecapsulationKey::from_seed(&secret(&seed));
    let public = key.encapsulation_key();
    assert_eq!(public.to_bytes()[..], record.bytes("pk"), "{count}");

    let (ciphertext, shared) = hazmat::encapsulate_deterministic(&public, &record.array("msg"));
    assert_eq!(ciphertext.as_bytes()[..], record.bytes("ct"), "{count}");
    assert_eq!(shared.expose()[..], record.bytes("ss"), "{count}");
    assert_eq!(key.decapsulate(&ciphertext), shared, "{count}");

    let rejected = Ciphertext::from_bytes(&record.bytes("ct_n")).unwrap();
    assert_eq!(
        key.decapsulate(&rejected).expose()[..],
        record.bytes("ss_n"),
        "{count}"
    );

    let expanded = hazmat::from_expanded(&record.bytes("sk")).unwrap();
    assert_eq!(expanded.decapsulate(&ciphertext), shared, "{count}");
}
