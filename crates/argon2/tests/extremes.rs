//! Unusual parameters, which random cases do not have.

use sealstone_argon2::{Arena, Argon2, Cpu, Error, PROFILES, Params, PasswordHasher, Variant};
use sealstone_testing::{hex, rfc9106, skipped_by_emulator};

/// Hashes of "password" and "somesalt" by argon2-cffi 25 (the reference implementation): variant,
/// length of the tag, KiB, passes, lanes, and the last 32 bytes of the tag.
const OF_THE_REFERENCE: [(Variant, usize, u32, u32, u32, &str); 5] = [
    (
        Variant::Argon2id,
        1_000_000,
        64,
        1,
        1,
        "8ee81f74b2cb7c793c2ad2d4e427763036b35f8d27dda373ca6fdb36653f1716",
    ),
    (
        Variant::Argon2id,
        32,
        2040,
        2,
        255,
        "fd36427c9843fe002b0cbd3538b4206e1f001ba334ad0436eaeae82760ccda93",
    ),
    (
        Variant::Argon2d,
        32,
        8192,
        1,
        1000,
        "757772b3f33ae93ab23d635742b08fed08f1cce3dee522477c7d594032122452",
    ),
    (
        Variant::Argon2i,
        32,
        160_000,
        1,
        20_000,
        "eafd93d860d689760d22d2a5f6f44b6d1fb568426e2ad5ca3671c3208623ab56",
    ),
    (
        Variant::Argon2id,
        32,
        100_001,
        1,
        3,
        "f57dafd7238745296311ec5caab5e3d760bb5c89db77ea3145eaf663a5379bd3",
    ),
];

#[test]
fn long_tags_many_lanes_and_memory_that_is_no_multiple_of_four_lanes() {
    // These cases take a minute in an emulator.
    if skipped_by_emulator() {
        return;
    }
    for (variant, len, kib, passes, lanes, expected) in OF_THE_REFERENCE {
        let params = Params::new(kib, passes, lanes).unwrap();
        let argon2 = Argon2::new(params.with_variant(variant));
        for threads in [1, 2] {
            let mut tag = vec![0; len];
            (argon2
                .threads(threads)
                .hash(b"password", b"somesalt", &mut tag, &mut Arena::new()))
            .unwrap();
            let end = hex(&tag[len - 32..]);
            assert_eq!(
                end, expected,
                "{variant:?} {len} {kib} {passes} {lanes} on {threads}"
            );
        }
    }
}

/// Other implementations refuse salts of less than 8 bytes; RFC 9106, section 3.1, does not.
#[test]
fn short_salts_by_the_specification() {
    for len in 0..8 {
        let case = rfc9106::Argon2 {
            p_password: b"password".to_vec(),
            s_salt: vec![7; len],
            k_secret: vec![],
            x_data: vec![],
            p: 2,
            t_tag: 32,
            m: 32,
            t: 2,
            v: 0x13,
            y: 2,
        };
        let expected = case.tag();
        for cpu in Cpu::available() {
            let argon2 = Argon2::new(Params::new(32, 2, 2).unwrap()).on(cpu);
            let mut tag = [0; 32];
            (argon2.hash(b"password", &case.s_salt, &mut tag, &mut Arena::new())).unwrap();
            assert_eq!(tag[..], expected, "{len} on {cpu:?}");
        }
    }
}

/// Lengths enter the hash as 32 bits (RFC 9106, section 3.2). The 4 GiB are pages of zeros that no
/// code accesses.
#[cfg(target_pointer_width = "64")]
#[test]
fn inputs_of_4_gib_are_refused() {
    if skipped_by_emulator() {
        return;
    }
    let mut room = Vec::<u8>::new();
    if room.try_reserve_exact(1 << 32).is_err() {
        println!("skipped: the system has no 4 GiB of addresses");
        return;
    }
    drop(room);
    let long = vec![0; 1 << 32];
    let plain = Argon2::new(Params::new(8, 1, 1).unwrap());
    let hash = |argon2: &Argon2<'_>, password: &[u8], salt: &[u8]| {
        let mut tag = [1; 4];
        let result = argon2.hash(password, salt, &mut tag, &mut Arena::new());
        assert_eq!(tag, [0; 4]);
        result
    };
    for (result, name) in [
        (hash(&plain, &long, b"somesalt"), "the password"),
        (hash(&plain, b"password", &long), "the salt"),
        (
            hash(&plain.secret(&long), b"password", b"somesalt"),
            "the secret",
        ),
        (
            hash(&plain.associated_data(&long), b"password", b"somesalt"),
            "the associated data",
        ),
    ] {
        assert_eq!(result, Err(Error::TooLong(name)));
    }
}

/// KiB, passes and lanes of RFC 9106, section 4; of OWASP's Password Storage Cheat Sheet; and of
/// the passport's profiles (`spec/passport.md`).
#[test]
fn named_parameters_are_those_of_their_sources() {
    let mut named = PROFILES.map(|(name, params)| {
        let numbers = [params.memory_kib(), params.passes(), params.lanes()];
        (name, numbers)
    });
    named.sort_unstable();
    assert_eq!(
        named,
        [
            ("interactive", [65_536, 3, 1]),
            ("moderate", [262_144, 3, 1]),
            ("owasp-12m", [12_288, 3, 1]),
            ("owasp-19m", [19_456, 2, 1]),
            ("owasp-46m", [47_104, 1, 1]),
            ("owasp-7m", [7_168, 5, 1]),
            ("owasp-9m", [9_216, 4, 1]),
            ("rfc9106-high-memory", [2_097_152, 1, 4]),
            ("rfc9106-low-memory", [65_536, 3, 4]),
            ("sensitive", [1_048_576, 4, 1]),
        ]
    );
}

/// A binding needs this to let other threads run at the same time.
#[test]
fn everything_can_go_to_another_thread() {
    fn is<T: Send + Sync>() {}
    is::<Argon2<'static>>();
    is::<Arena>();
    is::<Params>();
    is::<PasswordHasher<'static>>();
    is::<Error>();
}
