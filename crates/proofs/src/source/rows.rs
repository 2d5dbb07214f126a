//! Claims, and the table of their verdicts.

use super::counterexample::SourceVerdict;
use crate::usage::ThreadTime;
use core::fmt::Write;
use std::time::Duration;

/// The claim about one piece of source.
pub(super) struct Claim {
    pub(super) name: &'static str,
    shown: &'static str,
    prove: fn() -> SourceVerdict,
}

impl Claim {
    pub(super) fn of(
        name: &'static str,
        shown: &'static str,
        prove: fn() -> SourceVerdict,
    ) -> Self {
        Self { name, shown, prove }
    }

    pub(super) fn row(&self) -> Row {
        let start = ThreadTime::start();
        let verdict = (self.prove)();
        Row {
            name: self.name,
            shown: self.shown,
            verdict,
            time: start.so_far(),
        }
    }
}

/// The proof about one piece of source.
#[derive(Clone, Debug)]
pub struct Row {
    /// The kernel or hash, and the path through its source.
    pub name: &'static str,
    /// The claim about it.
    pub shown: &'static str,
    /// Whether it holds.
    pub verdict: SourceVerdict,
    /// Processor time.
    pub time: Duration,
}

/// The rows as a table.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut line = |verdict: &str, name: &str, seconds: &str, shown: &str| {
        let _ = writeln!(text, "{verdict:11} {name:40} {seconds:>7}  {shown}");
    };
    line("verdict", "source", "seconds", "what is shown");
    for row in rows {
        let seconds = format!("{:.2}", row.time.as_secs_f64());
        line(row.verdict.name(), row.name, &seconds, row.shown);
    }
    for row in rows.iter().filter(|row| !row.verdict.holds()) {
        let _ = writeln!(text, "{}: {}", row.name, row.verdict);
    }
    let holds = rows.iter().filter(|row| row.verdict.holds()).count();
    let time: Duration = rows.iter().map(|row| row.time).sum();
    let _ = writeln!(
        text,
        "{holds} of {} hold at source level, in {:.1} s of processor time",
        rows.len(),
        time.as_secs_f64()
    );
    text
}

/// The rows as JSON: an array with an object for each row.
pub fn json(rows: &[Row]) -> serde_json::Value {
    let rows = rows.iter().map(|row| {
        serde_json::json!({
            "name": row.name,
            "shown": row.shown,
            "verdict": row.verdict.name(),
            "reason": if row.verdict.holds() { String::new() } else { row.verdict.to_string() },
            "seconds": row.time.as_secs_f64(),
        })
    });
    rows.collect()
}
