//! Questions to the solvers.

use super::case::Case;
use super::claims::{Lemma, Mapping};
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
    /// The code.
    pub about: &'static str,
    /// The lemma.
    pub lemma: &'static str,
    /// The solver's name.
    pub solver: &'static str,
    /// Its verdict, for all kinds of cases.
    pub verdict: LemmaVerdict,
    /// Processor time of the solver, in steps of a hundredth of a second.
    pub time: Duration,
}

/// Whether a lemma holds. `C` is an input.
#[derive(Clone, Debug)]
pub enum LemmaVerdict<C = String> {
    /// For all inputs.
    Proved,
    /// Not for this input.
    Refuted(C),
    /// The solver found no answer; why.
    Unproved(String),
}

/// Asks each solver for a lemma about this code.
///
/// # Errors
/// If a solver cannot be run.
pub(super) fn each(
    about: &'static str,
    lemma: &'static str,
    solvers: &[Solver],
    ask: impl Fn(&Solver) -> io::Result<LemmaVerdict>,
) -> io::Result<Vec<Row>> {
    let row = |solver: &Solver| {
        let before = solver_time()?;
        let verdict = ask(solver)?;
        let time = solver_time()? - before;
        let solver = solver.name;
        Ok(Row {
            about,
            lemma,
            solver,
            verdict,
            time,
        })
    };
    solvers.iter().map(row).collect()
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
        "{:<26} {:<28} {:<6} {:>7}  verdict\n",
        "source", "lemma", "solver", "time"
    );
    for row in rows {
        let time = row.time.as_secs_f64();
        text += &format!(
            "{:<26} {:<28} {:<6} {time:>6.2}s  {}\n",
            row.about, row.lemma, row.solver, row.verdict
        );
    }
    let proved = rows.iter().filter(|row| row.verdict.is_proved()).count();
    text += &format!("{proved} of {} proved, for all inputs\n", rows.len());
    text
}

/// The rows as JSON: an array with an object for each row.
pub fn json(rows: &[Row]) -> serde_json::Value {
    let rows = rows.iter().map(|row| {
        serde_json::json!({
            "about": row.about,
            "lemma": row.lemma,
            "solver": row.solver,
            "verdict": row.verdict.name(),
            "reason": if row.verdict.is_proved() { String::new() } else { row.verdict.to_string() },
            "seconds": row.time.as_secs_f64(),
        })
    });
    rows.collect()
}

impl<C> LemmaVerdict<C> {
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

impl<C: fmt::Debug> LemmaVerdict<C> {
    /// The same with the input as text.
    pub(super) fn described(self) -> LemmaVerdict {
        match self {
            Self::Proved => LemmaVerdict::Proved,
            Self::Refuted(case) => LemmaVerdict::Refuted(format!("{case:?}")),
            Self::Unproved(why) => LemmaVerdict::Unproved(why),
        }
    }
}

impl fmt::Display for LemmaVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proved => f.write_str("PROVED"),
            Self::Refuted(case) => write!(f, "REFUTED by {case}"),
            Self::Unproved(why) => write!(f, "UNPROVED: {why}"),
        }
    }
}

/// The value of the input with a name.
pub(super) type Lookup<'l> = dyn Fn(&str) -> Option<u64> + 'l;

/// Makes a case of the values of its inputs.
type Make<'q, C> = dyn Fn(&Lookup<'_>) -> Option<C> + 'q;

/// One kind of cases of a lemma.
pub(super) struct Question<'q, C> {
    /// Whether a case fulfils the premises but not the claim.
    pub(super) opposite: String,
    /// Whether a case fulfils the premises.
    pub(super) possible: String,
    /// The first question, with the values of the inputs.
    pub(super) with_values: String,
    /// The case with these values of the inputs.
    pub(super) case: Box<Make<'q, C>>,
}

/// The verdict for these kinds of segments.
pub(super) fn ask_about(
    segments: &[(bool, usize)],
    lemma: Lemma,
    mapping: &impl Mapping,
    solver: &Solver,
) -> io::Result<LemmaVerdict<Case<u64>>> {
    let questions = segments.iter().map(|segment| Question {
        opposite: question(lemma, mapping, *segment, false),
        possible: possible(*segment, premises),
        with_values: question(lemma, mapping, *segment, true),
        case: Box::new(|value| case_of(value, *segment)),
    });
    verdict(&questions.collect::<Vec<_>>(), solver)
}

/// The verdict for all kinds of cases.
pub(super) fn verdict<C>(
    questions: &[Question<'_, C>],
    solver: &Solver,
) -> io::Result<LemmaVerdict<C>> {
    let opposites = questions.iter().map(|question| question.opposite.clone());
    let possible = questions.iter().map(|question| question.possible.clone());
    let answers = solver.answer(&opposites.chain(possible).collect::<Vec<_>>())?;
    let (about_lemma, about_premises) = answers.split_at(questions.len());
    let mut verdict = possible_at_all(about_premises);
    for (question, answer) in questions.iter().zip(about_lemma) {
        match answer {
            Answer::Unsat => (),
            Answer::Sat => return counter_example(question, solver),
            Answer::Unknown(why) => verdict = LemmaVerdict::Unproved(why.clone()),
        }
    }
    Ok(verdict)
}

/// Contradictory premises imply everything, so they show nothing.
pub(super) fn possible_at_all<C>(answers: &[Answer]) -> LemmaVerdict<C> {
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

fn counter_example<C>(question: &Question<'_, C>, solver: &Solver) -> io::Result<LemmaVerdict<C>> {
    let output = solver.run(&question.with_values)?;
    // `sat`, then `((lanes 1) (length 2) …)`.
    let words: Vec<_> = output
        .split(|c: char| c.is_whitespace() || "()".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let value = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse::<u64>().ok()
    };
    let unread = || format!("a counter-example that cannot be read: {output}");
    Ok((question.case)(&value)
        .map_or_else(|| LemmaVerdict::Unproved(unread()), LemmaVerdict::Refuted))
}

fn case_of(value: &Lookup<'_>, (first_pass, slice): (bool, usize)) -> Option<Case<u64>> {
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
