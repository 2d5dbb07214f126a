//! aws-lc's choices between its functions, which the contracts of these functions assume: by the
//! length of the data, and by the capabilities of the processor, which it reads from a variable.

use super::own;
use iced_x86::{Decoder, DecoderOptions};
use sealstone_proofs::catalog::{Set, others};
use sealstone_proofs::spec::chacha20;
use sealstone_prover::algebra::{Algebra, Cells};
use sealstone_prover::contract::{Access, Cell, Contents, Contract};
use sealstone_prover::features::Processor;
use sealstone_prover::formula;
use sealstone_prover::image::{Image, Symbol};
use sealstone_prover::prove::Session;
use std::collections::BTreeSet;

/// The variable with the processor's capabilities, of 16 bytes.
const CAPABILITIES: &str = "aws_lc_*OPENSSL_ia32cap_P";

/// Bits of the variable: Intel's manual, CPUID, leaf 1 (edx, ecx) and leaf 7 (ebx, ecx). aws-lc
/// itself sets the bit of Intel.
const INTEL: u32 = 30;
const SSSE3: u32 = 32 + 9;
const MOVBE: u32 = 32 + 22;
const XSAVE: u32 = 32 + 26;
const AVX: u32 = 32 + 28;
const AVX2: u32 = 64 + 5;
const SHA: u32 = 64 + 29;

/// A name in `is_x86_feature_detected`, its bit, and whether this processor has it.
macro_rules! capability {
    ($($name:tt: $bit:expr),* $(,)?) => {
        [$(($name, $bit, std::arch::is_x86_feature_detected!($name))),*]
    };
}

