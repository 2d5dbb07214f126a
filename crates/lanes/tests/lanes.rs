//! Every back end against arrays of `u64`, operation by operation.

use sealstone_lanes::{
    Cpu, Index, Kernel, Lanes, Line, Portable, Row, RowKernel, RowPair, Word, wipe, wipe_part,
};

/// The results of every operation of a back end, on the words of `input`.
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
            a.mul_lo32(b),
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
        rotations!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27);
        rotations!(28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51);
        rotations!(52 53 54 55 56 57 58 59 60 61 62 63);
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

/// The same for the operations of rows.
struct Rows<'a>(&'a [u64; 16]);

impl RowKernel for Rows<'_> {
    type Output = (Vec<u64>, Vec<u64>);

    #[inline(always)]
    fn run<R, P>(self, cpu: R::Cpu) -> Self::Output
    where
        R: Row<Lane = u64>,
        P: RowPair<Lane = u64, Cpu = R::Cpu>,
    {
        (
            rows::<R, P>(cpu, self.0),
            rows::<[u64; 4], [u64; 8]>(Portable, self.0),
        )
    }
}

#[inline(always)]
fn rows<R, P>(cpu: R::Cpu, input: &[u64; 16]) -> Vec<u64>
where
    R: Row<Lane = u64>,
    P: RowPair<Lane = u64, Cpu = R::Cpu>,
{
    let mut out = Vec::new();
    let (quarters, halves) = (input.as_chunks::<4>().0, input.as_chunks::<8>().0);
    let [a, b, ..] = [0, 1, 2, 3].map(|i| R::load(cpu, &quarters[i]));
    let table = R::table(cpu, input);
    for row in [
        a.turn::<1>(),
        a.turn::<2>(),
        a.turn::<3>(),
        a.add(b),
        a.sub(b),
        a.xor(b),
        a.mul_lo32(b),
        a.rotl::<7>(),
        a.rotr::<24>(),
        a.rotr::<63>(),
        R::splat(cpu, input[5]),
        R::pick(&table, [15, 0, 9, 7]),
        R::pick(&table, [3, 12, 3, 8]),
    ] {
        out.extend(row.to_array());
    }
    let [a, b] = [0, 1].map(|i| P::load(cpu, &halves[i]));
    for pair in [
        a.turn::<1, false>(),
        a.turn::<2, false>(),
        a.turn::<3, false>(),
        a.turn::<1, true>(),
        a.turn::<2, true>(),
        a.turn::<3, true>(),
        a.add(b),
        a.mul_lo32(b),
        a.rotr::<63>(),
    ] {
        out.extend(pair.to_array());
    }
    out
}

#[test]
fn rows_of_every_back_end_do_what_arrays_do() {
    let input = core::array::from_fn(|i| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * i as u64 + 1));
    for cpu in Cpu::available() {
        let (rows, arrays) = cpu.run_rows(Rows(&input));
        assert_eq!(rows, arrays, "{cpu:?}");
    }
}

#[test]
fn rows_of_arrays_do_what_their_words_say() {
    let row = [10, 11, 12, 13_u64];
    assert_eq!(Row::turn::<1>(row), [11, 12, 13, 10]);
    assert_eq!(Row::turn::<3>(row), [13, 10, 11, 12]);
    let pair = [0, 1, 2, 3, 4, 5, 6, 7_u64];
    assert_eq!(RowPair::turn::<2, false>(pair), [2, 3, 0, 1, 6, 7, 4, 5]);
    // The rows are 0, 1, 4, 5 and 2, 3, 6, 7.
    assert_eq!(RowPair::turn::<1, true>(pair), [1, 4, 3, 6, 5, 0, 7, 2]);
    assert_eq!(RowPair::turn::<2, true>(pair), [4, 5, 6, 7, 0, 1, 2, 3]);
    assert_eq!(
        Word::mul_lo32(0x7_ffff_ffff, 0xffff_ffff_u64),
        0xffff_fffe_0000_0001
    );
}

#[test]
fn indices_are_plain_arithmetic() {
    assert_eq!(7_u64.remainder(4), 3);
    assert_eq!((1_u64 << 40).shift_right::<32>(), 256);
    assert!(1_u64.is_below(2) && !2_u64.is_below(2) && 2_u64.is_equal(2));
    assert_eq!((u64::select(true, 1, 2), u64::select(false, 1, 2)), (1, 2));
}

#[test]
fn wiped_lines_are_zero_and_their_neighbours_are_not() {
    // A few lines; a few lines of a memory that is large enough for streamed zeros; and a whole
    // memory of this size.
    for (lines, all) in [
        (1, 1),
        (3, 3),
        (1, 1 << 24),
        (5, usize::MAX),
        (1 << 20, 1 << 20),
    ] {
        let mut memory = vec![Line([7; 8]); lines + 2];
        if lines == all {
            wipe(&mut memory[1..=lines]);
        } else {
            wipe_part(&mut memory[1..=lines], all);
        }
        assert!(memory[1..=lines].iter().all(|line| *line == Line([0; 8])));
        assert_eq!((memory[0], memory[lines + 1]), (Line([7; 8]), Line([7; 8])));
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
