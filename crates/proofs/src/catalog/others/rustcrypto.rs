//! The crates `sha2`, `chacha20` and `blake2` of RustCrypto, as compiled into the prover's program.

use super::{
    ANY_BLOCKS_256, ANY_BLOCKS_512, Kernel, Set, Sha512, published, sha256_one_by_one,
    sha512_blocks,
};
use crate::catalog::{cells_32, words_32};
use crate::spec::{blake2b, chacha20};
use sealstone_prover::algebra::{Algebra, Cells};
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Cell, Contents, Contract, Parity};
use sealstone_prover::formula;

/// All of them.
pub(super) fn rows() -> Vec<Kernel> {
    let rows = [sha2(), chacha20(), blake2()];
    rows.into_iter().flatten().collect()
}

/// The code with special instructions, and the function that chooses it. The compiler has inlined
/// the code without them into that function. That code has no row.
fn sha2() -> Vec<Kernel> {
    let of_256 = |set, function, shows, contracts: Vec<Contract>| {
        published("sha2 SHA-256", set, function, shows, contracts)
    };
    let of_512 = |set, function, shows, contracts: Vec<Contract>| {
        published("sha2 SHA-512", set, function, shows, contracts)
    };
    let [code_256, choice_256] = [
        "sha2::sha256::x86_sha::compress",
        "sha2::sha256::compress256",
    ];
    let [code_512, choice_512] = [
        "sha2::sha512::x86_avx2::compress",
        "sha2::sha512::compress512",
    ];
    let found_256 = detected(sha256_one_by_one(), DETECTED_256);
    let found_512 = detected(sha512_in_pairs(), DETECTED_512);
    vec![
        of_256(Set::Sha, code_256, ANY_BLOCKS_256, sha256_one_by_one()),
        of_256(Set::Sha, choice_256, WITH_SHA, found_256),
        of_512(Set::Avx2, code_512, ANY_BLOCKS_512, sha512_in_pairs()),
        of_512(Set::Avx2, choice_512, WITH_AVX2, found_512),
    ]
}

/// The contracts, for a processor on which the crate has detected the instructions.
fn detected(contracts: Vec<Contract>, variable: &'static str) -> Vec<Contract> {
    let contracts = contracts.into_iter();
    let contracts = contracts.map(|it| it.variable(variable, vec![Cell::Byte(1)]));
    contracts.collect()
}

/// Variables of one byte: whether the processor has the instructions. The first call fills them.
const DETECTED_256: &str = "sha2::sha256::shani_cpuid::STORAGE";
const DETECTED_512: &str = "sha2::sha512::avx2_cpuid::STORAGE";

const WITH_SHA: &str = "FIPS 180-4, 6.2.2, for any number of blocks, once the crate has found that SHA and SSE4.1 are there";
const WITH_AVX2: &str =
    "FIPS 180-4, 6.4.2, for any number of blocks, once the crate has found that AVX2 is there";

/// Some blocks, and any number of them.
fn sha512_in_pairs() -> Vec<Contract> {
    let any = [Parity::Even, Parity::Odd].map(sha512_any_blocks);
    (1..=4).map(sha512_pairs).chain(any).collect()
}

/// As a whole: an iteration of its loop is two blocks.
fn sha512_pairs(blocks: usize) -> Contract {
    let formula = formula!(|a, contents| vec![sha512_blocks(a, &contents[0], &contents[1])]);
    Contract::new(formula)
        .buffer("state", 8, 8, Write)
        .buffer("data", 16 * blocks, 1, Read)
        .addresses(["state", "data"])
        .number(blocks as u64)
}

/// Two blocks are a step. An odd number has one before them.
fn sha512_any_blocks(parity: Parity) -> Contract {
    let (case, before) = match parity {
        Parity::Even => ("any even number of blocks", 0),
        Parity::Odd => ("any odd number of blocks", 1),
    };
    let spec = Sha512 {
        steps: 1,
        of: 2,
        before,
    };
    Contract::stepwise(spec)
        .case(case)
        .buffer("state", 8, 8, Write)
        .repeats("data", (32, 1), "pairs")
        .after(16 * before)
        .addresses(["state", "data"])
        .twice("pairs", parity)
}

fn chacha20() -> Vec<Kernel> {
    let four = Contract::new(formula!(|a, contents| {
        let state = words_32(a, &contents[1]);
        let stream = chacha20::stream(a, &state, 4);
        vec![cells_32(a, &stream)]
    }));
    let four = four
        .buffer("output", 32, 16, Write)
        .buffer("state", 8, 16, Read)
        .addresses(["output", "state"]);
    vec![
        published(
            "chacha20",
            Set::Baseline,
            "chacha20::backends::sse2::rounds",
            "RFC 8439, 2.3, of the key stream of four blocks",
            vec![four],
        ),
        published(
            "chacha20",
            Set::Avx2,
            "chacha20::backends::avx2::inner",
            "RFC 8439, 2.3, of the key stream of 1 to 9 blocks, and the counter after them",
            (1..=9).map(stream).collect(),
        ),
    ]
}

fn stream(blocks: usize) -> Contract {
    let formula = formula!(|a, contents| streamed(a, contents, blocks));
    Contract::new(formula)
        .buffer("state", 8, 4, Write)
        .buffer("stream", 8 * blocks, 1, Write)
        .addresses(["state", "stream"])
        .number(blocks as u64)
}

/// The state with the next counter, and the key stream.
fn streamed<A: Cells>(
    a: &mut A,
    contents: &Contents<<A as Algebra<64>>::Word>,
    blocks: usize,
) -> Contents<<A as Algebra<64>>::Word> {
    let mut state = words_32(a, &contents[0]);
    let stream = chacha20::stream(a, &state, blocks);
    let blocks = Algebra::<32>::number(a, blocks as u64);
    state[12] = Algebra::<32>::add(a, &state[12], &blocks);
    vec![cells_32(a, &state), cells_32(a, &stream)]
}

/// The crate counts bytes in one word, so the upper word of t is zero. It has no last node.
fn blake2() -> Vec<Kernel> {
    let contract = Contract::new(formula!(|a, contents| compressed(a, contents)));
    let contract = contract
        .buffer("chaining value and bytes", 9, 32, Write)
        .buffer("block", 16, 1, Read)
        .buffer("finalization flag", 1, 1, Read)
        .addresses(["chaining value and bytes", "block"])
        .values("finalization flag")
        .number(0);
    vec![published(
        "blake2",
        Set::Baseline,
        "blake2::Blake2bVarCore::compress",
        "RFC 7693, 3.2, for up to 2^64 - 1 bytes",
        vec![contract],
    )]
}

/// The chaining value and the number of bytes, from both of these, block and flag.
fn compressed<A: Algebra<64>>(a: &mut A, contents: &Contents<A::Word>) -> Contents<A::Word> {
    let (h, bytes) = contents[0].split_at(8);
    let t = [bytes[0].clone(), a.number(0)];
    let mut after = blake2b::compress(a, h, &contents[1], &t, &contents[2][0]);
    after.extend_from_slice(bytes);
    vec![after]
}
