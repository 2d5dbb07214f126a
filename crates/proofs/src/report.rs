//! All proofs of a run, and how they are shown.

use crate::catalog::{Kernel, kernels};
use crate::cosim::{self, Comparison};
use crate::image::{Image, Symbol};
use crate::prove::{Finding, Session};
use crate::spec::sha256;
use crate::verdict::{Residue, Verdict};
use iced_x86::Instruction;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// What is known about all kernels.
pub struct Report {
    /// A row for each kernel.
    pub rows: Vec<Row>,
    /// Every instruction that was met, by its bytes.
    pub instructions: BTreeMap<Vec<u8>, Instruction>,
    /// Their models against this CPU, if it was asked for and this CPU can.
    pub models: Option<Comparison>,
}

/// What is known about one kernel.
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
    /// What it leaves behind.
    pub residue: Residue,
    /// How many instructions were executed at most.
    pub steps: u64,
    /// How many times: contracts, each in several places in memory.
    pub runs: usize,
    /// SHA-256 of the bytes that were executed and of the constants that were read, in the order of their addresses.
    pub hash: String,
    /// How long it took.
    pub time: Duration,
}

/// Proves every kernel whose name contains `only`: in the first image if it is shipped, else in the first that has it.
pub fn prove_all(images: &[Image], only: &str) -> Report {
    let mut report = Report {
        rows: Vec::new(),
        instructions: BTreeMap::new(),
        models: None,
    };
    let mut sessions: HashMap<&str, Session> = HashMap::new();
    let mut proved = Proved::new();
    for kernel in kernels() {
        if kernel.name.contains(only) || kernel.set.name().contains(only) {
            let session = sessions.entry(kernel.family).or_default();
            let row = prove_kernel(
                session,
                images,
                &kernel,
                &mut proved,
                &mut report.instructions,
            );
            report.rows.push(row);
        }
    }
    if only.is_empty() {
        report.rows.extend(left_out(images, &proved));
    }
    report
}

