//! X25519: the file of RFC 7748 section 5.2 vectors.

use sealstone_primitives::dh::x25519::{PrivateKey, PublicKey};

use crate::common::{counted, secret, vectors};
use crate::records::{Record, parse};

#[test]
fn rfc_7748() {
    let file = "asymmetric/X25519/rfc7748.txt";
    let Some(text) = vectors(file) else { return };
    counted(file, parse(&text, "COUNT").iter().map(check).count(), 3);
}

fn check(record: &Record) {
    let key = PrivateKey::from_seed(secret(&record.bytes("INPUT_SCALAR")));
    let shared = key
        .agree(&PublicKey::from_bytes(record.array("INPUT_U")))
        .unwrap();
    assert_eq!(shared.expose()[..], record.bytes("OUTPUT_U"));
}
