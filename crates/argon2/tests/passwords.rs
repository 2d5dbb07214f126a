//! PHC strings, and passwords that are stored in them.

use sealstone_argon2::{
    Arena, Argon2, Error, Limits, PROFILES, Params, PasswordHasher, PhcString, Variant, Verified,
    Version, hash_password, verify_password,
};

/// The example of C2SP's `phc-strings.md`: password `hunter2`, secret `pepper`.
const EXAMPLE: &str = "$argon2id$v=19$m=65536,t=2,p=1$gZiV/M1gPc22ElAH/Jh1Hw\
    $CWOrkoo7oJBQ/iyh7uJ0LO2aLEfrHwTWllSAxT0zRno";

/// The password `password`, by `argon2 somesalt -d -t 2 -k 256 -p 2 -l 24 -v 10 -e` (Debian's
/// argon2 0~20190702).
const OLD: &str = "$argon2d$v=16$m=256,t=2,p=2$c29tZXNhbHQ$gwTB7J3R6/4M1i2G6Yyd6K70l3Q5kTzM";

fn small() -> Params {
    Params::new(64, 1, 1).unwrap()
}

#[test]
fn strings_of_others_verify() {
    let hasher = PasswordHasher::with(Argon2::new(small()).secret(b"pepper"));
    let mut arena = Arena::new();
    assert!(
        hasher
            .verify(b"hunter2", EXAMPLE, &mut arena)
            .unwrap()
            .needs_rehash
    );
    assert_eq!(
        hasher.verify(b"hunter3", EXAMPLE, &mut arena),
        Err(Error::Mismatch)
    );
    assert_eq!(
        verify_password(b"hunter2", EXAMPLE, &small()),
        Err(Error::Mismatch),
        "without the secret"
    );
    assert!(
        verify_password(b"password", OLD, &small())
            .unwrap()
            .needs_rehash
    );
}

/// The strings of version 0x10 in `src/test.c` of the reference implementation: the password, the
/// cost, the salt and the hash of `$argon2i$COST$SALT$HASH`.
const OF_ARGON2_1_0: [[&str; 4]; 9] = [
    [
        "password",
        "m=65536,t=2,p=1",
        "c29tZXNhbHQ",
        "9sTbSlTio3Biev89thdrlKKiCaYsjjYVJxGAL3swxpQ",
    ],
    [
        "password",
        "m=1048576,t=2,p=1",
        "c29tZXNhbHQ",
        "lpDsVdKNPtMlYvLnPqYrArAYdXZDoq5ueVKEWd6BBuk",
    ],
    [
        "password",
        "m=262144,t=2,p=1",
        "c29tZXNhbHQ",
        "Pmiaqj0op3zyvHKlGsUxZnYXURgvHuKS4/Z3p9pMJGc",
    ],
    [
        "password",
        "m=256,t=2,p=1",
        "c29tZXNhbHQ",
        "/U3YPXYsSb3q9XxHvc0MLxur+GP960kN9j7emXX8zwY",
    ],
    [
        "password",
        "m=256,t=2,p=2",
        "c29tZXNhbHQ",
        "tsEVYKap1h6scGt5ovl9aLRGOqOth+AMB+KwHpDFZPs",
    ],
    [
        "password",
        "m=65536,t=1,p=1",
        "c29tZXNhbHQ",
        "gWMFUrjzsfSM2xmSxMZ4ZD1JCytetP9sSzQ4tWIXJLI",
    ],
    [
        "password",
        "m=65536,t=4,p=1",
        "c29tZXNhbHQ",
        "8hLwFhXm6110c03D70Ct4tUdBSRo2MaUQKOh8sHChHs",
    ],
    [
        "differentpassword",
        "m=65536,t=2,p=1",
        "c29tZXNhbHQ",
        "6ckCB0tnVFMaOgvlGeW69ASzDOabPwGsO/ISKZYBCaM",
    ],
    [
        "password",
        "m=65536,t=2,p=1",
        "ZGlmZnNhbHQ",
        "eaEDuQ/orvhXDLMfyLIiWXeJFvgza3vaw4kladTxxJc",
    ],
];

