//! The contract of a function that others wrote: `blake3_compress_in_place_sse41`, assembly in the
//! crate `blake3`.
//!
//! Its declaration is all that is needed of their code:
//!
//! ```c
//! void blake3_compress_in_place_sse41(uint32_t cv[8], const uint8_t block[64],
//!                                     uint8_t block_len, uint64_t counter, uint8_t flags);
//! ```

use sealstone_prover::algebra::{Algebra, Cells};
use sealstone_prover::contract::{Access, Cell, Contents, Contract};
use sealstone_prover::formula;

/// BLAKE3 (c2sp.org/BLAKE3), 2.2: the first half of the initial value.
const INITIAL: [u64; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];

/// BLAKE3, 2.3: the order of the block's words in the next round.
const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

/// BLAKE3, 3.3: the words of the state that each call of G in a round mixes.
const MIXED: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// A cell of memory has 64 bits, a word of BLAKE3 has 32.
type Cell64<A> = <A as Algebra<64>>::Word;
type Word<A> = <A as Algebra<32>>::Word;

/// BLAKE3, 3.2: the function G. A sum that an exclusive or follows is marked as opaque: that keeps
/// the formulas small, and changes nothing for numbers.
fn mix<A: Algebra<32>>(a: &mut A, v: &mut [A::Word], places: [usize; 4], words: &[A::Word]) {
    let [i, j, k, l] = places;
    for (word, first, second) in [(&words[0], 16, 12), (&words[1], 8, 7)] {
        let sum = a.add(&v[i], &v[j]);
        let sum = a.add(&sum, word);
        v[i] = a.opaque(sum);
        let changed = a.xor(&v[l], &v[i]);
        v[l] = a.rotate_right(&changed, first);
        let sum = a.add(&v[k], &v[l]);
        v[k] = a.opaque(sum);
        let changed = a.xor(&v[j], &v[k]);
        v[j] = a.rotate_right(&changed, second);
    }
}

/// BLAKE3, 3.3: the next chaining value, from the one before and the block. The last four words are
/// the counter, low word first, the length of the block, and the flags.
fn compress<A: Algebra<32>>(
    a: &mut A,
    chaining: &[A::Word],
    block: &[A::Word],
    last: [A::Word; 4],
) -> Vec<A::Word> {
    let mut v = chaining.to_vec();
    v.extend(INITIAL.map(|word| a.number(word)));
    v.extend(last);
    let mut m = block.to_vec();
    for _round in 0..7 {
        for (places, words) in MIXED.into_iter().zip(m.chunks(2)) {
            mix(a, &mut v, places, words);
        }
        m = PERMUTATION.map(|word| m[word].clone()).to_vec();
    }
    let halves = v[..8].iter().zip(&v[8..]);
    halves.map(|(low, high)| a.xor(low, high)).collect()
}

/// The same, over the cells of the buffers below, in their order.
fn specification<A: Cells>(a: &mut A, contents: &Contents<Cell64<A>>) -> Contents<Cell64<A>> {
    let buffers = contents.iter().map(|cells| words(a, cells));
    let buffers: Vec<Vec<Word<A>>> = buffers.collect();
    let [chaining, block, length, counter, flags] = &buffers[..] else {
        unreachable!("five buffers")
    };
    let [low, high] = [0, 1].map(|word| counter[word].clone());
    let byte = Algebra::<32>::number(a, 0xff);
    let [length, flags] = [length, flags].map(|words| Algebra::<32>::and(a, &words[0], &byte));
    let last = [low, high, length, flags];
    let next = compress(a, chaining, block, last);
    vec![next.chunks(2).map(|pair| a.join(pair)).collect()]
}

fn words<A: Cells>(a: &mut A, cells: &[Cell64<A>]) -> Vec<Word<A>> {
    cells.iter().flat_map(|cell| a.split(cell)).collect()
}

/// Two buffers, whose addresses are arguments; and three numbers, which are arguments themselves.
/// They are buffers here so that they have names and can be anything, but the function gets no
/// address of them.
pub fn contracts() -> Vec<Contract> {
    // The function uses more bits of these registers than the eight of its arguments. The ABI does
    // not say what is above those; compilers put zeros there. So that is an assumption.
    let byte = || vec![Cell::Small(8)];
    let compression = Contract::new(formula!(|a, contents| specification(a, contents)))
        .buffer("chaining value", 4, 4, Access::Write)
        .buffer("block", 8, 1, Access::Read)
        .record("length", byte(), 1, Access::Read)
        .buffer("counter", 1, 1, Access::Read)
        .record("flags", byte(), 1, Access::Read)
        .addresses(["chaining value", "block"])
        .values("length")
        .values("counter")
        .values("flags");
    vec![compression]
}
