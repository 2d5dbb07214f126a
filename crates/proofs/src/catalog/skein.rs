//! Threefish, Skein's UBI, and the nodes of its trees.

use super::{Kernel, Set};
use crate::spec::{skein, threefish};
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::Access::{Read, Scratch, Write};
use sealstone_prover::contract::{Cell, Contents, Contract, Groups, Steps, Stepwise};
use sealstone_prover::formula;

pub(super) fn threefish(words: usize) -> Vec<Kernel> {
    let contract = |formula| {
        Contract::new(formula)
            .buffer("out", words, 8, Write)
            .buffer("block", words, 8, Scratch)
            .buffer("key", words, 8, Read)
            .buffer("tweak", 2, 8, Read)
            .addresses(["out", "block", "key"])
            .values("tweak")
    };
    let encrypt = formula!(|a, contents| vec![threefish::encrypt(
        a,
        &contents[2],
        &contents[3],
        &contents[1]
    )]);
    let decrypt = formula!(|a, contents| vec![threefish::decrypt(
        a,
        &contents[2],
        &contents[3],
        &contents[1]
    )]);
    let names = match words {
        4 => ["Threefish-256 encryption", "Threefish-256 decryption"],
        8 => ["Threefish-512 encryption", "Threefish-512 decryption"],
        _ => ["Threefish-1024 encryption", "Threefish-1024 decryption"],
    };
    let functions = [
        "sealstone_skein::threefish::cipher::encrypt",
        "sealstone_skein::threefish::cipher::decrypt",
    ];
    let rows = names.into_iter().zip(functions).zip([encrypt, decrypt]);
    let kernels = rows.map(|((name, function), formula)| Kernel {
        name,
        set: Set::Baseline,
        function,
        shows: "Skein 1.3, 3.3",
        shipped: false,
        family: "threefish",
        contracts: vec![contract(formula)],
    });
    kernels.collect()
}

/// UBI over blocks that are not the last, and over the last one.
pub(super) fn ubi(words: usize) -> [Kernel; 2] {
    let names = match words {
        4 => ["Skein-256 UBI", "Skein-256 UBI, last block"],
        8 => ["Skein-512 UBI", "Skein-512 UBI, last block"],
        _ => ["Skein-1024 UBI", "Skein-1024 UBI, last block"],
    };
    let functions = [
        "sealstone_skein::ubi::absorb",
        "sealstone_skein::ubi::absorb_last",
    ];
    let blocks = |(count, case)| inner_blocks(words, count).case(case);
    let some = [
        (0, "no block"),
        (1, "1 block"),
        (2, "2 blocks"),
        (3, "3 blocks"),
    ]
    .map(blocks);
    let blocks = some.into_iter().chain([any_blocks(words)]).collect();
    let contracts = [blocks, vec![last_block(words)]];
    let mut rows = names.into_iter().zip(functions).zip(contracts);
    core::array::from_fn(|_| {
        let ((name, function), contracts) = rows.next().expect("two rows");
        Kernel {
            name,
            set: Set::Baseline,
            function,
            shows: match name.ends_with("UBI") {
                true => "Skein 1.3, 3.4, for any number of blocks",
                false => "Skein 1.3, 3.4",
            },
            shipped: true,
            family: "ubi",
            contracts,
        }
    })
}

fn inner_blocks(words: usize, count: usize) -> Contract {
    Contract::new(formula!(|a, contents| {
        let (chain, tweak, blocks) = (&contents[0], &contents[1], &contents[2]);
        let (chain, tweak) = skein::inner_blocks(a, chain, tweak, blocks);
        vec![chain, tweak]
    }))
    .buffer("chain", words, 8, Write)
    .buffer("tweak", 2, 8, Read)
    .buffer("blocks", count * words, 1, Read)
    .addresses(["chain"])
    .values("tweak")
    .addresses(["blocks"])
    .number(count as u64)
    .returns(2)
}

/// Two blocks or more. Each is a step.
#[derive(Clone, Copy)]
struct Blocks {
    /// Words in each.
    words: usize,
}

impl Stepwise for Blocks {
    fn steps(&self) -> usize {
        1
    }

    /// The chaining value, and the tweak.
    fn begin<A: Algebra<64>>(&self, _a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        contents[..2].concat()
    }

    fn reads(&self, number: usize) -> (usize, Vec<usize>) {
        let cells = number * self.words..(number + 1) * self.words;
        (2, cells.collect())
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        let (chain, tweak) = words.split_at(self.words);
        let (chain, tweak) = skein::inner_blocks(a, chain, tweak, read);
        [chain, tweak].concat()
    }

    fn end<A: Algebra<64>>(&self, _a: &mut A, words: &[A::Word]) -> Contents<A::Word> {
        let (chain, tweak) = words.split_at(self.words);
        vec![chain.to_vec(), tweak.to_vec()]
    }
}

fn any_blocks(words: usize) -> Contract {
    Contract::stepwise(Blocks { words })
        .case("2 blocks or more")
        .buffer("chain", words, 8, Write)
        .buffer("tweak", 2, 8, Read)
        .repeats("blocks", (words, 1), "number")
        .addresses(["chain"])
        .values("tweak")
        .addresses(["blocks"])
        .values("number")
        .returns(2)
}

