//! All proofs of a run, as text and as JSON.

mod judgement;
mod proving;
mod unproved;

pub use judgement::{Judgement, Request};
pub use proving::prove_kernels;

use crate::catalog::{
    FAMILIES, Kernel, OBLIGATIONS, OTHERS_OBLIGATIONS, Obligation, OthersObligation, UNPROVED,
    Unproved, kernels, others,
};
use crate::coverage::{Coverage, Function};
use crate::digest::Digest;
use crate::same_code::Trace;
use iced_x86::Instruction;
use proving::{Proved, Starts, left_out, prove_in, prove_kernel};
use sealstone_prover::cosim::{self, Comparison};
use sealstone_prover::features::Features;
use sealstone_prover::image::{Image, Symbol};
use sealstone_prover::solver::Solver;
use sealstone_prover::verdict::{Residue, Verdict};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

/// The findings on all kernels.
#[derive(Default)]
pub struct Report {
    /// A row for each kernel.
    pub rows: Vec<Row>,
    /// A row for each function of others that the first program relies on. They need not be proved.
    pub others: Vec<Row>,
    /// Differences between the list of unproved functions of others and the programs.
    pub unlisted: Vec<String>,
    /// The findings on libraries and programs of the same crates.
    pub libraries: Vec<Report>,
    /// The kernels that a library does not have, with their instruction sets.
    pub absent: Vec<(&'static str, &'static str)>,
    /// Every executed instruction, by its bytes.
    pub instructions: BTreeMap<Vec<u8>, Instruction>,
    /// The comparison of their models with this CPU, or why it was not possible. `None` if it was
    /// not requested.
    pub models: Option<Result<Comparison, String>>,
    /// The proved part of the first program, if everything was tried.
    pub coverage: Option<Coverage>,
    /// The first program.
    pub program: String,
    /// The compiler of the first program.
    pub compiler: String,
}

/// The findings on one kernel.
#[derive(Clone)]
pub struct Row {
    /// The kernel.
    pub name: &'static str,
    /// Its instruction set.
    pub set: &'static str,
    /// Its specification.
    pub shows: &'static str,
    /// The program in which it was proved; empty if it was not found.
    pub artefact: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The features that its instructions need.
    pub features: Features,
    /// The bytes that depend on inputs and remain.
    pub residue: Residue,
    /// The largest number of executed instructions.
    pub steps: u64,
    /// The number of runs: one for each contract.
    pub runs: usize,
    /// The largest number of bytes of stack in use, including the return address.
    pub depth: u64,
    /// Whether the function itself ran on random inputs. It does not if this CPU lacks its
    /// instructions.
    pub ran_natively: bool,
    /// SHA-256 of the bytes that were executed or read as constants: for each piece of them, in the
    /// order of their addresses, its distance from the start of the function and its length, each
    /// as a little-endian number of eight bytes, and then the piece.
    pub hash: String,
    /// The functions whose instructions were executed, with their digests.
    pub functions: Vec<(Function, Digest)>,
    /// The program whose proof this is, if the function is the same code there
    /// ([`crate::same_code`]).
    pub same_as: Option<String>,
    /// The executed instructions and read constants, if it is proved.
    pub trace: Trace,
    /// Processor time.
    pub time: Duration,
}

impl Row {
    fn new(name: &'static str, set: &'static str, shows: &'static str) -> Self {
        Self {
            name,
            set,
            shows,
            artefact: String::new(),
            verdict: Verdict::Unsupported("there is no function of this name".into()),
            features: Features::default(),
            residue: Residue::default(),
            steps: 0,
            runs: 0,
            depth: 0,
            ran_natively: false,
            hash: String::new(),
            functions: Vec::new(),
            same_as: None,
            trace: Trace::default(),
            time: Duration::ZERO,
        }
    }

    /// The row as a line of text.
    fn line(&self) -> String {
        let Residue {
            stack,
            vectors,
            general,
        } = self.residue;
        let native = if self.verdict.is_proof() && !self.ran_natively {
            "  (not run on this CPU)"
        } else {
            ""
        };
        let same = self.same_as.as_ref();
        let same = same.map_or_else(String::new, |program| {
            format!("  (same code as in {program})")
        });
        let time = self.time.as_secs_f64();
        let rest = format!(
            "{time:6.2}  {:.16}  {}{native}{same}",
            self.hash, self.features
        );
        let residue = format!("{stack}/{vectors}/{general}");
        line([
            self.verdict.name(),
            self.name,
            self.set,
            &self.artefact,
            &self.runs.to_string(),
            &self.steps.to_string(),
            &self.depth.to_string(),
            &residue,
            &rest,
        ])
    }

