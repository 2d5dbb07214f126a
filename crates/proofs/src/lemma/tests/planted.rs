//! Wrong mappings. They must be refuted by counterexamples that are wrong on real words too.

use super::evaluate::values;
use super::{random_case, solvers};
use crate::lemma::expression::{Expression, Truth};
use crate::lemma::questions::{ask_about, possible, possible_at_all};
use crate::lemma::{Case, Formula, Lemma, LemmaVerdict, Mapping, SEGMENTS, Shipped};
use sealstone_argon2::Reference;
use sealstone_lanes::{Index, Portable};
use sealstone_prover::solver::Solver;
use sealstone_prover::term::Random;

/// A copy of the shipped mapping with a mistake in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    Nothing,
    /// The own area is one block longer.
    OwnAreaTooLong,
    /// The area in other lanes ends one block later for the first block of a segment.
    OtherAreaTooLong,
    /// The other lanes' area has the current segment's blocks too.
    OtherAreaIsOwn,
    /// The choice covers all lanes in the first slice too.
    AllLanesAtOnce,
    /// J2 mod (p + 1).
    OneLaneMore,
    /// zz from |W|, not |W| - 1.
    EntryTooLate,
    /// It does not return to slice 0 after slice 3.
    NoWayAround,
    /// Later passes begin with the current slice, not with the next one.
    OldestIsCurrent,
    /// The blocks of two lanes further.
    WrongStart,
    /// J1 and J2 are swapped.
    HalvesSwapped,
    /// J1, not J1^2 / 2^32.
    NotSquared,
    /// A product with a number of 33 bits.
    LongFactor,
}

use Planted::*;

const MISTAKES: [(Planted, Lemma); 12] = [
    (OwnAreaTooLong, Lemma::NotJustBefore),
    (OtherAreaTooLong, Lemma::NotJustBefore),
    (OtherAreaIsOwn, Lemma::Written),
    (AllLanesAtOnce, Lemma::Written),
    (OneLaneMore, Lemma::InRange),
    (EntryTooLate, Lemma::NotJustBefore),
    (NoWayAround, Lemma::InRange),
    (OldestIsCurrent, Lemma::Written),
    (WrongStart, Lemma::InRange),
    (HalvesSwapped, Lemma::AsRfc9106),
    (NotSquared, Lemma::AsRfc9106),
    (LongFactor, Lemma::NothingWraps),
];

/// The number of mistakes that both solvers refute within seconds.
const QUICK: usize = 6;

impl Planted {
    /// The segment's first lane, choice, oldest slice and finished slices.
    fn segment<N: Index>(self, cpu: N::Cpu, case: &Case<N>) -> [N; 4] {
        let number = |n: usize| N::splat(cpu, n as u64);
        let (oldest, finished) = match (case.first_pass, self) {
            (true, _) => (0, case.slice),
            (false, OldestIsCurrent) => (case.slice, 3),
            (false, _) => ((case.slice + 1) % 4, 3),
        };
        let only_own = case.first_pass && case.slice == 0 && self != AllLanesAtOnce;
        let (first_lane, choice) = if only_own {
            (case.lane, number(1))
        } else if self == OneLaneMore {
            (number(0), case.lanes.add(number(1)))
        } else {
            (number(0), case.lanes)
        };
        [first_lane, choice, number(oldest), number(finished)]
    }

    fn area<N: Index>(self, cpu: N::Cpu, case: &Case<N>, finished: N, lane: N) -> N {
        let number = |n| N::splat(cpu, n);
        let finished = finished.mul_lo32(case.length);
        let longer = finished.add(case.index);
        let own = longer.sub(number(u64::from(self != OwnAreaTooLong)));
        let less = u64::from(self != OtherAreaTooLong);
        let less = N::select(case.index.is_equal(number(0)), number(less), number(0));
        let other = if self == OtherAreaIsOwn {
            own
        } else {
            finished.sub(less)
        };
        N::select(lane.is_equal(case.lane), own, other)
    }

    fn entry<N: Index>(self, cpu: N::Cpu, area: N, low: N) -> N {
        let square = low.mul_lo32(low).shift_right::<32>();
        let x = match self {
            NotSquared => low.mul_lo32(N::splat(cpu, 1)),
            LongFactor => square.add(square),
            _ => square,
        };
        let y = area.mul_lo32(x).shift_right::<32>();
        area.sub(N::splat(cpu, u64::from(self != EntryTooLate)))
            .sub(y)
    }
}

