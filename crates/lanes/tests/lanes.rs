//! Every back end against arrays of `u64`, operation by operation.

use sealstone_lanes::{Cpu, Kernel, Lanes, Portable, Word};

/// Everything that a back end does, on the words of `input`, as plain numbers.
struct Everything<'a>(&'a [u64]);

impl Kernel for Everything<'_> {
    type Output = (Vec<u64>, Vec<u64>);

    #[inline(always)]
    fn run<const N: usize, L: Lanes<N, Lane = u64>>(self, cpu: L::Cpu) -> Self::Output {
        (
            everything::<N, L>(cpu, self.0),
            everything::<N, [u64; N]>(Portable, self.0),
        )
    }
}

#[inline(always)]
fn everything<const N: usize, L: Lanes<N, Lane = u64>>(cpu: L::Cpu, input: &[u64]) -> Vec<u64> {
    let (pairs, _) = input.as_chunks::<N>();
    let mut out = Vec::new();
    for pair in pairs.windows(2) {
        let (a, b) = (L::load(cpu, &pair[0]), L::load(cpu, &pair[1]));
        for result in [
            a,
            a.add(b),
            a.sub(b),
            a.xor(b),
            a.opaque(),
            L::splat(cpu, pair[0][0]),
        ] {
            out.extend(result.to_array());
        }
        macro_rules! rotations {
            ($($r:literal)*) => { $(
                out.extend(a.rotl::<$r>().to_array());
                out.extend(a.rotr::<$r>().to_array());
            )* };
        }
        rotations!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
        rotations!(33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
    }
    out.extend(blocks::<N, L>(cpu, input));
    out
}

#[inline(always)]
fn blocks<const N: usize, L: Lanes<N, Lane = u64>>(cpu: L::Cpu, input: &[u64]) -> Vec<u64> {
    let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (blocks, _) = bytes.as_chunks::<64>();
    let blocks: [&[u8; 64]; N] = core::array::from_fn(|i| &blocks[i]);
    let words = L::load_blocks(cpu, blocks);
    assert_eq!(L::to_blocks(words).each_ref(), blocks);
    words.into_iter().flat_map(L::to_array).collect()
}

#[test]
fn every_back_end_does_what_arrays_do() {
    // Words of a linear congruential generator (Knuth's MMIX), and the extremes.
    let next = |x: &u64| {
        Some(
            x.wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407),
        )
    };
    let mut input: Vec<u64> = std::iter::successors(Some(1), next).take(128).collect();
    input.extend([0, u64::MAX, 1, 1 << 63].repeat(8));
    for cpu in Cpu::available() {
        let (lanes, arrays) = cpu.run(Everything(&input));
        assert_eq!(lanes, arrays, "{cpu:?}");
    }
}

#[test]
fn arrays_do_what_words_do() {
    let [a, b] = [[3, u64::MAX], [u64::MAX, 1 << 63]];
    assert_eq!(Word::add(a, b), [2, (1 << 63) - 1]);
    assert_eq!(Word::sub(a, b), [4, (1 << 63) - 1]);
    assert_eq!(Word::xor(a, b), [u64::MAX - 3, u64::MAX >> 1]);
    assert_eq!(Word::rotl::<63>(a), [(1 << 63) + 1, u64::MAX]);
    assert_eq!(Word::rotr::<1>(a), [(1 << 63) + 1, u64::MAX]);
    let blocks = [[1; 64], core::array::from_fn(|i| i as u8)];
    let words = <[u64; 2]>::load_blocks(Portable, blocks.each_ref());
    assert_eq!(words[1], [0x0101_0101_0101_0101, 0x0f0e_0d0c_0b0a_0908]);
}
