//! Files, pipes and terminals.

pub(crate) mod input;
pub(crate) mod keep;
pub(crate) mod output;
