//! BLAKE2b as a whole (RFC 7693, section 3.3), and H′ of Argon2 (RFC 9106, section 3.3).

use super::{Strings, plus};
use crate::spec::blake2b::iv;

/// F(h, m, t, f), with f as a word.
pub trait Compression<A: Strings> {
    /// The new h.
    fn compress(
        &self,
        a: &mut A,
        h: &[A::Word],
        m: &[A::Word],
        t: &[A::Word],
        f: &A::Word,
    ) -> Vec<A::Word>;
}

/// F of RFC 7693, section 3.2.
pub struct F;

impl<A: Strings> Compression<A> for F {
    fn compress(
        &self,
        a: &mut A,
        h: &[A::Word],
        m: &[A::Word],
        t: &[A::Word],
        f: &A::Word,
    ) -> Vec<A::Word> {
        crate::spec::blake2b::compress(a, h, m, t, f)
    }
}

/// RFC 7693, section 3.3: BLAKE2b with `nn` bytes of output.
pub fn hash<A: Strings>(
    a: &mut A,
    f: &impl Compression<A>,
    key: &[A::Byte],
    data: &[A::Byte],
    nn: usize,
) -> Vec<A::Byte> {
    let zero = a.byte(0);
    // d[0..dd-1]: the key, padded to a block, and the data, padded to blocks; one block of zeros if
    // there is neither.
    let mut d = key.to_vec();
    d.resize(key.len().next_multiple_of(128), zero);
    d.extend_from_slice(data);
    let before = [0, 0].map(|x| a.number(x));
    hash_after(a, f, &before, &d, [key.len(), nn])
}

/// The same from the first block on, if `before` bytes were counted before it (none in a hash).
/// `lengths` are those of key and output.
pub fn hash_after<A: Strings>(
    a: &mut A,
    f: &impl Compression<A>,
    before: &[A::Word; 2],
    data: &[A::Byte],
    [kk, nn]: [usize; 2],
) -> Vec<A::Byte> {
    let mut numbers = iv();
    numbers[0] ^= 0x0101_0000 ^ (kk as u64) << 8 ^ nn as u64;
    let h: Vec<A::Word> = numbers.iter().map(|x| a.number(*x)).collect();
    let mut output = blocks(a, f, h, before, data);
    output.truncate(nn);
    output
}

/// The loop over the blocks of `data` and its end, from any `h` on, if `before` bytes were counted
/// before them. 64 bytes of output.
pub fn blocks<A: Strings>(
    a: &mut A,
    f: &impl Compression<A>,
    mut h: Vec<A::Word>,
    before: &[A::Word; 2],
    data: &[A::Byte],
) -> Vec<A::Byte> {
    let bytes = data.len();
    let mut d = data.to_vec();
    d.resize(bytes.next_multiple_of(128).max(128), a.byte(0));
    let dd = d.len() / 128;
    for (i, block) in d.chunks(128).enumerate() {
        let last = i == dd - 1;
        let position = if last { bytes } else { (i + 1) * 128 };
        let t = plus(a, before, position as u64);
        let flag = a.number(if last { u64::MAX } else { 0 });
        let m = a.words(block);
        h = f.compress(a, &h, &m, &t, &flag);
    }
    a.to_bytes(&h)
}

/// RFC 9106, section 3.3: H′^T(A).
pub fn hprime<A: Strings>(
    a: &mut A,
    f: &impl Compression<A>,
    input: &[A::Byte],
    t: usize,
) -> Vec<A::Byte> {
    let mut first = a.string(&(t as u32).to_le_bytes());
    first.extend_from_slice(input);
    if t <= 64 {
        return hash(a, f, &[], &first, t);
    }
    let r = t.div_ceil(32) - 2;
    let mut v = hash(a, f, &[], &first, 64); // V_1
    let mut output = v[..32].to_vec(); // W_1
    for _ in 2..=r {
        v = hash(a, f, &[], &v, 64); // V_i
        output.extend_from_slice(&v[..32]); // W_i
    }
    output.extend(hash(a, f, &[], &v, t - 32 * r)); // V_{r+1}
    output
}