/// They count as version 16. They verify, need a new hash, and are never written.
#[test]
fn strings_without_a_version_are_those_of_argon2_1_0() {
    for [password, cost, salt, hash] in OF_ARGON2_1_0 {
        let text = format!("$argon2i${cost}${salt}${hash}");
        let phc: PhcString = text.parse().unwrap();
        assert_eq!(phc.params().version(), Version::V0x10);
        assert_eq!(phc.to_string(), text.replacen("$m", "$v=16$m", 1));
        // Even for an application with the same parameters.
        let hasher = PasswordHasher::new(*phc.params()).lengths(8, 32);
        assert!(hasher.needs_rehash(&text).unwrap());
        assert!(!hasher.needs_rehash(&phc.to_string()).unwrap());
        if phc.params().memory_kib() > 256 && sealstone_testing::is_emulated() {
            println!("skipped: {cost} takes an emulator long");
            continue;
        }
        let mut arena = Arena::new();
        let verified = hasher.verify(password.as_bytes(), &text, &mut arena);
        assert_eq!(verified, Ok(Verified { needs_rehash: true }), "{text}");
    }
}

/// The cases of `src/test.c` of the reference implementation: a `$` is missing, a salt is empty,
/// and the password is wrong.
#[test]
fn wrong_strings_without_a_version_are_refused() {
    for text in [
        "$argon2i$m=65536,t=2,p=1c29tZXNhbHQ$9sTbSlTio3Biev89thdrlKKiCaYsjjYVJxGAL3swxpQ",
        "$argon2i$m=65536,t=2,p=1$c29tZXNhbHQ9sTbSlTio3Biev89thdrlKKiCaYsjjYVJxGAL3swxpQ",
        "$argon2i$m=65536,t=2,p=1$$9sTbSlTio3Biev89thdrlKKiCaYsjjYVJxGAL3swxpQ",
    ] {
        let refused = text.parse::<PhcString>();
        assert!(matches!(refused, Err(Error::Malformed(_))), "{text}");
    }
    let other = "$argon2i$m=65536,t=2,p=1$c29tZXNhbHQ$b2G3seW+uPzerwQQC+/E1K50CLLO7YXy0JRcaTuswRo";
    let refused = verify_password(b"password", other, &small());
    assert_eq!(refused, Err(Error::Mismatch));
}

#[test]
fn rustcrypto_verifies_ours() {
    use argon2::{Algorithm, Version};
    let stored = hash_password(b"", &Params::new(128, 2, 3).unwrap()).unwrap();
    let phc: PhcString = stored.parse().unwrap();
    let cost = argon2::Params::new(128, 2, 3, Some(32)).unwrap();
    let mut tag = [0; 32];
    let theirs = argon2::Argon2::new(Algorithm::Argon2id, Version::V0x13, cost);
    theirs
        .hash_password_into(b"", phc.salt(), &mut tag)
        .unwrap();
    assert_eq!(phc.tag(), tag);
}

#[test]
fn every_salt_is_new() {
    let [a, b] = [0, 1].map(|_| hash_password(b"password", &small()).unwrap());
    assert_ne!(a, b);
    assert!(
        !verify_password(b"password", &a, &small())
            .unwrap()
            .needs_rehash
    );
    assert_eq!(
        verify_password(b"passwore", &b, &small()),
        Err(Error::Mismatch)
    );
}

#[test]
fn canonical_strings_are_read_and_written() {
    for text in [
        EXAMPLE,
        OLD,
        "$argon2i$v=19$m=8,t=1,p=1,keyid=Zm9v,data=Zm9vYg$c29tZXNhbHQ$c29tZXRhZ3NvbWV0",
        "$argon2d$v=16$m=4294967295,t=4294967295,p=255,data=Zg$c29tZXNhbHQ$c29tZXRhZ3NvbWV0",
    ] {
        assert_eq!(text.parse::<PhcString>().unwrap().to_string(), text);
    }
}