impl Mapping for Planted {
    fn reference<N: Index>(&self, cpu: N::Cpu, case: &Case<N>) -> Reference<N> {
        let number = |n| N::splat(cpu, n);
        let [first_lane, choice, oldest, finished] = self.segment(cpu, case);
        let (high, low) = (case.word.shift_right::<32>(), case.word);
        let (high, low) = if *self == HalvesSwapped {
            (low.mul_lo32(number(1)), high)
        } else {
            (high, low)
        };
        let lane = first_lane.add(high.remainder(choice));
        let entry = self.entry(cpu, self.area(cpu, case, finished, lane), low);
        let ends = [1, 2, 3].map(|n| case.length.mul_lo32(number(n)));
        let passed = ends
            .map(|end| N::select(entry.is_below(end), number(0), number(1)))
            .into_iter()
            .fold(number(0), N::add);
        let slice = oldest.add(passed);
        let around = if *self == NoWayAround { 0 } else { 4 };
        let slice = N::select(slice.is_below(number(4)), slice, slice.sub(number(around)));
        let index = entry.sub(passed.mul_lo32(case.length));
        let skipped = if *self == WrongStart { 2 } else { 0 };
        let start = lane.add(number(skipped)).mul_lo32(case.length);
        let block = start.add(index);
        Reference { slice, block }
    }
}

/// Whether the lemma fails for this case: on words, or in the formula if it is about the
/// operations.
fn is_counter_example(planted: Planted, lemma: Lemma, case: &Case<u64>) -> bool {
    let premises = case.premises(Portable).into_iter().all(|holds| holds);
    let claim = lemma.claim(Portable, case, planted.reference(Portable, case));
    let holds = claim.unwrap_or_else(|| {
        let formula = Formula::default();
        let any = Case::any(&formula, (case.first_pass, case.slice));
        let claim = lemma.formula(&formula, &any, planted.reference(&formula, &any));
        values(&formula, case)[claim.entry] == 1
    });
    premises && !holds
}

/// Whether the solver finds a counterexample in some kind of segments. The first one is enough, and
/// it is tried on words.
fn refutes(solver: &Solver, planted: Planted, lemma: Lemma) -> bool {
    SEGMENTS.into_iter().any(|segment| {
        let LemmaVerdict::Refuted(case) = ask_about(&[segment], lemma, &planted, solver).unwrap()
        else {
            return false;
        };
        println!(
            "{planted:?}: {lemma:?} refuted by {} with {case:?}",
            solver.name
        );
        assert!(
            is_counter_example(planted, lemma, &case),
            "{planted:?} is right on {case:?}"
        );
        assert!(!is_counter_example(Nothing, lemma, &case));
        true
    })
}

#[test]
fn mistakes_are_refuted() {
    let Some([z3, _]) = solvers() else { return };
    for (planted, lemma) in MISTAKES {
        assert!(refutes(&z3, planted, lemma), "{planted:?}");
    }
}

/// The second solver finds numbers for the other mistakes only slowly.
#[test]
fn the_second_solver_refutes_the_first_mistakes_too() {
    let Some([_, cvc5]) = solvers() else { return };
    for (planted, lemma) in &MISTAKES[..QUICK] {
        assert!(refutes(&cvc5, *planted, *lemma), "{planted:?}");
    }
}

#[test]
fn the_copy_is_right_but_for_the_mistakes() {
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let case = random_case(&mut random);
        let (copy, shipped) = (
            Nothing.reference(Portable, &case),
            Shipped.reference(Portable, &case),
        );
        assert_eq!(copy, shipped, "{case:?}");
    }
}

/// A segment in no lane. This contradiction implies everything.
fn contradiction<'f>(formula: &'f Formula, case: &Case<Expression<'f>>) -> Vec<Truth<'f>> {
    let mut premises = case.premises(formula);
    premises.push(case.lanes.is_below(case.lane));
    premises
}

fn right<'f>(formula: &'f Formula, case: &Case<Expression<'f>>) -> Vec<Truth<'f>> {
    case.premises(formula)
}

#[test]
fn premises_that_contradict_each_other_are_no_proof() {
    let Some(solvers) = solvers() else { return };
    for solver in solvers {
        for segment in SEGMENTS {
            let answers = solver
                .answer(&[possible(segment, right), possible(segment, contradiction)])
                .unwrap();
            assert!(
                possible_at_all::<()>(&answers[..1]).is_proved(),
                "{answers:?}"
            );
            assert!(
                !possible_at_all::<()>(&answers[1..]).is_proved(),
                "{answers:?}"
            );
        }
    }
    assert!(!possible_at_all::<()>(&[]).is_proved());
}
