//! AES-256 (FIPS 197) and counter mode. A byte is a word with zeros above it. The S-box is an
//! operation of the algebra.

use sealstone_prover::algebra::{Algebra, Cells, Substitution};

/// Nk: the number of words of a key of 256 bits.
const KEY_WORDS: usize = 8;
/// Nr: the number of rounds for this key.
pub const ROUNDS: usize = 14;

/// The bytes of cells of memory.
pub fn bytes<A: Algebra<64>>(a: &mut A, cells: &[A::Word]) -> Vec<A::Word> {
    let byte = a.number(0xff);
    let places = cells.iter().flat_map(|cell| (0..8).map(move |i| (cell, i)));
    places
        .map(|(cell, i)| {
            let shifted = a.shift_right(cell, 8 * i);
            a.and(&shifted, &byte)
        })
        .collect()
}

/// The cells of memory that hold these bytes.
pub fn cells<A: Algebra<64>>(a: &mut A, bytes: &[A::Word]) -> Vec<A::Word> {
    let join = |eight: &[A::Word]| {
        let mut cell = eight[0].clone();
        for (i, byte) in eight.iter().enumerate().skip(1) {
            let moved = a.rotate_left(byte, 8 * i);
            cell = a.xor(&cell, &moved);
        }
        cell
    };
    bytes.chunks(8).map(join).collect()
}

fn added<A: Algebra<64>>(a: &mut A, x: &[A::Word], y: &[A::Word]) -> Vec<A::Word> {
    x.iter().zip(y).map(|(x, y)| a.xor(x, y)).collect()
}

fn substituted<A: Substitution>(a: &mut A, bytes: &[A::Word]) -> Vec<A::Word> {
    bytes.iter().map(|byte| a.substitute(byte)).collect()
}

/// Section 4.2 (4.5), XTIMES: the product with x, modulo x^8 + x^4 + x^3 + x + 1.
fn x_times<A: Algebra<64>>(a: &mut A, byte: &A::Word) -> A::Word {
    let (turned, low) = (a.rotate_left(byte, 1), a.number(0xff));
    let top = a.shift_right(byte, 7);
    let mut product = a.and(&turned, &low);
    for place in [0, 1, 3, 4] {
        let reduced = a.rotate_left(&top, place);
        product = a.xor(&product, &reduced);
    }
    product
}

/// Section 5.1.2: row r of the state, whose bytes are in columns, is rotated left by r.
fn shift_rows<W: Clone>(state: &[W]) -> Vec<W> {
    let places = (0..16).map(|place| (place % 4, place / 4));
    places
        .map(|(row, column)| state[row + 4 * ((column + row) % 4)].clone())
        .collect()
}

/// Section 5.1.3 (5.8): the product of a column with {03} x^3 + {01} x^2 + {01} x + {02}.
fn mix_column<A: Algebra<64>>(a: &mut A, s: &[A::Word]) -> Vec<A::Word> {
    let rows = 0..4;
    rows.map(|row| {
        let [first, second, third, fourth] = [0, 1, 2, 3].map(|other| &s[(row + other) % 4]);
        let (twice, of_second) = (x_times(a, first), x_times(a, second));
        let thrice = a.xor(&of_second, second);
        let sum = a.xor(&twice, &thrice);
        let sum = a.xor(&sum, third);
        a.xor(&sum, fourth)
    })
    .collect()
}

/// Algorithm 1, CIPHER, of 16 bytes. The round keys are consecutive.
pub fn cipher<A: Substitution>(a: &mut A, input: &[A::Word], keys: &[A::Word]) -> Vec<A::Word> {
    let mut keys = keys.chunks(16);
    let mut next = || keys.next().expect("a key for each round");
    let mut state = added(a, input, next());
    for _ in 1..ROUNDS {
        state = substituted(a, &state);
        state = shift_rows(&state);
        state = state.chunks(4).flat_map(|s| mix_column(a, s)).collect();
        state = added(a, &state, next());
    }
    state = substituted(a, &state);
    state = shift_rows(&state);
    added(a, &state, next())
}

/// Algorithm 2, KEYEXPANSION: the bytes of all round keys.
pub fn key_expansion<A: Substitution>(a: &mut A, key: &[A::Word]) -> Vec<A::Word> {
    let mut w = key.to_vec();
    let mut constant = a.number(1);
    for i in KEY_WORDS..4 * (ROUNDS + 1) {
        let mut temp = w[4 * (i - 1)..].to_vec();
        if i % KEY_WORDS == 0 {
            temp.rotate_left(1);
            temp = substituted(a, &temp);
            temp[0] = a.xor(&temp[0], &constant);
            constant = x_times(a, &constant);
        } else if i % KEY_WORDS == 4 {
            temp = substituted(a, &temp);
        }
        let before = w[4 * (i - KEY_WORDS)..][..4].to_vec();
        w.extend(added(a, &before, &temp));
    }
    w
}

/// SP 800-38D, 6.2: the counter in a block of two cells, the last 32 bits with their highest byte
/// first.
pub fn counter<A: Cells>(
    a: &mut A,
    block: &[<A as Algebra<64>>::Word],
) -> <A as Algebra<32>>::Word {
    let [_, counter] = a.split(&block[1]);
    Algebra::<32>::swap_bytes(a, &counter)
}

/// The block with another counter.
pub fn with_counter<A: Cells>(
    a: &mut A,
    block: &[<A as Algebra<64>>::Word],
    counter: &<A as Algebra<32>>::Word,
) -> Vec<<A as Algebra<64>>::Word> {
    let [nonce, _] = a.split(&block[1]);
    let counter = Algebra::<32>::swap_bytes(a, counter);
    vec![block[0].clone(), a.join(&[nonce, counter])]
}

/// SP 800-38D, 6.2: repeated inc32 of a block of two cells. The addition has two steps, as in code
/// that encrypts `step` blocks at once, so that the formulas have the same sums.
pub fn counted<A: Cells>(
    a: &mut A,
    block: &[<A as Algebra<64>>::Word],
    number: usize,
    step: usize,
) -> Vec<<A as Algebra<64>>::Word> {
    let counter = counter(a, block);
    let earlier = Algebra::<32>::number(a, (number / step * step) as u64);
    let first = Algebra::<32>::add(a, &counter, &earlier);
    let zero = Algebra::<32>::number(a, 0);
    let (wide, rest) = (
        a.join(&[first, zero]),
        Algebra::<64>::number(a, (number % step) as u64),
    );
    let sum = Algebra::<64>::add(a, &wide, &rest);
    let [low, _] = a.split(&sum);
    with_counter(a, block, &low)
}

/// SP 800-38D, 6.5, GCTR of whole blocks, for code that encrypts `step` blocks at once. All values
/// are cells of memory.
pub fn counter_mode<A: Substitution + Cells>(
    a: &mut A,
    data: &[<A as Algebra<64>>::Word],
    keys: &[<A as Algebra<64>>::Word],
    first: &[<A as Algebra<64>>::Word],
    step: usize,
) -> Vec<<A as Algebra<64>>::Word> {
    let keys = bytes(a, keys);
    let mut output = Vec::new();
    for (number, block) in data.chunks(2).enumerate() {
        let counter = counted(a, first, number, step);
        let counter = bytes(a, &counter);
        let stream = cipher(a, &counter, &keys);
        let stream = cells(a, &stream);
        output.extend(added(a, block, &stream));
    }
    output
}
