//! Every target, in each of its modes, with bytes that are the same in every run: what `cargo test`
//! can say without libFuzzer. With the planted bugs (`cargo test --features planted`) at least one
//! input must be caught.

use std::panic::catch_unwind;

type Target = (&'static str, fn(&[u8]), u32);

/// Name, function, inputs for each first byte.
const TARGETS: [Target; 14] = [
    ("archive", sealstone_fuzz::archive, 20),
    ("sealed_header", sealstone_fuzz::sealed_header, 20),
    ("sealed_open", sealstone_fuzz::sealed_open, 20),
    ("sealed_forged", sealstone_fuzz::sealed_forged, 20),
    ("armor", sealstone_fuzz::armor, 20),
    ("secret_passport", sealstone_fuzz::secret_passport, 20),
    ("public_passport", sealstone_fuzz::public_passport, 5),
    ("package", sealstone_fuzz::package, 5),
    ("phc_string", sealstone_fuzz::phc_string, 20),
    ("text", sealstone_fuzz::text, 20),
    ("timestamp", sealstone_fuzz::timestamp, 20),
    ("token_message", sealstone_fuzz::token_message, 5),
    ("token_text", sealstone_fuzz::token_text, 20),
    ("trust_store", sealstone_fuzz::trust_store, 20),
];

#[test]
fn no_mode_of_any_target_fails() {
    let caught: Vec<&str> = TARGETS
        .iter()
        .filter(|target| fails(target))
        .map(|(name, ..)| *name)
        .collect();
    if cfg!(feature = "planted") {
        assert!(!caught.is_empty());
    } else {
        assert!(caught.is_empty(), "{caught:?}");
    }
}

fn fails(&(_, target, inputs): &Target) -> bool {
    target(&[]);
    (0..=255u8).any(|mode| {
        (0..inputs).any(|seed| {
            let input = input(mode, seed);
            catch_unwind(|| target(&input)).is_err()
        })
    })
}

/// A mode and up to 97 bytes of a linear congruential generator.
fn input(mode: u8, seed: u32) -> Vec<u8> {
    let mut state = u64::from(seed) << 8 | u64::from(mode);
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let len = usize::from(next()) % 98;
    std::iter::once(mode)
        .chain((0..len).map(|_| next()))
        .collect()
}