fn last_block(words: usize) -> Contract {
    Contract::new(formula!(|a, contents| {
        let [_, chain, tweak, block, bytes] = &contents[..] else {
            unreachable!("five buffers")
        };
        vec![skein::last_block(a, chain, tweak, block, &bytes[0])]
    }))
    .buffer("out", words, 8, Write)
    .buffer("chain", words, 8, Scratch)
    .buffer("tweak", 2, 8, Read)
    .buffer("block", words, 1, Read)
    .buffer("bytes", 1, 8, Read)
    .addresses(["out", "chain"])
    .values("tweak")
    .addresses(["block"])
    .values("bytes")
}

/// A block of the output.
pub(super) fn output(words: usize) -> Kernel {
    let contract = Contract::new(formula!(|a, contents| vec![skein::output(
        a,
        &contents[1],
        &contents[2][0]
    )]))
    .buffer("out", words, 8, Write)
    .buffer("chain", words, 8, Read)
    .buffer("i", 1, 8, Read)
    .addresses(["out", "chain"])
    .values("i");
    Kernel {
        name: match words {
            4 => "Skein-256 output",
            8 => "Skein-512 output",
            _ => "Skein-1024 output",
        },
        set: Set::Baseline,
        function: "sealstone_skein::output::output_block",
        shows: "Skein 1.3, 3.5.3",
        shipped: true,
        family: "output",
        contracts: vec![contract],
    }
}

/// Full nodes, one in each lane: `sealstone_skein::tree::kernel::Nodes`. If there are fewer nodes
/// than lanes, the other lanes repeat the first node, and their values are dropped.
#[derive(Clone, Copy)]
struct Nodes {
    /// The number of nodes.
    count: usize,
    lanes: usize,
    /// Blocks in each.
    blocks: usize,
}

impl Nodes {
    /// Cells in a block.
    const CELLS: usize = 8;

    /// Bytes before a node.
    fn before(self, node: usize) -> usize {
        64 * node * self.blocks
    }

    fn contract(self) -> Contract {
        let contract = self.memory(Contract::stepwise(self));
        if self.count == self.lanes {
            contract
        } else {
            contract.case(CASES[self.count])
        }
    }

    /// The function does nothing for so few nodes, because lanes would not be faster.
    fn too_few(self) -> Contract {
        let nothing =
            formula!(|a, contents| vec![contents[2].clone(), vec![Algebra::<64>::number(a, 0)]]);
        self.memory(Contract::new(nothing)).case(CASES[self.count])
    }

    /// The contracts for numbers of nodes: a full group, which also runs natively, all that are too
    /// few, and any number. There each number of nodes in the last group takes as long as a full
    /// group.
    fn contracts(lanes: usize, blocks: usize) -> Vec<Contract> {
        let of = |count| Self {
            count,
            lanes,
            blocks,
        };
        let fewest = lanes / 4 + 1;
        let mut contracts = vec![of(lanes).contract()];
        contracts.extend((0..fewest).map(|count| of(count).too_few()));
        if (lanes, blocks) == (4, 16) {
            contracts.extend([fewest, lanes - 1].map(|count| of(count).contract()));
        }
        contracts.push(of(lanes).any_number());
        contracts
    }

    fn memory(self, contract: Contract) -> Contract {
        self.memory_of(contract, Cell::Number(self.count as u64))
    }

    /// Any number of nodes, in groups of as many as there are lanes.
    fn any_number(self) -> Contract {
        let groups = Groups {
            input: "nodes",
            output: "values",
            cells: [Self::CELLS * self.blocks, Self::CELLS],
            position: ("input", 5),
            distance: self.before(1) as u64,
            size: self.lanes,
            least: self.lanes / 4 + 1,
            steps: Box::new(move |count| Steps::new(Self { count, ..self })),
        };
        self.memory_of(Contract::stepwise(self), Cell::Elements)
            .case("any number of nodes")
            .in_groups(groups)
    }

    fn memory_of(self, contract: Contract, count: Cell) -> Contract {
        let input = vec![
            Cell::Address("start"),
            Cell::Address("nodes"),
            count.clone(),
            Cell::Address("values"),
            count,
            Cell::Input,
            Cell::Input,
        ];
        let cells = self.count * Self::CELLS;
        contract
            .buffer("start", Self::CELLS, 8, Read)
            .buffer("nodes", cells * self.blocks, 1, Read)
            .buffer("values", cells, 1, Write)
            .record("input", input, 8, Scratch)
            .addresses(["input"])
            .returns(1)
    }
}

/// The words are the upper word of the tweak without flags, the position of the first node, and all
/// chaining values.
impl Stepwise for Nodes {
    fn steps(&self) -> usize {
        self.blocks
    }

    fn begin<A: Algebra<64>>(&self, a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        let (start, position, level) = (&contents[0], &contents[3][5], &contents[3][6]);
        let mut words = vec![skein::message_in_tree(a, level), position.clone()];
        words.extend((0..self.lanes).flat_map(|_| start.clone()));
        words
    }

