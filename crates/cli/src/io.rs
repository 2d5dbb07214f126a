//! Files, pipes and terminals.

pub(crate) mod input;
pub(crate) mod output;

/// The name that stands for standard input or output.
pub(crate) const DASH: &str = "-";
