//! Others' crates as published, of which the prover's own program has the functions.

use blake2::digest::Digest;
use chacha20::cipher::{KeyIvInit, StreamCipherCore};
use chacha20::variants::Ietf;
use chacha20::{ChaChaCore, R20};
use core::hint::black_box;
use sha2::block_api::{compress256, compress512};

/// Calls the functions of these crates that have rows, so that the linker keeps them. The results
/// do not matter.
pub fn call_others() {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&black_box([1; 64 * 1024]));
    let mut output = [0; 100];
    hasher.finalize_xof().fill(&mut output);
    black_box(output);

    let (mut small, mut large) = black_box(([2; 8], [3; 8]));
    compress256(&mut small, black_box(&[[4; 64]]));
    compress512(&mut large, black_box(&[[5; 128]]));
    black_box((small, large));

    let (key, nonce) = black_box(([6; 32], [7; 12]));
    let mut cipher = ChaChaCore::<R20, Ietf>::new(&key.into(), &nonce.into());
    let mut stream = [[0; 64].into(); 9];
    cipher.write_keystream_blocks(black_box(&mut stream));
    black_box(stream);

    black_box(blake2::Blake2b512::digest(black_box([8; 300])));
}
