//! Assumptions of the contracts of others' code about its callers, and their guarantees.
//!
//! A row is one assumption. The tests below read the assumptions from the contracts, as they do for
//! our kernels. Nobody proved the callers: they are aws-lc's C code and the crates' Rust. So most
//! guarantees are read in their sources, and trusted.

use serde_json::{Value, json};

/// The assumption, as a contract shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OthersNeed {
    /// Calls follow the System V ABI.
    Call,
    /// Buffers exist with these lengths, and no other code changes them meanwhile.
    Memory,
    /// Written buffers are separate from all others, or are the input itself.
    Separate,
    /// Buffers begin at multiples of this number of bytes.
    Aligned(u64),
    /// The processor has more than the baseline.
    Instructions,
    /// The variable with the processor's capabilities names the instructions of the row's set.
    Capabilities,
    /// Numbers in memory are those of the contract: constants of the algorithm.
    Constants,
    /// Some bits of a number in memory are those of the contract.
    Bits,
    /// Some numbers in memory are the exclusive or of others.
    Sums,
    /// Addresses in memory lead to buffers of the contract.
    Addresses,
    /// Arguments of one byte have zeros above it.
    ZerosAbove,
    /// A number argument is that of the contract: a length, or a number of blocks.
    Number,
    /// Data are not shorter than this number of units.
    Least(u64),
}

/// A condition of contracts.
pub struct OthersObligation {
    /// The assumption.
    pub need: OthersNeed,
    /// The functions whose callers have the obligation: names of rows, or beginnings before
    /// an ellipsis. Empty for all.
    pub functions: &'static [&'static str],
    /// The caller's obligation.
    pub what: &'static str,
    /// The guarantee.
    pub by: &'static str,
    /// The check of the guarantee.
    pub checked: &'static str,
}

