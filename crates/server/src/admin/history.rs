//! The last hour in numbers, for the curves of the page. It is not stored.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// An hour of samples each ten seconds.
const LENGTH: usize = 360;

#[derive(Default)]
pub(super) struct History(Mutex<VecDeque<Sample>>);

/// Totals at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    time: u64,
    spent: f64,
    issued: f64,
    accepted: f64,
    refused: f64,
}

impl History {
    pub(super) fn add(&self, time: u64, rendered: &str) {
        let sample = Sample {
            time,
            spent: total(rendered, "sealstone_spent_tokens", ""),
            issued: total(rendered, "sealstone_tokens_issued_total", ""),
            accepted: total(rendered, "sealstone_redemptions_total", "kind=\"accepted\""),
            refused: total(rendered, "sealstone_gate_refused_total", ""),
        };
        let mut samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        samples.push_back(sample);
        if samples.len() > LENGTH {
            samples.pop_front();
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let samples = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sample = |s: &Sample| json!([s.time, s.spent, s.issued, s.accepted, s.refused]);
        samples.iter().map(sample).collect()
    }
}

/// The sum of a counter's values whose labels contain `label`.
fn total(rendered: &str, name: &str, label: &str) -> f64 {
    let lines = rendered.lines().filter(|line| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with([' ', '{']) && rest.contains(label))
    });
    let values = lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
    // The sum of no numbers is -0.
    values.fold(0.0, |sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENDERED: &str = "# TYPE sealstone_redemptions_total counter\n\
        sealstone_redemptions_total{kind=\"accepted\"} 3\n\
        sealstone_redemptions_total{kind=\"spent\"} 2\n\
        sealstone_spent_tokens 1\n\
        sealstone_tokens_issued_total 7\n";

    #[test]
    fn totals_are_sums_over_labels() {
        let name = "sealstone_redemptions_total";
        assert_eq!(total(RENDERED, name, "").to_bits(), 5_f64.to_bits());
        let accepted = total(RENDERED, name, "kind=\"accepted\"");
        assert_eq!(accepted.to_bits(), 3_f64.to_bits());
        let none = total(RENDERED, "sealstone_gate_refused_total", "");
        assert_eq!(none.to_bits(), 0_f64.to_bits());
    }

    #[test]
    fn an_hour_is_kept() {
        let history = History::default();
        for time in 0..LENGTH as u64 + 5 {
            history.add(time, RENDERED);
        }
        let json = history.to_json();
        let samples = json.as_array().expect("samples");
        assert_eq!(samples.len(), LENGTH);
        assert_eq!(samples[0], json!([5, 1.0, 7.0, 3.0, 0.0]));
    }
}
