//! The assembly of the crate `blake3` as published: one block, and several inputs at once.

use super::{Kernel, Set, published};
use crate::catalog::{cells_32, words_32};
use crate::spec::blake3::{self, Counting, Flags, Inputs, advanced, byte};
use sealstone_prover::algebra::{Algebra, Cells};
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Cell, Contents, Contract};
use sealstone_prover::formula;

/// All of them.
pub(super) fn rows() -> Vec<Kernel> {
    let rows = [in_place(), extended(), many()];
    rows.into_iter().flatten().collect()
}

const FAMILY: &str = "blake3";

/// The sets with a function that compresses one block, and whether the function ignores the bits
/// above its byte arguments.
const SETS: [(Set, bool); 3] = [
    (Set::Baseline, false),
    (Set::Sse41, false),
    (Set::Avx512, true),
];

/// The next chaining value replaces the previous one.
fn in_place() -> Vec<Kernel> {
    let names = [
        "blake3_compress_in_place_sse2",
        "blake3_compress_in_place_sse41",
        "blake3_compress_in_place_avx512",
    ];
    let rows = SETS.into_iter().zip(names).map(|((set, any), name)| {
        let formula = formula!(|a, contents| {
            let mut output = compressed(a, contents);
            output.truncate(8);
            vec![cells_32(a, &output)]
        });
        let contract = Contract::new(formula)
            .buffer("chaining value", 4, 4, Write)
            .buffer("block", 8, 1, Read);
        let shows = match any {
            true => ANY,
            false => ANY_EXTENDED,
        };
        let contract = with_inputs(contract, any);
        published(FAMILY, set, name, shows, vec![contract])
    });
    rows.collect()
}

/// All 16 words.
fn extended() -> Vec<Kernel> {
    let names = [
        "blake3_compress_xof_sse2",
        "blake3_compress_xof_sse41",
        "blake3_compress_xof_avx512",
    ];
    let rows = SETS.into_iter().zip(names).map(|((set, _), name)| {
        let formula = formula!(|a, contents| {
            let output = compressed(a, contents);
            vec![cells_32(a, &output)]
        });
        let contract = Contract::new(formula)
            .buffer("chaining value", 4, 4, Read)
            .buffer("block", 8, 1, Read);
        let contract = with_inputs(contract, true);
        let contract = contract.buffer("output", 8, 1, Write).addresses(["output"]);
        published(FAMILY, set, name, ANY, vec![contract])
    });
    rows.collect()
}

const ANY: &str =
    "BLAKE3 (C2SP), 3.3, of one block, for any counter, block length of 8 bits and flags";
const ANY_EXTENDED: &str = "BLAKE3 (C2SP), 3.3, of one block, for any counter, block length of 8 bits and flags, the last two given with zeros above their bits";

/// The inputs of a compression. The bits above the arguments of one byte are `any`, as in the ABI,
/// or zeros.
fn with_inputs(contract: Contract, any: bool) -> Contract {
    let byte = if any { Cell::Input } else { Cell::Small(8) };
    contract
        .record("block length", vec![byte.clone()], 1, Read)
        .buffer("counter", 1, 1, Read)
        .record("flags", vec![byte], 1, Read)
        .addresses(["chaining value", "block"])
        .values("block length")
        .values("counter")
        .values("flags")
}

/// The output from chaining value, block, its length, counter and flags.
fn compressed<A: Cells>(
    a: &mut A,
    contents: &Contents<<A as Algebra<64>>::Word>,
) -> Vec<<A as Algebra<32>>::Word> {
    let [h, block] = [0, 1].map(|buffer| words_32(a, &contents[buffer]));
    let [length, flags] = [2, 4].map(|buffer| byte(a, &contents[buffer][0]));
    let inputs = Inputs {
        counter: a.split(&contents[3][0]),
        length,
        flags,
    };
    blake3::compress(a, &h, &block, &inputs)
}

/// Names of inputs at any place.
const INPUTS: [&str; 17] = [
    "input 0", "input 1", "input 2", "input 3", "input 4", "input 5", "input 6", "input 7",
    "input 8", "input 9", "input 10", "input 11", "input 12", "input 13", "input 14", "input 15",
    "input 16",
];

/// The numbers of inputs and blocks.
#[derive(Clone, Copy)]
struct Size {
    inputs: usize,
    blocks: usize,
    /// Whether each input has the next counter.
    increment: bool,
}

/// The properties of the code of an instruction set.
#[derive(Clone, Copy)]
struct Code {
    family: &'static str,
    /// The number of inputs that it processes at once.
    lanes: usize,
    /// How it counts within a group of inputs.
    within: Counting,
    /// How it counts from one group to the next.
    beyond: Counting,
    /// Whether each input may be at any place. Otherwise they are contiguous.
    anywhere: bool,
}

