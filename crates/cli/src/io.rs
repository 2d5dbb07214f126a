//! Files, pipes and terminals.

pub(crate) mod closed;
pub(crate) mod input;
pub(crate) mod keep;
pub(crate) mod kind;
pub(crate) mod output;
pub(crate) mod spool;
pub(crate) mod terminal;
