//! Random cases against the specifications in `sealstone-testing`, and against RustCrypto's
//! `argon2`.

use proptest::collection::vec;
use proptest::prelude::*;
use sealstone_argon2::blake2b::{Blake2b, LONGEST};
use sealstone_argon2::{Arena, Argon2, Cpu, Params, Variant, Version, hprime};
use sealstone_testing::{rfc7693, rfc9106};

fn bytes(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![1 => Just(Vec::new()), 4 => vec(any::<u8>(), 0..=longest)]
}

prop_compose! {
    /// Any inputs, with memory of 8 KiB × p and up to `more` KiB.
    fn case(more: usize, longest_data: usize)(
        p in prop_oneof![3 => Just(1_usize), 3 => 2..=5_usize, 1 => 6..=20_usize],
        t_tag in prop_oneof![3 => 4..=64_usize, 1 => 65..=1024_usize],
        more in 0..=more,
        t in 1..=4_usize,
        v in prop_oneof![2 => Just(0x13), 1 => Just(0x10)],
        y in 0..=2_usize,
        p_password in bytes(200),
        s_salt in vec(any::<u8>(), 8..=100),
        k_secret in bytes(40),
        x_data in bytes(longest_data),
    ) -> rfc9106::Argon2 {
        rfc9106::Argon2 { p_password, s_salt, k_secret, x_data, p, t_tag, m: 8 * p + more, t, v, y }
    }
}

fn by_crate(case: &rfc9106::Argon2, cpu: Cpu, threads: usize) -> Vec<u8> {
    let params = Params::new(case.m as u32, case.t as u32, case.p as u32).unwrap();
    let version = if case.v == 0x13 {
        Version::V0x13
    } else {
        Version::V0x10
    };
    let params = params
        .with_variant(Variant::ALL[case.y])
        .with_version(version);
    let argon2 = Argon2::new(params)
        .secret(&case.k_secret)
        .associated_data(&case.x_data);
    let mut tag = vec![0; case.t_tag];
    let argon2 = argon2.on(cpu).threads(threads);
    argon2
        .hash(&case.p_password, &case.s_salt, &mut tag, &mut Arena::new())
        .unwrap();
    tag
}

fn by_rustcrypto(case: &rfc9106::Argon2) -> Vec<u8> {
    use argon2::{Algorithm, Argon2, AssociatedData, ParamsBuilder, Version};
    let mut params = ParamsBuilder::new();
    params
        .m_cost(case.m as u32)
        .t_cost(case.t as u32)
        .p_cost(case.p as u32)
        .output_len(case.t_tag);
    params.data(AssociatedData::new(&case.x_data).unwrap());
    let algorithm = [Algorithm::Argon2d, Algorithm::Argon2i, Algorithm::Argon2id][case.y];
    let version = if case.v == 0x13 {
        Version::V0x13
    } else {
        Version::V0x10
    };
    let argon2 =
        Argon2::new_with_secret(&case.k_secret, algorithm, version, params.build().unwrap())
            .unwrap();
    let mut tag = vec![0; case.t_tag];
    argon2
        .hash_password_into(&case.p_password, &case.s_salt, &mut tag)
        .unwrap();
    tag
}

/// The value of `SEALSTONE_CASES`, or a number of cases that takes some seconds.
fn cases() -> u32 {
    std::env::var("SEALSTONE_CASES").map_or(400, |count| count.parse().expect("a number"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn argon2_against_the_specification(case in case(300, 100), threads in 1..=4_usize) {
        let expected = case.tag();
        for cpu in Cpu::available() {
            prop_assert_eq!(&by_crate(&case, cpu, threads), &expected, "{:?}", cpu);
        }
    }

    #[test]
    fn argon2_against_rustcrypto(
        case in case(2000, argon2::AssociatedData::MAX_LEN),
        threads in 1..=3_usize,
    ) {
        let expected = by_rustcrypto(&case);
        for cpu in Cpu::available() {
            prop_assert_eq!(&by_crate(&case, cpu, threads), &expected, "{:?}", cpu);
        }
    }

    #[test]
    fn blake2b_against_the_specification(
        key in bytes(LONGEST),
        message in vec(any::<u8>(), 0..1000),
        len in 1..=LONGEST,
        cuts: [prop::sample::Index; 2],
    ) {
        let expected = rfc7693::blake2b(&key, &message, len);
        let mut cuts = cuts.map(|cut| cut.index(message.len() + 1));
        cuts.sort();
        for cpu in Cpu::available() {
            let parts = [&message[..cuts[0]], &message[cuts[0]..cuts[1]], &message[cuts[1]..]];
            let hash = parts.into_iter().fold(Blake2b::on(cpu, &key, len), Blake2b::chain);
            prop_assert!(hash.clone().verify(&expected));
            let digest = hash.finish();
            prop_assert_eq!(digest.as_ref(), &expected);
        }
    }
}

#[test]
fn blake2b_of_every_length_to_300() {
    let message: Vec<u8> = (0..300).map(|i| (i % 251) as u8).collect();
    for len in 0..=300 {
        for cpu in Cpu::available() {
            let hash = Blake2b::on(cpu, &[], 64).chain(&message[..len]).finish();
            assert_eq!(
                hash.as_ref(),
                rfc7693::blake2b(&[], &message[..len], 64),
                "{len} {cpu:?}"
            );
        }
    }
}

/// Proofs cover one part in any state. A count of parts, of any width up to 16 bits, would show
/// here.
#[test]
fn seventy_thousand_parts() {
    let message: Vec<u8> = (0..70_000_u32).map(|i| (i % 251) as u8).collect();
    let mut hash = Blake2b::new(64);
    message.chunks(1).for_each(|part| hash.update(part));
    let specified = rfc7693::blake2b(&[], &message, 64);
    assert_eq!(hash.finish().as_ref(), specified);
}

#[test]
fn every_cut_into_two_parts() {
    let message: Vec<u8> = (0..300_u32).map(|i| (i % 251) as u8).collect();
    let specified = rfc7693::blake2b(&[], &message, 64);
    for cut in 0..=message.len() {
        let hash = Blake2b::new(64).chain(&message[..cut]);
        let hash = hash.chain(&message[cut..]).finish();
        assert_eq!(hash.as_ref(), specified, "after {cut} bytes");
    }
}

#[test]
fn hprime_of_every_length_to_1100() {
    for len in 1..=1100 {
        let mut out = vec![0; len];
        hprime(Cpu::best(), &[b"in two ", b"parts"], &mut out);
        assert_eq!(out, rfc9106::hprime(b"in two parts", len), "{len}");
    }
}
