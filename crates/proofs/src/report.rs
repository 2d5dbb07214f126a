//! All proofs of a run, and how they are shown.

use crate::catalog::{DRIVERS, Kernel, OBLIGATIONS, Obligation, kernels};
use crate::cosim::{self, Comparison};
use crate::coverage::{self, Coverage, Executed, Function};
use crate::digest::Digest;
use crate::features::{Features, Processor};
use crate::image::{Image, Symbol};
use crate::lemma::Solver;
use crate::prove::{Finding, Session};
use crate::spec::sha256;
use crate::usage::ThreadTime;
use crate::verdict::{Residue, Verdict};
use iced_x86::Instruction;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::time::Duration;

/// The findings on all kernels.
pub struct Report {
    /// A row for each kernel.
    pub rows: Vec<Row>,
    /// Every instruction that was met, by its bytes.
    pub instructions: BTreeMap<Vec<u8>, Instruction>,
    /// Their models against this CPU, or why they could not be compared; nothing if it was not
    /// asked for.
    pub models: Option<Result<Comparison, String>>,
    /// The proved part of the first program, if everything was tried.
    pub coverage: Option<Coverage>,
    /// The compiler of the first program.
    pub compiler: String,
}

/// The findings on one kernel.
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
    /// All that its instructions need.
    pub features: Features,
    /// Its leftovers.
    pub residue: Residue,
    /// How many instructions were executed at most.
    pub steps: u64,
    /// How many times: once for each contract, wherever memory is.
    pub runs: usize,
    /// How many bytes of stack it uses at most, the return address included.
    pub depth: u64,
    /// Whether the function itself was run on random inputs; not if this CPU lacks its
    /// instructions.
    pub ran_natively: bool,
    /// SHA-256 of the bytes that were executed or read as constants: for each piece of them, in the
    /// order of their addresses, its distance from the start of the function and its length, each
    /// as a little-endian number of eight bytes, and then the piece.
    pub hash: String,
    /// The functions whose instructions were executed, with their digests.
    pub functions: Vec<(Function, Digest)>,
    /// Processor time.
    pub time: Duration,
}

