//! Argon2 as in RFC 9106: one step at a time, tables as printed, no optimisation; and its vectors.

use crate::rfc7693::{COLUMNS_AND_DIAGONALS, blake2b};

/// The tags of [`Argon2::example`] for variants 0 to 2: sections 5.1 to 5.3.
pub const TAGS: [&str; 3] = [
    "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb",
    "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8",
    "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
];

fn le32(n: usize) -> [u8; 4] {
    u32::try_from(n).unwrap().to_le_bytes()
}

/// The functions that Argon2 consists of, here those of this crate. A test of another specification
/// puts its own in their place.
pub trait Functions {
    /// RFC 7693: `length` bytes of BLAKE2b without a key.
    fn blake2b(&self, input: &[u8], length: usize) -> Vec<u8> {
        blake2b(&[], input, length)
    }

    /// RFC 9106, section 3.5.
    fn g(&self, x: &Block, y: &Block) -> Block {
        g(x, y)
    }

    /// RFC 9106, section 3.4.2, as [`Argon2::reference`] describes it.
    fn reference(&self, argon2: &Argon2, place: Place, q: usize, word: u64) -> (usize, usize) {
        argon2.reference(place, q, word)
    }
}

/// All functions as they are in this crate.
#[derive(Clone, Copy, Debug)]
pub struct Transcribed;

impl Functions for Transcribed {}

/// RFC 9106, section 3.3: H'^T(A).
pub fn hprime(a: &[u8], t: usize) -> Vec<u8> {
    hprime_of(&Transcribed, a, t)
}

fn hprime_of(functions: &impl Functions, a: &[u8], t: usize) -> Vec<u8> {
    let a = [&le32(t), a].concat();
    if t <= 64 {
        return functions.blake2b(&a, t);
    }
    let r = t.div_ceil(32) - 2;
    let mut v = functions.blake2b(&a, 64);
    let mut out = v[..32].to_vec();
    for _ in 2..=r {
        v = functions.blake2b(&v, 64);
        out.extend(&v[..32]);
    }
    out.extend(functions.blake2b(&v, t - 32 * r));
    out
}

/// A block: 1024 bytes as 128 little-endian words.
pub type Block = [u64; 128];

/// The place of a block: pass, slice, lane, and index in its segment.
pub type Place = [usize; 4];

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
    /// P.
    pub p_password: Vec<u8>,
    /// S.
    pub s_salt: Vec<u8>,
    /// K.
    pub k_secret: Vec<u8>,
    /// X.
    pub x_data: Vec<u8>,
    /// The number of lanes.
    pub p: usize,
    /// T, the length of the tag in bytes.
    pub t_tag: usize,
    /// The memory in KiB.
    pub m: usize,
    /// The number of passes.
    pub t: usize,
    /// The version.
    pub v: usize,
    /// The variant: 0 for Argon2d, 1 for Argon2i, 2 for Argon2id.
    pub y: usize,
}

impl Argon2 {
    /// The inputs of sections 5.1 to 5.3, for variant `y`.
    pub fn example(y: usize) -> Self {
        Self {
            p_password: vec![1; 32],
            s_salt: vec![2; 16],
            k_secret: vec![3; 8],
            x_data: vec![4; 12],
            p: 4,
            t_tag: 32,
            m: 32,
            t: 3,
            v: 0x13,
            y,
        }
    }

    /// RFC 9106, section 3.2.
    pub fn tag(&self) -> Vec<u8> {
        self.tag_of(&Transcribed)
    }

    /// RFC 9106, section 3.2, step 1: H_0.
    pub fn h0(&self) -> Vec<u8> {
        self.h0_of(&Transcribed)
    }

    fn h0_of(&self, functions: &impl Functions) -> Vec<u8> {
        let mut input = Vec::new();
        for number in [self.p, self.t_tag, self.m, self.t, self.v, self.y] {
            input.extend(le32(number));
        }
        for string in [&self.p_password, &self.s_salt, &self.k_secret, &self.x_data] {
            input.extend(le32(string.len()));
            input.extend(string);
        }
        functions.blake2b(&input, 64)
    }

    /// [`Argon2::tag`] with functions of the caller.
    pub fn tag_of(&self, functions: &impl Functions) -> Vec<u8> {
        // 1.
        let h0 = self.h0_of(functions);
        // 2. m' blocks, as a matrix of p rows and q columns.
        let q = 4 * (self.m / (4 * self.p)) / 4 * 4;
        let mut b: Vec<Vec<Block>> = vec![vec![[0; 128]; q]; self.p];
        // 3. and 4.
        for (i, row) in b.iter_mut().enumerate() {
            for (j, block) in row.iter_mut().take(2).enumerate() {
                let start = [&h0[..], &le32(j), &le32(i)].concat();
                let bytes = hprime_of(functions, &start, 1024);
                *block = core::array::from_fn(|w| {
                    u64::from_le_bytes(bytes[8 * w..][..8].try_into().unwrap())
                });
            }
        }
        // 5. and 6.
        for pass in 0..self.t {
            for slice in 0..4 {
                for i in 0..self.p {
                    self.segment(functions, &mut b, [pass, slice, i]);
                }
            }
        }
        // 7. and 8.
        let c: Block = core::array::from_fn(|w| b.iter().fold(0, |sum, row| sum ^ row[q - 1][w]));
        let bytes: Vec<u8> = c.iter().flat_map(|word| word.to_le_bytes()).collect();
        hprime_of(functions, &bytes, self.t_tag)
    }

    fn segment(
        &self,
        functions: &impl Functions,
        b: &mut [Vec<Block>],
        [pass, slice, i]: [usize; 3],
    ) {
        let q = b[0].len();
        let independent = self.y == 1 || self.y == 2 && pass == 0 && slice < 2;
        for index in 0..q / 4 {
            let j = slice * q / 4 + index;
            if pass == 0 && j < 2 {
                continue;
            }
            let place = [pass, slice, i, index];
            let before = b[i][(j + q - 1) % q];
            let word = if independent {
                self.address_block(functions, place, 4 * self.p * (q / 4))[index % 128]
            } else {
                before[0]
            };
            let (l, z) = functions.reference(self, place, q, word);
            let mut block = functions.g(&before, &b[l][z]);
            if pass > 0 && self.v == 0x13 {
                (0..128).for_each(|w| block[w] ^= b[i][j][w]);
            }
            b[i][j] = block;
        }
    }

    /// RFC 9106, section 3.4.1.2: the 128 pairs J_1, J_2 that have the pair of this place.
    fn address_block(
        &self,
        functions: &impl Functions,
        [pass, slice, lane, index]: Place,
        blocks: usize,
    ) -> Block {
        let mut z = [0; 128];
        for (word, value) in [pass, lane, slice, blocks, self.t, self.y, index / 128 + 1]
            .into_iter()
            .enumerate()
        {
            z[word] = value as u64;
        }
        functions.g(&[0; 128], &functions.g(&[0; 128], &z))
    }

    /// RFC 9106, section 3.4.2: lane and column of the reference block, from the place, the number
    /// q of columns, and J_2 ‖ J_1. The set W is written out. The proofs have transcriptions of
    /// their own over other words, and a test that compares them with this one.
    pub fn reference(
        &self,
        [pass, slice, lane, index]: Place,
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
