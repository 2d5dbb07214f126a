//! Questions to the solvers.

use super::case::Case;
use super::claims::{Lemma, Mapping, SEGMENTS};
use super::expression::{Expression, Formula, Truth};
use super::smt;
use crate::usage::Usage;
use sealstone_lanes::{Index, Word};
use sealstone_prover::solver::{Answer, Solver};
use std::fmt;
use std::io;
use std::time::Duration;

/// A solver's verdict on a lemma.
#[derive(Clone, Debug)]
pub struct Row {
    /// The lemma.
    pub lemma: Lemma,
    /// The solver's name.
    pub solver: &'static str,
    /// Its verdict, for all eight kinds of segments.
    pub verdict: LemmaVerdict,
    /// Processor time of the solver, in steps of a hundredth of a second.
    pub time: Duration,
}

/// Whether a lemma holds.
#[derive(Clone, Debug)]
pub enum LemmaVerdict {
    /// For all inputs.
    Proved,
    /// Not for this input.
    Refuted(Case<u64>),
    /// The solver found no answer; why.
    Unproved(String),
}

/// Asks each solver for each lemma about the references of `mapping`.
///
/// # Errors
/// If a solver cannot be run.
pub fn prove(mapping: &impl Mapping, solvers: &[Solver]) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for lemma in Lemma::ALL {
        for solver in solvers {
            let before = solver_time()?;
            let verdict = ask(lemma, mapping, solver)?;
            rows.push(Row {
                lemma,
                solver: solver.name,
                verdict,
                time: solver_time()? - before,
            });
        }
    }
    Ok(rows)
}

fn solver_time() -> io::Result<Duration> {
    let usage = Usage::so_far().map_err(io::Error::other)?;
    Ok(usage.children)
}

/// Whether there are rows, and all are proved.
pub fn holds(rows: &[Row]) -> bool {
    !rows.is_empty() && rows.iter().all(|row| row.verdict.is_proved())
}

/// The rows as a table.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<28} {:<6} {:>7}  verdict\n",
        "Argon2's reference index", "solver", "time"
    );
    for row in rows {
        let (lemma, time) = (row.lemma.name(), row.time.as_secs_f64());
        text += &format!(
            "{lemma:<28} {:<6} {time:>6.2}s  {}\n",
            row.solver, row.verdict
        );
    }
    let proved = rows.iter().filter(|row| row.verdict.is_proved()).count();
    text += &format!(
        "{proved} of {} proved, for all lanes, memory sizes, positions and words\n",
        rows.len()
    );
    text
}

/// The rows as JSON: an array with an object for each row.
pub fn json(rows: &[Row]) -> serde_json::Value {
    let rows = rows.iter().map(|row| {
        serde_json::json!({
            "lemma": row.lemma.name(),
            "solver": row.solver,
            "verdict": row.verdict.name(),
            "reason": if row.verdict.is_proved() { String::new() } else { row.verdict.to_string() },
            "seconds": row.time.as_secs_f64(),
        })
    });
    rows.collect()
}

impl LemmaVerdict {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Proved => "PROVED",
            Self::Refuted(_) => "REFUTED",
            Self::Unproved(_) => "UNPROVED",
        }
    }

    /// Whether it is [`LemmaVerdict::Proved`].
    pub fn is_proved(&self) -> bool {
        matches!(self, Self::Proved)
    }
}

impl fmt::Display for LemmaVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proved => f.write_str("PROVED"),
            Self::Refuted(case) => write!(f, "REFUTED by {case:?}"),
            Self::Unproved(why) => write!(f, "UNPROVED: {why}"),
        }
    }
}

fn ask(lemma: Lemma, mapping: &impl Mapping, solver: &Solver) -> io::Result<LemmaVerdict> {
    ask_about(&SEGMENTS, lemma, mapping, solver)
}

