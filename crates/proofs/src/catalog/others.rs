//! Code of others: functions that the command relies on, and functions of crates as published. A
//! row here need not be proved: ASSURANCE.md has its verdict, and `make prove` fails if it finds
//! another verdict.

mod aes;
mod blake3;
mod chacha20;
mod chacha20_poly1305;
mod ghash;
mod keccak;
mod rustcrypto;
mod unproved;

pub use unproved::{Code, FAMILIES, Family, UNPROVED, Unproved};

use super::{Kernel, Set, cells_32, words_32};
use crate::spec::{sha256, sha512};
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Contents, Contract, Steps, Stepwise};
use sealstone_prover::formula;

/// All of them.
pub fn others() -> Vec<Kernel> {
    let chacha20 = chacha20::rows().into_iter();
    chacha20
        .chain(aws_lc_sha256())
        .chain(aws_lc_sha512())
        .chain(keccak::one())
        .chain(keccak::four_at_once())
        .chain(aes::rows())
        .chain(ghash::rows())
        .chain(chacha20_poly1305::rows())
        .chain(blake3::rows())
        .chain(rustcrypto::rows())
        .collect()
}

/// A function, with its name in tables and in the program.
fn row(
    family: &'static str,
    set: Set,
    [name, function]: [&'static str; 2],
    shows: &'static str,
    contracts: Vec<Contract>,
) -> Kernel {
    Kernel {
        name,
        set,
        function,
        shows,
        shipped: true,
        family,
        contracts,
    }
}

/// A function of a crate as published, which the prover's own program has.
fn published(
    family: &'static str,
    set: Set,
    function: &'static str,
    shows: &'static str,
    contracts: Vec<Contract>,
) -> Kernel {
    Kernel {
        shipped: false,
        ..row(family, set, [function; 2], shows, contracts)
    }
}

const ANY_BLOCKS_256: &str = "FIPS 180-4, 6.2.2, for any number of blocks";
const ANY_BLOCKS_512: &str = "FIPS 180-4, 6.4.2, for any number of blocks";

fn aws_lc_sha256() -> Vec<Kernel> {
    let sets = [Set::Baseline, Set::Ssse3, Set::Avx, Set::Sha];
    let names = [
        [
            "aws-lc sha256_block_data_order_nohw",
            "aws_lc_*sha256_block_data_order_nohw",
        ],
        [
            "aws-lc sha256_block_data_order_ssse3",
            "aws_lc_*sha256_block_data_order_ssse3",
        ],
        [
            "aws-lc sha256_block_data_order_avx",
            "aws_lc_*sha256_block_data_order_avx",
        ],
        [
            "aws-lc sha256_block_data_order_hw",
            "aws_lc_*sha256_block_data_order_hw",
        ],
    ];
    let rows = sets.into_iter().zip(names).map(|(set, names)| {
        let contracts = sha256_one_by_one();
        row("aws-lc SHA-256", set, names, ANY_BLOCKS_256, contracts)
    });
    rows.collect()
}

/// Some blocks, and any number of them.
fn sha256_one_by_one() -> Vec<Contract> {
    let some = (1..=3).map(sha256_blocks);
    some.chain([sha256_any_blocks()]).collect()
}

fn sha256_blocks(blocks: usize) -> Contract {
    let formula = formula!(|a, contents| {
        let (mut state, data) = (words_32(a, &contents[0]), words_32(a, &contents[1]));
        for block in data.chunks(16) {
            state = sha256::compress(a, &state, block);
        }
        vec![cells_32(a, &state)]
    });
    Contract::new(formula)
        .buffer("state", 4, 4, Write)
        .buffer("data", 8 * blocks, 1, Read)
        .addresses(["state", "data"])
        .number(blocks as u64)
}

/// Each block is a step.
fn sha256_any_blocks() -> Contract {
    let first_block = formula!(|a, contents| {
        let (state, block) = (words_32(a, &contents[0]), words_32(a, &contents[1]));
        let state = sha256::compress(a, &state, &block);
        vec![cells_32(a, &state)]
    });
    let steps = Steps {
        count: 1,
        begin: Box::new(|a, contents| words_32(a, &contents[0])),
        reads: Box::new(|block| (1, (8 * block..8 * block + 8).collect())),
        step: Box::new(|a, _, state, read| {
            let block = words_32(a, read);
            sha256::compress(a, state, &block)
        }),
        uncoupled: 0,
        auxiliary: Box::new(|_, _, _| Vec::new()),
        end: Box::new(|a, state| vec![cells_32(a, state)]),
    };
    let contract = Contract {
        steps: Some(steps.into()),
        ..Contract::new(first_block)
    };
    contract
        .case("any number of blocks")
        .buffer("state", 4, 4, Write)
        .repeats("data", (8, 1), "blocks")
        .addresses(["state", "data"])
        .values("blocks")
}

/// SHA-512 over blocks. A step is some blocks. There may be one block before them.
#[derive(Clone, Copy)]
struct Sha512 {
    steps: usize,
    of: usize,
    before: usize,
}

impl Stepwise for Sha512 {
    fn steps(&self) -> usize {
        self.steps
    }

    fn begin<A: Algebra<64>>(&self, a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        sha512_blocks(a, &contents[0], &contents[1][..16 * self.before])
    }

    fn reads(&self, step: usize) -> (usize, Vec<usize>) {
        let first = 16 * (self.before + self.of * step);
        (1, (first..first + 16 * self.of).collect())
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _step: usize,
        state: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        sha512_blocks(a, state, read)
    }
}

fn sha512_blocks<A: Algebra<64>>(a: &mut A, state: &[A::Word], data: &[A::Word]) -> Vec<A::Word> {
    let blocks = data.chunks(16);
    blocks.fold(state.to_vec(), |state, block| {
        sha512::compress(a, &state, block)
    })
}

fn sha512_blocks_as_steps(steps: usize) -> Sha512 {
    Sha512 {
        steps,
        of: 1,
        before: 0,
    }
}

fn aws_lc_sha512() -> Vec<Kernel> {
    let names = [
        [
            "aws-lc sha512_block_data_order_nohw",
            "aws_lc_*sha512_block_data_order_nohw",
        ],
        [
            "aws-lc sha512_block_data_order_avx",
            "aws_lc_*sha512_block_data_order_avx",
        ],
    ];
    let some = |blocks| {
        Contract::stepwise(sha512_blocks_as_steps(blocks))
            .buffer("state", 8, 8, Write)
            .buffer("data", 16 * blocks, 1, Read)
            .addresses(["state", "data"])
            .number(blocks as u64)
    };
    let any = || {
        Contract::stepwise(sha512_blocks_as_steps(1))
            .case("any number of blocks")
            .buffer("state", 8, 8, Write)
            .repeats("data", (16, 1), "blocks")
            .addresses(["state", "data"])
            .values("blocks")
    };
    let sets = [Set::Baseline, Set::Avx].into_iter();
    let rows = sets.zip(names).map(|(set, names)| {
        let contracts = (1..=3).map(some).chain([any()]).collect();
        row("aws-lc SHA-512", set, names, ANY_BLOCKS_512, contracts)
    });
    rows.collect()
}
