//! The judgement on all findings of a run: the exit status of the command.

use super::Report;
use crate::{lemma, source};

/// The options of a run that its judgement depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// Only some kernels and claims were chosen.
    pub is_part: bool,
    /// Only the machine code of one program was tried.
    pub alone: bool,
    /// The models of the instructions are taken for right.
    pub without_models: bool,
}

/// The judgement, with its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// All is proved.
    Proved = 0,
    /// Something is not proved, or was left out.
    NotProved = 1,
    /// All is proved, but the models could not be compared with this CPU.
    ModelsUnknown = 3,
}

impl Report {
    /// The judgement on this report, and on the rows of the claims about source and of the lemmas,
    /// if these were tried.
    pub fn judge(
        &self,
        request: Request,
        rows: Option<&[source::Row]>,
        lemmas: Option<&[lemma::Row]>,
    ) -> Judgement {
        let Request {
            is_part,
            alone,
            without_models,
        } = request;
        // A part may have only kernels or only claims about source. The whole must have both.
        let has_source = rows.is_some_and(|rows| !rows.is_empty());
        let kernels = self.is_proof() || is_part && self.rows.is_empty() && has_source;
        let source = rows.is_none_or(|rows| rows.iter().all(|row| row.verdict.holds()))
            && (is_part || alone || has_source);
        let is_compared = matches!(self.models, Some(Ok(_)));
        // Other levels of optimisation inline code differently from the shipped program.
        let is_complete = alone || self.is_complete();
        let needs_models = !without_models && !self.rows.is_empty();
        match () {
            () if !kernels || !is_complete || !source || !lemmas.is_none_or(lemma::holds) => {
                Judgement::NotProved
            }
            () if needs_models && !is_compared => Judgement::ModelsUnknown,
            () if needs_models && !self.models_agree() => Judgement::NotProved,
            () => Judgement::Proved,
        }
    }
}

#[cfg(test)]
mod tests;