/// The verdict for these kinds of segments.
pub(super) fn ask_about(
    segments: &[(bool, usize)],
    lemma: Lemma,
    mapping: &impl Mapping,
    solver: &Solver,
) -> io::Result<LemmaVerdict> {
    let each = segments.iter();
    let mut questions: Vec<_> = each
        .map(|segment| question(lemma, mapping, *segment, false))
        .collect();
    questions.extend(segments.iter().map(|segment| possible(*segment, premises)));
    let answers = solver.answer(&questions)?;
    let (about_lemma, about_premises) = answers.split_at(segments.len());
    let mut verdict = possible_at_all(about_premises);
    for (segment, answer) in segments.iter().zip(about_lemma) {
        match answer {
            Answer::Unsat => (),
            Answer::Sat => return counter_example(lemma, mapping, solver, *segment),
            Answer::Unknown(why) => verdict = LemmaVerdict::Unproved(why.clone()),
        }
    }
    Ok(verdict)
}

/// Contradictory premises imply everything, so they show nothing.
pub(super) fn possible_at_all(answers: &[Answer]) -> LemmaVerdict {
    match answers.iter().find(|answer| **answer != Answer::Sat) {
        None if answers.is_empty() => LemmaVerdict::Unproved("there are no premises".into()),
        None => LemmaVerdict::Proved,
        Some(Answer::Unknown(why)) => {
            LemmaVerdict::Unproved(format!("whether the premises are possible: {why}"))
        }
        Some(_) => LemmaVerdict::Unproved("its premises contradict each other".into()),
    }
}

/// The assumptions of a case.
pub(super) type Premises = for<'f> fn(&'f Formula, &Case<Expression<'f>>) -> Vec<Truth<'f>>;

fn premises<'f>(formula: &'f Formula, case: &Case<Expression<'f>>) -> Vec<Truth<'f>> {
    case.premises(formula)
}

/// Asks for numbers that satisfy all premises, with three lanes and segments of five blocks. Both
/// solvers answer this question immediately. If such numbers exist, the premises can be satisfied.
pub(super) fn possible(segment: (bool, usize), premises: Premises) -> String {
    let formula = Formula::default();
    let case = Case::any(&formula, segment);
    let mut premises = premises(&formula, &case);
    for (number, value) in [(case.lanes, 3), (case.length, 5)] {
        premises.push(number.is_equal(Expression::splat(&formula, value)));
    }
    smt::possible(&formula, &premises)
}

fn question(
    lemma: Lemma,
    mapping: &impl Mapping,
    segment: (bool, usize),
    with_values: bool,
) -> String {
    let formula = Formula::default();
    let case = Case::any(&formula, segment);
    let premises = premises(&formula, &case);
    let claim = lemma.formula(&formula, &case, mapping.reference(&formula, &case));
    let mut text = smt::question(&formula, &premises, claim);
    if with_values {
        text += &smt::values(&formula);
    }
    text
}

fn counter_example(
    lemma: Lemma,
    mapping: &impl Mapping,
    solver: &Solver,
    segment: (bool, usize),
) -> io::Result<LemmaVerdict> {
    let output = solver.run(&question(lemma, mapping, segment, true))?;
    let verdict = parse(&output, segment).map_or_else(
        || LemmaVerdict::Unproved(format!("a counter-example that cannot be read: {output}")),
        LemmaVerdict::Refuted,
    );
    Ok(verdict)
}

/// `sat`, then `((lanes 1) (length 2) …)`.
fn parse(output: &str, (first_pass, slice): (bool, usize)) -> Option<Case<u64>> {
    let words: Vec<_> = output
        .split(|c: char| c.is_whitespace() || "()".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let value = |name| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse::<u64>().ok()
    };
    Some(Case {
        first_pass,
        slice,
        lanes: value("lanes")?,
        length: value("length")?,
        lane: value("lane")?,
        index: value("index")?,
        word: value("j2")? << 32 | value("j1")?,
    })
}
