//! aws-lc's ChaCha20 and HChaCha20.

use super::{Set, row};
use crate::catalog::{Kernel, cells_32, words_32};
use crate::spec::chacha20;
use sealstone_prover::algebra::{Algebra, Cells};
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Contents, Contract, Stream};
use sealstone_prover::formula;

/// All of them.
pub(super) fn rows() -> Vec<Kernel> {
    ctr32().into_iter().chain(hchacha20()).collect()
}

/// aws-lc's ChaCha20. The caller passes more than 128 bytes to the last two functions.
fn ctr32() -> Vec<Kernel> {
    let any = "RFC 8439, 2.4, for any number of bytes, also in place";
    let from_129 = "RFC 8439, 2.4, for any number of bytes from 129 on, also in place";
    let row = |set, names, shows, cells: Vec<usize>, (blocks, least)| {
        let mut contracts = chacha20_contracts(&cells, blocks);
        contracts.extend([false, true].map(|in_place| any_length(blocks, least, in_place)));
        row("aws-lc ChaCha20", set, names, shows, contracts)
    };
    vec![
        row(
            Set::Baseline,
            ["aws-lc ChaCha20_ctr32_nohw", "aws_lc_*ChaCha20_ctr32_nohw"],
            any,
            (1..=24).collect(),
            (1, 1),
        ),
        row(
            Set::Ssse3,
            [
                "aws-lc ChaCha20_ctr32_ssse3",
                "aws_lc_*ChaCha20_ctr32_ssse3",
            ],
            any,
            (1..=24).collect(),
            (1, 1),
        ),
        row(
            Set::Ssse3,
            [
                "aws-lc ChaCha20_ctr32_ssse3_4x",
                "aws_lc_*ChaCha20_ctr32_ssse3_4x",
            ],
            from_129,
            (17..=72).collect(),
            (4, 129),
        ),
        row(
            Set::Avx2,
            ["aws-lc ChaCha20_ctr32_avx2", "aws_lc_*ChaCha20_ctr32_avx2"],
            from_129,
            (17..=72).chain([128, 136]).collect(),
            (8, 129),
        ),
    ]
}

/// Contracts for each of these lengths, in units of 8 bytes; the first and last one also in place.
/// The code encrypts `blocks` at once.
fn chacha20_contracts(cells: &[usize], blocks: usize) -> Vec<Contract> {
    let separate = cells.iter().map(|cells| chacha20_contract(*cells, blocks));
    let ends = [cells[0], cells[cells.len() - 1]];
    let in_place = ends.map(|cells| chacha20_in_place(cells, blocks));
    separate.chain(in_place).collect()
}

fn chacha20_contract(cells: usize, blocks: usize) -> Contract {
    let formula = formula!(|a, contents| encrypted(a, &contents[1..], blocks));
    let contract = Contract::new(formula)
        .buffer("output", cells, 1, Write)
        .buffer("input", cells, 1, Read);
    with_key(contract, ["output", "input"], cells)
}

fn chacha20_in_place(cells: usize, blocks: usize) -> Contract {
    let formula = formula!(|a, contents| encrypted(a, contents, blocks));
    let contract = Contract::new(formula).buffer("input", cells, 1, Write);
    with_key(contract.case("in place"), ["input", "input"], cells)
}

/// Its last buffers, and its arguments: the length is in bytes.
fn with_key(contract: Contract, data: [&'static str; 2], cells: usize) -> Contract {
    contract
        .buffer("key", 4, 4, Read)
        .buffer("counter", 2, 4, Read)
        .addresses(data)
        .number(8 * cells as u64)
        .addresses(["key", "counter"])
}

/// Bytes of a block.
const BLOCK: usize = 64;

/// Data of any length, from `least` bytes on. An iteration of its loop encrypts `blocks` blocks.
fn any_length(blocks: usize, least: u64, in_place: bool) -> Contract {
    let formula = formula!(|a, contents| {
        let data = &contents[contents.len() - 2];
        let buffers = [data, &contents[0], &contents[1]].map(Clone::clone);
        encrypted(a, &buffers, blocks)
    });
    let (case, input) = match in_place {
        false => ("any length", "input"),
        true => ("any length, in place", "output"),
    };
    let stream = Stream {
        input,
        output: "output",
        count: "length",
        unit: 1,
        group: (BLOCK * blocks) as u64,
        least,
        needed: 1,
        begin: Box::new(move |a, contents| {
            let counter = words_32(a, &contents[1]);
            chacha20::first_counters(a, &counter[0], blocks)
        }),
        next: Box::new(chacha20::next_counters),
        transform: Box::new(|a, contents, counters, data| {
            let [key, input, data] = [&contents[0], &contents[1], data].map(|of| words_32(a, of));
            let output = chacha20::encrypt_group(a, &key, counters, &input[1..], &data);
            cells_32(a, &output)
        }),
        carried: Box::new(|_, _, _| Vec::new()),
    };
    Contract::new(formula)
        .case(case)
        .buffer("key", 4, 4, Read)
        .buffer("counter", 2, 4, Read)
        .stream(stream)
        .addresses(["output", input])
        .values("length")
        .addresses(["key", "counter"])
}

/// The output from input, key and counter.
fn encrypted<A: Cells>(
    a: &mut A,
    contents: &[Vec<<A as Algebra<64>>::Word>],
    blocks: usize,
) -> Contents<<A as Algebra<64>>::Word> {
    let [data, key, input] = [0, 1, 2].map(|buffer| words_32(a, &contents[buffer]));
    let output = chacha20::encrypt(a, &key, &input, &data, blocks);
    vec![cells_32(a, &output)]
}

/// The key of XChaCha20.
fn hchacha20() -> [Kernel; 1] {
    let formula = formula!(|a, contents| {
        let [key, input] = [1, 2].map(|buffer| words_32(a, &contents[buffer]));
        let output = chacha20::hchacha20(a, &key, &input);
        vec![cells_32(a, &output)]
    });
    let contract = Contract::new(formula)
        .buffer("output", 4, 1, Write)
        .buffer("key", 4, 1, Read)
        .buffer("nonce", 2, 1, Read)
        .addresses(["output", "key", "nonce"]);
    let names = ["aws-lc CRYPTO_hchacha20", "aws_lc_*CRYPTO_hchacha20"];
    let shows = "draft-irtf-cfrg-xchacha-03, 2.2";
    [row(
        "aws-lc HChaCha20",
        Set::Baseline,
        names,
        shows,
        vec![contract],
    )]
}