const fn of_all(need: OthersNeed, [what, by, checked]: [&'static str; 3]) -> OthersObligation {
    of(need, &[], [what, by, checked])
}

const fn of(
    need: OthersNeed,
    functions: &'static [&'static str],
    [what, by, checked]: [&'static str; 3],
) -> OthersObligation {
    OthersObligation {
        need,
        functions,
        what,
        by,
        checked,
    }
}

const READ: &str = "trusted: read in its source";

/// All of them. ASSURANCE.md prints the table.
pub const OTHERS_OBLIGATIONS: &[OthersObligation] = &[
    of_all(
        OthersNeed::Call,
        [
            "a call as in the System V ABI: aligned stack with a guard, direction flag clear; of \
             compiled Rust, as this compiler passes its arguments",
            "C and Rust compilers",
            "trusted: the compilers",
        ],
    ),
    of_all(
        OthersNeed::Memory,
        [
            "initialised memory of the contract's length, no byte of it at zero or at the end of \
             the address space, which nobody else changes",
            "pointers with lengths in aws-lc, references and slices in the crates",
            READ,
        ],
    ),
    of_all(
        OthersNeed::Separate,
        [
            "what is written is separate from all else, or is the input itself where the row says \
             so; what is only read may be the same",
            "aws-lc's AEADs refuse buffers that overlap in part; structures and results have \
             places of their own; `&mut` is exclusive",
            READ,
        ],
    ),
    of(
        OthersNeed::Aligned(4),
        &[
            "aws-lc ChaCha20_ctr32_…",
            "aws-lc sha256…",
            "aws-lc aes_hw…",
            "blake3_…",
            "sha2::sha256…",
            "chacha20::backends::avx2…",
        ],
        [
            "keys, counters, states and round keys begin at multiples of 4 bytes",
            "arrays of `uint32_t` and `u32`; `alignas(4)` for XChaCha20's derived key",
            READ,
        ],
    ),
    of(
        OthersNeed::Aligned(8),
        &[
            "aws-lc sha512…",
            "aws-lc sha3_keccak…",
            "aws-lc gcm_…",
            "blake3_hash_many…",
            "sha2::sha512…",
        ],
        [
            "states, tables and lists of addresses begin at multiples of 8 bytes",
            "arrays of `uint64_t`, `u128`, `u64` and pointers",
            READ,
        ],
    ),
    of(
        OthersNeed::Aligned(16),
        &["aws-lc chacha20_poly1305…", "chacha20::backends::sse2…"],
        [
            "the structure of key and tag, or the vectors, begin at multiples of 16 bytes",
            "`alignas(16)`; the type `__m128i`",
            READ,
        ],
    ),
    of(
        OthersNeed::Aligned(32),
        &["aws-lc sha3_keccak4…", "blake2::…"],
        [
            "the tables of the rotations, or the chaining value, begin at multiples of 32 bytes",
            "the tables' declaration; the alignment of the crate's vector type",
            READ,
        ],
    ),
    of(
        OthersNeed::Instructions,
        &[
            "aws-lc ChaCha20_ctr32_ssse3…",
            "aws-lc ChaCha20_ctr32_avx2",
            "aws-lc sha256_block_data_order_ssse3",
            "aws-lc sha256_block_data_order_avx",
            "aws-lc sha256_block_data_order_hw",
            "aws-lc sha512_block_data_order_avx",
            "aws-lc sha3_keccak4…",
            "aws-lc aes_hw…",
            "aws-lc gcm_…",
            "aws-lc chacha20_poly1305…",
            "blake3_compress_in_place_sse41",
            "blake3_compress_in_place_avx512",
            "blake3_compress_xof_sse41",
            "blake3_compress_xof_avx512",
            "blake3_hash_many_sse41",
            "blake3_hash_many_avx2",
            "blake3_hash_many_avx512",
            "sha2::…",
            "chacha20::backends::avx2…",
        ],
        [
            "the processor, and the operating system, have the instruction set of the row",
            "aws-lc chooses by `OPENSSL_ia32cap_P`, which it fills from CPUID; the crates detect \
             at run time",
            "`tests/others/callers.rs`: the variable has no capability that Rust does not detect; \
             it chooses ChaCha20 and SHA-256; else trusted: read in its source",
        ],
    ),
    of(
        OthersNeed::Capabilities,
        &["aws-lc chacha20_poly1305…"],
        [
            "the variable with the processor's capabilities says AVX2 and BMI2 in the row of \
             these, and neither in the other row",
            "aws-lc fills it once, before all calls; a processor with one of the two takes the \
             code of the row without them, which is not proved for it",
            "`tests/others/callers.rs`: it is filled, with no capability that Rust does not \
             detect; that nothing changes it is trusted: read in its source",
        ],
    ),
    of(
        OthersNeed::Capabilities,
        &["sha2::sha256::compress256", "sha2::sha512::compress512"],
        [
            "the variable with the result of the detection says that the instructions are there",
            "the crate's first call fills it from CPUID; that call itself is not proved",
            "`tests/others/callers.rs`: after a call it says what Rust detects; that nothing \
             changes it is trusted: read in its source",
        ],
    ),
    of(
        OthersNeed::Constants,
        &["aws-lc sha3_keccak…", "aws-lc chacha20_poly1305_seal"],
        [
            "the round constants, the tables of the rotations and the length of further ciphertext \
             (zero) are those of the contract",
            "constant tables of aws-lc; its one-shot calls pass no further ciphertext",
            READ,
        ],
    ),
    of(
        OthersNeed::Bits,
        &[
            "aws-lc aes_hw_encrypt",
            "aws-lc aes_hw_ctr32…",
            "aws-lc chacha20_poly1305…",
        ],
        [
            "round keys are of 256 bits, for 14 rounds; the counter of ChaCha20-Poly1305 is zero",
            "the key schedule writes the number of rounds (its row proves it); aws-lc sets the \
             counter",
            READ,
        ],
    ),
    of(
        OthersNeed::Sums,
        &[
            "aws-lc gcm_gmult_clmul",
            "aws-lc gcm_ghash_clmul",
            "aws-lc gcm_gmult_avx",
            "aws-lc gcm_ghash_avx",
        ],
        [
            "some entries of the table are sums of other entries",
            "`gcm_init_clmul`, `gcm_init_avx`",
            "their rows: they write these sums",
        ],
    ),
    of(
        OthersNeed::Addresses,
        &["blake3_hash_many…"],
        [
            "the inputs are where the list says; with AVX2 and AVX-512 they are one behind the \
             other",
            "references; the crate cuts its input into them",
            READ,
        ],
    ),
    of(
        OthersNeed::ZerosAbove,
        &["blake3_compress_in_place_sse…"],
        [
            "block length and flags have zeros above their 8 bits",
            "compilers extend such arguments; the ABI does not promise it",
            "trusted: the compiler",
        ],
    ),
    of(
        OthersNeed::Number,
        &[
            "aws-lc aes_hw_set_encrypt_key",
            "aws-lc gcm_ghash…",
            "aws-lc chacha20_poly1305…",
            "blake3_hash_many…",
            "chacha20::backends::avx2…",
            "blake2::…",
        ],
        [
            "the number is one of those that the row names: bits of a key, bytes, blocks, inputs; \
             the flag of a last node is zero",
            "keys: the suite has 256 bits; last node: the crate has none; lengths: nothing",
            "not proved for other lengths",
        ],
    ),
    of(
        OthersNeed::Least(129),
        &[
            "aws-lc ChaCha20_ctr32_ssse3_4x",
            "aws-lc ChaCha20_ctr32_avx2",
        ],
        [
            "data have at least 129 bytes",
            "`CRYPTO_chacha_20`, their only caller, asks for `len > 128`",
            "`tests/others/callers.rs`: 1 to 128 bytes are proved not to reach them; no other \
             function has their address",
        ],
    ),
];

impl OthersObligation {
    /// Whether the callers of the function of this name have the obligation.
    pub fn is_of(&self, name: &str) -> bool {
        let functions = self.functions;
        functions.is_empty() || functions.iter().any(|function| matches(function, name))
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let functions = match self.functions {
            [] => "all".into(),
            some => some.join(", "),
        };
        json!({
            "kernels": functions,
            "what": self.what,
            "by": self.by,
            "checked": self.checked,
        })
    }
}

/// Whether a row has this name, or one with this beginning if an ellipsis follows.
fn matches(function: &str, name: &str) -> bool {
    match function.strip_suffix('…') {
        Some(beginning) => name.starts_with(beginning),
        None => name == function,
    }
}

#[cfg(test)]
mod tests {
    use super::OthersNeed::*;
    use super::*;
    use crate::catalog::{Kernel, Set, others};
    use sealstone_prover::contract::{Access, Argument, Buffer, Cell, Contract};
    use std::collections::{BTreeMap, BTreeSet};

    type Needs = BTreeSet<OthersNeed>;

    /// The assumption of a cell of memory.
    fn need_of_cell(buffer: &Buffer, cell: &Cell) -> Option<OthersNeed> {
        let is_variable = buffer.variable.is_some();
        match cell {
            Cell::Input | Cell::Many(_) => None,
            Cell::Partly { .. } if is_variable => Some(Capabilities),
            Cell::Byte(_) => Some(Capabilities),
            Cell::Partly { .. } => Some(Bits),
            Cell::Number(_) => Some(Constants),
            Cell::Xor(_) => Some(Sums),
            Cell::Address(_) | Cell::Inside(..) => Some(Addresses),
            Cell::Small(8) => Some(ZerosAbove),
            Cell::Small(_) | Cell::Count(_) | Cell::Elements => {
                panic!("nobody guarantees {cell:?} of others' code")
            }
        }
    }

    fn needs(set: Set, contract: &Contract) -> Needs {
        // A buffer that only describes an argument is no memory.
        let is_argument = |buffer: &Buffer| {
            contract.arguments.iter().any(|argument| match argument {
                Argument::Value(name, _) | Argument::Twice(name, _) => *name == buffer.name,
                _ => false,
            })
        };
        let (arguments, buffers): (Vec<&Buffer>, Vec<&Buffer>) =
            contract.buffers.iter().partition(|it| is_argument(it));
        let mut needs = Needs::from([Call, Memory]);
        let aligned = buffers.iter().map(|buffer| buffer.alignment);
        needs.extend(aligned.filter(|it| *it > 1).map(Aligned));
        let is_written = |buffer: &&Buffer| buffer.access != Access::Read;
        needs.extend((buffers.len() > 1 && buffers.iter().any(is_written)).then_some(Separate));
        needs.extend((set != Set::Baseline).then_some(Instructions));
        for buffer in buffers.into_iter().chain(arguments) {
            let cells = buffer.cells.iter();
            needs.extend(cells.filter_map(|cell| need_of_cell(buffer, cell)));
        }
        let is_number = |it: &Argument| matches!(it, Argument::Number(_) | Argument::Byte(_));
        needs.extend(contract.arguments.iter().any(is_number).then_some(Number));
        let stream = contract.stream.as_ref();
        let least = stream.map(|stream| stream.least).filter(|it| *it > 1);
        needs.extend(least.map(Least));
        needs
    }

    /// The assumptions of the contracts of each row.
    fn assumed(rows: &[Kernel]) -> BTreeMap<&str, Needs> {
        let mut all = BTreeMap::new();
        for row in rows {
            let contracts = row.contracts.iter();
            let entry: &mut Needs = all.entry(row.name).or_default();
            entry.extend(contracts.flat_map(|contract| needs(row.set, contract)));
            // Its contracts together cover every number.
            if row.contracts.iter().any(Contract::is_by_induction) {
                entry.remove(&Number);
            }
            // Each content of the variable has its contract.
            if row.name == "aws-lc aes_hw_set_encrypt_key" {
                entry.remove(&Capabilities);
            }
        }
        all
    }

    /// The table's obligations for each row.
    fn listed<'a>(rows: &'a [Kernel], table: &[&OthersObligation]) -> BTreeMap<&'a str, Needs> {
        let of = |row: &'a Kernel| {
            let table = table.iter().filter(|it| it.is_of(row.name));
            (row.name, table.map(|it| it.need).collect())
        };
        rows.iter().map(of).collect()
    }

    #[test]
    fn every_contract_of_others_says_who_guarantees_what_it_assumes() {
        let rows = others();
        let table: Vec<_> = OTHERS_OBLIGATIONS.iter().collect();
        let (listed, assumed) = (listed(&rows, &table), assumed(&rows));
        for (name, assumed) in &assumed {
            assert_eq!(&listed[name], assumed, "{name}");
        }
        assert_eq!(listed.len(), assumed.len());
    }

    /// The test notices each missing obligation, and each name of a function.
    #[test]
    fn an_assumption_of_others_without_a_row_is_noticed() {
        let rows = others();
        let assumed = assumed(&rows);
        for left_out in OTHERS_OBLIGATIONS {
            let table = OTHERS_OBLIGATIONS.iter();
            let table: Vec<_> = table.filter(|it| !std::ptr::eq(*it, left_out)).collect();
            assert_ne!(listed(&rows, &table), assumed, "{}", left_out.what);
            for name in left_out.functions {
                let is_of = rows.iter().any(|row| matches(name, row.name));
                assert!(is_of, "no row is {name}");
            }
        }
    }

    /// A row "all" is about all functions: none of them is without the assumption.
    #[test]
    fn all_is_said_of_what_all_assume() {
        let rows = others();
        for (name, needs) in assumed(&rows) {
            for it in OTHERS_OBLIGATIONS
                .iter()
                .filter(|it| it.functions.is_empty())
            {
                assert!(needs.contains(&it.need), "{name}: {}", it.what);
            }
        }
    }

    /// The variable of the key schedule has each of the four contents in a contract.
    #[test]
    fn the_key_schedule_covers_each_content_of_the_variable() {
        let rows = others();
        let row = rows
            .iter()
            .find(|row| row.name == "aws-lc aes_hw_set_encrypt_key");
        let contracts = &row.expect("the key schedule").contracts;
        let mut contents = BTreeSet::new();
        let mut all_known = BTreeSet::new();
        for contract in contracts {
            let variable = contract.buffers.iter().find(|it| it.variable.is_some());
            for cell in &variable.expect("a variable").cells {
                if let Cell::Partly { known, value } = cell {
                    all_known.insert(*known);
                    contents.insert(*value);
                }
            }
        }
        let known: Vec<u64> = all_known.into_iter().collect();
        let [known] = known[..] else {
            panic!("the same bits in each contract: {known:?}");
        };
        assert_eq!(contents.len(), 1 << known.count_ones());
    }

    /// Prints what each row assumes. The table is written from this.
    #[test]
    #[ignore = "prints the assumptions of the contracts, for the author of a new row"]
    fn print_what_is_assumed() {
        let rows = others();
        let mut of_needs: BTreeMap<OthersNeed, Vec<&str>> = BTreeMap::new();
        for (name, needs) in assumed(&rows) {
            for need in needs {
                of_needs.entry(need).or_default().push(name);
            }
        }
        assert!(!of_needs.is_empty());
        for (need, names) in of_needs {
            println!("{need:?}: {} {names:?}", names.len());
        }
    }
}
