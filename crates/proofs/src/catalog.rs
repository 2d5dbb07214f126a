//! Every proved kernel: a row for each, with its contract. To prove another kernel, add a row.

mod drivers;
mod obligations;
mod others;
mod skein;

pub use drivers::REASONS;
pub use obligations::{
    Group, Need, OBLIGATIONS, OTHERS_OBLIGATIONS, Obligation, OthersNeed, OthersObligation,
};
pub use others::{Code, FAMILIES, Family, UNPROVED, Unproved, others};

use crate::spec::{argon2, blake2b, chacha20, sha256};
use Access::{Read, Write};
use sealstone_prover::algebra::{Algebra, Cells};
use sealstone_prover::contract::{Access, Cell, Contents, Contract, Formula};
use sealstone_prover::features::{Features, Processor};
use sealstone_prover::formula;

/// An instruction set of our code, or of others' code that we rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// The features of every x86-64 CPU.
    Baseline,
    /// SSSE3.
    Ssse3,
    /// SSE4.1.
    Sse41,
    /// AVX.
    Avx,
    /// The instructions for SHA-1 and SHA-256, and SSE4.1.
    Sha,
    /// The instructions for AES, and SSE4.1.
    Aes,
    /// PCLMULQDQ, and SSSE3.
    Clmul,
    /// AVX and PCLMULQDQ.
    AvxClmul,
    /// AVX2.
    Avx2,
    /// AVX2 and BMI2.
    Avx2Bmi2,
    /// AVX-512F and AVX-512VL.
    Avx512,
    /// AVX-512F, VL, DQ and BW, and VPCLMULQDQ.
    Avx512Clmul,
}

impl Set {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "x86-64",
            Self::Ssse3 => "SSSE3",
            Self::Sse41 => "SSE4.1",
            Self::Avx => "AVX",
            Self::Sha => "SHA",
            Self::Aes => "AES",
            Self::Clmul => "PCLMULQDQ",
            Self::AvxClmul => "AVX, PCLMULQDQ",
            Self::Avx2 => "AVX2",
            Self::Avx2Bmi2 => "AVX2, BMI2",
            Self::Avx512 => "AVX-512",
            Self::Avx512Clmul => "AVX-512, VPCLMULQDQ",
        }
    }

    /// Whether this CPU has it.
    pub fn is_here(self) -> bool {
        match self {
            Self::Baseline => true,
            Self::Ssse3 => std::arch::is_x86_feature_detected!("ssse3"),
            Self::Sse41 => {
                std::arch::is_x86_feature_detected!("ssse3")
                    && std::arch::is_x86_feature_detected!("sse4.1")
            }
            Self::Avx => std::arch::is_x86_feature_detected!("avx"),
            Self::Sha => {
                std::arch::is_x86_feature_detected!("sha")
                    && std::arch::is_x86_feature_detected!("sse4.1")
            }
            Self::Aes => {
                std::arch::is_x86_feature_detected!("aes")
                    && std::arch::is_x86_feature_detected!("sse4.1")
            }
            Self::Clmul => {
                std::arch::is_x86_feature_detected!("ssse3")
                    && std::arch::is_x86_feature_detected!("pclmulqdq")
            }
            Self::AvxClmul => Self::Avx.is_here() && Self::Clmul.is_here(),
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            Self::Avx2Bmi2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("bmi2")
            }
            Self::Avx512 => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512vl")
            }
            Self::Avx512Clmul => {
                Self::Avx512.is_here()
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("vpclmulqdq")
            }
        }
    }

    /// The features that its detection guarantees.
    pub fn features(self) -> Features {
        match self {
            Self::Baseline => Features::baseline(),
            Self::Ssse3 => Features::ssse3(),
            Self::Sse41 => Features::sse41(),
            Self::Avx => Features::avx(),
            Self::Sha => Features::sha(),
            Self::Aes => Features::aes(),
            Self::Clmul => Features::pclmulqdq(),
            Self::AvxClmul => Features::avx_pclmulqdq(),
            Self::Avx2 => Features::avx2(),
            Self::Avx2Bmi2 => Features::avx2_bmi2(),
            Self::Avx512 => Features::avx512(),
            Self::Avx512Clmul => Features::vpclmulqdq(),
        }
    }

    /// A processor with these features only.
    pub fn processor(self) -> Processor {
        Processor {
            features: self.features(),
            is_here: self.is_here(),
        }
    }

    /// The numbers of its variants of `sealstone_lanes::Cpu`. AVX-512 has two, which differ in tree
    /// kernels only.
    fn numbers(self) -> &'static [u8] {
        match self {
            Self::Baseline => &[0],
            Self::Ssse3 | Self::Sse41 | Self::Avx | Self::Sha | Self::Aes | Self::Avx2Bmi2 => &[],
            Self::Clmul | Self::AvxClmul | Self::Avx512Clmul => &[],
            Self::Avx2 => &[1],
            Self::Avx512 => &[2, 3],
        }
    }
}