    /// The row as JSON.
    fn json(&self) -> Value {
        let functions = self.functions.iter();
        let functions = functions.map(|(function, digest)| digest.json(function));
        let Residue {
            stack,
            vectors,
            general,
        } = self.residue;
        json!({
            "kernel": self.name,
            "instruction_set": self.set,
            "specification": self.shows,
            "program": self.artefact,
            "verdict": self.verdict.name(),
            "features": self.features.names(),
            "reason": self.verdict.reason(),
            "runs": self.runs,
            "instructions": self.steps,
            "stack_bytes": self.depth,
            "residue": { "stack": stack, "vectors": vectors, "general": general },
            "ran_natively": self.ran_natively,
            "sha256": self.hash,
            "same_as": self.same_as,
            "functions": functions.collect::<Vec<_>>(),
            "seconds": self.time.as_secs_f64(),
        })
    }
}

/// Rows as text, with the reasons of missing proofs.
fn table_of(rows: &[Row]) -> String {
    let mut text = line([
        "verdict",
        "kernel",
        "set",
        "program",
        "runs",
        "steps",
        "stack",
        "residue s/v/g",
        "seconds, sha256 of code and constants, features of its instructions",
    ]);
    text.extend(rows.iter().map(Row::line));
    for row in rows.iter().filter(|row| !row.verdict.is_proof()) {
        let _ = writeln!(text, "{} {}: {}", row.name, row.set, row.verdict);
    }
    text
}

fn line(cells: [&str; 9]) -> String {
    let [
        verdict,
        name,
        set,
        artefact,
        runs,
        steps,
        depth,
        residue,
        rest,
    ] = cells;
    format!(
        "{verdict:11} {name:38} {set:8} {artefact:16} {runs:>4} {steps:>8} {depth:>6} {residue:>14}  {rest}\n"
    )
}

impl Report {
    /// Tries the functions of others that a program relies on. They do not count as kernels. A
    /// function that the first program does not contain comes from the other programs. A second
    /// function of the same name is a row without a proof. If all are tried, the functions without
    /// a row are compared with the list of them.
    /// The solver searches refuting inputs that samples do not show.
    pub fn prove_others(&mut self, images: &[Image], only: &str, solver: Option<&Solver>) {
        // Rows of a family are consecutive. After the last row of a family, its formulas are
        // dropped.
        let (mut family, mut session) = ("", proving::session(solver));
        let mut proved = Proved::default();
        let chosen = |row: &Kernel| row.name.contains(only) || row.set.name().contains(only);
        for row in others().into_iter().filter(chosen) {
            if row.family != family {
                (family, session) = (row.family, proving::session(solver));
            }
            let row = prove_kernel(
                &mut session,
                (images, None),
                &row,
                &mut proved,
                &mut self.instructions,
            );
            self.others.push(row);
        }
        self.others.extend(left_out(images, &proved.starts));
        if only.is_empty() {
            self.unlisted = unproved::compare(images, &self.others, FAMILIES, UNPROVED);
        }
    }

    /// Proves the kernels of the command in a library or program of the same crates. It must have
    /// at least one of them. If its code is the same as in `command`, the program of this report,
    /// the proof there is also its proof. Without a command, each kernel is proved again.
    pub fn prove_library(
        &mut self,
        image: Image,
        command: Option<&Image>,
        only: &str,
        solver: Option<&Solver>,
    ) {
        let shipped = kernels().into_iter().filter(|kernel| kernel.shipped);
        let images = [image];
        let known = command.map(|command| (command, &self.rows[..]));
        let (mut report, starts) = prove_in(shipped.collect(), &images, only, solver, known);
        report.leave_out_absent(&images[0], &starts);
        self.instructions.append(&mut report.instructions);
        if only.is_empty() || !report.rows.is_empty() {
            self.libraries.push(report);
        }
    }

    /// A kernel is absent if no function has its name, or if rows of other kernels of its
    /// instruction set have proved each one that has. All sizes of a kernel have one name. The
    /// instruction sets of a kernel share one function. If one of them is proved there, none is
    /// absent.
    fn leave_out_absent(&mut self, image: &Image, starts: &Starts) {
        let proved = self.rows.iter().filter(|row| row.verdict.is_proof());
        let present: BTreeSet<&str> = proved.map(|row| row.name).collect();
        let is_absent = |row: &Row| {
            let kernels = kernels().into_iter();
            let mut same = kernels.filter(|it| it.name == row.name && it.set.name() == row.set);
            same.any(|kernel| {
                let place = (image.name.clone(), kernel.function, row.set);
                let proved = starts.get(&place);
                let is_other = |symbol: &Symbol| {
                    !symbol.is(kernel.function)
                        || proved.is_some_and(|proved| proved.contains(&symbol.start))
                };
                !present.contains(row.name) && image.symbols().iter().all(is_other)
            })
        };
        let absent = self.rows.extract_if(.., |row| is_absent(row));
        self.absent = absent.map(|row| (row.name, row.set)).collect();
    }

    /// Executes every instruction of the proofs, and compares it with its model.
    pub fn compare_models(&mut self) {
        self.models = Some(cosim::compare(self.instructions.values()));
    }

