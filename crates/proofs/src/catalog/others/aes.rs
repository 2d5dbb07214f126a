//! aws-lc's AES-256 with AES instructions: its part of AES-256-GCM on processors without AVX-512,
//! without the function that encrypts and authenticates long data in one loop.

use super::{Set, row};
use crate::catalog::Kernel;
use crate::spec::aes;
use sealstone_prover::algebra::{Algebra, Cells, Substitution};
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Cell, Contents, Contract, Stream};
use sealstone_prover::formula;

/// The cells of all round keys.
const KEYS: usize = 2 * (aes::ROUNDS + 1);
/// The number of rounds less one. It is in the low half of the next cell, whose other half is after
/// the structure.
const INNER_ROUNDS: u64 = aes::ROUNDS as u64 - 1;
const LOW_HALF: u64 = 0xffff_ffff;

/// All of them.
pub(super) fn rows() -> Vec<Kernel> {
    vec![key_schedule(), one_block(), blocks()]
}

fn aes_row(names: [&'static str; 2], shows: &'static str, contracts: Vec<Contract>) -> Kernel {
    row("aws-lc AES-256", Set::Aes, names, shows, contracts)
}

/// It reads two bits of the variable with the processor's capabilities: AVX and XOP. Each has both
/// values.
fn key_schedule() -> Kernel {
    let names = [
        "aws-lc aes_hw_set_encrypt_key",
        "aws_lc_*aes_hw_set_encrypt_key",
    ];
    let cases = [
        ("no AVX", [0, 0]),
        ("AVX", [1, 0]),
        ("XOP without AVX", [0, 1]),
        ("AVX and XOP", [1, 1]),
    ];
    let contracts = cases.map(|(case, bits)| key_contract(case, bits));
    let shows = "FIPS 197, 5.2, for keys of 256 bits";
    aes_row(names, shows, contracts.into())
}

fn key_contract(case: &'static str, [avx, xop]: [u64; 2]) -> Contract {
    const AVX: u64 = 32 + 28;
    const XOP: u64 = 32 + 11;
    let capabilities = Cell::Partly {
        known: 1 << AVX | 1 << XOP,
        value: avx << AVX | xop << XOP,
    };
    Contract::new(formula!(|a, contents| expanded(a, contents)))
        .case(case)
        .variable("aws_lc_*OPENSSL_ia32cap_P", vec![capabilities, Cell::Input])
        .buffer("key", 4, 1, Read)
        .buffer("schedule", KEYS + 1, 4, Write)
        .addresses(["key"])
        .number(256)
        .addresses(["schedule"])
        .returns(1)
}

/// The schedule without one half of its last cell, and zero for success.
fn expanded<A: Substitution>(a: &mut A, contents: &Contents<A::Word>) -> Contents<A::Word> {
    let key = aes::bytes(a, &contents[1]);
    let keys = aes::key_expansion(a, &key);
    let mut schedule = aes::cells(a, &keys);
    let (behind, rounds) = (a.number(!LOW_HALF), a.number(INNER_ROUNDS));
    let behind = a.and(&contents[2][KEYS], &behind);
    schedule.push(a.xor(&behind, &rounds));
    vec![schedule, vec![a.number(0)]]
}

/// Any round keys.
fn with_schedule(contract: Contract) -> Contract {
    let mut cells = vec![Cell::Input; KEYS];
    cells.push(Cell::Partly {
        known: LOW_HALF,
        value: INNER_ROUNDS,
    });
    contract.record("schedule", cells, 4, Read)
}

fn one_block() -> Kernel {
    let separate = Contract::new(formula!(|a, contents| one_encrypted(a, &contents[1..])))
        .buffer("output", 2, 1, Write)
        .buffer("input", 2, 1, Read);
    let separate = with_schedule(separate).addresses(["input", "output", "schedule"]);
    // GCM makes its hash key in this way.
    let in_place = Contract::new(formula!(|a, contents| one_encrypted(a, contents)))
        .case("in place")
        .buffer("input", 2, 1, Write);
    let in_place = with_schedule(in_place).addresses(["input", "input", "schedule"]);
    let names = ["aws-lc aes_hw_encrypt", "aws_lc_*aes_hw_encrypt"];
    let shows = "FIPS 197, 5.1, of one block, also in place, for any round keys of AES-256";
    aes_row(names, shows, vec![separate, in_place])
}

/// The output from input and schedule.
fn one_encrypted<A: Substitution + Cells>(
    a: &mut A,
    contents: &[Vec<<A as Algebra<64>>::Word>],
) -> Contents<<A as Algebra<64>>::Word> {
    let (input, keys) = (
        aes::bytes(a, &contents[0]),
        aes::bytes(a, &contents[1][..KEYS]),
    );
    let output = aes::cipher(a, &input, &keys);
    vec![aes::cells(a, &output)]
}

/// The number of blocks that it encrypts at once.
const AT_ONCE: usize = 8;
/// The largest number of blocks with its own contract: a loop of two iterations, and each number of
/// blocks after it.
const MOST: usize = 23;

fn blocks() -> Kernel {
    let names = [
        "aws-lc aes_hw_ctr32_encrypt_blocks",
        "aws_lc_*aes_hw_ctr32_encrypt_blocks",
    ];
    let in_place = [1, MOST].map(blocks_in_place);
    let any = [false, true].map(any_blocks);
    let contracts = (1..=MOST).map(separate_blocks).chain(in_place).chain(any);
    let shows =
        "SP 800-38D, 6.5, for any number of blocks, also in place, and any round keys of AES-256";
    aes_row(names, shows, contracts.collect())
}

/// Any number of blocks. An iteration of its loop encrypts eight, and it continues while eight
/// remain. It holds the next counter, and the blocks of eight counters with the first round key
/// added.
fn any_blocks(in_place: bool) -> Contract {
    let formula = formula!(|a, contents| {
        let data = contents[contents.len() - 2].clone();
        encrypted(a, &[data, contents[0].clone(), contents[1].clone()])
    });
    let (case, input) = match in_place {
        false => ("any number of blocks", "input"),
        true => ("any number of blocks, in place", "output"),
    };
    let stream = Stream {
        input,
        output: "output",
        count: "blocks",
        unit: 16,
        group: AT_ONCE as u64,
        least: 1,
        needed: AT_ONCE as u64,
        begin: Box::new(|a, contents| vec![aes::counter(a, &contents[1])]),
        next: Box::new(|a, words| vec![next_counter(a, &words[0])]),
        transform: Box::new(|a, contents, words, data| {
            let first = aes::with_counter(a, &contents[1], &words[0]);
            aes::counter_mode(a, data, &contents[0][..KEYS], &first, AT_ONCE)
        }),
        carried: Box::new(|a, contents, words| {
            let counter = next_counter(a, &words[0]);
            let first = aes::with_counter(a, &contents[1], &counter);
            let blocks = (0..AT_ONCE).map(|number| {
                let block = aes::counted(a, &first, number, AT_ONCE);
                let pairs = block.iter().zip(&contents[0]);
                pairs
                    .map(|(block, key)| Algebra::<64>::xor(a, block, key))
                    .collect::<Vec<_>>()
            });
            blocks.flatten().collect()
        }),
    };
    with_schedule(Contract::new(formula))
        .case(case)
        .buffer("counter", 2, 1, Read)
        .stream(stream)
        .addresses([input, "output"])
        .values("blocks")
        .addresses(["schedule", "counter"])
}

/// The counter of the block after eight.
fn next_counter<A: Algebra<32>>(a: &mut A, counter: &A::Word) -> A::Word {
    let distance = a.number(AT_ONCE as u64);
    a.add(counter, &distance)
}

fn separate_blocks(blocks: usize) -> Contract {
    let formula = formula!(|a, contents| encrypted(a, &contents[1..]));
    let contract = Contract::new(formula)
        .buffer("output", 2 * blocks, 1, Write)
        .buffer("input", 2 * blocks, 1, Read);
    with_counter(contract, ["input", "output"], blocks)
}

fn blocks_in_place(blocks: usize) -> Contract {
    let formula = formula!(|a, contents| encrypted(a, contents));
    let contract = Contract::new(formula).buffer("input", 2 * blocks, 1, Write);
    with_counter(contract.case("in place"), ["input", "input"], blocks)
}

fn with_counter(contract: Contract, data: [&'static str; 2], blocks: usize) -> Contract {
    with_schedule(contract)
        .buffer("counter", 2, 1, Read)
        .addresses(data)
        .number(blocks as u64)
        .addresses(["schedule", "counter"])
}

/// The output from input, schedule and counter.
fn encrypted<A: Substitution + Cells>(
    a: &mut A,
    contents: &[Vec<<A as Algebra<64>>::Word>],
) -> Contents<<A as Algebra<64>>::Word> {
    let (data, keys, first) = (&contents[0], &contents[1][..KEYS], &contents[2]);
    vec![aes::counter_mode(a, data, keys, first, AT_ONCE)]
}