/// A kernel for one instruction set.
pub struct Kernel {
    /// Its name in tables.
    pub name: &'static str,
    /// The instruction set.
    pub set: Set,
    /// The path of its function, as [`Symbol::is`](sealstone_prover::image::Symbol::is) takes it.
    pub function: &'static str,
    /// Its result, and the source of its specification.
    pub shows: &'static str,
    /// Whether the shipped command contains it.
    pub shipped: bool,
    /// Kernels of one family share a specification.
    pub family: &'static str,
    /// Its contracts.
    pub contracts: Vec<Contract>,
}

/// All kernels.
pub fn kernels() -> Vec<Kernel> {
    let mut all = Vec::new();
    for set in [Set::Baseline, Set::Avx2, Set::Avx512] {
        all.extend(argon2(set));
        all.push(blake2b(set));
    }
    for words in [4, 8, 16] {
        all.extend(skein::threefish(words));
    }
    for words in [4, 8, 16] {
        all.extend(skein::ubi(words));
    }
    all.extend([4, 8, 16].map(skein::output));
    for lanes in [1, 4, 8, 9] {
        all.extend(skein::tree(lanes));
    }
    all.extend(self_tests());
    all
}

/// The cell of memory with word `word` of an Argon2 block. The block is an 8 × 8 matrix of
/// registers of two words. A line of eight cells holds a quarter of two rows, with alternating
/// registers.
fn cell_of(word: usize) -> usize {
    let (row, column) = (word / 16, word % 16);
    let line = 4 * (row / 2) + column / 4;
    8 * line + 4 * (column % 4 / 2) + 2 * (row % 2) + column % 2
}

/// The words of a block in memory, in the order of RFC 9106.
fn words_of<W: Clone>(cells: &[W]) -> Vec<W> {
    (0..128).map(|word| cells[cell_of(word)].clone()).collect()
}

/// The inverse of [`words_of`].
fn cells_of<W: Clone>(words: &[W]) -> Vec<W> {
    let mut cells = words.to_vec();
    for (word, value) in words.iter().enumerate() {
        cells[cell_of(word)] = value.clone();
    }
    cells
}

/// G of the first two buffers, in the third; added to the old content if `add`.
fn new_block<A: Algebra<64>>(
    a: &mut A,
    contents: &Contents<A::Word>,
    add: bool,
) -> Contents<A::Word> {
    let block = argon2::compress(a, &words_of(&contents[0]), &words_of(&contents[1]));
    let block = cells_of(&block);
    let added = |a: &mut A| {
        block
            .iter()
            .zip(&contents[2])
            .map(|(new, old)| a.xor(new, old))
            .collect()
    };
    vec![if add { added(a) } else { block.clone() }]
}

/// Three blocks, and the address of a fourth block for later, which is not readable yet.
fn blocks(cpu: u8, add: bool) -> Contract {
    with_blocks(cpu, formula!(|a, contents| new_block(a, contents, add)))
        .buffer("soon", 0, 64, Read)
        .addresses(["soon"])
}

/// The same, with an address that depends on data.
fn blocks_and_any_place(cpu: u8, add: bool) -> Contract {
    with_blocks(cpu, formula!(|a, contents| new_block(a, contents, add)))
        .case("any place to prefetch")
        .buffer("soon", 1, 8, Read)
        .values("soon")
        .by_data()
}

fn with_blocks(cpu: u8, formula: Formula) -> Contract {
    let contract = Contract::new(formula)
        .buffer("x", 128, 64, Read)
        .buffer("y", 128, 64, Read)
        .buffer("out", 128, 64, Write);
    contract.byte(cpu).addresses(["x", "y", "out"])
}

/// Three blocks, and the parameters of the next reference: any lane, segment, index and memory,
/// among 1 to 2^24 lanes.
fn blocks_ahead(cpu: u8, add: bool) -> Contract {
    let formula = formula!(|a, contents| {
        let mut outputs = new_block(a, contents, add);
        let segment = argon2::Segment::of(&contents[3]);
        let (index, word) = (&contents[4][1], &outputs[0][0]);
        outputs.push(argon2::reference(a, &segment, index, word));
        outputs
    });
    let mut segment = vec![Cell::Input; 5];
    segment.push(Cell::Count(24));
    let next = vec![
        Cell::Address("segment"),
        Cell::Input,
        Cell::Input,
        Cell::Input,
    ];
    with_blocks(cpu, formula)
        .record("segment", segment, 8, Read)
        .record("next", next, 8, Read)
        .addresses(["next"])
        .returns(2)
        .by_data()
}

/// The same, and any address to prefetch.
fn blocks_in_turn(cpu: u8, add: bool) -> Contract {
    blocks_ahead(cpu, add)
        .buffer("soon", 1, 8, Read)
        .values("soon")
}

