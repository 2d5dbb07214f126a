//! Assumptions of the contracts about callers of kernels, and their guarantees.
//!
//! A contract is an assumption about the caller of a kernel. The tests below read the assumptions
//! from the contracts. So a contract with a new assumption fails until the table has its guarantee.

mod others;

pub use others::{OTHERS_OBLIGATIONS, OthersNeed, OthersObligation};

use serde_json::{Value, json};

/// The assumption, as a contract shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Calls follow the System V ABI.
    Call,
    /// Buffers exist with these lengths, and no other code changes them meanwhile.
    Memory,
    /// Written buffers are separate from all others.
    Separate,
    /// Buffers begin at multiples of eight bytes.
    Words,
    /// Buffers begin at multiples of 64 bytes.
    Lines,
    /// The processor has more than the baseline.
    Instructions,
    /// A number in memory is in a range.
    Range,
    /// The number of elements is that of the contract. Nothing guarantees it, so there must also be
    /// a contract for any number.
    Count,
    /// Several numbers of elements are the same number.
    Equal,
}

/// Kernels with the same obligations.
pub struct Group {
    /// Its name in tables.
    pub name: &'static str,
    /// The paths of its functions.
    pub functions: &'static [&'static str],
}

const fn group(name: &'static str, functions: &'static [&'static str]) -> Group {
    Group { name, functions }
}

/// A condition of contracts.
pub struct Obligation {
    /// The assumption.
    pub need: Need,
    /// The kernels whose callers have the obligation.
    pub groups: &'static [&'static Group],
    /// The caller's obligation.
    pub what: &'static str,
    /// The guarantee.
    pub by: &'static str,
    /// The check of the guarantee.
    pub checked: &'static str,
}

const G: Group = group(
    "Argon2 G",
    &[
        "sealstone_argon2::kernel::replace",
        "sealstone_argon2::kernel::add",
    ],
);
const G_WITH_REFERENCE: Group = group(
    "Argon2 G with a reference",
    &[
        "sealstone_argon2::kernel::replace_ahead",
        "sealstone_argon2::kernel::add_ahead",
        "sealstone_argon2::kernel::replace_in_turn",
        "sealstone_argon2::kernel::add_in_turn",
    ],
);
const F: Group = group(
    "BLAKE2b F",
    &["sealstone_argon2::blake2b::engine::compress_on"],
);
const UBI: Group = group("Skein UBI", &["sealstone_skein::ubi::absorb"]);
const LAST: Group = group(
    "Skein UBI, last block",
    &["sealstone_skein::ubi::absorb_last"],
);
const OUTPUT: Group = group("Skein output", &["sealstone_skein::output::output_block"]);
const THREEFISH: Group = group(
    "Threefish",
    &[
        "sealstone_skein::threefish::cipher::encrypt",
        "sealstone_skein::threefish::cipher::decrypt",
    ],
);
const TREE: Group = group("tree, one lane", &["sealstone_lanes::cpu::portable"]);
const TREES: Group = group(
    "trees in lanes",
    &[
        "sealstone_lanes::cpu::avx2",
        "sealstone_lanes::cpu::avx512",
        "sealstone_lanes::cpu::avx512_plus",
    ],
);
/// All of them.
const ALL: &[&Group] = &[
    &G,
    &G_WITH_REFERENCE,
    &F,
    &UBI,
    &LAST,
    &OUTPUT,
    &THREEFISH,
    &TREE,
    &TREES,
];