/// The capabilities that the instruction sets of the rows have.
fn detected() -> [(&'static str, u32, bool); 15] {
    capability! {
        "pclmulqdq": 32 + 1, "ssse3": SSSE3, "sse4.1": 32 + 19, "movbe": MOVBE, "aes": 32 + 25,
        "avx": AVX, "avx2": AVX2, "bmi2": 64 + 8, "avx512f": 64 + 16, "avx512dq": 64 + 17,
        "sha": SHA, "avx512bw": 64 + 30, "avx512vl": 64 + 31, "vaes": 96 + 9,
        "vpclmulqdq": 96 + 10,
    }
}

/// Capabilities that the variable has and the processor does not have.
fn wrong(variable: u128, detected: &[(&'static str, u32, bool)]) -> Vec<&'static str> {
    let has = |bit: &u32| variable >> bit & 1 == 1;
    let wrong = detected.iter().filter(|(_, bit, here)| has(bit) && !here);
    wrong.map(|(name, ..)| *name).collect()
}

/// The content of a variable of this process.
fn content<const N: usize>(image: &Image, name: &str) -> [u8; N] {
    let function = image.symbols().iter();
    let mut function = function.filter(|symbol| symbol.is("aws_lc_*CRYPTO_chacha_20"));
    let in_file = Image::in_file(function.next().unwrap().start) as usize;
    let base = (aws_lc_sys::CRYPTO_chacha_20 as *const ()).addr() - in_file;
    let variable = image.variable(name, N as u64).unwrap();
    let mut bytes = [0; N];
    sealstone_testing::own_memory::read_at(base + Image::in_file(variable) as usize, &mut bytes);
    bytes
}

/// The crate `sha2` fills a byte for each function in its first call.
#[test]
fn the_variables_of_sha2_say_what_the_processor_has() {
    let image = own();
    for (function, set) in [
        ("sha2::sha256::compress256", Set::Sha),
        ("sha2::sha512::compress512", Set::Avx2),
    ] {
        let rows = others().into_iter();
        let rows: Vec<_> = rows.filter(|row| row.function == function).collect();
        assert!(!rows.is_empty(), "{function}");
        let is_here = u8::from(set.is_here());
        for row in rows {
            for contract in &row.contracts {
                let variable = contract.buffers.last().unwrap();
                assert_eq!(content(&image, variable.variable.unwrap()), [is_here]);
                assert_eq!(variable.cells, [Cell::Byte(1)]);
            }
        }
    }
}

/// This process's variable, which aws-lc fills before the start of the program.
#[test]
fn the_variable_has_no_capability_that_the_processor_lacks() {
    let image = own();
    let variable = u128::from_le_bytes(content(&image, CAPABILITIES));
    assert_ne!(variable, 0, "it is filled");
    assert_eq!(wrong(variable, &detected()), [""; 0]);
    for (name, bit, _) in detected() {
        let lacks = [(name, bit, false)];
        assert_eq!(wrong(u128::MAX, &lacks), [name]);
        assert_eq!(wrong(1 << bit, &lacks), [name], "a bit of its own");
    }
}

/// A variable with these bits, and any others.
fn with_variable(contract: Contract, known: &[u32], set: &[u32]) -> Contract {
    let number = |bits: &[u32]| bits.iter().fold(0_u128, |all, bit| all | 1 << bit);
    let (known, value) = (number(known), number(set));
    let cell = |from: u32| match (known >> from) as u64 {
        0 => Cell::Input,
        known => Cell::Partly {
            known,
            value: (value >> from) as u64,
        },
    };
    contract.variable(CAPABILITIES, vec![cell(0), cell(64)])
}

/// The aws-lc functions that `function` runs, without itself. It must be proved, on a processor
/// with this set of instructions.
fn entered(image: &Image, function: &str, contract: &Contract, set: Set) -> BTreeSet<String> {
    let processor = Processor {
        features: set.features(),
        is_here: false,
    };
    let symbols = image.symbols().iter();
    let mut symbols = symbols.filter(|symbol| symbol.is(function));
    let symbol = symbols.next().expect(function);
    let finding = Session::new().prove(image, symbol, contract, &processor);
    assert!(
        finding.verdict.is_proof(),
        "{function}: {}",
        finding.verdict
    );
    let places = finding.instructions.keys();
    let names = places.filter_map(|at| Some(image.symbol_at(*at)?.name.as_str()));
    let names = names.filter(|name| *name != symbol.name);
    names.map(str::to_owned).collect()
}

/// Whether one of these is the function of this name, without aws-lc's version.
fn has(names: &BTreeSet<String>, function: &str) -> bool {
    names.iter().any(|name| name.ends_with(function))
}

/// aws-lc's `CRYPTO_chacha_20` of so many bytes, in place, from counter 0.
fn chacha20_of(bytes: usize) -> Contract {
    Contract::new(formula!(|a, contents| vec![encrypted(a, contents, bytes)]))
        .buffer("data", bytes.div_ceil(8), 1, Access::Write)
        .buffer("key", 4, 4, Access::Read)
        .buffer("nonce", 2, 1, Access::Read)
        .addresses(["data", "data"])
        .number(bytes as u64)
        .addresses(["key", "nonce"])
        .number(0)
}

/// RFC 8439, 2.4. The bytes of the last cell that are not data stay as they are.
fn encrypted<A: Cells>(
    a: &mut A,
    contents: &Contents<<A as Algebra<64>>::Word>,
    bytes: usize,
) -> Vec<<A as Algebra<64>>::Word> {
    let words = |a: &mut A, buffer: usize| -> Vec<<A as Algebra<32>>::Word> {
        contents[buffer]
            .iter()
            .flat_map(|cell| a.split(cell))
            .collect()
    };
    let (data, key, nonce) = (words(a, 0), words(a, 1), words(a, 2));
    let counter = Algebra::<32>::number(a, 0);
    let input = [&[counter], &nonce[..3]].concat();
    let output = chacha20::encrypt(a, &key, &input, &data, 1);
    let mut cells: Vec<_> = output.chunks(2).map(|pair| a.join(pair)).collect();
    if !bytes.is_multiple_of(8) {
        let last = cells.len() - 1;
        let mask = Algebra::<64>::number(a, u64::MAX << (8 * (bytes % 8)));
        // The key stream that is used, and the data.
        let stream = Algebra::<64>::xor(a, &cells[last], &contents[0][last]);
        let dropped = Algebra::<64>::and(a, &stream, &mask);
        cells[last] = Algebra::<64>::xor(a, &cells[last], &dropped);
    }
    cells
}

const CHACHA20: &str = "aws_lc_*CRYPTO_chacha_20";
const LONG: [&str; 3] = [
    "ChaCha20_ctr32_ssse3",
    "ChaCha20_ctr32_ssse3_4x",
    "ChaCha20_ctr32_avx2",
];

/// For any key, nonce, data and capabilities.
#[test]
fn up_to_128_bytes_never_reach_the_functions_for_longer_data() {
    let image = own();
    for bytes in 1..=128 {
        let contract = with_variable(chacha20_of(bytes), &[], &[]);
        let entered = entered(&image, CHACHA20, &contract, Set::Avx2);
        assert!(has(&entered, "ChaCha20_ctr32_nohw"), "{bytes}: {entered:?}");
        let long = LONG.iter().filter(|function| has(&entered, function));
        assert_eq!(long.count(), 0, "{bytes}: {entered:?}");
    }
}

/// The functions that call one of this name, jump to it, or have its address.
fn callers(image: &Image, function: &str) -> BTreeSet<String> {
    let symbols = image.symbols().iter();
    let mut callee = symbols.clone().filter(|symbol| symbol.is(function));
    let callee = callee.next().expect(function);
    let names_it = |symbol: &&Symbol| {
        let bytes = image
            .code(symbol.start, symbol.size as usize)
            .unwrap_or(&[]);
        let mut code = Decoder::with_ip(64, bytes, symbol.start, DecoderOptions::NONE).into_iter();
        code.any(|it| {
            let address = match it.is_ip_rel_memory_operand() {
                true => it.ip_rel_memory_address(),
                false => it.near_branch_target(),
            };
            address == callee.start
        })
    };
    let others = symbols.filter(|symbol| symbol.start != callee.start);
    others.filter(names_it).map(|it| it.name.clone()).collect()
}

#[test]
fn one_function_alone_calls_those_for_longer_data() {
    let image = own();
    for function in LONG {
        let callers = callers(&image, &format!("aws_lc_*{function}"));
        let is_one = callers.len() == 1 && has(&callers, "CRYPTO_chacha_20");
        assert!(is_one, "{function}: {callers:?}");
    }
    let many = callers(&image, "aws_lc_*OPENSSL_free");
    assert!(many.len() > 1, "callers are found");
}

/// All subsets.
fn subsets(bits: &[u32]) -> impl Iterator<Item = Vec<u32>> {
    (0..1_u32 << bits.len()).map(|number| {
        let bits = bits.iter().enumerate();
        let bits = bits.filter(|(place, _)| number >> place & 1 == 1);
        bits.map(|(_, bit)| *bit).collect()
    })
}

/// Tries `contract` with all of these capabilities, and any others. Exactly one of `functions` is
/// entered each time, none without its capabilities, and each at least once.
fn are_chosen_by(
    dispatcher: &str,
    contract: impl Fn() -> Contract,
    bits: &[u32],
    functions: &[(&str, &[u32])],
) -> Result<(), String> {
    let image = own();
    let mut all = BTreeSet::new();
    for set in subsets(bits) {
        let contract = with_variable(contract(), bits, &set);
        let instructions = match set.contains(&SHA) {
            true => Set::Sha,
            false => Set::Avx2,
        };
        let entered = entered(&image, dispatcher, &contract, instructions);
        let of = |(name, _): &&(&str, _)| has(&entered, name);
        let chosen: Vec<_> = functions.iter().filter(of).collect();
        let [(name, needed)] = chosen[..] else {
            return Err(format!("{} of them are entered", chosen.len()));
        };
        if !needed.iter().all(|bit| set.contains(bit)) {
            return Err(format!("{name} without its capabilities"));
        }
        all.insert(*name);
    }
    let mut never = functions.iter().filter(|(name, _)| !all.contains(name));
    never
        .next()
        .map_or(Ok(()), |(name, _)| Err(format!("{name} never")))
}

/// 136 bytes. More than 192 never reach one of the functions.
#[test]
fn chacha20_is_chosen_by_the_capabilities() {
    let chosen = are_chosen_by(
        CHACHA20,
        || chacha20_of(136),
        &[SSSE3, MOVBE, XSAVE, AVX2],
        &[
            ("ChaCha20_ctr32_nohw", &[]),
            ("ChaCha20_ctr32_ssse3", &[SSSE3]),
            ("ChaCha20_ctr32_ssse3_4x", &[SSSE3]),
            ("ChaCha20_ctr32_avx2", &[AVX2]),
        ],
    );
    assert_eq!(chosen, Ok(()));
}

/// SHA-256 of one block.
fn sha256_chooses(functions: &[(&str, &[u32])]) -> Result<(), String> {
    let one_block = || {
        let mut rows = others().into_iter();
        let row = rows.find(|row| row.name == "aws-lc sha256_block_data_order_nohw");
        let contracts = row.expect("the row").contracts;
        contracts.into_iter().next().expect("one block")
    };
    let bits = [INTEL, SSSE3, AVX, SHA];
    are_chosen_by("sha256_block_data_order", one_block, &bits, functions)
}

#[test]
fn sha_256_is_chosen_by_the_capabilities() {
    let chosen = sha256_chooses(&[
        ("sha256_block_data_order_nohw", &[]),
        ("sha256_block_data_order_ssse3", &[SSSE3]),
        ("sha256_block_data_order_avx", &[AVX]),
        ("sha256_block_data_order_hw", &[SHA]),
    ]);
    assert_eq!(chosen, Ok(()));
}

#[test]
fn a_wrong_choice_is_noticed() {
    let without = sha256_chooses(&[("_nohw", &[SHA]), ("_ssse3", &[]), ("_avx", &[])]);
    assert_eq!(without, Err("_nohw without its capabilities".into()));
    let none = sha256_chooses(&[("_ssse3", &[])]);
    assert_eq!(none, Err("0 of them are entered".into()));
    let every = [
        ("_nohw", &[][..]),
        ("_ssse3", &[]),
        ("_avx", &[]),
        ("_hw", &[]),
    ];
    let never = sha256_chooses(&[&every[..], &[("_avx2", &[])]].concat());
    assert_eq!(never, Err("_avx2 never".into()));
}
