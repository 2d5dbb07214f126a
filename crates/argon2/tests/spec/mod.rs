//! Argon2 and BLAKE2b as in their RFCs: one step at a time, tables as printed, no optimisation.
//!
//! This is the other side of every comparison. It shares no code with the crate.
#![allow(dead_code, unreachable_pub)]

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
const COLUMNS_AND_DIAGONALS: [[usize; 4]; 8] = [
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

fn le32(n: usize) -> [u8; 4] {
    u32::try_from(n).unwrap().to_le_bytes()
}

/// RFC 9106, section 3.3: H'^T(A).
pub fn hprime(a: &[u8], t: usize) -> Vec<u8> {
    let a = [&le32(t), a].concat();
    if t <= 64 {
        return blake2b(&[], &a, t);
    }
    let r = t.div_ceil(32) - 2;
    let mut v = blake2b(&[], &a, 64);
    let mut out = v[..32].to_vec();
    for _ in 2..=r {
        v = blake2b(&[], &v, 64);
        out.extend(&v[..32]);
    }
    out.extend(blake2b(&[], &v, t - 32 * r));
    out
}

/// A block: 1024 bytes as 128 little-endian words.
type Block = [u64; 128];

/// RFC 9106, section 3.6: GB.
fn gb(v: &mut [u64; 16], [a, b, c, d]: [usize; 4]) {
    let trunc = |x: u64| u64::from(x as u32);
    let fbla = |x: u64, y: u64| {
        x.wrapping_add(y)
            .wrapping_add(2_u64.wrapping_mul(trunc(x).wrapping_mul(trunc(y))))
    };
    v[a] = fbla(v[a], v[b]);
    v[d] = (v[d] ^ v[a]).rotate_right(32);
    v[c] = fbla(v[c], v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(24);
    v[a] = fbla(v[a], v[b]);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = fbla(v[c], v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(63);
}

/// RFC 9106, section 3.6: P on eight 16-byte registers, each v_{2i+1} || v_{2i}.
fn p(s: [[u64; 2]; 8]) -> [[u64; 2]; 8] {
    let mut v = core::array::from_fn(|i| s[i / 2][i % 2]);
    for places in COLUMNS_AND_DIAGONALS {
        gb(&mut v, places);
    }
    core::array::from_fn(|i| [v[2 * i], v[2 * i + 1]])
}

/// RFC 9106, section 3.5: G.
pub fn g(x: &Block, y: &Block) -> Block {
    let r: Block = core::array::from_fn(|i| x[i] ^ y[i]);
    // An 8 x 8 matrix of 16-byte registers R_0 ... R_63.
    let mut q: [[u64; 2]; 64] = core::array::from_fn(|i| [r[2 * i], r[2 * i + 1]]);
    for row in 0..8 {
        let out = p(core::array::from_fn(|i| q[8 * row + i]));
        (0..8).for_each(|i| q[8 * row + i] = out[i]);
    }
    for column in 0..8 {
        let out = p(core::array::from_fn(|i| q[8 * i + column]));
        (0..8).for_each(|i| q[8 * i + column] = out[i]);
    }
    core::array::from_fn(|i| q[i / 2][i % 2] ^ r[i])
}

/// All inputs of Argon2 (RFC 9106, section 3.1), with their names there.
#[derive(Clone, Debug, Default)]
pub struct Argon2 {
    pub p_password: Vec<u8>,
    pub s_salt: Vec<u8>,
    pub k_secret: Vec<u8>,
    pub x_data: Vec<u8>,
    pub p: usize,
    pub t_tag: usize,
    pub m: usize,
    pub t: usize,
    pub v: usize,
    pub y: usize,
}

impl Argon2 {
    /// RFC 9106, section 3.2.
    pub fn tag(&self) -> Vec<u8> {
        // 1. H_0.
        let mut input = Vec::new();
        for number in [self.p, self.t_tag, self.m, self.t, self.v, self.y] {
            input.extend(le32(number));
        }
        for string in [&self.p_password, &self.s_salt, &self.k_secret, &self.x_data] {
            input.extend(le32(string.len()));
            input.extend(string);
        }
        let h0 = blake2b(&[], &input, 64);
        // 2. m' blocks, as a matrix of p rows and q columns.
        let q = 4 * (self.m / (4 * self.p)) / 4 * 4;
        let mut b: Vec<Vec<Block>> = vec![vec![[0; 128]; q]; self.p];
        // 3. and 4.
        for (i, row) in b.iter_mut().enumerate() {
            for (j, block) in row.iter_mut().take(2).enumerate() {
                let bytes = hprime(&[&h0[..], &le32(j), &le32(i)].concat(), 1024);
                *block = core::array::from_fn(|w| {
                    u64::from_le_bytes(bytes[8 * w..][..8].try_into().unwrap())
                });
            }
        }
        // 5. and 6.
        for pass in 0..self.t {
            for slice in 0..4 {
                for i in 0..self.p {
                    self.segment(&mut b, pass, slice, i);
                }
            }
        }
        // 7. and 8.
        let c: Block = core::array::from_fn(|w| b.iter().fold(0, |sum, row| sum ^ row[q - 1][w]));
        let bytes: Vec<u8> = c.iter().flat_map(|word| word.to_le_bytes()).collect();
        hprime(&bytes, self.t_tag)
    }

    fn segment(&self, b: &mut [Vec<Block>], pass: usize, slice: usize, i: usize) {
        let q = b[0].len();
        let independent = self.y == 1 || self.y == 2 && pass == 0 && slice < 2;
        for index in 0..q / 4 {
            let j = slice * q / 4 + index;
            if pass == 0 && j < 2 {
                continue;
            }
            let before = b[i][(j + q - 1) % q];
            let word = if independent {
                self.address_block(pass, slice, i, 4 * self.p * (q / 4), index / 128)[index % 128]
            } else {
                before[0]
            };
            let (l, z) = self.reference(pass, slice, i, index, q, word);
            let mut block = g(&before, &b[l][z]);
            if pass > 0 && self.v == 0x13 {
                (0..128).for_each(|w| block[w] ^= b[i][j][w]);
            }
            b[i][j] = block;
        }
    }

    /// RFC 9106, section 3.4.1.2: 128 pairs J_1, J_2.
    fn address_block(
        &self,
        pass: usize,
        slice: usize,
        lane: usize,
        blocks: usize,
        number: usize,
    ) -> Block {
        let mut z = [0; 128];
        for (word, value) in [pass, lane, slice, blocks, self.t, self.y, number + 1]
            .into_iter()
            .enumerate()
        {
            z[word] = value as u64;
        }
        g(&[0; 128], &g(&[0; 128], &z))
    }

    /// RFC 9106, section 3.4.2: lane and column of the reference block. The set W is written out.
    fn reference(
        &self,
        pass: usize,
        slice: usize,
        lane: usize,
        index: usize,
        q: usize,
        word: u64,
    ) -> (usize, usize) {
        let (j1, j2) = (u64::from(word as u32), (word >> 32) as usize);
        let l = if pass == 0 && slice == 0 {
            lane
        } else {
            j2 % self.p
        };
        let length = q / 4;
        // The finished segments, oldest first: of the last three slices, as far as they have been
        // computed.
        let finished = if pass == 0 {
            0..slice
        } else {
            slice + 1..slice + 4
        };
        let mut w: Vec<usize> = finished
            .flat_map(|s| (0..length).map(move |k| s % 4 * length + k))
            .collect();
        if l == lane {
            // And this segment, without the block just before.
            w.extend((0..index).map(|k| slice * length + k));
            w.pop();
        } else if index == 0 {
            w.pop();
        }
        let x = (j1 * j1) >> 32;
        let y = (w.len() as u64 * x) >> 32;
        let zz = w.len() as u64 - 1 - y;
        (l, w[zz as usize])
    }
}
