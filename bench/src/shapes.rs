//! Trees with other leaves and fan-outs than in `spec/tree.md`, alternating in every round: the
//! table of its "Why this shape".
//!
//! For each shape and instruction set with vectors: nanoseconds a byte of 64 MiB, which one thread
//! hashes piece by piece (a piece is the largest sub-tree of at most 1 MiB); and of whole messages
//! of 64 KiB. Minimum of the rounds. Before that, every shape's hash of one piece is compared with
//! that of [`TreeSkein`], which uses no lanes.
//!
//! usage: bench-tree-shapes [ROUNDS]
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::Instant;

use sealstone_lanes::Portable;
use sealstone_skein::tree::{HASH, Shape, TreeSkein, hash_level};
use sealstone_skein::{Cpu, Parameters, output_block};

const LARGE: usize = 64 << 20;
const SMALL: usize = 64 << 10;
const PIECE: usize = 1 << 20;
/// Calls for one measurement of a small message.
const CALLS: usize = 256;

type Value = [u8; HASH];

/// Arguments: an instruction set, the start of nodes, the position of the message, the message, and
/// room for the values of each level.
type Hash = fn(Cpu, &[u64; 8], u64, &[u8], &mut [Vec<Value>]) -> Value;

/// A tree with leaves of `LEAF` blocks and nodes of `FAN_OUT` children.
struct Tree {
    leaf: usize,
    fan_out: usize,
    hash: Hash,
}

macro_rules! trees {
    ($($leaf:literal x $fan_out:literal,)*) => {
        [$(Tree { leaf: $leaf, fan_out: $fan_out, hash: hash::<$leaf, $fan_out> },)*]
    };
}

/// Other leaves with our fan-out, other fan-outs with our leaf, and both.
const TREES: [Tree; 20] = trees![
    4 x 16, 8 x 16, 16 x 16, 32 x 16, 64 x 16, 128 x 16, 256 x 16, 1024 x 16,
    64 x 2, 64 x 4, 64 x 8, 64 x 32, 64 x 64, 64 x 256,
    16 x 2, 16 x 4, 16 x 8, 32 x 32, 256 x 8, 256 x 64,
];

/// The value of the sub-tree over a message of at most a piece, which begins at byte `at`. `levels`
/// is room for the values.
fn hash<const LEAF: usize, const FAN_OUT: usize>(
    cpu: Cpu,
    start: &[u64; 8],
    at: u64,
    message: &[u8],
    levels: &mut [Vec<Value>],
) -> Value {
    let (first, above) = levels.split_first_mut().expect("room for the leaves");
    let mut values = hash_level::<LEAF>(cpu, start, 1, at, message, first);
    let mut at = at / (LEAF * 64) as u64 * HASH as u64;
    for (level, room) in (2..).zip(above) {
        if values.len() == 1 {
            break;
        }
        values = hash_level::<FAN_OUT>(cpu, start, level, at, values.as_flattened(), room);
        at /= FAN_OUT as u64;
    }
    values[0]
}

impl Tree {
    fn shape(&self) -> Shape {
        Shape::new(self.leaf.ilog2() as u8, self.fan_out.ilog2() as u8, 255)
            .expect("a shape that there is")
    }

    fn start(&self) -> [u64; 8] {
        Parameters::new().start::<u64, 8>(Portable, Some(self.shape()))
    }

    /// Length of the largest sub-tree of at most a piece, in bytes.
    fn piece(&self) -> usize {
        let leaf = 64 * self.leaf;
        std::iter::successors(Some(leaf), |size| Some(size * self.fan_out))
            .take_while(|&size| size <= PIECE)
            .last()
            .expect("a leaf is no longer than a piece")
    }

