//! The trace against that of the reference implementation.

use sealstone_skein::threefish::Block;
use sealstone_skein::{Parameters, Skein512, trace};

/// Compares with the text that the designers' reference implementation prints, compiled with `SKEIN_DEBUG` and
/// `skein_DebugFlag = SKEIN_DEBUG_ALL`, for the message 255, 254, … and the key 0, 1, …: its length and its Skein-512-256 hash.
fn check<const N: usize>(output_bits: u64, message: usize, key: usize, len: usize, expected: &str)
where
    [u64; N]: Block<u64>,
{
    let message: Vec<u8> = (0..=255).rev().cycle().take(message).collect();
    let key: Vec<u8> = (0..=255).take(key).collect();
    let mut text = String::new();
    trace::hash::<N>(
        &Parameters::new().key(&key).output_bits(output_bits),
        &message,
        &mut text,
    )
    .unwrap();
    assert_eq!(text.len(), len);
    let hash = Skein512::with(&Parameters::new().output_bits(256))
        .chain(text.as_bytes())
        .finish();
    assert_eq!(
        hash.iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
        expected
    );
}

#[test]
fn skein_256() {
    check::<4>(
        256,
        32,
        0,
        35618,
        "98373bb7f18c8d2ebb221cc552ad3dbfb84658ddb0144298038408f8a9039b25",
    );
}

#[test]
fn skein_512_with_a_key() {
    check::<8>(
        700,
        130,
        40,
        137969,
        "bbe1ee88fd17dc56daf378e63bfa70c8dd9895a19381c8ab48eee5ac8a42f01a",
    );
}

#[test]
fn skein_1024_with_a_key() {
    check::<16>(
        2000,
        300,
        128,
        273606,
        "4a2e5cab6fc996b238f36aaa2990011e3b96fd74fc8391ffc0f5c1642a3dce48",
    );
}
