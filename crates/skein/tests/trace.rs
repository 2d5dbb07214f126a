//! The trace against that of the reference implementation.

use sealstone_skein::threefish::Block;
use sealstone_skein::tree::Shape;
use sealstone_skein::{Parameters, Skein512, trace};

/// Compares with the text that the designers' reference implementation prints, compiled with
/// `SKEIN_DEBUG` and `skein_DebugFlag = SKEIN_DEBUG_ALL`, for the message 255, 254, … and the key
/// 0, 1, …: its length and its Skein-512-256 hash.
fn check<const N: usize>(output_bits: u64, message: usize, key: usize, len: usize, expected: &str)
where
    [u64; N]: Block<u64>,
{
    let message: Vec<u8> = (0..=255).rev().cycle().take(message).collect();
    let key: Vec<u8> = (0..=255).take(key).collect();
    let parameters = Parameters::new().key(&key).output_bits(output_bits);
    let mut text = String::new();
    trace::hash::<N>(&parameters, &message, &mut text).unwrap();
    compare(&text, len, expected);
}

/// The same for Skein-512 in a tree. (The reference implementation has no loop over nodes; it is
/// called for each, level by level.)
fn check_tree(
    output_bits: u64,
    message: usize,
    key: usize,
    shape: [u8; 3],
    len: usize,
    expected: &str,
) {
    let message: Vec<u8> = (0..=255).rev().cycle().take(message).collect();
    let key: Vec<u8> = (0..=255).take(key).collect();
    let parameters = Parameters::new().key(&key).output_bits(output_bits);
    let [leaf, fan_out, height] = shape;
    let shape = Shape::new(leaf, fan_out, height).unwrap();
    let mut text = String::new();
    trace::tree_hash::<8>(&parameters, shape, &message, &mut text).unwrap();
    // A mistake of the reference implementation: its output transform for trees is printed as
    // Skein-256.
    let text = text.replace(":Skein-512:  Final output=", ":Skein-256:  Final output=");
    compare(&text, len, expected);
}

fn compare(text: &str, len: usize, expected: &str) {
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

#[test]
fn trees() {
    check_tree(
        512,
        300,
        0,
        [1, 1, 3],
        235963,
        "835ad03fefe7e9a969ed6513ef46bd430ecff3e0f77e869b0059d9f7945679e7",
    );
    check_tree(
        512,
        300,
        40,
        [1, 1, 255],
        255768,
        "bf02f5d1fd4af97c8759eebc6413d1411fe8dde3056a3d72405b52f3ff2854a8",
    );
    check_tree(
        256,
        5000,
        0,
        [1, 2, 255],
        2632419,
        "59161839f5054c25804d1cc99c33d891eaff872548bc6a59c361e22fec39f1de",
    );
}
