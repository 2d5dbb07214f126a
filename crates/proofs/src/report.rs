//! All proofs of a run, and how they are shown.

use crate::catalog::{DRIVERS, Kernel, OBLIGATIONS, Obligation, kernels, others};
use crate::coverage::{self, Coverage, Executed, Function};
use crate::digest::Digest;
use crate::spec::sha256;
use crate::usage::ThreadTime;
use iced_x86::Instruction;
use sealstone_prover::cosim::{self, Comparison};
use sealstone_prover::features::{Features, Processor};
use sealstone_prover::image::{Image, Symbol};
use sealstone_prover::prove::{Finding, Session};
use sealstone_prover::solver::Solver;
use sealstone_prover::verdict::{Residue, Verdict};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::time::Duration;

/// The findings on all kernels.
#[derive(Default)]
pub struct Report {
    /// A row for each kernel.
    pub rows: Vec<Row>,
    /// A row for each function of others that the first program relies on. They need not be proved.
    pub others: Vec<Row>,
    /// The findings on libraries of the same crates.
    pub libraries: Vec<Report>,
    /// The kernels that a library does not have, with their instruction sets.
    pub absent: Vec<(&'static str, &'static str)>,
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
    prove(kernels(), images, only, solver).0
}

/// The report on these kernels, and where the functions begin that were proved.
fn prove(
    kernels: Vec<Kernel>,
    images: &[Image],
    only: &str,
    solver: Option<&Solver>,
) -> (Report, Starts) {
    let mut report = Report {
        compiler: images
            .first()
            .map_or_else(String::new, |image| image.compiler.clone()),
        ..Report::default()
    };
    let mut sessions: HashMap<&str, Session> = HashMap::new();
    let mut proved = Proved::default();
    for kernel in kernels {
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
    (report, proved.starts)
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

    /// A line for people.
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
        let time = self.time.as_secs_f64();
        let rest = format!("{time:6.2}  {:.16}  {}{native}", self.hash, self.features);
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

    /// For programs.
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
            "functions": functions.collect::<Vec<_>>(),
            "seconds": self.time.as_secs_f64(),
        })
    }
}

/// Rows for people, and why some are not proved.
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
            let functions = coverage::functions_of(image, &executed);
            if let (true, Some(at)) = (
                row.verdict.is_proof(),
                coverage::nameless(&functions, &executed),
            ) {
                row.verdict = Verdict::Unproved(format!(
                    "the program names no function at {at:#x}, so its code would be in no digest"
                ));
            }
            if row.verdict.is_proof() {
                let functions = functions.into_iter();
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
    (row.features, row.residue) = (Features::default(), Residue::default());
    (row.steps, row.depth) = (0, 0);
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
    /// Tries the functions of others that a program relies on. Nothing of it counts as a kernel.
    /// What the first program does not contain is taken from the others. A second function of the
    /// same name is a row without a proof.
    pub fn prove_others(&mut self, images: &[Image], only: &str) {
        // Families follow one another: of each, the formulas are forgotten after its last row.
        let (mut family, mut session) = ("", Session::new());
        let mut proved = Proved::default();
        let chosen = |row: &Kernel| row.name.contains(only) || row.set.name().contains(only);
        for row in others().into_iter().filter(chosen) {
            if row.family != family {
                (family, session) = (row.family, Session::new());
            }
            let row = prove_kernel(
                &mut session,
                images,
                &row,
                &mut proved,
                &mut self.instructions,
            );
            self.others.push(row);
        }
        self.others.extend(left_out(images, &proved.starts));
    }

    /// Proves in a library of the same crates the kernels that the command has. It need not have
    /// all of them, but one at least: a part of them that it has none of says nothing about it.
    pub fn prove_library(&mut self, image: Image, only: &str, solver: Option<&Solver>) {
        let shipped = kernels().into_iter().filter(|kernel| kernel.shipped);
        let images = [image];
        let (mut report, starts) = prove(shipped.collect(), &images, only, solver);
        report.leave_out_absent(&images[0], &starts);
        self.instructions.append(&mut report.instructions);
        if only.is_empty() || !report.rows.is_empty() {
            self.libraries.push(report);
        }
    }

    /// A kernel is absent if every function that has its name is one that another row has proved.
    /// The sizes and instruction sets of a kernel have one name.
    fn leave_out_absent(&mut self, image: &Image, starts: &Starts) {
        let is_absent = |row: &Row| {
            let kernels = kernels().into_iter();
            let mut same = kernels.filter(|it| it.name == row.name && it.set.name() == row.set);
            same.any(|kernel| {
                let proved = starts.get(&(image.name.clone(), kernel.function));
                let is_other = |symbol: &Symbol| {
                    !symbol.is(kernel.function)
                        || proved.is_some_and(|proved| proved.contains(&symbol.start))
                };
                !row.verdict.is_proof() && image.symbols().iter().all(is_other)
            })
        };
        let absent = self.rows.extract_if(.., |row| is_absent(row));
        self.absent = absent.map(|row| (row.name, row.set)).collect();
    }

    /// Executes every instruction that was met, and compares it with its model.
    pub fn compare_models(&mut self) {
        self.models = Some(cosim::compare(self.instructions.values()));
    }

    /// Whether every kernel is proved, and there is one, given that the models of the instructions
    /// are right; in the libraries too.
    pub fn is_proof(&self) -> bool {
        !self.rows.is_empty()
            && self.rows.iter().all(|row| row.verdict.is_proof())
            && self.libraries.iter().all(Self::is_proof)
    }

    /// Whether no code was left out that should have a row; in the libraries too.
    pub fn is_whole(&self) -> bool {
        self.coverage.as_ref().is_none_or(Coverage::is_whole)
            && self.libraries.iter().all(Self::is_whole)
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
                "models: {} forms were not compared: this CPU lacks them, and runs no code with them",
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
        let mut text = table_of(&self.rows);
        text += &self.models_line();
        text += &self.sum();
        for library in &self.libraries {
            text += "\na library of the same crates\n";
            text += &table_of(&library.rows);
            for (name, set) in &library.absent {
                let _ = writeln!(text, "not in this library: {name} {set}");
            }
            text += &library.sum();
        }
        if !self.others.is_empty() {
            text += "\nothers' code that we rely on\n";
            text += &table_of(&self.others);
        }
        text
    }

    /// How many rows are proved, and how much of the program's code that is.
    fn sum(&self) -> String {
        let proved = self.rows.iter().filter(|row| row.verdict.is_proof());
        let time: Duration = self.rows.iter().map(|row| row.time).sum();
        let sum = format!(
            "{} of {} proved in {:.1} s of processor time\n",
            proved.count(),
            self.rows.len(),
            time.as_secs_f64()
        );
        let coverage = self.coverage.as_ref().map(Coverage::text);
        sum + &coverage.unwrap_or_default()
    }

    /// The same for programs.
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
            "libraries": self.libraries.iter().map(Self::library_json).collect::<Vec<_>>(),
            "coverage": coverage,
            "compiler": self.compiler,
            "obligations": OBLIGATIONS.iter().map(Obligation::json).collect::<Vec<_>>(),
        })
    }

    fn library_json(&self) -> Value {
        json!({
            "kernels": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
            "absent": self.absent,
            "coverage": self.coverage.as_ref().map(Coverage::json),
            "compiler": self.compiler,
        })
    }
}

#[cfg(test)]
mod tests;
