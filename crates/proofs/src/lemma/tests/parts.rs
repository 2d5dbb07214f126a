//! The cut of a part: the formula matches the code, and wrong cuts are refuted.

use super::{edgy, solvers};
use crate::lemma::expression::Formula;
use crate::lemma::parts::{BLOCKS, last_block_waits};
use crate::lemma::{Cutting, LemmaVerdict, PartCase, PartLemma, Shipped};
use sealstone_lanes::{Cut, Index, Portable};
use sealstone_prover::solver::Solver;
use sealstone_prover::term::Random;

/// A copy of the shipped cut with a mistake in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    Nothing,
    /// The number of blocks is computed with the low half of the length: from 2^32 bytes on, blocks
    /// are missing.
    Truncated,
    /// The number of blocks has 26 bits, so that this is wrong from 2^26 blocks on.
    Counter,
    /// A part that fills the waiting block ends it.
    Full,
    /// A last block that is whole is cut off too.
    LastToo,
    /// The waiting bytes are not completed.
    NoHead,
    /// No byte waits, and a block is completed all the same.
    AlwaysHead,
    /// The length of the blocks is that of Skein-512.
    OtherSize,
}

use Planted::*;

const MISTAKES: [(Planted, PartLemma); 7] = [
    (Truncated, PartLemma::NothingWraps),
    (Counter, PartLemma::LastBlockWaits),
    (Full, PartLemma::LastBlockWaits),
    (LastToo, PartLemma::LastBlockWaits),
    (NoHead, PartLemma::LastBlockWaits),
    (AlwaysHead, PartLemma::LastBlockWaits),
    (OtherSize, PartLemma::LastBlockWaits),
];

impl Cutting for Planted {
    fn cut<N: Index>(&self, cpu: N::Cpu, case: &PartCase<N>) -> Cut<N> {
        let [zero, one] = [0, 1].map(|x| N::splat(cpu, x));
        let room = N::splat(cpu, case.block as u64).sub(case.filled);
        let most = if *self == Full { room.sub(one) } else { room };
        let ends_block = most.is_below(case.length);
        let missing = match self {
            NoHead => zero,
            AlwaysHead => room,
            _ => N::select(case.filled.is_equal(zero), zero, room),
        };
        let behind = case.length.sub(missing);
        let behind = match self {
            LastToo => behind,
            Truncated => behind.sub(one).mul_lo32(one),
            _ => behind.sub(one),
        };
        let blocks = match (case.block, self) {
            (64, _) | (_, OtherSize) => behind.shift_right::<6>(),
            (32, _) => behind.shift_right::<5>(),
            _ => behind.shift_right::<7>(),
        };
        let blocks = match self {
            Counter => N::select(blocks.is_below(N::splat(cpu, 1 << 26)), blocks, zero),
            _ => blocks,
        };
        Cut {
            ends_block,
            head: N::select(ends_block, missing, zero),
            blocks: N::select(ends_block, blocks, zero),
        }
    }
}

fn is_right(cutting: &impl Cutting, case: &PartCase<u64>) -> bool {
    last_block_waits(Portable, case, cutting.cut(Portable, case))
}

/// Whether the solver refutes it, by a case that is wrong on words.
fn refutes(solver: &Solver, planted: Planted, lemma: PartLemma) -> bool {
    let LemmaVerdict::Refuted(case) = lemma.ask(&planted, solver).unwrap() else {
        return false;
    };
    println!("{planted:?} refuted by {} with {case:?}", solver.name);
    assert!(case.premises(Portable).into_iter().all(|holds| holds));
    assert!(!is_right(&planted, &case) && is_right(&Shipped, &case));
    true
}

#[test]
fn wrong_cuts_are_refuted() {
    let Some(solvers) = solvers() else { return };
    for solver in &solvers {
        for (planted, lemma) in MISTAKES {
            assert!(refutes(solver, planted, lemma), "{planted:?}");
        }
        for lemma in PartLemma::ALL {
            assert!(lemma.ask(&Nothing, solver).unwrap().is_proved());
            assert!(lemma.ask(&Shipped, solver).unwrap().is_proved());
        }
    }
}

/// These cuts are wrong only for long parts. A test cannot hash parts of that length.
#[test]
fn no_part_below_two_gibibytes_shows_a_count_of_too_few_bits() {
    let case = |block, length| PartCase {
        block,
        filled: 1,
        length,
    };
    for planted in [Truncated, Counter] {
        for block in BLOCKS {
            let short = (0..100_000).chain([(1 << 31) - 1]);
            assert!(
                short
                    .into_iter()
                    .all(|length| is_right(&planted, &case(block, length)))
            );
            assert!(!is_right(&planted, &case(block, (1 << 34) + 7)));
        }
    }
}

/// A random part, with edge cases far more likely than by chance.
fn random_part(random: &mut Random) -> PartCase<u64> {
    let block = BLOCKS[random.number() as usize % BLOCKS.len()];
    PartCase {
        block,
        filled: edgy(random, 0, block as u64),
        length: edgy(random, 0, (1 << 63) - 1),
    }
}

#[test]
fn formula_and_copy_match_the_code() {
    let mut random = Random::new(1);
    for _ in 0..5_000 {
        let case = random_part(&mut random);
        let (copy, shipped) = (Nothing.cut(Portable, &case), Shipped.cut(Portable, &case));
        assert_eq!(format!("{copy:?}"), format!("{shipped:?}"), "{case:?}");
        assert!(is_right(&Shipped, &case), "{case:?}");

        let formula = Formula::default();
        let any = PartCase::any(&formula, case.block);
        let cut = Shipped.cut(&formula, &any);
        let values = super::evaluate::values_of(&formula, &|name| match name {
            "filled" => case.filled,
            "high" => case.length >> 32,
            "low" => case.length & 0xffff_ffff,
            _ => panic!("no input {name}"),
        });
        let results = [cut.ends_block.entry, cut.head.entry, cut.blocks.entry];
        let results = results.map(|entry| values[entry]);
        let numbers = [u64::from(shipped.ends_block), shipped.head, shipped.blocks];
        assert_eq!(results, numbers.map(i128::from), "{case:?}");
    }
}
