//! The vectors that pyca/cryptography collected from RFC 9106, OpenSSL and the `argon2` command, if
//! scripts/fetch-vectors has fetched them.

use sealstone_argon2::{Arena, Argon2, Cpu, Params, Variant};
use sealstone_testing::{pyca, rfc9106};

#[test]
fn pyca_vectors() {
    for (y, expected) in [4, 5, 6].into_iter().enumerate() {
        let Some(cases) = pyca::argon2(y) else {
            continue;
        };
        let name = pyca::VARIANTS[y];
        assert_eq!(cases.len(), expected, "every case of {name} is executed");
        for (case, tag) in &cases {
            check(case, tag);
        }
        println!("KDF/{name}.txt: {} cases, 0 disagreements", cases.len());
    }
}

fn check(case: &rfc9106::Argon2, tag: &[u8]) {
    let [memory, passes, lanes] = [case.m, case.t, case.p].map(|n| u32::try_from(n).unwrap());
    let variant = [Variant::Argon2d, Variant::Argon2i, Variant::Argon2id][case.y];
    let params = Params::new(memory, passes, lanes).unwrap();
    for cpu in Cpu::available() {
        let argon2 = Argon2::new(params.with_variant(variant))
            .secret(&case.k_secret)
            .associated_data(&case.x_data)
            .on(cpu);
        let mut computed = vec![0; case.t_tag];
        argon2
            .hash(
                &case.p_password,
                &case.s_salt,
                &mut computed,
                &mut Arena::new(),
            )
            .unwrap();
        assert_eq!(computed, tag, "{cpu:?} {case:?}");
    }
}