/// All of them. ASSURANCE.md prints the table.
pub const OBLIGATIONS: &[Obligation] = &[
    Obligation {
        need: Need::Call,
        groups: ALL,
        what: "a call as in the System V ABI: aligned stack with a guard, direction flag clear",
        by: "safe Rust",
        checked: "trusted: the compiler",
    },
    Obligation {
        need: Need::Memory,
        groups: ALL,
        what: "initialised memory of the contract's length, no byte of it at zero, which nobody \
               else changes",
        by: "references to arrays, slices and structures",
        checked: "the compiler",
    },
    Obligation {
        need: Need::Separate,
        groups: ALL,
        what: "what is written is separate from all else; what is only read may be the same",
        by: "`&mut` is exclusive; copies and results have places of their own",
        checked: "the compiler",
    },
    Obligation {
        need: Need::Lines,
        groups: &[&G, &G_WITH_REFERENCE],
        what: "blocks begin at multiples of 64 bytes",
        by: "the type `Block`",
        checked: "`catalog::obligations`: its alignment",
    },
    Obligation {
        need: Need::Words,
        groups: &[
            &G,
            &G_WITH_REFERENCE,
            &F,
            &UBI,
            &LAST,
            &OUTPUT,
            &THREEFISH,
            &TREE,
            &TREES,
        ],
        what: "words begin at multiples of 8 bytes",
        by: "the type `u64`",
        checked: "`catalog::obligations`: its alignment",
    },
    Obligation {
        need: Need::Instructions,
        groups: &[&G, &G_WITH_REFERENCE, &F, &TREES],
        what: "the processor, and the operating system, have the instruction set of the row",
        by: "`Cpu` holds a token, which only detection makes",
        checked: "the compiler: the token's field is private",
    },
    Obligation {
        need: Need::Range,
        groups: &[&G_WITH_REFERENCE],
        what: "from 1 to 2^24 lanes to choose from",
        by: "`Params::new` refuses others",
        checked: "`catalog::obligations`: parameters at both ends",
    },
    Obligation {
        need: Need::Equal,
        groups: &[&TREE, &TREES],
        what: "as many values as nodes or leaves",
        by: "`Nodes::new`, which alone makes the arguments, cuts the values to that number",
        checked: "the compiler: the fields are private; `crates/skein`: the number of values",
    },
];

impl Obligation {
    /// The kernels whose callers have this obligation, as text.
    pub fn kernels(&self) -> String {
        let names: Vec<&str> = self.groups.iter().map(|group| group.name).collect();
        match names.len() == ALL.len() {
            true => "all".into(),
            false => names.join(", "),
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "kernels": self.kernels(),
            "what": self.what,
            "by": self.by,
            "checked": self.checked,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Kernel, Set, kernels};
    use sealstone_argon2::{Block, Params};
    use sealstone_prover::contract::{Access, Argument, Buffer, Cell, Contract};
    use sealstone_prover::formula;
    use std::collections::{BTreeMap, BTreeSet};

    fn need_of_alignment(buffer: &Buffer) -> Option<Need> {
        match buffer.alignment {
            1 => None,
            8 => Some(Need::Words),
            64 => Some(Need::Lines),
            other => panic!("nobody guarantees multiples of {other}"),
        }
    }

    /// The assumptions of a contract.
    fn needs(set: Set, contract: &Contract) -> BTreeSet<Need> {
        let buffers = &contract.buffers;
        let mut needs = BTreeSet::from([Need::Call, Need::Memory]);
        needs.extend(buffers.iter().filter_map(need_of_alignment));
        let is_written = |buffer: &&Buffer| buffer.access != Access::Read;
        let others = buffers.len() > 1;
        needs.extend((others && buffers.iter().any(|b| is_written(&b))).then_some(Need::Separate));
        needs.extend((set != Set::Baseline).then_some(Need::Instructions));
        for cell in buffers.iter().flat_map(|buffer| &buffer.cells) {
            match cell {
                Cell::Input | Cell::Address(_) | Cell::Inside(..) => {}
                // It may be any number, unless `has_equal_numbers`.
                Cell::Many(_) | Cell::Elements => {}
                Cell::Xor(_) => panic!("nobody guarantees the exclusive or of other numbers"),
                Cell::Count(24) => drop(needs.insert(Need::Range)),
                Cell::Small(bits) | Cell::Count(bits) => {
                    panic!("nobody guarantees numbers below 2^{bits}")
                }
                Cell::Partly { .. } => panic!("nobody guarantees some bits of a number"),
                Cell::Number(_) => drop(needs.insert(Need::Count)),
                Cell::Byte(_) => panic!("no kernel of ours reads a variable"),
            }
        }
        let number = |argument: &Argument| matches!(argument, Argument::Number(_));
        needs.extend(contract.arguments.iter().any(number).then_some(Need::Count));
        needs.extend(has_equal_numbers(contract).then_some(Need::Equal));
        needs
    }

    /// Whether several cells have the number of elements.
    fn has_equal_numbers(contract: &Contract) -> bool {
        let cells = contract.buffers.iter().flat_map(|buffer| &buffer.cells);
        let is_number = |cell: &&Cell| matches!(cell, Cell::Elements | Cell::Number(_));
        cells.filter(is_number).count() > 1
    }

    /// The assumptions of all contracts of a kernel. A contract for any number and those for the
    /// smaller numbers cover every number together.
    fn needs_of(kernel: &Kernel) -> BTreeSet<Need> {
        let contracts = kernel.contracts.iter();
        let mut all: BTreeSet<Need> = contracts
            .flat_map(|contract| needs(kernel.set, contract))
            .collect();
        if kernel.contracts.iter().any(|any| covers_all(kernel, any)) {
            all.remove(&Need::Count);
        }
        all
    }

    /// Whether a contract is for any number, and the kernel has contracts for the smaller numbers.
    fn covers_all(kernel: &Kernel, any: &Contract) -> bool {
        let least = match (&any.groups, &any.repeats) {
            (Some(groups), _) => groups.least as u64,
            (None, Some(_)) => 2,
            (None, None) => return false,
        };
        let is_for = |contract: &Contract, number: u64| {
            let mut cells = contract.buffers.iter().flat_map(|buffer| &buffer.cells);
            let is_argument =
                |it: &Argument| matches!(it, Argument::Number(found) if *found == number);
            cells.any(|cell| *cell == Cell::Number(number))
                || contract.arguments.iter().any(is_argument)
        };
        (0..least).all(|number| kernel.contracts.iter().any(|it| is_for(it, number)))
    }

    /// The assumptions of the contracts of each of our functions.
    fn assumed() -> BTreeMap<&'static str, BTreeSet<Need>> {
        let mut all: BTreeMap<_, BTreeSet<Need>> = BTreeMap::new();
        for kernel in kernels() {
            if kernel.function.starts_with("sealstone_kernels") {
                continue;
            }
            all.entry(kernel.function)
                .or_default()
                .extend(needs_of(&kernel));
        }
        all
    }

