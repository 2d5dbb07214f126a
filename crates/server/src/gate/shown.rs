//! A gate whose checks have spans.

use serde_json::Value;

use super::{Ask, Failure, Gate, Way};
use crate::telemetry::Span;

/// The gate, and its kind.
pub(super) struct Shown {
    pub(super) kind: &'static str,
    pub(super) gate: Box<dyn Gate>,
}

impl Gate for Shown {
    fn describe(&self, now: u64) -> Value {
        self.gate.describe(now)
    }

    fn check(&self, ask: &Ask<'_>) -> Result<Vec<Way>, Failure> {
        let span = Span::of("gate", self.kind);
        let checked = span.within(|| self.gate.check(ask));
        span.became(match &checked {
            Ok(_) => "passed",
            Err(Failure::Missing) => "missing",
            Err(Failure::Wrong(_)) => "wrong",
        });
        checked
    }

    fn ways(&self) -> usize {
        self.gate.ways()
    }

    fn has_accounts(&self) -> bool {
        self.gate.has_accounts()
    }

    fn has_ages(&self) -> bool {
        self.gate.has_ages()
    }
}
