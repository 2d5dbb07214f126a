//! The findings of a proof.

use crate::exec::Machine;
use crate::term::Word;
use crate::verdict::{Residue, Verdict};
use iced_x86::Instruction;
use std::collections::{BTreeMap, BTreeSet};

/// The findings of a proof.
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// The bytes that depend on inputs and remain.
    pub residue: Residue,
    /// How many instructions were executed.
    pub steps: u64,
    /// Every executed instruction, by address.
    pub instructions: BTreeMap<u64, Instruction>,
    /// Constants of the program that were read, by address.
    pub constants: BTreeSet<u64>,
    /// How many bytes of stack it uses at most, the return address included.
    pub depth: u64,
    /// Whether the function itself was run on the samples.
    pub ran_natively: bool,
    /// The number of cuts of the formulas of a loop (`cut` has the proof of soundness).
    pub cuts: usize,
    /// The number of lengths that were proved one by one (`stream` shows that these are all).
    pub cases: usize,
    /// The numbers of the decision that was asked for.
    pub(super) decided: Vec<u64>,
    /// The words of the bases of its addresses.
    pub(super) bases: Vec<Word>,
    /// The first read of stack that was given up: the number of bytes, and the distance from the
    /// end of the stack.
    given_up_read: Option<(u64, i64)>,
}

impl Finding {
    pub(super) fn new() -> Self {
        Self {
            verdict: Verdict::Unproved("it was not tried".into()),
            residue: Residue::default(),
            steps: 0,
            instructions: BTreeMap::new(),
            constants: BTreeSet::new(),
            depth: 0,
            ran_natively: false,
            cuts: 0,
            cases: 0,
            decided: Vec::new(),
            bases: Vec::new(),
            given_up_read: None,
        }
    }

    /// Adds the executed instructions of a run.
    pub(super) fn add_run(&mut self, machine: &mut Machine<'_>) {
        self.depth = self.depth.max(machine.depth());
        self.steps = self.steps.max(machine.steps());
        self.instructions.append(&mut machine.fetched);
        self.constants.extend(machine.memory.constants());
        self.decided.append(&mut machine.decided);
        self.bases = machine.bases().cloned().collect();
        self.given_up_read = self.given_up_read.or(machine.memory.given_up_read());
    }

    /// Adds to a failure that the function read stack with unknown contents. Without a failure,
    /// nothing depends on them: compilers copy the padding of structs.
    pub(super) fn explain(mut self) -> Self {
        if let (Verdict::Refuted(why) | Verdict::Unproved(why), Some((bytes, distance))) =
            (&mut self.verdict, self.given_up_read)
        {
            let read = format!(
                "; it read {bytes} bytes of stack that was given up, {distance:+} from its end"
            );
            // The proof of a few elements has told it.
            if !why.ends_with(&read) {
                *why += &read;
            }
        }
        self
    }
}