fn argon2(set: Set) -> Vec<Kernel> {
    type Promise = fn(u8, bool) -> Contract;
    let plain: &[Promise] = &[blocks, blocks_and_any_place];
    let (ahead, in_turn): (&[Promise], &[Promise]) = (&[blocks_ahead], &[blocks_in_turn]);
    let rows = [
        ("Argon2 G", false, plain),
        ("Argon2 G, added", true, plain),
        ("Argon2 G, looking ahead", false, ahead),
        ("Argon2 G, added, looking ahead", true, ahead),
        ("Argon2 G, in turn", false, in_turn),
        ("Argon2 G, added, in turn", true, in_turn),
    ];
    let functions = [
        "sealstone_argon2::kernel::replace",
        "sealstone_argon2::kernel::add",
        "sealstone_argon2::kernel::replace_ahead",
        "sealstone_argon2::kernel::add_ahead",
        "sealstone_argon2::kernel::replace_in_turn",
        "sealstone_argon2::kernel::add_in_turn",
    ];
    let kernels = rows
        .into_iter()
        .zip(functions)
        .map(|((name, add, promises), function)| {
            let contracts = set.numbers().iter().flat_map(|cpu| {
                let promised = promises.iter().map(|promise| promise(*cpu, add));
                let same = promises[0](*cpu, add).with_same("y is x", "y", "x");
                promised.chain([same])
            });
            Kernel {
                name,
                set,
                function,
                shows: if promises.len() == 2 {
                    "RFC 9106, 3.5, also if y is x"
                } else {
                    "RFC 9106, 3.4.2 and 3.5, also if y is x"
                },
                shipped: true,
                family: "argon2",
                contracts: contracts.collect(),
            }
        });
    kernels.collect()
}

fn blake2b(set: Set) -> Kernel {
    let contract = |cpu: &u8| {
        let contract = Contract::new(formula!(|a, contents| {
            let (m, h, input) = (&contents[0], &contents[1], &contents[2]);
            vec![blake2b::compress(a, h, m, &input[1..3], &input[3])]
        }));
        let input = vec![Cell::Address("m"), Cell::Input, Cell::Input, Cell::Input];
        contract
            .buffer("m", 16, 8, Read)
            .buffer("h", 8, 8, Write)
            .record("input", input, 8, Read)
            .byte(*cpu)
            .addresses(["h", "input"])
    };
    Kernel {
        name: "BLAKE2b F",
        set,
        function: "sealstone_argon2::blake2b::engine::compress_on",
        shows: "RFC 7693, 3.2",
        shipped: true,
        family: "blake2b",
        contracts: set.numbers().iter().map(contract).collect(),
    }
}

fn words_32<A: Cells>(
    a: &mut A,
    cells: &[<A as Algebra<64>>::Word],
) -> Vec<<A as Algebra<32>>::Word> {
    cells.iter().flat_map(|cell| a.split(cell)).collect()
}

fn cells_32<A: Cells>(
    a: &mut A,
    words: &[<A as Algebra<32>>::Word],
) -> Vec<<A as Algebra<64>>::Word> {
    words.chunks(2).map(|pair| a.join(pair)).collect()
}

fn self_tests() -> Vec<Kernel> {
    let chacha20 = Contract::new(formula!(|a, contents| {
        let state = words_32(a, &contents[0]);
        let block = chacha20::block(a, &state);
        vec![cells_32(a, &block)]
    }));
    let sha256 = Contract::new(formula!(|a, contents| {
        let (state, block) = (words_32(a, &contents[0]), words_32(a, &contents[1]));
        let state = sha256::compress(a, &state, &block);
        vec![cells_32(a, &state)]
    }));
    let row = |name, function, shows, contract| Kernel {
        name,
        set: Set::Baseline,
        function,
        shows,
        shipped: false,
        family: name,
        contracts: vec![contract],
    };
    vec![
        row(
            "ChaCha20 block (self-test)",
            "sealstone_kernels::chacha20_block",
            "RFC 8439, 2.3",
            chacha20
                .buffer("state", 8, 4, Read)
                .buffer("out", 8, 4, Write)
                .addresses(["state", "out"]),
        ),
        row(
            "SHA-256 compression (self-test)",
            "sealstone_kernels::sha256_compress",
            "FIPS 180-4, 6.2.2",
            sha256
                .buffer("state", 4, 4, Write)
                .buffer("block", 8, 1, Read)
                .addresses(["state", "block"]),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealstone_lanes::Cpu;

    /// Each variant of `Cpu` that this processor has belongs to a set whose rows run it.
    #[test]
    fn every_variant_of_cpu_has_rows() {
        let sets = [Set::Baseline, Set::Avx2, Set::Avx512].into_iter();
        let here = sets.filter(|set| set.is_here());
        let numbers = here.map(|set| set.numbers().len());
        assert_eq!(numbers.sum::<usize>(), Cpu::available().count());
    }
}
