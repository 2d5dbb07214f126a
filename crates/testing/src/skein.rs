//! Skein 1.3 as in its specification: one step at a time, tables as printed, no optimisation.

/// Table 3: the word permutation, π(i).
const PERMUTATION_4: [usize; 4] = [0, 3, 2, 1];
const PERMUTATION_8: [usize; 8] = [2, 1, 4, 7, 6, 5, 0, 3];
const PERMUTATION_16: [usize; 16] = [0, 9, 2, 13, 6, 11, 4, 15, 10, 7, 12, 3, 14, 5, 8, 1];

/// Table 4: the rotation constants, R_{d,j}.
#[rustfmt::skip]
const ROTATION_4: [[u32; 2]; 8] = [
    [14, 16], [52, 57], [23, 40], [ 5, 37], [25, 33], [46, 12], [58, 22], [32, 32],
];
#[rustfmt::skip]
const ROTATION_8: [[u32; 4]; 8] = [
    [46, 36, 19, 37], [33, 27, 14, 42], [17, 49, 36, 39], [44,  9, 54, 56],
    [39, 30, 34, 24], [13, 50, 10, 17], [25, 29, 39, 43], [ 8, 35, 56, 22],
];
#[rustfmt::skip]
const ROTATION_16: [[u32; 8]; 8] = [
    [24, 13,  8, 47,  8, 17, 22, 37], [38, 19, 10, 55, 49, 18, 23, 52],
    [33,  4, 51, 13, 34, 41, 59, 17], [ 5, 20, 48, 41, 47, 28, 16, 25],
    [41,  9, 37, 31, 12, 47, 44, 30], [16, 34, 56, 51,  4, 53, 42, 41],
    [31, 44, 47, 46, 19, 42, 44, 25], [ 9, 48, 35, 52, 23, 31, 37, 20],
];

fn permutation(nw: usize, i: usize) -> usize {
    match nw {
        4 => PERMUTATION_4[i],
        8 => PERMUTATION_8[i],
        _ => PERMUTATION_16[i],
    }
}

/// Table 4, R_{d,j}, for `nw` words.
pub fn rotation(nw: usize, d: usize, j: usize) -> u32 {
    match nw {
        4 => ROTATION_4[d % 8][j],
        8 => ROTATION_8[d % 8][j],
        _ => ROTATION_16[d % 8][j],
    }
}

