//! A simulated memory with the time at which each block was computed. It has no formula of a
//! reference: the set W is a list of blocks. The lemmas must hold for exactly the blocks in the
//! list, and the reference must be its zz-th block.

use crate::lemma::{Case, Lemma, Mapping, Shipped};
use sealstone_argon2::Reference;
use sealstone_lanes::Portable;
use sealstone_prover::term::Random;

/// The time at which each block was computed, by lane and column; `None` if it does not exist or is
/// being replaced.
struct Memory {
    length: usize,
    times: Vec<Vec<Option<u64>>>,
    now: u64,
}

impl Memory {
    fn new(lanes: usize, length: usize) -> Self {
        let mut memory = Self {
            length,
            times: vec![vec![None; 4 * length]; lanes],
            now: 0,
        };
        for lane in 0..lanes {
            memory.compute(lane, 0);
            memory.compute(lane, 1);
        }
        memory
    }

    fn compute(&mut self, lane: usize, column: usize) {
        self.now += 1;
        self.times[lane][column] = Some(self.now);
    }

    /// Calls `visit` before each block is computed from a reference, in `passes` passes. Lanes of a
    /// slice run at the same time, so a lane must not rely on the progress of another.
    fn fill(&mut self, passes: u32, mut visit: impl FnMut(&Self, &Case<u64>)) {
        for pass in 0..passes {
            for slice in 0..4 {
                let first = if pass == 0 && slice == 0 { 2 } else { 0 };
                let mut after = Vec::new();
                for lane in 0..self.times.len() {
                    let before = self.begin(slice, first);
                    for index in first..self.length {
                        visit(self, &self.case(pass == 0, slice, lane, index));
                        self.compute(lane, slice * self.length + index);
                    }
                    after.push(self.times[lane].clone());
                    self.times = before;
                }
                self.times = after;
            }
        }
    }

    /// Removes the blocks that this slice will replace from all lanes, and returns the rest.
    fn begin(&mut self, slice: usize, first: usize) -> Vec<Vec<Option<u64>>> {
        for lane in &mut self.times {
            lane[slice * self.length + first..][..self.length - first].fill(None);
        }
        self.times.clone()
    }

    fn case(&self, first_pass: bool, slice: usize, lane: usize, index: usize) -> Case<u64> {
        Case {
            first_pass,
            slice,
            lanes: self.times.len() as u64,
            length: self.length as u64,
            lane: lane as u64,
            index: index as u64,
            word: 0,
        }
    }

    /// W in lane `l`, in the order of computation.
    fn set(&self, case: &Case<u64>, l: usize) -> Vec<Reference<u64>> {
        let own = l as u64 == case.lane;
        let columns = 0..4 * self.length;
        let mut set: Vec<_> = columns
            .filter(|column| own || column / self.length != case.slice)
            .filter_map(|column| Some((self.times[l][column]?, column)))
            .collect();
        set.sort();
        // The previous block of the own lane, or "the very last index".
        if own || case.index == 0 {
            set.pop();
        }
        set.iter()
            .map(|(_, column)| self.block(l, *column))
            .collect()
    }

    fn block(&self, lane: usize, column: usize) -> Reference<u64> {
        Reference {
            slice: (column / self.length) as u64,
            block: (lane * self.length + column % self.length) as u64,
        }
    }
}

/// Memories of 1 to 3 lanes and segments of 2 to 5 blocks.
fn memories() -> impl Iterator<Item = Memory> {
    (1..=3).flat_map(|lanes| (2..=5).map(move |length| Memory::new(lanes, length)))
}

/// The lanes that a word can select.
fn choice(case: &Case<u64>) -> Vec<usize> {
    if case.first_pass && case.slice == 0 {
        vec![case.lane as usize]
    } else {
        (0..case.lanes as usize).collect()
    }
}

fn claims(case: &Case<u64>, reference: Reference<u64>) -> bool {
    [Lemma::InRange, Lemma::Written, Lemma::NotJustBefore]
        .into_iter()
        .all(|lemma| lemma.claim(Portable, case, reference).unwrap())
}

#[test]
fn the_lemmas_hold_of_the_blocks_that_are_there_and_of_no_others() {
    let (mut yes, mut no) = (0, 0);
    for mut memory in memories() {
        memory.fill(3, |memory, case| {
            for l in choice(case) {
                let word = (l as u64) << 32;
                let (case, set) = (Case { word, ..*case }, memory.set(case, l));
                for column in 0..5 * memory.length {
                    let reference = memory.block(l, column);
                    let expected = set.contains(&reference);
                    assert_eq!(claims(&case, reference), expected, "{case:?} {reference:?}");
                    *if expected { &mut yes } else { &mut no } += 1;
                }
            }
        });
    }
    assert!(yes > 1000 && no > 1000, "{yes} {no}");
}

#[test]
fn the_reference_is_the_one_that_the_rfc_takes_from_the_list() {
    let mut random = Random::new(2);
    for mut memory in memories() {
        memory.fill(3, |memory, case| {
            for _ in 0..20 {
                let word = random.number();
                let lanes = choice(case);
                let l = lanes[(word >> 32) as usize % lanes.len()];
                let (case, set) = (Case { word, ..*case }, memory.set(case, l));
                let j1 = u128::from(word as u32);
                let y = (set.len() as u128 * ((j1 * j1) >> 32)) >> 32;
                let expected = set[set.len() - 1 - y as usize];
                assert_eq!(Shipped.reference(Portable, &case), expected, "{case:?}");
                assert_eq!(
                    Lemma::AsRfc9106.claim(Portable, &case, expected),
                    Some(true)
                );
            }
        });
    }
}