#[test]
fn strings_are_equal_if_all_is() {
    let parse = |text: &str| text.parse::<PhcString>().unwrap();
    let text = "$argon2i$v=19$m=8,t=1,p=1,keyid=Zm9v,data=Zm9vYg$c29tZXNhbHQ$c29tZXRhZ3NvbWV0";
    let hash = parse(text);
    assert_eq!(hash, parse(text));
    assert_eq!(hash, hash.clone());
    for (from, to) in [
        ("argon2i", "argon2d"),
        ("v=19", "v=16"),
        ("t=1", "t=2"),
        ("Zm9v,", "Zm9w,"),
        ("Zm9vYg", "Zm9vYw"),
        ("c29tZXNhbHQ", "c29tZXNhbHg"),
        ("bWV0", "bWV1"),
        ("c29tZXRhZ3NvbWV0", "c29tZXRhZ3NvbWV0c29t"),
    ] {
        assert_ne!(hash, parse(&text.replacen(from, to, 1)), "{from}");
    }
    let shown = format!("{hash:?}");
    assert!(
        !shown.contains("c29t") && !shown.contains("115, 111"),
        "{shown}"
    );
}

#[test]
fn nothing_else_is_read() {
    let good = "$argon2i$v=19$m=64,t=1,p=2,keyid=Zm9v,data=Zm9v$c29tZXNhbHQ$c29tZXRhZ3NvbWV0";
    good.parse::<PhcString>().unwrap();
    for (from, to) in [
        ("$argon2i", "argon2i"),
        ("$argon2i", " $argon2i"),
        ("argon2i", "argon2"),
        ("argon2i", "Argon2i"),
        ("v=19", ""),
        ("v=19", "v="),
        ("v=19", "v=19$v=19"),
        ("v=19", "v=18"),
        ("v=19", "v=019"),
        ("v=19", "v=+19"),
        ("m=64,t=1", "t=1,m=64"),
        ("m=64", "m=064"),
        ("m=64", "m=-64"),
        ("m=64", "m=15"),
        ("m=64", "m=4294967296"),
        ("m=64", "m="),
        ("m=64,", ""),
        ("t=1", "t=0"),
        ("p=2", "p=0"),
        ("p=2", "p=256"),
        ("p=2", "p=2,p=2"),
        ("p=2", "p=2,x=1"),
        ("keyid=Zm9v,data=Zm9v", "data=Zm9v,keyid=Zm9v"),
        ("keyid=Zm9v", "keyid="),
        ("data=Zm9v", "data="),
        ("data=Zm9v", "data=Zm9v,"),
        ("keyid=Zm9v", "keyid=c29tZXNhbHRz"),
        ("$c29tZXNhbHQ$", "$"),
        ("$c29tZXNhbHQ$", "$$"),
        ("$c29tZXNhbHQ$", "$c29tZXNhbHR$"),
        ("$c29tZXNhbHQ$", "$c29tZXNhbA$"),
        ("$c29tZXRhZ3NvbWV0", "$c29tZXRhZ3NvbWV"),
        ("$c29tZXRhZ3NvbWV0", "$c29tZXRhZ3NvbQ"),
        ("$c29tZXRhZ3NvbWV0", "$c29tZXRhZ3NvbWV0="),
        ("$c29tZXRhZ3NvbWV0", "$c29tZXRhZ3NvbWV0$"),
        ("$c29tZXRhZ3NvbWV0", ""),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        assert!(
            matches!(bad.parse::<PhcString>(), Err(Error::Malformed(_))),
            "{bad}"
        );
    }
    let long = |bytes: usize| "A".repeat(bytes * 4 / 3);
    for (salt, tag, is_good) in [
        (48, 63, true),
        (51, 30, false),
        (30, 66, false),
        (30, 9, false),
        (6, 30, false),
    ] {
        let text = format!("$argon2id$v=19$m=64,t=1,p=1${}${}", long(salt), long(tag));
        assert_eq!(text.parse::<PhcString>().is_ok(), is_good, "{text}");
    }
}