fn to_words(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks(8)
        .map(|b| u64::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Section 3.3.2.
pub const C240: u64 = 0x1BD11BDAA9FC1A22;

/// Section 3.3.2: subkey `s`.
fn subkey(key: &[u64], tweak: [u64; 2], s: usize) -> Vec<u64> {
    let nw = key.len();
    let mut k = key.to_vec();
    k.push(key.iter().fold(C240, |x, y| x ^ y));
    let t = [tweak[0], tweak[1], tweak[0] ^ tweak[1]];
    let mut subkey: Vec<u64> = (0..nw).map(|i| k[(s + i) % (nw + 1)]).collect();
    subkey[nw - 3] = subkey[nw - 3].wrapping_add(t[s % 3]);
    subkey[nw - 2] = subkey[nw - 2].wrapping_add(t[(s + 1) % 3]);
    subkey[nw - 1] = subkey[nw - 1].wrapping_add(s as u64);
    subkey
}

/// Section 3.3: E(K, T, P).
pub fn threefish(key: &[u64], tweak: [u64; 2], plaintext: &[u64]) -> Vec<u64> {
    rounds(key, tweak, plaintext).pop().unwrap()
}

/// Section 3.3: v_1, v_2, … after each round, and the ciphertext.
pub fn rounds(key: &[u64], tweak: [u64; 2], plaintext: &[u64]) -> Vec<Vec<u64>> {
    let nw = key.len();
    let rounds = if nw == 16 { 80 } else { 72 };
    let add = |v: Vec<u64>, k: Vec<u64>| -> Vec<u64> {
        v.iter().zip(k).map(|(v, k)| v.wrapping_add(k)).collect()
    };
    let mut v = plaintext.to_vec();
    let mut all = Vec::new();
    for d in 0..rounds {
        let e = if d % 4 == 0 {
            add(v, subkey(key, tweak, d / 4))
        } else {
            v
        };
        let mut f = vec![0; nw];
        for j in 0..nw / 2 {
            f[2 * j] = e[2 * j].wrapping_add(e[2 * j + 1]);
            f[2 * j + 1] = e[2 * j + 1].rotate_left(rotation(nw, d, j)) ^ f[2 * j];
        }
        v = (0..nw).map(|i| f[permutation(nw, i)]).collect();
        all.push(v.clone());
    }
    all.push(add(v, subkey(key, tweak, rounds / 4)));
    all
}

/// π^d(i): the index of word i of v_d, if words do not move.
pub fn place(nw: usize, d: usize, i: usize) -> usize {
    (0..d).fold(i, |i, _| permutation(nw, i))
}

/// Section 3.4: UBI(G, M, T_s), where M has `bits` bits.
pub fn ubi(g: &[u8], message: &[u8], bits: usize, start: u128) -> Vec<u8> {
    let nb = g.len();
    assert_eq!(message.len(), bits.div_ceil(8));
    let mut m = message.to_vec();
    let b = !bits.is_multiple_of(8);
    if b {
        let used = bits % 8;
        let last = m.last_mut().unwrap();
        *last &= 0xff << (8 - used);
        *last |= 1 << (7 - used);
    }
    let nm = m.len();
    m.resize(nm.max(1).next_multiple_of(nb), 0);
    let k = m.len() / nb;
    let mut h = g.to_vec();
    for i in 0..k {
        let first = u128::from(i == 0);
        let last = u128::from(i == k - 1);
        let position = nm.min((i + 1) * nb) as u128;
        let t = start + position + (first << 126) + (last << 127) + ((last & u128::from(b)) << 119);
        let block = &m[i * nb..][..nb];
        let e = threefish(
            &to_words(&h),
            [t as u64, (t >> 64) as u64],
            &to_words(block),
        );
        h = to_bytes(&e).iter().zip(block).map(|(x, y)| x ^ y).collect();
    }
    h
}

/// Table 6.
pub const KEY: u128 = 0;
/// The configuration block.
pub const CFG: u128 = 4;
/// A personalisation string.
pub const PRS: u128 = 8;
/// A public key.
pub const PK: u128 = 12;
/// The identifier of a derived key.
pub const KDF: u128 = 16;
/// A nonce.
pub const NON: u128 = 20;
/// The message.
pub const MSG: u128 = 48;
/// The output transform.
pub const OUT: u128 = 63;

/// All arguments of Skein (section 3.5).
#[derive(Clone, Default)]
pub struct Skein<'a> {
    /// N_b, in bytes: 32, 64 or 128.
    pub block: usize,
    /// N_o.
    pub output_bits: u64,
    /// K.
    pub key: &'a [u8],
    /// Optional arguments with their types, in ascending order.
    pub arguments: Vec<(u128, &'a [u8])>,
    /// Y_l, Y_f, Y_m; all zero for no tree.
    pub tree: [u8; 3],
}

impl Skein<'_> {
    /// Section 3.5.5: the chaining value before the message.
    pub fn start(&self) -> Vec<u8> {
        let zero = vec![0; self.block];
        let k = if self.key.is_empty() {
            zero
        } else {
            ubi(&zero, self.key, 8 * self.key.len(), KEY << 120)
        };
        let mut c = b"SHA3\x01\x00\x00\x00".to_vec();
        c.extend(self.output_bits.to_le_bytes());
        c.extend(self.tree);
        c.resize(32, 0);
        let mut g = ubi(&k, &c, 256, CFG << 120);
        for (kind, argument) in &self.arguments {
            g = ubi(&g, argument, 8 * argument.len(), kind << 120);
        }
        g
    }

    /// The hash of a message of `bits` bits.
    pub fn hash(&self, message: &[u8], bits: usize) -> Vec<u8> {
        let g = self.start();
        let g = if self.tree == [0; 3] {
            ubi(&g, message, bits, MSG << 120)
        } else {
            self.tree(&g, message, bits, 0)
        };
        self.output(&g)
    }

    /// Section 3.5.6: M_l has `bits` bits; returns G_o.
    fn tree(&self, g: &[u8], message: &[u8], bits: usize, l: u8) -> Vec<u8> {
        let [yl, yf, ym] = self.tree;
        let level = |l: u8| (u128::from(l) << 112) + (MSG << 120);
        if l > 0 && bits == 8 * self.block {
            return message.to_vec();
        }
        if l > 0 && l == ym - 1 {
            return ubi(g, message, bits, level(ym));
        }
        let n = self.block << if l == 0 { yl } else { yf };
        let mut next = Vec::new();
        for start in (0..message.len().max(1)).step_by(n) {
            let end = message.len().min(start + n);
            let bits = (bits - 8 * start).min(8 * n);
            next.extend(ubi(
                g,
                &message[start..end],
                bits,
                level(l + 1) + start as u128,
            ));
        }
        let bits = 8 * next.len();
        self.tree(g, &next, bits, l + 1)
    }

    /// Section 3.5.3.
    fn output(&self, g: &[u8]) -> Vec<u8> {
        let bytes = self.output_bits.div_ceil(8) as usize;
        let mut out: Vec<u8> = (0..bytes.div_ceil(self.block) as u64)
            .flat_map(|i| ubi(g, &i.to_le_bytes(), 64, OUT << 120))
            .collect();
        out.truncate(bytes);
        if !self.output_bits.is_multiple_of(8) {
            *out.last_mut().unwrap() &= 0xff << (8 - self.output_bits % 8);
        }
        out
    }
}