    fn uncoupled(&self) -> usize {
        2
    }

    /// The position of each node: now, at its start, and after its first block.
    fn auxiliary<A: Algebra<64>>(
        &self,
        a: &mut A,
        number: usize,
        words: &[A::Word],
    ) -> Vec<A::Word> {
        let mut auxiliary = Vec::new();
        for node in 0..self.lanes {
            for back in [0, number, number - 1] {
                let before = a.number((self.before(node) as u64).wrapping_sub(64 * back as u64));
                auxiliary.push(a.add(&words[1], &before));
            }
        }
        auxiliary
    }

    fn reads(&self, number: usize) -> (usize, Vec<usize>) {
        let node = |lane| if lane < self.count { lane } else { 0 };
        let start = |lane| (node(lane) * self.blocks + number) * Self::CELLS;
        let cells = (0..self.lanes).flat_map(|lane| start(lane)..start(lane) + Self::CELLS);
        (1, cells.collect())
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        let (first, last) = (number == 0, number + 1 == self.blocks);
        let flags = u64::from(first) * skein::FIRST + u64::from(last) * skein::FINAL;
        let flags = a.number(flags);
        let tweak = a.xor(&words[0], &flags);
        let length = a.number(64);
        let position = a.add(&words[1], &length);
        let mut after = vec![words[0].clone(), position.clone()];
        let chains = words[2..].chunks(Self::CELLS);
        for (node, (chain, block)) in chains.zip(read.chunks(Self::CELLS)).enumerate() {
            let before = a.number(self.before(node) as u64);
            let position = a.add(&position, &before);
            after.extend(skein::step(a, chain, &[position, tweak.clone()], block));
        }
        after
    }

    fn end<A: Algebra<64>>(&self, a: &mut A, words: &[A::Word]) -> Contents<A::Word> {
        let values = words[2..][..self.count * Self::CELLS].to_vec();
        vec![values, vec![a.number(self.count as u64)]]
    }
}

/// The names of the cases, by the number of nodes.
const CASES: [&str; 9] = [
    "no node", "1 node", "2 nodes", "3 nodes", "4 nodes", "5 nodes", "6 nodes", "7 nodes",
    "8 nodes",
];

/// Leaves of 4 KiB and nodes of 1 KiB, `lanes` of them at once.
pub(super) fn tree(lanes: usize) -> [Kernel; 2] {
    let (set, function, names) = match lanes {
        1 => (
            Set::Baseline,
            "sealstone_lanes::cpu::portable",
            ["tree leaves, 1 lane", "tree nodes, 1 lane"],
        ),
        4 => (
            Set::Avx2,
            "sealstone_lanes::cpu::avx2",
            ["tree leaves, 4 lanes", "tree nodes, 4 lanes"],
        ),
        8 => (
            Set::Avx512,
            "sealstone_lanes::cpu::avx512",
            ["tree leaves, 8 lanes", "tree nodes, 8 lanes"],
        ),
        _ => (
            Set::Avx512,
            "sealstone_lanes::cpu::avx512_plus",
            ["tree leaves, 8 + 1 lanes", "tree nodes, 8 + 1 lanes"],
        ),
    };
    let kernel = |(name, blocks)| Kernel {
        name,
        set,
        function,
        shows: match blocks {
            16 => "Skein 1.3, 3.5.6, for any number of nodes of 16 blocks",
            _ => "Skein 1.3, 3.5.6, for any number of leaves of 64 blocks",
        },
        shipped: true,
        family: "tree",
        contracts: Nodes::contracts(lanes, blocks),
    };
    // Nodes first: rejecting their function as one of leaves takes longer than the reverse.
    [(names[1], 16), (names[0], 64)].map(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealstone_prover::algebra::Numbers;
    use sealstone_prover::term::Random;

    /// Compares the steps with those by which `tests/skein.rs` hashes published trees, at any level
    /// and position.
    #[test]
    fn the_steps_of_each_lane_are_those_of_a_node() {
        for (count, lanes, blocks) in [(1, 1, 16), (4, 4, 64), (9, 9, 16), (3, 4, 16), (5, 9, 64)] {
            let nodes = Nodes {
                count,
                lanes,
                blocks,
            };
            let contract = nodes.contract();
            let mut random = Random::new(1);
            let buffers = contract.buffers.iter();
            let contents: Contents<u64> = buffers
                .map(|buffer| buffer.cells.iter().map(|_| random.number()).collect())
                .collect();
            let outputs = (contract.formula.numeric)(&mut Numbers, &contents);
            let (start, position, level) = (&contents[0], contents[3][5], contents[3][6] & 0x7f);
            let cells = blocks * Nodes::CELLS;
            for (node, input) in contents[1].chunks(cells).enumerate() {
                let position = position.wrapping_add((8 * cells * node) as u64);
                let value = skein::node(&mut Numbers, start, level, &position, input);
                assert_eq!(outputs[0][Nodes::CELLS * node..][..Nodes::CELLS], value);
            }
            assert_eq!(outputs[1], [count as u64]);
        }
    }
}
