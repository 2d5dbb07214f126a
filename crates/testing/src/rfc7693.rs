//! BLAKE2b as in RFC 7693: one step at a time, tables as printed, no optimisation; and its vectors.

/// BLAKE2b-512 of `abc`: appendix A.
pub const ABC: &str = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
                       7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923";

/// The result of [`self_test`]: appendix E.
pub const SELF_TEST: &str = "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475";

/// Appendix E: the hash of the hashes of many lengths, with a key and without. `hash` takes the
/// key, the message and the length of the hash.
pub fn self_test(mut hash: impl FnMut(&[u8], &[u8], usize) -> Vec<u8>) -> Vec<u8> {
    let mut all = Vec::new();
    for outlen in [20, 32, 48, 64] {
        for inlen in [0, 3, 128, 129, 255, 1024] {
            let message = sequence(inlen, inlen as u32);
            all.extend(hash(&[], &message, outlen));
            all.extend(hash(&sequence(outlen, outlen as u32), &message, outlen));
        }
    }
    hash(&[], &all, 32)
}

/// `selftest_seq` of appendix E.
fn sequence(len: usize, seed: u32) -> Vec<u8> {
    let (mut a, mut b) = (0xDEAD4BAD_u32.wrapping_mul(seed), 1_u32);
    let next = |_| {
        let t = a.wrapping_add(b);
        (a, b) = (b, t);
        (t >> 24) as u8
    };
    (0..len).map(next).collect()
}

/// RFC 7693, section 2.6.
pub const IV: [u64; 8] = [
    0x6A09E667F3BCC908,
    0xBB67AE8584CAA73B,
    0x3C6EF372FE94F82B,
    0xA54FF53A5F1D36F1,
    0x510E527FADE682D1,
    0x9B05688C2B3E6C1F,
    0x1F83D9ABFB41BD6B,
    0x5BE0CD19137E2179,
];

/// RFC 7693, section 2.7.
#[rustfmt::skip]
const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// RFC 7693, section 3.1: G.
fn mix(v: &mut [u64; 16], [a, b, c, d]: [usize; 4], x: u64, y: u64) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
    v[d] = (v[d] ^ v[a]).rotate_right(32);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(24);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(63);
}

/// The words that G works on: columns, then diagonals.
pub(crate) const COLUMNS_AND_DIAGONALS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// RFC 7693, section 3.2: F.
pub fn f(h: [u64; 8], m: [u64; 16], t: u128, last: bool) -> [u64; 8] {
    let mut v = [0; 16];
    v[..8].copy_from_slice(&h);
    v[8..].copy_from_slice(&IV);
    v[12] ^= t as u64;
    v[13] ^= (t >> 64) as u64;
    if last {
        v[14] = !v[14];
    }
    for i in 0..12 {
        let s = SIGMA[i % 10];
        for (j, places) in COLUMNS_AND_DIAGONALS.into_iter().enumerate() {
            mix(&mut v, places, m[s[2 * j]], m[s[2 * j + 1]]);
        }
    }
    core::array::from_fn(|i| h[i] ^ v[i] ^ v[i + 8])
}

/// RFC 7693, section 3.3: BLAKE2b of nn bytes.
pub fn blake2b(key: &[u8], message: &[u8], nn: usize) -> Vec<u8> {
    let ll = message.len();
    let mut d = Vec::new();
    if !key.is_empty() {
        d.extend(key);
        d.resize(128, 0);
    }
    d.extend(message);
    d.resize(d.len().max(1).next_multiple_of(128), 0);
    let dd = d.len() / 128;
    let block = |i: usize| {
        core::array::from_fn(|j| u64::from_le_bytes(d[128 * i + 8 * j..][..8].try_into().unwrap()))
    };
    let mut h = IV;
    h[0] ^= 0x01010000 ^ ((key.len() as u64) << 8) ^ nn as u64;
    for i in 0..dd - 1 {
        h = f(h, block(i), (i as u128 + 1) * 128, false);
    }
    let end = if key.is_empty() { ll } else { ll + 128 };
    h = f(h, block(dd - 1), end as u128, true);
    let mut out: Vec<u8> = h.iter().flat_map(|word| word.to_le_bytes()).collect();
    out.truncate(nn);
    out
}
