//! ML-DSA-65 and ML-DSA-87 known answers: key pair from ξ, verification of deterministic
//! signatures.

use sealstone_primitives::sign::ml_dsa::{MlDsa65, MlDsa87, ParameterSet, SigningKey};

use crate::common::{counted, secret, vectors};
use crate::records::{Record, parse};

#[test]
fn ml_dsa_65_known_answers() {
    run::<MlDsa65>("asymmetric/MLDSA/kat_MLDSA_65_det_pure.rsp");
}

#[test]
fn ml_dsa_87_known_answers() {
    run::<MlDsa87>("asymmetric/MLDSA/kat_MLDSA_87_det_pure.rsp");
}

fn run<P: ParameterSet>(file: &str) {
    let Some(text) = vectors(file) else { return };
    let executed = parse(&text, "count").iter().map(check::<P>).count();
    counted(file, executed, 100);
}

fn check<P: ParameterSet>(record: &Record) {
    let count = record.text("count");
    let key = SigningKey::<P>::from_seed(&secret(&record.bytes("xi")));
    let public = key.verifying_key();
    assert_eq!((*public.to_bytes()).as_ref(), record.bytes("pk"), "{count}");

    // "sm" is the signature followed by the message.
    let (message, context, signed) = (record.bytes("msg"), record.bytes("ctx"), record.bytes("sm"));
    let (signature, rest) = signed.split_at(signed.len() - message.len());
    assert_eq!(rest, message, "{count}");
    assert!(
        public.verify(&message, &context, signature).is_ok(),
        "{count}"
    );
    assert!(
        public.verify(&message, b"another", signature).is_err(),
        "{count}"
    );

    let fresh = key.sign(&message, &context).unwrap();
    assert!(
        public.verify(&message, &context, (*fresh).as_ref()).is_ok(),
        "{count}"
    );
}