    /// Length in bytes of the proof that the first piece belongs to a message of `message` bytes:
    /// its siblings on all levels.
    fn proof(&self, message: usize) -> usize {
        let mut nodes = message.div_ceil(self.piece());
        let mut siblings = 0;
        while nodes > 1 {
            siblings += nodes.min(self.fan_out) - 1;
            nodes = nodes.div_ceil(self.fan_out);
        }
        siblings * HASH
    }

    fn is_right(&self, cpu: Cpu, message: &[u8], levels: &mut [Vec<Value>]) -> bool {
        let value = (self.hash)(cpu, &self.start(), 0, message, levels);
        let (words, _) = value.as_chunks::<8>();
        let chain: [u64; 8] = std::array::from_fn(|i| u64::from_le_bytes(words[i]));
        let output = output_block(Portable, &chain, 0).map(u64::to_le_bytes);
        let mut tree = TreeSkein::<8>::with(&Parameters::new(), self.shape());
        tree.update(message);
        tree.finish() == output.as_flattened()
    }

    /// Nanoseconds a byte of a large message and of a small one.
    fn measure(&self, cpu: Cpu, message: &[u8], levels: &mut [Vec<Value>]) -> [f64; 2] {
        let start = self.start();
        let began = Instant::now();
        for (at, piece) in (0..)
            .step_by(self.piece())
            .zip(message.chunks(self.piece()))
        {
            black_box((self.hash)(cpu, &start, at, piece, levels));
        }
        let large = began.elapsed().as_nanos() as f64 / message.len() as f64;
        let began = Instant::now();
        for _ in 0..CALLS {
            black_box((self.hash)(
                cpu,
                &start,
                0,
                black_box(&message[..SMALL]),
                levels,
            ));
        }
        let small = began.elapsed().as_nanos() as f64 / (CALLS * SMALL) as f64;
        [large, small]
    }
}

/// The name of the instruction set.
fn name(cpu: Cpu) -> String {
    let name = format!("{cpu:?}");
    name.split('(').next().unwrap_or_default().to_owned()
}

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .map_or(9, |rounds| rounds.parse().expect("a number of rounds"));
    let message: Vec<u8> = (0..251).cycle().take(LARGE).collect();
    // The lowest level of the smallest leaves has the most nodes.
    let mut levels = vec![vec![[0; HASH]; PIECE / 128 + 1]; 16];
    let cpus: Vec<Cpu> = Cpu::available()
        .filter(|&cpu| !["Portable", "Avx512Plus"].contains(&name(cpu).as_str()))
        .collect();
    for tree in &TREES {
        for &cpu in &cpus {
            for len in [tree.piece(), SMALL, SMALL - 1] {
                let right = tree.is_right(cpu, &message[..len], &mut levels);
                assert!(
                    right,
                    "leaves of {} blocks, {} children, {len} bytes on {cpu:?}",
                    tree.leaf, tree.fan_out
                );
            }
        }
    }

    let mut best = vec![[f64::INFINITY; 2]; TREES.len() * cpus.len()];
    for _ in 0..rounds {
        let jobs = TREES
            .iter()
            .flat_map(|tree| cpus.iter().map(move |&cpu| (tree, cpu)));
        for ((tree, cpu), best) in jobs.zip(&mut best) {
            let times = tree.measure(cpu, &message, &mut levels);
            best.iter_mut()
                .zip(times)
                .for_each(|(best, time)| *best = best.min(time));
        }
    }

    print!("| leaf, blocks | children | proof, bytes |");
    cpus.iter()
        .for_each(|&cpu| print!(" {0}, 64 MiB | {0}, 64 KiB |", name(cpu)));
    println!("\n|{}", "---|".repeat(3 + 2 * cpus.len()));
    for (tree, best) in TREES.iter().zip(best.chunks(cpus.len())) {
        let proof = tree.proof(1 << 30);
        print!("| {} | {} | {proof} |", tree.leaf, tree.fan_out);
        best.iter()
            .for_each(|[large, small]| print!(" {large:.3} | {small:.3} |"));
        println!();
    }
}
