//! ChaCha20 (RFC 8439, sections 2.3 and 2.4), and HChaCha20 (draft-irtf-cfrg-xchacha-03, section
//! 2.2).

use sealstone_prover::algebra::Algebra;

/// Section 2.1: the quarter round.
fn quarter_round<A: Algebra<32>>(a: &mut A, v: &mut [A::Word], [i, j, k, l]: [usize; 4]) {
    for (first, second) in [(16, 12), (8, 7)] {
        let sum = a.add(&v[i], &v[j]);
        v[i] = a.opaque(sum);
        let difference = a.xor(&v[l], &v[i]);
        v[l] = a.rotate_left(&difference, first);
        let sum = a.add(&v[k], &v[l]);
        v[k] = a.opaque(sum);
        let difference = a.xor(&v[j], &v[k]);
        v[j] = a.rotate_left(&difference, second);
    }
}

/// Section 2.3: the constants, key, counter and nonce.
pub fn state<A: Algebra<32>>(a: &mut A, key: &[A::Word], input: &[A::Word]) -> Vec<A::Word> {
    let constants = b"expand 32-byte k".as_chunks::<4>().0.iter();
    let constants = constants.map(|word| a.number(u32::from_le_bytes(*word).into()));
    let mut state: Vec<A::Word> = constants.collect();
    state.extend_from_slice(key);
    state.extend_from_slice(input);
    state
}

/// Section 2.3: 20 rounds.
fn rounds<A: Algebra<32>>(a: &mut A, state: &[A::Word]) -> Vec<A::Word> {
    let mut v = state.to_vec();
    for _ in 0..10 {
        quarter_round(a, &mut v, [0, 4, 8, 12]);
        quarter_round(a, &mut v, [1, 5, 9, 13]);
        quarter_round(a, &mut v, [2, 6, 10, 14]);
        quarter_round(a, &mut v, [3, 7, 11, 15]);
        quarter_round(a, &mut v, [0, 5, 10, 15]);
        quarter_round(a, &mut v, [1, 6, 11, 12]);
        quarter_round(a, &mut v, [2, 7, 8, 13]);
        quarter_round(a, &mut v, [3, 4, 9, 14]);
    }
    v
}

/// Section 2.3: 20 rounds on the state, and the sum with the state before.
pub fn block<A: Algebra<32>>(a: &mut A, state: &[A::Word]) -> Vec<A::Word> {
    let v = rounds(a, state);
    (0..16).map(|i| a.add(&v[i], &state[i])).collect()
}

/// Section 2.4: `data` ⊕ the key stream, which ends with the data. `input` is the counter of the
/// first block and the nonce. The counters wrap modulo 2^32. The counter of a block is computed as
/// that of `step` blocks before plus `step`, as in code that encrypts `step` blocks at once.
pub fn encrypt<A: Algebra<32>>(
    a: &mut A,
    key: &[A::Word],
    input: &[A::Word],
    data: &[A::Word],
    step: usize,
) -> Vec<A::Word> {
    let mut counters = first_counters(a, &input[0], step);
    let mut output = Vec::new();
    for (number, group) in data.chunks(16 * step).enumerate() {
        if number > 0 {
            counters = next_counters(a, &counters);
        }
        output.extend(encrypt_group(a, key, &counters, &input[1..], group));
    }
    output
}

/// The counters of `step` blocks, from that of the first one.
pub fn first_counters<A: Algebra<32>>(a: &mut A, first: &A::Word, step: usize) -> Vec<A::Word> {
    let distances = 0..step as u64;
    distances.map(|distance| plus(a, first, distance)).collect()
}

/// The counters of the same number of blocks after the blocks with these counters.
pub fn next_counters<A: Algebra<32>>(a: &mut A, counters: &[A::Word]) -> Vec<A::Word> {
    let step = counters.len() as u64;
    counters
        .iter()
        .map(|counter| plus(a, counter, step))
        .collect()
}

fn plus<A: Algebra<32>>(a: &mut A, counter: &A::Word, distance: u64) -> A::Word {
    let distance = a.number(distance);
    let sum = a.add(counter, &distance);
    a.opaque(sum)
}

/// Section 2.4, of blocks with these counters. The last one may be shorter than a block.
pub fn encrypt_group<A: Algebra<32>>(
    a: &mut A,
    key: &[A::Word],
    counters: &[A::Word],
    nonce: &[A::Word],
    data: &[A::Word],
) -> Vec<A::Word> {
    let mut output = Vec::new();
    for (counter, data) in counters.iter().zip(data.chunks(16)) {
        let input = [std::slice::from_ref(counter), nonce].concat();
        let state = state(a, key, &input);
        let stream = block(a, &state);
        for (stream, data) in stream.into_iter().zip(data) {
            let stream = a.opaque(stream);
            output.push(a.xor(&stream, data));
        }
    }
    output
}

/// The key stream of a number of blocks; `state` is that of the first one. The counters wrap modulo
/// 2^32.
pub fn stream<A: Algebra<32>>(a: &mut A, state: &[A::Word], blocks: usize) -> Vec<A::Word> {
    let mut stream = Vec::new();
    for number in 0..blocks {
        let mut state = state.to_vec();
        let number = a.number(number as u64);
        state[12] = a.add(&state[12], &number);
        stream.extend(block(a, &state));
    }
    stream
}

/// HChaCha20: the first and last rows after 20 rounds. `input` has the first 16 bytes of the nonce.
pub fn hchacha20<A: Algebra<32>>(a: &mut A, key: &[A::Word], input: &[A::Word]) -> Vec<A::Word> {
    let state = state(a, key, input);
    let v = rounds(a, &state);
    [&v[..4], &v[12..]].concat()
}