/// The chaining values of many inputs.
fn many() -> Vec<Kernel> {
    let four = Code {
        family: FAMILY,
        lanes: 4,
        within: Counting::Addend,
        beyond: Counting::Before,
        anywhere: true,
    };
    let eight = Code {
        family: "blake3 AVX2",
        lanes: 8,
        within: Counting::Addend,
        beyond: Counting::Addend,
        anywhere: false,
    };
    let sixteen = Code {
        family: "blake3 AVX-512",
        lanes: 16,
        within: Counting::Choice,
        beyond: Counting::Choice,
        anywhere: false,
    };
    let rows = [
        (Set::Baseline, "blake3_hash_many_sse2", four),
        (Set::Sse41, "blake3_hash_many_sse41", four),
        (Set::Avx2, "blake3_hash_many_avx2", eight),
        (Set::Avx512, "blake3_hash_many_avx512", sixteen),
    ];
    let rows = rows.into_iter().map(|(set, name, code)| {
        let (most, shows) = if code.anywhere {
            (17, MANY)
        } else {
            (31, MANY_IN_TURN)
        };
        let sizes = sizes(most, 2 * code.lanes - 1);
        let contracts = sizes.map(|size| many_contract(size, code)).collect();
        published(code.family, set, name, shows, contracts)
    });
    rows.collect()
}

const MANY: &str = "BLAKE3 (C2SP), 4.2, of 1 to 17 inputs of one block, of 7 of three blocks and of one of 16 blocks, for any key, counter and flags, `increment_counter` given with zeros above its bits";
const MANY_IN_TURN: &str = "BLAKE3 (C2SP), 4.2, of 1 to 31 adjacent inputs of one block, of one less than twice as many as it works on at once of three blocks and of one of 16 blocks, for any key, counter and flags, `increment_counter` given with zeros above its bits";

/// The sizes: 1 to `most` inputs of one block, one of a whole chunk, and `some` of a few blocks.
/// With one less than twice the lanes, each of the function's loops gets several blocks: it halves
/// the lanes until none is left.
fn sizes(most: usize, some: usize) -> impl Iterator<Item = Size> {
    let size = |inputs, blocks, increment| Size {
        inputs,
        blocks,
        increment,
    };
    let one_block = (1..=most).map(move |inputs| size(inputs, 1, true));
    one_block.chain([size(most, 1, false), size(1, 16, true), size(some, 3, true)])
}

fn many_contract(size: Size, code: Code) -> Contract {
    let formula = formula!(|a, contents| hashed(a, contents, size, code));
    let cells = 8 * size.blocks;
    let place = |number: usize| match code.anywhere {
        true => Cell::Address(INPUTS[number]),
        false => Cell::Inside(ALL, 8 * (cells * number) as u64),
    };
    let contract = Contract::new(formula)
        .record("inputs", (0..size.inputs).map(place).collect(), 8, Read)
        .buffer("key", 4, 4, Read)
        .buffer("counter", 1, 1, Read)
        .buffer("flags", 3, 1, Read)
        .buffer("output", 4 * size.inputs, 1, Write);
    let contract = match code.anywhere {
        true => INPUTS[..size.inputs]
            .iter()
            .fold(contract, |contract, name| {
                contract.buffer(name, cells, 1, Read)
            }),
        false => contract.buffer(ALL, cells * size.inputs, 1, Read),
    };
    let contract = match size.increment {
        true => contract,
        false => contract.case("one counter for all"),
    };
    contract
        .addresses(["inputs"])
        .number(size.inputs as u64)
        .number(size.blocks as u64)
        .addresses(["key"])
        .values("counter")
        .number(size.increment.into())
        .values("flags")
        .addresses(["output"])
}

/// The buffer of contiguous inputs.
const ALL: &str = "all inputs";

/// The output from the table, key, counter, flags, the old output, and the inputs.
fn hashed<A: Cells>(
    a: &mut A,
    contents: &Contents<<A as Algebra<64>>::Word>,
    size: Size,
    code: Code,
) -> Contents<<A as Algebra<64>>::Word> {
    let key = words_32(a, &contents[1]);
    let counters = counters(a, &contents[2][0], size, code);
    let [all, start, end] = [0, 1, 2].map(|flag| byte(a, &contents[3][flag]));
    let flags = Flags { all, start, end };
    let inputs = contents[5..].concat();
    let mut output = Vec::new();
    for (input, counter) in inputs.chunks(8 * size.blocks).zip(counters) {
        let input = words_32(a, input);
        let blocks: Vec<_> = input.chunks(16).collect();
        output.extend(blake3::chunk(a, &key, &blocks, &counter, &flags));
    }
    vec![cells_32(a, &output)]
}

/// Two words for each input.
fn counters<A: Cells>(
    a: &mut A,
    first: &<A as Algebra<64>>::Word,
    size: Size,
    code: Code,
) -> Vec<[<A as Algebra<32>>::Word; 2]> {
    let first = a.split(first);
    let mut counters = vec![first.clone()];
    for input in 1..size.inputs {
        let (before, distance, counting) = match input.checked_sub(code.lanes) {
            Some(earlier) => (&counters[earlier], code.lanes, code.beyond),
            None => (&first, input, code.within),
        };
        let counter = match size.increment {
            true => advanced(a, before, distance as u64, counting),
            false => first.clone(),
        };
        counters.push(counter);
    }
    counters
}
