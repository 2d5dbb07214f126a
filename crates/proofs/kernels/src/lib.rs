//! Every kernel, called once: what the linker puts into a program.
//!
//! The prover's own program has the kernels that no shipped program uses yet from here, and
//! functions of others' crates as published ([`call_others`]). The program of this crate has the
//! kernels and nothing else: `cargo xtask levels` builds it at every level of optimisation.
//!
//! Two functions have the only purpose of being proved: ChaCha20 and SHA-256, by which the prover
//! shows that it can.
#![forbid(unsafe_code)]

mod published;

pub use published::call_others;

use core::hint::black_box;
use sealstone_argon2::{Arena, Argon2, Params};
use sealstone_skein::threefish::{Threefish256, Threefish512, Threefish1024};
use sealstone_skein::{Skein256, Skein1024};

/// The ChaCha20 block function of a whole state (RFC 8439, section 2.3).
#[inline(never)]
pub fn chacha20_block(state: &[u32; 16], out: &mut [u32; 16]) {
    let mut x = *state;
    macro_rules! quarter_round {
        ($($a:literal $b:literal $c:literal $d:literal),*) => { $(
            x[$a] = x[$a].wrapping_add(x[$b]);
            x[$d] = (x[$d] ^ x[$a]).rotate_left(16);
            x[$c] = x[$c].wrapping_add(x[$d]);
            x[$b] = (x[$b] ^ x[$c]).rotate_left(12);
            x[$a] = x[$a].wrapping_add(x[$b]);
            x[$d] = (x[$d] ^ x[$a]).rotate_left(8);
            x[$c] = x[$c].wrapping_add(x[$d]);
            x[$b] = (x[$b] ^ x[$c]).rotate_left(7);
        )* };
    }
    for _ in 0..10 {
        quarter_round!(0 4 8 12, 1 5 9 13, 2 6 10 14, 3 7 11 15);
        quarter_round!(0 5 10 15, 1 6 11 12, 2 7 8 13, 3 4 9 14);
    }
    for (i, word) in out.iter_mut().enumerate() {
        *word = x[i].wrapping_add(state[i]);
    }
}

/// The SHA-256 compression function (FIPS 180-4, section 6.2.2), with the usual shortcuts for Ch
/// and Maj.
#[inline(never)]
pub fn sha256_compress(state: &mut [u32; 8], block: &[[u8; 4]; 16]) {
    let mut w = [0; 64];
    for (word, bytes) in w.iter_mut().zip(block) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..64 {
        let (a, b) = (w[t - 15], w[t - 2]);
        let s0: u32 = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
        let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
        w[t] = s1
            .wrapping_add(w[t - 7])
            .wrapping_add(s0)
            .wrapping_add(w[t - 16]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (w, k) in w.iter().zip(K) {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let t1 = h
            .wrapping_add(s1)
            .wrapping_add(g ^ e & (f ^ g))
            .wrapping_add(k)
            .wrapping_add(*w);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t2 = s0.wrapping_add(a & b | c & (a | b));
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
    }
    for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(new);
    }
}

#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// Calls every kernel once. The results do not matter.
pub fn call_every_kernel() {
    macro_rules! threefish {
        ($($cipher:ident $bytes:literal),*) => { $(
            let (cipher, mut block) = ($cipher::new(&black_box([1; $bytes])), black_box([2; $bytes]));
            cipher.encrypt([3; 16], &mut block);
            cipher.decrypt([4; 16], &mut block);
            black_box(block);
        )* };
    }
    threefish!(Threefish256 32, Threefish512 64, Threefish1024 128);
    black_box(Skein256::hash(&black_box([9; 500])));
    black_box(Skein1024::hash(&black_box([9; 500])));
    let mut words = black_box([0; 16]);
    chacha20_block(&black_box([5; 16]), &mut words);
    let mut state = black_box([6; 8]);
    sha256_compress(&mut state, &black_box([[7; 4]; 16]));
    black_box((
        words,
        state,
        sealstone_skein::tree::hash(&black_box([8; 9000])),
    ));
    // Two passes: blocks are replaced in the first, added to in the second. One lane alone, and two
    // in turn.
    for lanes in [1, 2] {
        let tag = &mut [0; 32];
        let hashed = Params::new(64, 2, lanes).map(|params| {
            Argon2::new(params).hash(b"password", b"some salt", tag, &mut Arena::new())
        });
        black_box((hashed.is_ok(), tag));
    }
}