    /// The table's obligations for each function.
    fn listed<'a>(
        table: impl Iterator<Item = &'a Obligation>,
    ) -> BTreeMap<&'a str, BTreeSet<Need>> {
        let mut all: BTreeMap<_, BTreeSet<Need>> = BTreeMap::new();
        for obligation in table {
            let functions = obligation.groups.iter().flat_map(|group| group.functions);
            for function in functions {
                all.entry(*function).or_default().insert(obligation.need);
            }
        }
        all
    }

    #[test]
    fn every_contract_says_who_guarantees_what_it_assumes() {
        assert_eq!(listed(OBLIGATIONS.iter()), assumed());
    }

    /// The test notices each missing obligation.
    #[test]
    fn an_assumption_without_a_row_is_noticed() {
        for left_out in OBLIGATIONS {
            let others = OBLIGATIONS.iter();
            let others = others.filter(|other| !std::ptr::eq(*other, left_out));
            assert_ne!(listed(others), assumed(), "{}", left_out.what);
        }
    }

    /// A kernel whose contracts have fixed numbers only is noticed: nothing guarantees them.
    #[test]
    fn numbers_are_an_assumption_without_a_contract_for_any_number() {
        let kernels = kernels().into_iter();
        let trees = kernels.filter(|kernel| kernel.family == "tree");
        let mut count = 0;
        for mut kernel in trees {
            assert!(!needs_of(&kernel).contains(&Need::Count), "{}", kernel.name);
            let (any, fixed): (Vec<_>, Vec<_>) = kernel
                .contracts
                .drain(..)
                .partition(Contract::is_by_induction);
            kernel.contracts = fixed;
            assert!(needs_of(&kernel).contains(&Need::Count), "{}", kernel.name);
            // The same without the contract for none.
            kernel
                .contracts
                .retain(|contract| contract.case != "no node");
            kernel.contracts.extend(any);
            assert!(needs_of(&kernel).contains(&Need::Count), "{}", kernel.name);
            count += 1;
        }
        assert_eq!(count, 8, "nodes and leaves in 1, 4, 8 and 9 lanes");
    }

    /// One number of elements may be any number. Two of them are the same number.
    #[test]
    fn equal_numbers_of_elements_are_an_assumption() {
        for (numbers, is_assumed) in [(1, false), (2, true)] {
            let contract = Contract::new(formula!(|_a, _contents| Vec::new()));
            let numbers = vec![Cell::Elements; numbers];
            let contract = contract.record("input", numbers, 8, Access::Read);
            let needs = needs(Set::Baseline, &contract);
            assert_eq!(needs.contains(&Need::Equal), is_assumed);
        }
    }

    #[test]
    fn types_are_aligned_as_contracts_assume() {
        assert_eq!(align_of::<Block>(), 64);
        assert_eq!(align_of::<u64>(), 8);
    }

    #[test]
    fn lanes_are_in_the_range_that_contracts_assume() {
        assert!(Params::new(u32::MAX, 1, 0).is_err());
        assert!(Params::new(u32::MAX, 1, (1 << 24) - 1).is_ok());
        assert!(Params::new(u32::MAX, 1, 1 << 24).is_err());
    }
}