/// Where the functions begin that a row has proved, by program and path.
type Proved = BTreeMap<(String, &'static str), BTreeSet<u64>>;

/// A row for every function that has the name of a kernel and is none of those that were proved: it may be one that is called.
fn left_out(images: &[Image], proved: &Proved) -> Vec<Row> {
    let mut rows = Vec::new();
    for ((program, function), starts) in proved {
        let image = images.iter().find(|image| image.name == *program);
        let symbols = image.into_iter().flat_map(Image::symbols);
        let others =
            symbols.filter(|symbol| symbol.is(function) && !starts.contains(&symbol.start));
        rows.extend(others.map(|symbol| Row {
            artefact: program.clone(),
            verdict: Verdict::Unproved(format!(
                "the function at {:#x} has the name of a kernel, and no row proves it",
                symbol.start
            )),
            ..Row::new(function, "", "")
        }));
    }
    rows
}

impl Row {
    fn new(name: &'static str, set: &'static str, shows: &'static str) -> Self {
        Self {
            name,
            set,
            shows,
            artefact: String::new(),
            verdict: Verdict::Unsupported("there is no function of this name".into()),
            residue: Residue::default(),
            steps: 0,
            runs: 0,
            hash: String::new(),
            time: Duration::ZERO,
        }
    }
}

fn prove_kernel(
    session: &mut Session,
    images: &[Image],
    kernel: &Kernel,
    proved: &mut Proved,
    met: &mut BTreeMap<Vec<u8>, Instruction>,
) -> Row {
    let start = Instant::now();
    let images = if kernel.shipped { &images[..1] } else { images };
    let mut row = Row {
        verdict: Verdict::Unsupported(format!("there is no function {}", kernel.function)),
        runs: kernel.layouts * kernel.contracts.len(),
        ..Row::new(kernel.name, kernel.set.name(), kernel.shows)
    };
    let has = |image: &&Image| {
        image
            .symbols()
            .iter()
            .any(|symbol| symbol.is(kernel.function))
    };
    if let Some(image) = images.iter().find(has) {
        row.artefact = image.name.clone();
        for symbol in image
            .symbols()
            .iter()
            .filter(|symbol| symbol.is(kernel.function))
        {
            let before = row.verdict.clone();
            prove_function(session, image, symbol, kernel, &mut row, met);
            if row.verdict.is_proof() {
                let place = (image.name.clone(), kernel.function);
                proved.entry(place).or_default().insert(symbol.start);
                break;
            }
            // Of several that are not proved, the one that comes closest.
            if matches!(before, Verdict::Unproved(_)) {
                row.verdict = before;
            }
        }
    }
    row.time = start.elapsed();
    row
}

/// Tries one function. Without generic arguments in their names, several functions may have the name of the kernel; it is the
/// one that is proved, and the others must be those of other rows ([`left_out`]).
fn prove_function(
    session: &mut Session,
    image: &Image,
    symbol: &Symbol,
    kernel: &Kernel,
    row: &mut Row,
    met: &mut BTreeMap<Vec<u8>, Instruction>,
) {
    let mut parts = BTreeMap::new();
    for contract in &kernel.contracts {
        let finding = session.prove(
            image,
            symbol,
            contract,
            kernel.layouts,
            kernel.set.is_here(),
        );
        row.residue = finding.residue.or(row.residue);
        row.steps = row.steps.max(finding.steps);
        collect(image, &finding, &mut parts, met);
        row.verdict = finding.verdict;
        if !row.verdict.is_proof() {
            break;
        }
    }
    let bytes: Vec<u8> = parts.into_values().flatten().collect();
    row.hash = sha256::hash(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
}

/// The bytes that a proof is about.
fn collect(
    image: &Image,
    finding: &Finding,
    parts: &mut BTreeMap<u64, Vec<u8>>,
    met: &mut BTreeMap<Vec<u8>, Instruction>,
) {
    for (address, instruction) in &finding.instructions {
        let bytes = image
            .code(*address, instruction.len())
            .unwrap_or_default()
            .to_vec();
        met.insert(bytes.clone(), *instruction);
        parts.insert(*address, bytes);
    }
    for address in &finding.constants {
        parts.insert(*address, image.byte(*address).into_iter().collect());
    }
}

impl Report {
    /// Executes every instruction that was met, and compares it with its model.
    pub fn compare_models(&mut self) {
        self.models = cosim::compare(self.instructions.values());
    }

    /// Whether every kernel is proved, and there is one, and no model is known to be wrong.
    pub fn is_proof(&self) -> bool {
        let right = self
            .models
            .as_ref()
            .is_none_or(|models| models.disagree.is_empty());
        right && !self.rows.is_empty() && self.rows.iter().all(|row| row.verdict.is_proof())
    }

    /// What co-simulation said.
    fn models_line(&self) -> String {
        let Some(Comparison {
            agree,
            forms,
            skipped,
            disagree,
        }) = &self.models
        else {
            return "models: not compared with the CPU, which needs AVX-512 for that\n".into();
        };
        let skipped: Vec<&str> = skipped.iter().map(String::as_str).collect();
        let mut text = format!(
            "models: {agree} instructions of {forms} forms agree with this CPU; not executed alone: {}\n",
            skipped.join(" ")
        );
        for instruction in disagree {
            let _ = writeln!(text, "WRONG MODEL {instruction}");
        }
        text
    }

    /// A table for people.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: [&str; 8]| {
            let [verdict, name, set, artefact, runs, steps, residue, rest] = cells;
            let _ = writeln!(
                text,
                "{verdict:11} {name:32} {set:8} {artefact:16} {runs:>4} {steps:>8} {residue:>14}  {rest}"
            );
        };
        line([
            "verdict",
            "kernel",
            "set",
            "program",
            "runs",
            "steps",
            "residue s/v/g",
            "seconds, sha256 of code and constants",
        ]);
        for row in &self.rows {
            let Residue {
                stack,
                vectors,
                general,
            } = row.residue;
            let rest = format!("{:6.2}  {:.16}", row.time.as_secs_f64(), row.hash);
            let residue = format!("{stack}/{vectors}/{general}");
            line([
                row.verdict.name(),
                row.name,
                row.set,
                &row.artefact,
                &row.runs.to_string(),
                &row.steps.to_string(),
                &residue,
                &rest,
            ]);
        }
        for row in self.rows.iter().filter(|row| !row.verdict.is_proof()) {
            let _ = writeln!(text, "{} {}: {}", row.name, row.set, row.verdict);
        }
        text += &self.models_line();
        let proved = self
            .rows
            .iter()
            .filter(|row| row.verdict.is_proof())
            .count();
        let time: Duration = self.rows.iter().map(|row| row.time).sum();
        let _ = writeln!(
            text,
            "{proved} of {} proved in {:.1} s",
            self.rows.len(),
            time.as_secs_f64()
        );
        text
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({
                "kernel": row.name,
                "instruction_set": row.set,
                "specification": row.shows,
                "program": row.artefact,
                "verdict": row.verdict.name(),
                "reason": row.verdict.reason(),
                "runs": row.runs,
                "instructions": row.steps,
                "residue": { "stack": row.residue.stack, "vectors": row.residue.vectors, "general": row.residue.general },
                "sha256": row.hash,
                "seconds": row.time.as_secs_f64(),
            })
        });
        let models = self.models.as_ref().map(|models| {
            json!({
                "agree": models.agree,
                "forms": models.forms,
                "not_executed": models.skipped,
                "disagree": models.disagree,
            })
        });
        json!({ "proved": self.is_proof(), "models": models, "kernels": rows.collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_with_the_name_of_a_kernel_that_no_row_proves_is_a_row() {
        crate::selftest::call_every_kernel();
        let image = Image::load(&std::env::current_exe().unwrap()).unwrap();
        let threefish = kernels()
            .into_iter()
            .find(|kernel| kernel.name == "Threefish-512 encryption")
            .unwrap();
        let symbols = image.symbols().iter();
        let starts: BTreeSet<u64> = symbols
            .filter(|symbol| symbol.is(threefish.function))
            .map(|symbol| symbol.start)
            .collect();
        assert!(starts.len() > 1, "one for each size");
        let place = (image.name.clone(), threefish.function);
        let images = [image];
        let all = Proved::from([(place.clone(), starts.clone())]);
        assert!(left_out(&images, &all).is_empty());
        let first = starts.first().copied().into_iter().collect();
        let rows = left_out(&images, &Proved::from([(place, first)]));
        assert_eq!(rows.len(), starts.len() - 1);
        assert!(rows.iter().all(|row| !row.verdict.is_proof()));
    }
}