/// Proves every kernel whose name contains `only`: in the first image if it is shipped, else in the
/// first that has it. The solver is asked for inputs for which something is wrong, where samples
/// do not show it.
pub fn prove_all(images: &[Image], only: &str, solver: Option<&Solver>) -> Report {
    let mut report = Report {
        rows: Vec::new(),
        instructions: BTreeMap::new(),
        models: None,
        coverage: None,
        compiler: images
            .first()
            .map_or_else(String::new, |image| image.compiler.clone()),
    };
    let mut sessions: HashMap<&str, Session> = HashMap::new();
    let mut proved = Proved::default();
    for kernel in kernels() {
        if kernel.name.contains(only) || kernel.set.name().contains(only) {
            let new = || match solver {
                Some(solver) => Session::new().with_solver(solver.clone()),
                None => Session::new(),
            };
            let session = sessions.entry(kernel.family).or_insert_with(new);
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
        report.rows.extend(left_out(images, &proved.starts));
        let nothing = Executed::new();
        report.coverage = images.first().map(|image| {
            let executed = proved.executed.get(&image.name).unwrap_or(&nothing);
            coverage::cover(image, executed, DRIVERS)
        });
    }
    report
}

/// The proved rows.
#[derive(Default)]
struct Proved {
    starts: Starts,
    /// The instructions of each program.
    executed: BTreeMap<String, Executed>,
}

/// Where the functions begin that a row has proved, by program and path.
type Starts = BTreeMap<(String, &'static str), BTreeSet<u64>>;

/// A row for every function that has the name of a kernel and is none of those that were proved: it
/// may be one that is called.
fn left_out(images: &[Image], proved: &Starts) -> Vec<Row> {
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
            features: Features::default(),
            residue: Residue::default(),
            steps: 0,
            runs: 0,
            depth: 0,
            ran_natively: false,
            hash: String::new(),
            functions: Vec::new(),
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
    let start = ThreadTime::start();
    let images = if kernel.shipped { &images[..1] } else { images };
    let mut row = Row {
        verdict: Verdict::Unsupported(format!("there is no function {}", kernel.function)),
        runs: kernel.contracts.len(),
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
        let place = (image.name.clone(), kernel.function);
        let taken = proved.starts.get(&place).cloned().unwrap_or_default();
        let symbols = image.symbols().iter();
        let mut symbols: Vec<&Symbol> = symbols
            .filter(|symbol| symbol.is(kernel.function))
            .collect();
        // Another row's last: it may be this one's too, for another instruction set.
        symbols.sort_by_key(|symbol| taken.contains(&symbol.start));
        for symbol in symbols {
            let before = row.verdict.clone();
            let (executed, constants) =
                prove_function(session, image, symbol, kernel, &mut row, met);
            if row.verdict.is_proof() {
                let functions = coverage::functions_of(image, &executed).into_iter();
                let with_digest = |function| {
                    let digest = Digest::new(image, &function, &executed, &constants);
                    (function, digest)
                };
                row.functions = functions.map(with_digest).collect();
                let all = proved.executed.entry(image.name.clone()).or_default();
                all.extend(executed);
                let starts = proved.starts.entry(place).or_default();
                starts.insert(symbol.start);
                break;
            }
            // Of several that are not proved, the one that comes closest.
            if matches!(before, Verdict::Unproved(_)) {
                row.verdict = before;
            }
        }
    }
    row.time = start.so_far();
    row
}

/// Tries one function. Without generic arguments in their names, several functions may have the
/// name of the kernel; it is the one that is proved, and the others must be those of other rows
/// ([`left_out`]). Gives the instructions that were executed, and where constants were read.
fn prove_function(
    session: &mut Session,
    image: &Image,
    symbol: &Symbol,
    kernel: &Kernel,
    row: &mut Row,
    met: &mut BTreeMap<Vec<u8>, Instruction>,
) -> (Executed, BTreeSet<u64>) {
    let (mut bytes, mut executed) = (BTreeMap::new(), Executed::new());
    let mut constants = BTreeSet::new();
    row.features = Features::default();
    row.ran_natively = true;
    let processor = Processor {
        features: kernel.set.features().or(&image.target),
        is_here: kernel.set.is_here(),
    };
    for contract in &kernel.contracts {
        let finding = session.prove(image, symbol, contract, &processor);
        row.residue = finding.residue.or(row.residue);
        row.steps = row.steps.max(finding.steps);
        row.depth = row.depth.max(finding.depth);
        // No run is of any number of elements.
        row.ran_natively &= finding.ran_natively || contract.repeats.is_some();
        collect(image, &finding, &mut bytes, met);
        row.features.add_all(finding.instructions.values());
        let lengths = finding.instructions.iter();
        executed.extend(lengths.map(|(address, instruction)| (*address, instruction.len())));
        constants.extend(finding.constants);
        row.verdict = finding.verdict;
        if !row.verdict.is_proof() {
            break;
        }
    }
    row.hash = sha256::hash(&pieces(symbol.start, &bytes))
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    (executed, constants)
}

/// The bytes that a row's hash covers.
fn pieces(start: u64, bytes: &BTreeMap<u64, u8>) -> Vec<u8> {
    let all: Vec<(u64, u8)> = bytes.iter().map(|(at, byte)| (*at, *byte)).collect();
    let mut text = Vec::new();
    for piece in all.chunk_by(|a, b| a.0 + 1 == b.0) {
        text.extend(piece[0].0.wrapping_sub(start).to_le_bytes());
        text.extend((piece.len() as u64).to_le_bytes());
        text.extend(piece.iter().map(|(_, byte)| byte));
    }
    text
}

/// The bytes that a proof is about.
fn collect(
    image: &Image,
    finding: &Finding,
    bytes: &mut BTreeMap<u64, u8>,
    met: &mut BTreeMap<Vec<u8>, Instruction>,
) {
    for (address, instruction) in &finding.instructions {
        let code = image.code(*address, instruction.len()).unwrap_or_default();
        met.insert(code.to_vec(), *instruction);
        bytes.extend((*address..).zip(code.iter().copied()));
    }
    for address in &finding.constants {
        bytes.extend(image.byte(*address).map(|byte| (*address, byte)));
    }
}

impl Report {
    /// Executes every instruction that was met, and compares it with its model.
    pub fn compare_models(&mut self) {
        self.models = Some(cosim::compare(self.instructions.values()));
    }

    /// Whether every kernel is proved, and there is one, given that the models of the instructions
    /// are right.
    pub fn is_proof(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.verdict.is_proof())
    }

    /// Whether no code was left out that should have a row.
    pub fn is_whole(&self) -> bool {
        self.coverage.as_ref().is_none_or(Coverage::is_whole)
    }

    /// Whether the models were compared with this CPU and none is wrong, and only known kinds of
    /// instructions were left out.
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
                "models: {} forms of AVX-512 were not compared: this CPU lacks them, and runs no kernel with them",
                elsewhere.len()
            );
        }
        for instruction in disagree {
            let _ = writeln!(text, "WRONG MODEL {instruction}");
        }
        text
    }

    /// A table for people.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: [&str; 9]| {
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
            let _ = writeln!(
                text,
                "{verdict:11} {name:32} {set:8} {artefact:16} {runs:>4} {steps:>8} {depth:>6} {residue:>14}  {rest}"
            );
        };
        line([
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
        for row in &self.rows {
            let Residue {
                stack,
                vectors,
                general,
            } = row.residue;
            let native = if row.verdict.is_proof() && !row.ran_natively {
                "  (not run on this CPU)"
            } else {
                ""
            };
            let time = row.time.as_secs_f64();
            let rest = format!("{time:6.2}  {:.16}  {}{native}", row.hash, row.features);
            let residue = format!("{stack}/{vectors}/{general}");
            line([
                row.verdict.name(),
                row.name,
                row.set,
                &row.artefact,
                &row.runs.to_string(),
                &row.steps.to_string(),
                &row.depth.to_string(),
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
            "{proved} of {} proved in {:.1} s of processor time",
            self.rows.len(),
            time.as_secs_f64()
        );
        text += &self
            .coverage
            .as_ref()
            .map_or_else(String::new, Coverage::text);
        text
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let functions = row.functions.iter();
            let functions = functions.map(|(function, digest)| digest.json(function));
            json!({
                "kernel": row.name,
                "instruction_set": row.set,
                "specification": row.shows,
                "program": row.artefact,
                "verdict": row.verdict.name(),
                "features": row.features.names(),
                "reason": row.verdict.reason(),
                "runs": row.runs,
                "instructions": row.steps,
                "stack_bytes": row.depth,
                "residue": { "stack": row.residue.stack, "vectors": row.residue.vectors, "general": row.residue.general },
                "ran_natively": row.ran_natively,
                "sha256": row.hash,
                "functions": functions.collect::<Vec<_>>(),
                "seconds": row.time.as_secs_f64(),
            })
        });
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
            "kernels": rows.collect::<Vec<_>>(),
            "coverage": coverage,
            "compiler": self.compiler,
            "obligations": OBLIGATIONS.iter().map(Obligation::json).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the models are taken for right, after a comparison with this outcome.
    fn agree(models: Option<Result<Comparison, String>>) -> bool {
        let (rows, instructions) = (Vec::new(), BTreeMap::new());
        let report = Report {
            rows,
            instructions,
            models,
            coverage: None,
            compiler: String::new(),
        };
        report.models_agree()
    }

    #[test]
    fn models_that_were_not_compared_are_not_right() {
        assert!(!agree(None));
        assert!(!agree(Some(Err("no AVX-512".into()))));
        let compared = || Comparison {
            agree: 1,
            ..Comparison::default()
        };
        assert!(agree(Some(Ok(compared()))));
        assert!(!agree(Some(Ok(Comparison::default()))), "nothing was");
        let mut one = compared();
        one.skipped.insert("push and pop".into());
        assert!(agree(Some(Ok(one))));
        let mut one = compared();
        one.skipped.insert("vpaddq".into());
        assert!(!agree(Some(Ok(one))));
        let mut one = compared();
        one.disagree.push("add".into());
        assert!(!agree(Some(Ok(one))));
    }

    #[test]
    fn programs_are_told_which_forms_were_compared() {
        let forms = ["Xor_r64_rm64", "Add_r64_rm64", "VEX_Vpaddq_ymm_ymm_ymmm256"];
        let comparison = Comparison {
            forms: forms.map(String::from).into(),
            skipped: ["vpermq: this CPU has no such thing".into()].into(),
            ..Comparison::default()
        };
        let report = Report {
            rows: Vec::new(),
            instructions: BTreeMap::new(),
            models: Some(Ok(comparison)),
            coverage: None,
            compiler: String::new(),
        };
        let models = &report.json()["models"];
        let sorted = ["Add_r64_rm64", "VEX_Vpaddq_ymm_ymm_ymmm256", "Xor_r64_rm64"];
        assert_eq!(models["compared_forms"], json!(sorted));
        assert_eq!(models["forms"], 3);
        let not_executed = json!(["vpermq: this CPU has no such thing"]);
        assert_eq!(models["not_executed"], not_executed);
    }

    #[test]
    fn the_hash_is_of_places_as_well_as_of_bytes() {
        let hashed = |bytes: &[(u64, u8)]| pieces(100, &bytes.iter().copied().collect());
        assert_eq!(
            hashed(&[(100, 1), (101, 2)]),
            [&[0; 8][..], &2_u64.to_le_bytes(), &[1, 2]].concat()
        );
        // The same bytes elsewhere, or in other pieces.
        assert_ne!(hashed(&[(100, 1), (101, 2)]), hashed(&[(101, 1), (102, 2)]));
        assert_ne!(hashed(&[(100, 1), (101, 2)]), hashed(&[(100, 1), (102, 2)]));
    }

    #[test]
    fn a_function_with_the_name_of_a_kernel_that_no_row_proves_is_a_row() {
        sealstone_kernels::call_every_kernel();
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
        let all = Starts::from([(place.clone(), starts.clone())]);
        assert!(left_out(&images, &all).is_empty());
        let first = starts.first().copied().into_iter().collect();
        let rows = left_out(&images, &Starts::from([(place, first)]));
        assert_eq!(rows.len(), starts.len() - 1);
        assert!(rows.iter().all(|row| !row.verdict.is_proof()));
    }
}
