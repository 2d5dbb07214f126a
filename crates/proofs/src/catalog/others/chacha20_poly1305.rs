//! aws-lc's ChaCha20-Poly1305, which encrypts and authenticates in one loop: it seals and opens
//! files on processors with SSE4.1.

use super::{Set, row};
use crate::catalog::{Kernel, cells_32, words_32};
use crate::spec::{chacha20, poly1305};
use sealstone_prover::algebra::{Algebra, Cells, Residues};
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Cell, Contract, Formula};
use sealstone_prover::formula;

/// All of them.
pub(super) fn rows() -> Vec<Kernel> {
    let sets = [Set::Sse41, Set::Avx2Bmi2];
    let names = [
        "aws-lc chacha20_poly1305_seal",
        "aws_lc_*chacha20_poly1305_seal",
    ];
    let seal = sets.map(|set| aead_row(set, names, seal));
    let names = [
        "aws-lc chacha20_poly1305_open",
        "aws_lc_*chacha20_poly1305_open",
    ];
    let open = sets.map(|set| aead_row(set, names, open));
    seal.into_iter().chain(open).collect()
}

/// Cells of data, cells of additional data, and whether output and input are the same memory.
type Shape = (usize, usize, bool);

/// The longest data are those of one iteration of the main loop and 8 bytes.
const OF_264: &str = "RFC 8439, 2.8, for 16, 136 and 264 bytes without additional data, and 16 bytes with 40 bytes of it (in place: 264)";
const OF_520: &str = "RFC 8439, 2.8, for 16, 136 and 520 bytes without additional data, and 16 bytes with 40 bytes of it (in place: 520)";

fn shapes(set: Set) -> (&'static str, [Shape; 5]) {
    let (shows, longest) = match set {
        Set::Sse41 => (OF_264, 33),
        _ => (OF_520, 65),
    };
    let separate = |data, additional| (data, additional, false);
    let shapes = [
        separate(2, 0),
        separate(17, 0),
        separate(longest, 0),
        separate(2, 5),
        (longest, 0, true),
    ];
    (shows, shapes)
}

fn aead_row(set: Set, names: [&'static str; 2], contract: fn(Shape) -> Contract) -> Kernel {
    let (shows, shapes) = shapes(set);
    let contracts = shapes.into_iter().flat_map(|shape| {
        // The function aligns another register by the stack pointer.
        [0, 16].map(|stack| {
            let case = case(shape.2, stack);
            capabilities(contract(shape), set)
                .case(case)
                .integers()
                .stack(stack)
        })
    });
    let contracts = contracts.collect();
    row("aws-lc ChaCha20-Poly1305", set, names, shows, contracts)
}

fn case(in_place: bool, stack: u64) -> &'static str {
    match (in_place, stack) {
        (false, 0) => "stack pointer 0 modulo 32",
        (false, _) => "stack pointer 16 modulo 32",
        (true, 0) => "in place, stack pointer 0 modulo 32",
        (true, _) => "in place, stack pointer 16 modulo 32",
    }
}

/// The capabilities of the processor. The function reads two: AVX2 and BMI2.
fn capabilities(contract: Contract, set: Set) -> Contract {
    const BOTH: u64 = 1 << 5 | 1 << 8;
    let value = if set == Set::Sse41 { 0 } else { BOTH };
    let known = Cell::Partly { known: BOTH, value };
    contract.variable("aws_lc_*OPENSSL_ia32cap_P", vec![Cell::Input, known])
}

/// It encrypts.
fn seal(shape: Shape) -> Contract {
    let formula = formula!(|a, contents| {
        let [.., input, additional, structure] = &contents[..contents.len() - 1] else {
            unreachable!("four buffers before the variable");
        };
        let (key, nonce) = key_and_nonce(a, structure);
        let (output, tag) = poly1305::seal(a, (&key, &nonce), input, additional);
        vec![output, with_tag(structure, &tag)]
    });
    // The count of further ciphertext to authenticate: zero.
    contract(formula, shape, &[Cell::Input, Cell::Number(0)])
}

/// It decrypts, and returns the tag, which its caller compares.
fn open(shape: Shape) -> Contract {
    let formula = formula!(|a, contents| {
        let [.., input, additional, structure] = &contents[..contents.len() - 1] else {
            unreachable!("four buffers before the variable");
        };
        let (key, nonce) = key_and_nonce(a, structure);
        let (output, tag) = opened(a, (&key, &nonce), input, additional);
        vec![output, with_tag(structure, &tag)]
    });
    contract(formula, shape, &[])
}

fn opened<A: Residues + Cells>(
    a: &mut A,
    (key, nonce): (&[<A as Algebra<32>>::Word], &[<A as Algebra<32>>::Word]),
    ciphertext: &[<A as Algebra<64>>::Word],
    additional: &[<A as Algebra<64>>::Word],
) -> (Vec<<A as Algebra<64>>::Word>, [<A as Algebra<64>>::Word; 2]) {
    let lengths = [additional.len(), ciphertext.len()].map(|cells| 8 * cells as u64);
    let tag = poly1305::aead_tag(a, (key, nonce), [additional, ciphertext], lengths);
    let mut input = vec![<A as Algebra<32>>::number(a, 1)];
    input.extend_from_slice(nonce);
    let ciphertext = words_32(a, ciphertext);
    let data = chacha20::encrypt(a, key, &input, &ciphertext, 1);
    (cells_32(a, &data), tag)
}

/// Its structure has the key, the counter of the first block and the nonce. It writes the tag
/// there.
fn contract(formula: Formula, (data, additional, in_place): Shape, behind: &[Cell]) -> Contract {
    let counter = Cell::Partly {
        known: 0xffff_ffff,
        value: 0,
    };
    let mut structure = vec![Cell::Input; 4];
    structure.extend([counter, Cell::Input]);
    structure.extend_from_slice(behind);
    let contract = Contract::new(formula);
    let (contract, output) = match in_place {
        true => (contract.buffer("input", data, 1, Write), "input"),
        false => {
            let contract = contract.buffer("output", data, 1, Write);
            (contract.buffer("input", data, 1, Read), "output")
        }
    };
    contract
        .buffer("additional data", additional, 1, Read)
        .record("structure", structure, 16, Write)
        .addresses([output, "input"])
        .number(8 * data as u64)
        .addresses(["additional data"])
        .number(8 * additional as u64)
        .addresses(["structure"])
}

fn key_and_nonce<A: Cells>(
    a: &mut A,
    structure: &[<A as Algebra<64>>::Word],
) -> (Vec<<A as Algebra<32>>::Word>, Vec<<A as Algebra<32>>::Word>) {
    let input = words_32(a, &structure[4..6]);
    (words_32(a, &structure[..4]), input[1..].to_vec())
}

/// The structure with the tag in front.
fn with_tag<W: Clone>(structure: &[W], tag: &[W; 2]) -> Vec<W> {
    [&tag[..], &structure[2..]].concat()
}
