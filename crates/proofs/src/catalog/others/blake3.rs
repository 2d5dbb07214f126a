//! The assembly of the crate `blake3` as published: one block, and several inputs at once.

use super::{Kernel, Set, published};
use crate::catalog::{cells_32, words_32};
use crate::spec::blake3::{self, Counting, Flags, Inputs, advanced, byte};
use sealstone_prover::algebra::{Algebra, Cells};
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Cell, Contents, Contract, Steps};
use sealstone_prover::formula;
use sealstone_prover::term::{Terms, Word};

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
        let contracts = many_contracts(most, code);
        published(code.family, set, name, shows, contracts)
    });
    rows.collect()
}

const MANY: &str = "BLAKE3 (C2SP), 4.2, of 0 to 4 inputs of 16 blocks, of 1 to 17 of one block, also with one counter for all, and of 7 of three blocks, for any key, counter and flags, `increment_counter` given with zeros above its bits";
const MANY_IN_TURN: &str = "BLAKE3 (C2SP), 4.2, of adjacent inputs: 0, 1 and as many of 16 blocks as it works on at once, 1 to 31 of one block, also with one counter for all, and one less than twice as many of three blocks, for any key, counter and flags, `increment_counter` given with zeros above its bits";

/// The blocks of a chunk.
const BLOCKS: usize = 16;

/// The crate passes 0 to `lanes` chunks: none if only a part of a chunk is left. Their formulas
/// grow with the square of the number of blocks. So code for many lanes has the contracts of 0, 1
/// and `lanes` chunks. The crate passes 1 to `lanes` parents: inputs of one block, with one counter
/// for all. 1 to `most` inputs of one block reach each branch. With one less than twice the lanes,
/// each of the function's loops gets several blocks: it halves the lanes until none is left.
fn many_contracts(most: usize, code: Code) -> Vec<Contract> {
    let of_size = |inputs, blocks, increment| {
        let size = Size {
            inputs,
            blocks,
            increment,
        };
        many_contract(size, code)
    };
    let numbers = [true, false].map(|it| (1..=most).map(move |inputs| (inputs, it)));
    let numbers = numbers.into_iter().flatten();
    let mut contracts: Vec<_> = numbers.map(|(inputs, it)| of_size(inputs, 1, it)).collect();
    let few = if code.anywhere { code.lanes } else { 1 };
    contracts.extend((0..=few).map(|inputs| of_size(inputs, BLOCKS, true)));
    if !code.anywhere {
        contracts.push(all_lanes(code));
    }
    contracts.push(of_size(2 * code.lanes - 1, 3, true));
    contracts
}

/// As many adjacent chunks as the code works on at once. A step is a block of each.
fn all_lanes(code: Code) -> Contract {
    let lanes = code.lanes;
    let size = Size {
        inputs: lanes,
        blocks: BLOCKS,
        increment: true,
    };
    let steps = Steps {
        count: BLOCKS,
        begin: Box::new(move |a, contents| {
            let key = words_32(a, &contents[1]);
            let mut words = vec![key; lanes].concat();
            words.extend(counters(a, &contents[2][0], size, code).concat());
            words.extend([0, 2, 1].map(|flag| byte(a, &contents[3][flag])));
            words
        }),
        reads: Box::new(move |block| {
            let first = move |lane| 8 * (BLOCKS * lane + block);
            let cells = (0..lanes).flat_map(move |lane| first(lane)..first(lane) + 8);
            (5, cells.collect())
        }),
        step: Box::new(next_block),
        uncoupled: 0,
        auxiliary: Box::new(|_, _, _| Vec::new()),
        end: Box::new(move |a, words| vec![cells_32(a, &words[..8 * lanes])]),
    };
    Contract {
        steps: Some(steps.into()),
        ..many_contract(size, code)
    }
}

/// The words after one more block in each lane: the chaining values and the counters of all lanes,
/// the flags of all blocks, and those of the last block. Before the first block, the flags of that
/// block follow.
fn next_block(a: &mut Terms, number: usize, words: &[Word], read: &[Word]) -> Vec<Word> {
    let lanes = read.len() / 8;
    let (values, rest) = words.split_at(8 * lanes);
    let (counters, flags) = rest.split_at(2 * lanes);
    let mut of_block = flags[0].clone();
    if number == 0 {
        of_block = blake3::either(a, &of_block, &flags[2]);
    }
    if number == BLOCKS - 1 {
        of_block = blake3::either(a, &of_block, &flags[1]);
    }
    let mut next = Vec::with_capacity(words.len());
    for (lane, block) in read.chunks(8).enumerate() {
        let block = words_32(a, block);
        let inputs = Inputs {
            counter: [0, 1].map(|half| counters[2 * lane + half].clone()),
            length: Algebra::<32>::number(a, 64),
            flags: of_block.clone(),
        };
        let output = blake3::compress(a, &values[8 * lane..8 * lane + 8], &block, &inputs);
        next.extend(output.into_iter().take(8));
    }
    next.extend_from_slice(counters);
    next.extend_from_slice(&flags[..2]);
    next
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