/// Each error names the rule that the string breaks.
#[test]
fn errors_say_the_rule() {
    let good = "$argon2i$v=19$m=64,t=1,p=2,keyid=Zm9v,data=Zm9v$c29tZXNhbHQ$c29tZXRhZ3NvbWV0";
    for (from, to, rule) in [
        (good, "hunter2", "it does not begin with $"),
        ("argon2i$", "scrypt$", "the algorithm is not argon2id, "),
        ("v=19", "", "the parameters are not m=…,t=…,p=… with"),
        ("v=19", "v=18", "the version is not v=16 or v=19"),
        ("v=19", "v=019", "the version is not v=16 or v=19"),
        ("m=64", "m=064", "the parameters are not m=…,t=…,p=… with"),
        ("t=1,", "", "the parameters are not m=…,t=…,p=… with"),
        ("m=64", "m=15", "m is not at least 8 KiB for each of "),
        ("t=1", "t=0", "t is not at least 1 pass"),
        ("p=2", "p=0", "p is not 1 to 255 lanes"),
        ("p=2", "p=300", "p is not 1 to 255 lanes"),
        ("=Zm9v,", "=c29tZXNhbHRz,", "keyid is not 1 to 8 bytes"),
        ("data=Zm9v", "data=", "data is not 1 to 32 bytes"),
        ("p=2", "p=2,x=1", "a parameter is unknown, twice or "),
        ("$c29tZXNhbHQ$", "$c29tZXNhbA$", "the salt is not 8 to 48 "),
        ("$c29tZXNhbHQ$", "$c29tZXNhbHR$", "the salt is not 8 to 48 "),
        ("ZXRhZ3NvbWV0", "ZXRhZ3NvbQ", "the hash is not 12 to 64 "),
        ("$c29tZXRhZ3NvbWV0", "", "fewer fields than $ALGORITHM$"),
        ("bWV0", "bWV0$", "more fields than $ALGORITHM$"),
    ] {
        let bad = good.replacen(from, to, 1);
        let said = bad.parse::<PhcString>().unwrap_err().to_string();
        let expected = format!("not an Argon2 password hash: {rule}");
        assert!(said.starts_with(&expected), "{bad}: {said}");
    }
}

#[test]
fn a_string_that_asks_for_too_much_is_refused_before_any_memory() {
    let stored =
        |m: u64, t: u64| format!("$argon2id$v=19$m={m},t={t},p=1$c29tZXNhbHQ$c29tZXRhZ3NvbWV0");
    let mut arena = Arena::new();
    let hasher = PasswordHasher::new(small());
    for (m, t) in [((2 << 20) + 1, 1), (1 << 20, 65), (8, u64::from(u32::MAX))] {
        let refused = hasher.verify(b"password", &stored(m, t), &mut arena);
        assert!(
            matches!(refused, Err(Error::Limit { .. })),
            "{m} {t}: {refused:?}"
        );
    }
    assert_eq!(arena.kib(), 0);
    let strict = hasher.limits(Limits {
        memory_kib: 256,
        work_kib: 512,
    });
    for (m, t, fits) in [
        (256, 2, true),
        (257, 1, false),
        (256, 3, false),
        (8, 4, true),
        (8, 5, false),
    ] {
        let result = strict.verify(b"password", &stored(m, t), &mut arena);
        let expected = if fits {
            matches!(result, Err(Error::Mismatch))
        } else {
            matches!(result, Err(Error::Limit { .. }))
        };
        assert!(expected, "{m} {t}: {result:?}");
    }
}

