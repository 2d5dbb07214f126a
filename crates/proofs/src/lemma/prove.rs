//! Asking the solvers.

use super::claims::{Case, Lemma, Mapping, SEGMENTS};
use super::expression::Formula;
use super::smt;
use super::solver::{Answer, Solver};
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

/// What a solver made of a lemma.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which lemma.
    pub lemma: Lemma,
    /// The solver's name.
    pub solver: &'static str,
    /// Its verdict, for all eight kinds of segments.
    pub verdict: Verdict,
    /// How long it took.
    pub time: Duration,
}

/// Whether a lemma holds.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// For all inputs.
    Proved,
    /// Not for these.
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
            let start = Instant::now();
            let verdict = ask(lemma, mapping, solver)?;
            rows.push(Row {
                lemma,
                solver: solver.name,
                verdict,
                time: start.elapsed(),
            });
        }
    }
    Ok(rows)
}

/// Prints the rows as a table, and says whether all of them are proved.
pub fn report(rows: &[Row]) -> bool {
    println!(
        "{:<28} {:<6} {:>7}  verdict",
        "Argon2's reference index", "solver", "time"
    );
    for row in rows {
        let (lemma, time) = (row.lemma.name(), row.time.as_secs_f64());
        println!(
            "{lemma:<28} {:<6} {time:>6.2}s  {}",
            row.solver, row.verdict
        );
    }
    let proved = rows.iter().filter(|row| row.verdict.is_proved()).count();
    println!(
        "{proved} of {} proved, for all lanes, memory sizes, positions and words",
        rows.len()
    );
    proved == rows.len() && proved > 0
}

impl Verdict {
    /// Whether it is [`Verdict::Proved`].
    pub fn is_proved(&self) -> bool {
        matches!(self, Self::Proved)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proved => f.write_str("PROVED"),
            Self::Refuted(case) => write!(f, "REFUTED by {case:?}"),
            Self::Unproved(why) => write!(f, "UNPROVED: {why}"),
        }
    }
}

fn ask(lemma: Lemma, mapping: &impl Mapping, solver: &Solver) -> io::Result<Verdict> {
    ask_about(&SEGMENTS, lemma, mapping, solver)
}

/// The verdict for these kinds of segments.
pub(super) fn ask_about(
    segments: &[(bool, usize)],
    lemma: Lemma,
    mapping: &impl Mapping,
    solver: &Solver,
) -> io::Result<Verdict> {
    let each = segments.iter();
    let questions: Vec<_> = each
        .map(|segment| question(lemma, mapping, *segment, false))
        .collect();
    let answers = solver.answer(&questions)?;
    let mut verdict = Verdict::Proved;
    for (segment, answer) in segments.iter().zip(answers) {
        match answer {
            Answer::Unsat => (),
            Answer::Sat => return counter_example(lemma, mapping, solver, *segment),
            Answer::Unknown(why) => verdict = Verdict::Unproved(why),
        }
    }
    Ok(verdict)
}

fn question(
    lemma: Lemma,
    mapping: &impl Mapping,
    segment: (bool, usize),
    with_values: bool,
) -> String {
    let formula = Formula::default();
    let case = Case::any(&formula, segment);
    let premises = case.premises(&formula);
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
) -> io::Result<Verdict> {
    let output = solver.run(&question(lemma, mapping, segment, true))?;
    let verdict = parse(&output, segment).map_or_else(
        || Verdict::Unproved(format!("a counter-example that cannot be read: {output}")),
        Verdict::Refuted,
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