    /// Whether there are kernels and all are proved, in the libraries too, if the models of the
    /// instructions are right.
    pub fn is_proof(&self) -> bool {
        !self.rows.is_empty()
            && self.rows.iter().all(|row| row.verdict.is_proof())
            && self.libraries.iter().all(Self::is_proof)
    }

    /// Whether all code that needs a row has one, in the libraries too, and the list of others'
    /// unproved code is right.
    pub fn is_complete(&self) -> bool {
        self.unlisted.is_empty()
            && self.coverage.as_ref().is_none_or(Coverage::is_complete)
            && self.libraries.iter().all(Self::is_complete)
    }

    /// Whether the models were compared with this CPU, none is wrong, and only known kinds of
    /// instructions were skipped.
    pub fn models_agree(&self) -> bool {
        let compared = self.models.as_ref().and_then(|models| models.as_ref().ok());
        compared.is_some_and(Comparison::is_right)
    }

    /// The verdict of co-simulation.
    fn models_line(&self) -> String {
        let Comparison {
            agree,
            forms,
            elsewhere,
            skipped,
            disagree,
        } = match &self.models {
            None => return "models: not compared with a CPU\n".into(),
            Some(Err(why)) => return format!("models: not compared with a CPU: {why}\n"),
            Some(Ok(comparison)) => comparison,
        };
        let skipped: Vec<&str> = skipped.iter().map(String::as_str).collect();
        let mut text = format!(
            "models: {agree} instructions of {} forms agree with this CPU; not executed alone: {}\n",
            forms.len(),
            skipped.join(" ")
        );
        if !elsewhere.is_empty() {
            let _ = writeln!(
                text,
                "models: {} forms were not compared: this CPU lacks them, and runs no code with them",
                elsewhere.len()
            );
        }
        for instruction in disagree {
            let _ = writeln!(text, "WRONG MODEL {instruction}");
        }
        text
    }

    /// The report as a table.
    pub fn table(&self) -> String {
        let mut text = table_of(&self.rows);
        text += &self.models_line();
        text += &self.sum();
        for library in &self.libraries {
            text += "\nanother file of the same crates\n";
            text += &table_of(&library.rows);
            for (name, set) in &library.absent {
                let _ = writeln!(text, "not in this file: {name} {set}");
            }
            text += &library.sum();
        }
        if !self.others.is_empty() {
            text += "\nothers' code that we rely on\n";
            text += &table_of(&self.others);
        }
        for finding in &self.unlisted {
            let _ = writeln!(text, "NOT LISTED {finding}");
        }
        text
    }

    /// The number of proved rows, and their share of the program's code.
    fn sum(&self) -> String {
        let proved = self.rows.iter().filter(|row| row.verdict.is_proof());
        let time: Duration = self.rows.iter().map(|row| row.time).sum();
        let mut sum = format!(
            "{} of {} proved in {:.1} s of processor time\n",
            proved.count(),
            self.rows.len(),
            time.as_secs_f64()
        );
        let same = self.rows.iter().filter(|row| row.same_as.is_some()).count();
        if same > 0 {
            let _ = writeln!(sum, "{same} of them by the same code in another program");
        }
        let coverage = self.coverage.as_ref().map(Coverage::text);
        sum + &coverage.unwrap_or_default()
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        let rows = |rows: &[Row]| rows.iter().map(Row::json).collect::<Vec<_>>();
        let models = self.models.as_ref().map(|models| match models {
            Err(why) => json!({ "compared": false, "reason": why }),
            Ok(models) => json!({
                "compared": true,
                "agree": models.agree,
                "forms": models.forms.len(),
                "compared_forms": models.forms,
                "not_executed": models.skipped,
                "not_on_this_cpu": models.elsewhere,
                "disagree": models.disagree,
            }),
        });
        let coverage = self.coverage.as_ref().map(Coverage::json);
        json!({
            "models": models,
            "kernels": rows(&self.rows),
            "others": rows(&self.others),
            "unproved_of_others": UNPROVED.iter().map(Unproved::json).collect::<Vec<_>>(),
            "unlisted": self.unlisted,
            "libraries": self.libraries.iter().map(Self::library_json).collect::<Vec<_>>(),
            "coverage": coverage,
            "compiler": self.compiler,
            "obligations": OBLIGATIONS.iter().map(Obligation::json).collect::<Vec<_>>(),
            "obligations_of_others": OTHERS_OBLIGATIONS
                .iter()
                .map(OthersObligation::json)
                .collect::<Vec<_>>(),
        })
    }

    fn library_json(&self) -> Value {
        json!({
            "kernels": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
            "program": self.program,
            "absent": self.absent,
            "coverage": self.coverage.as_ref().map(Coverage::json),
            "compiler": self.compiler,
        })
    }
}

#[cfg(test)]
mod tests;