/// With the least memory, a pass takes several times as long as its size suggests: each segment
/// takes a fixed time.
#[test]
fn little_memory_does_not_make_passes_free() {
    let limits = Limits::default();
    for lanes in [1, 2, 16, 255] {
        let charged = 128 * u64::from(lanes);
        let passes = u32::try_from(limits.work_kib / charged).unwrap();
        for memory in [8 * lanes, 100 * lanes, 128 * lanes] {
            let of = |passes| Params::new(memory, passes, lanes).unwrap();
            assert_eq!(limits.check(&of(passes)), Ok(()));
            let wanted = charged * u64::from(passes + 1);
            let refused = Error::Limit {
                what: "KiB times passes",
                wanted,
                allowed: limits.work_kib,
            };
            assert_eq!(limits.check(&of(passes + 1)), Err(refused));
        }
    }
    let most = Params::new(u32::MAX, u32::MAX, (1 << 24) - 1).unwrap();
    assert_eq!(
        most.work_kib(),
        u64::from(u32::MAX) * u64::from(u32::MAX),
        "no overflow"
    );
}

#[test]
fn a_rehash_is_needed_when_anything_differs() {
    let mut arena = Arena::new();
    let params = small();
    let hasher = PasswordHasher::new(params);
    let stored = hasher.hash(b"password", &mut arena).unwrap();
    assert!(
        !hasher
            .verify(b"password", &stored, &mut arena)
            .unwrap()
            .needs_rehash
    );
    assert_eq!(
        hasher.needs_rehash("$argon2id$"),
        Err(Error::Malformed(
            "the parameters are not m=…,t=…,p=… with numbers below 2^32 without leading zeros"
        ))
    );
    for other in [
        PasswordHasher::new(params.with_variant(Variant::Argon2i)),
        PasswordHasher::new(Params::new(65, 1, 1).unwrap()),
        PasswordHasher::new(Params::new(64, 2, 1).unwrap()),
        PasswordHasher::new(Params::new(64, 1, 2).unwrap()),
        hasher.lengths(17, 32),
        hasher.lengths(16, 33),
    ] {
        assert!(other.needs_rehash(&stored).unwrap(), "{other:?}");
        assert!(
            other
                .verify(b"password", &stored, &mut arena)
                .unwrap()
                .needs_rehash
        );
    }
    assert!(
        !hasher.lengths(8, 32).needs_rehash(&stored).unwrap(),
        "a longer salt does no harm"
    );
}

#[test]
fn associated_data_is_in_the_string() {
    let mut arena = Arena::new();
    let with = |data| PasswordHasher::with(Argon2::new(small()).associated_data(data));
    let stored = with(b"one").hash(b"password", &mut arena).unwrap();
    assert!(stored.contains(",data=b25l$"));
    for data in [&b"one"[..], b""] {
        assert!(with(data).verify(b"password", &stored, &mut arena).is_ok());
    }
    assert_eq!(
        with(b"two").verify(b"password", &stored, &mut arena),
        Err(Error::Mismatch)
    );
    let without = with(b"").hash(b"password", &mut arena).unwrap();
    assert_eq!(
        with(b"one").verify(b"password", &without, &mut arena),
        Err(Error::Mismatch)
    );
}

#[test]
fn a_parameter_that_no_string_can_say_is_an_error_before_the_work() {
    let mut arena = Arena::new();
    let hasher = PasswordHasher::new(Params::SENSITIVE);
    for (salt, tag) in [(7, 32), (49, 32), (16, 11), (16, 65)] {
        assert!(matches!(
            hasher.lengths(salt, tag).hash(b"password", &mut arena),
            Err(Error::Parameter(_))
        ));
    }
    let lanes = PasswordHasher::new(Params::new(1 << 20, 4, 256).unwrap());
    assert!(matches!(
        lanes.hash(b"password", &mut arena),
        Err(Error::Parameter(_))
    ));
    assert_eq!(arena.kib(), 0);
}

#[test]
fn profiles_have_names() {
    for (name, params) in PROFILES {
        assert_eq!(Params::profile(name), Some(params));
        assert_eq!(
            Params::new(params.memory_kib(), params.passes(), params.lanes()),
            Ok(params)
        );
    }
    assert_eq!(Params::profile("none"), None);
    assert_eq!(Params::profile("sensitive").unwrap().memory_kib(), 1 << 20);
}
