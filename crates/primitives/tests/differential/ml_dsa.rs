//! ML-DSA-65 and ML-DSA-87 against RustCrypto, each side verifying the other's signatures.

use ::ml_dsa::{EncodedSignature, MlDsaParams, Seed, Signature, SigningKey as TheirKey};
use proptest::collection::vec;
use proptest::prelude::*;
use sealstone_primitives::sign::ml_dsa::{MlDsa65, MlDsa87, ParameterSet, SigningKey};

use crate::common::secret;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn ml_dsa_65(seed: [u8; 32], message: Vec<u8>, context in vec(any::<u8>(), 0..=255)) {
        agree::<MlDsa65, ::ml_dsa::MlDsa65>(seed, &message, &context);
    }

    #[test]
    fn ml_dsa_87(seed: [u8; 32], message: Vec<u8>, context in vec(any::<u8>(), 0..=255)) {
        agree::<MlDsa87, ::ml_dsa::MlDsa87>(seed, &message, &context);
    }
}

fn agree<P: ParameterSet, Q: MlDsaParams>(seed: [u8; 32], message: &[u8], context: &[u8]) {
    let ours = SigningKey::<P>::from_seed(&secret(&seed));
    let theirs = TheirKey::<Q>::from_seed(&Seed::from(seed));
    let their_public = theirs.expanded_key().verifying_key();
    assert_eq!(
        (*ours.verifying_key().to_bytes()).as_ref(),
        &their_public.encode()[..]
    );

    let signature = ours.sign(message, context).unwrap();
    let decoded = decode::<Q>((*signature).as_ref());
    assert!(their_public.verify_with_context(message, context, &decoded));

    let their_signature = theirs
        .expanded_key()
        .sign_deterministic(message, context)
        .unwrap()
        .encode();
    assert!(
        ours.verifying_key()
            .verify(message, context, &their_signature)
            .is_ok()
    );
    assert!(
        ours.verifying_key()
            .verify(message, b"another context", &their_signature)
            .is_err()
    );
}

fn decode<Q: MlDsaParams>(signature: &[u8]) -> Signature<Q> {
    let encoded: EncodedSignature<Q> = signature.try_into().expect("the right length");
    Signature::decode(&encoded).expect("a well-formed signature")
}
