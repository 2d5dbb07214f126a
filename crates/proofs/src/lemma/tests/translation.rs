//! Formulas match the code: on the same numbers, the code on `u64`, the formula, and its text in a
//! solver agree.

use super::evaluate::values;
use super::{random_case, solvers};
use crate::lemma::exact::is_exact;
use crate::lemma::{Case, Expression, Formula, Lemma, Mapping, SEGMENTS, Shipped, Truth, smt};
use sealstone_argon2::Reference;
use sealstone_lanes::{Index, Portable, Word};
use sealstone_prover::solver::Answer;
use sealstone_prover::term::Random;

/// A question about this case alone: does its reference differ from `expected`?
fn question(case: &Case<u64>, expected: Reference<u64>) -> String {
    let formula = Formula::default();
    let any = Case::any(&formula, (case.first_pass, case.slice));
    let reference = Shipped.reference(&formula, &any);
    let inputs = [
        is(any.lanes, case.lanes),
        is(any.length, case.length),
        is(any.lane, case.lane),
        is(any.index, case.index),
        is(any.word, case.word),
    ];
    let claim = is(reference.slice, expected.slice) & is(reference.block, expected.block);
    smt::question(&formula, &inputs, claim)
}

fn is(x: Expression<'_>, y: u64) -> Truth<'_> {
    x.is_equal(Expression::splat(x.formula, y))
}

#[test]
fn solvers_compute_as_the_code() {
    let Some(solvers) = solvers() else { return };
    let mut random = Random::new(3);
    let cases: Vec<_> = (0..100).map(|_| random_case(&mut random)).collect();
    let right = |case: &Case<u64>| question(case, Shipped.reference(Portable, case));
    let wrong = |case: &Case<u64>| {
        let Reference { slice, block } = Shipped.reference(Portable, case);
        let block = block ^ 1;
        question(case, Reference { slice, block })
    };
    for solver in &solvers {
        let questions: Vec<_> = cases.iter().map(right).collect();
        let answers = solver.answer(&questions).unwrap();
        assert!(
            answers.iter().all(|answer| *answer == Answer::Unsat),
            "{answers:?}"
        );
        let questions: Vec<_> = cases.iter().map(wrong).collect();
        let answers = solver.answer(&questions).unwrap();
        assert!(
            answers.iter().all(|answer| *answer == Answer::Sat),
            "{answers:?}"
        );
    }
}

#[test]
fn formulas_compute_as_the_code_and_the_lemmas_hold() {
    let mut random = Random::new(4);
    let formulas = SEGMENTS.map(|_| Formula::default());
    let any: Vec<_> = formulas
        .iter()
        .zip(SEGMENTS)
        .map(|(formula, segment)| {
            let any = Case::any(formula, segment);
            let reference = Shipped.reference(formula, &any);
            let claims = Lemma::ALL.map(|lemma| lemma.formula(formula, &any, reference));
            (formula, reference, claims)
        })
        .collect();
    for _ in 0..20_000 {
        let case = random_case(&mut random);
        let kind = SEGMENTS
            .iter()
            .position(|segment| *segment == (case.first_pass, case.slice));
        let (formula, reference, claims) = &any[kind.unwrap()];
        let values = values(formula, &case);
        let expected = Shipped.reference(Portable, &case);
        assert_eq!(
            values[reference.slice.entry],
            expected.slice.into(),
            "{case:?}"
        );
        assert_eq!(
            values[reference.block.entry],
            expected.block.into(),
            "{case:?}"
        );
        assert!(
            claims.iter().all(|claim| values[claim.entry] == 1),
            "{case:?}"
        );
    }
}

/// Each operation alone, with numbers at which its condition holds or just fails.
#[test]
fn conditions_are_where_words_and_integers_agree() {
    let mut random = Random::new(5);
    let mut failed = 0;
    for round in 0..10_000 {
        let [a, b] = [(); 2].map(|()| random.number() >> (random.number() % 64));
        let operation = round % 5;
        let formula = Formula::default();
        let [x, y] = [a, b].map(|n| Expression::splat(&formula, n));
        let result = apply(operation, x, y);
        let exact = is_exact(&[result]);
        // The formula has no inputs.
        let values = values(&formula, &random_case(&mut random));
        if exact.is_none_or(|exact| values[exact.entry] == 1) {
            assert_eq!(
                values[result.entry],
                apply(operation, a, b).into(),
                "{operation} {a} {b}"
            );
        } else {
            failed += 1;
        }
    }
    assert!(failed > 1000, "{failed}");
}

fn apply<N: Index>(operation: usize, a: N, b: N) -> N {
    match operation {
        0 => Word::add(a, b),
        1 => Word::sub(a, b),
        2 => a.mul_lo32(b),
        3 => a.remainder(b),
        _ => N::select(a.is_below(b), a.shift_right::<7>(), b),
    }
}
