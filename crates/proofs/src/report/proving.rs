//! Computes the rows.

use super::{Report, Row};
use crate::catalog::{Kernel, REASONS, kernels};
use crate::coverage::{self, Executed, Proofs};
use crate::digest::Digest;
use crate::same_code::{self, Trace};
use crate::spec::sha256;
use crate::usage::ThreadTime;
use iced_x86::Instruction;
use sealstone_prover::features::{Features, Processor};
use sealstone_prover::image::{Image, Symbol, decoder};
use sealstone_prover::prove::Session;
use sealstone_prover::solver::Solver;
use sealstone_prover::verdict::{Residue, Verdict};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Instructions by their bytes.
type Met = BTreeMap<Vec<u8>, Instruction>;

/// Proves every kernel whose name contains `only`: in the first image if it is shipped, else in the
/// first image that has it. The solver searches refuting inputs that samples do not show.
pub fn prove_kernels(images: &[Image], only: &str, solver: Option<&Solver>) -> Report {
    prove_in(kernels(), images, only, solver, None).0
}

/// A program in which kernels were proved, and its rows.
pub(super) type Known<'a> = (&'a Image, &'a [Row]);

/// The report on these kernels, and the start addresses of the proved functions.
pub(super) fn prove_in(
    kernels: Vec<Kernel>,
    images: &[Image],
    only: &str,
    solver: Option<&Solver>,
    known: Option<Known<'_>>,
) -> (Report, Starts) {
    let mut report = Report::default();
    if let Some(image) = images.first() {
        (report.program, report.compiler) = (image.name.clone(), image.compiler.clone());
    }
    let mut sessions: HashMap<&str, Session> = HashMap::new();
    let mut proved = Proved::default();
    for kernel in kernels {
        if kernel.name.contains(only) || kernel.set.name().contains(only) {
            let new = || session(solver);
            let session = sessions.entry(kernel.family).or_insert_with(new);
            let row = prove_kernel(
                session,
                (images, known),
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
            let command = known.map(|(image, rows)| (image, executed_in(image, rows)));
            let command = command.as_ref();
            let command = command.map(|(image, executed)| Proofs { image, executed });
            coverage::cover(Proofs { image, executed }, command, REASONS)
        });
    }
    (report, proved.starts)
}

/// The instructions of a program that the runs of its proved rows have executed.
fn executed_in(program: &Image, rows: &[Row]) -> Executed {
    let rows = rows.iter().filter(|row| row.artefact == program.name);
    let proved = rows.filter(|row| row.verdict.is_proof());
    let executed = proved.flat_map(|row| &row.trace.executed);
    executed.map(|(at, length)| (*at, *length)).collect()
}

/// A session that asks this solver.
pub(super) fn session(solver: Option<&Solver>) -> Session {
    match solver {
        Some(solver) => Session::new().with_solver(solver.clone()),
        None => Session::new(),
    }
}

/// The proved rows.
#[derive(Default)]
pub(super) struct Proved {
    pub(super) starts: Starts,
    /// The instructions of each program.
    executed: BTreeMap<String, Executed>,
}

/// The start addresses of proved functions, by program, path and instruction set.
pub(super) type Starts = BTreeMap<(String, &'static str, &'static str), BTreeSet<u64>>;

/// A row for every unproved function with the name of a kernel, because the program may call it.
///
/// A function for several instruction sets, which takes the CPU as an argument, must be proved for
/// each of them: of two copies, each could be wrong for the set for which the other was proved.
pub(super) fn left_out(images: &[Image], proved: &Starts) -> Vec<Row> {
    let mut rows = Vec::new();
    for ((program, function, set), starts) in proved {
        let image = images.iter().find(|image| image.name == *program);
        let symbols = image.into_iter().flat_map(Image::symbols);
        let others =
            symbols.filter(|symbol| symbol.is(function) && !starts.contains(&symbol.start));
        rows.extend(others.map(|symbol| Row {
            artefact: program.clone(),
            verdict: Verdict::Unproved(format!(
                "the function at {:#x} has the name of a kernel, and no row of this set proves it",
                Image::in_file(symbol.start)
            )),
            ..Row::new(function, set, "")
        }));
    }
    rows
}

/// The row of a kernel. Without generic arguments in names, several functions may have the kernel's
/// name. The row is about the function that is proved. The others must belong to other rows
/// ([`left_out`]).
pub(super) fn prove_kernel(
    session: &mut Session,
    (images, known): (&[Image], Option<Known<'_>>),
    kernel: &Kernel,
    proved: &mut Proved,
    met: &mut Met,
) -> Row {
    let start = ThreadTime::start();
    let images = if kernel.shipped { &images[..1] } else { images };
    let mut row = Row {
        verdict: Verdict::Unsupported(format!("there is no function {}", kernel.function)),
        runs: kernel.contracts.len(),
        ..Row::new(kernel.name, kernel.set.name(), kernel.shows)
    };
    let is_kernel = |symbol: &&Symbol| symbol.is(kernel.function);
    let has = |image: &&Image| image.symbols().iter().any(|symbol| is_kernel(&symbol));
    if let Some(image) = images.iter().find(has) {
        row.artefact = image.name.clone();
        let place = (image.name.clone(), kernel.function, kernel.set.name());
        let taken = proved.starts.get(&place).cloned().unwrap_or_default();
        let mut symbols: Vec<&Symbol> = image.symbols().iter().filter(is_kernel).collect();
        // Functions that another row has proved for this instruction set come last.
        symbols.sort_by_key(|symbol| taken.contains(&symbol.start));
        let mut same = symbols.iter();
        match same.find_map(|symbol| row_of_same_code(known?, image, symbol, kernel)) {
            Some(same) => {
                meet(image, &same.trace, met);
                row = same;
            }
            None => prove_one(session, image, &symbols, kernel, &mut row, met),
        }
        if row.verdict.is_proof() {
            let all = proved.executed.entry(image.name.clone()).or_default();
            all.extend(row.trace.executed.iter());
            let starts = proved.starts.entry(place).or_default();
            starts.insert(row.trace.start);
        }
    }
    row.time = start.so_far();
    row
}

/// The row of another program on this kernel, if it is proved there and this function has the same
/// code.
fn row_of_same_code(
    (program, rows): Known<'_>,
    image: &Image,
    symbol: &Symbol,
    kernel: &Kernel,
) -> Option<Row> {
    let is_about_it = |row: &&Row| {
        (row.name, row.set, &row.artefact) == (kernel.name, kernel.set.name(), &program.name)
    };
    let row = rows.iter().find(is_about_it)?;
    let is_usable = row.verdict.is_proof() && program.target == image.target;
    let trace = same_code::find(program, &row.trace, image, symbol.start)?;
    let mut row = is_usable.then(|| Row {
        artefact: image.name.clone(),
        same_as: Some(program.name.clone()),
        hash: hash(image, &trace),
        trace,
        ..row.clone()
    })?;
    name_functions(image, &mut row);
    Some(row)
}

/// Tries the functions one by one, until one is proved. If none is, the row is about the one that
/// comes closest.
fn prove_one(
    session: &mut Session,
    image: &Image,
    symbols: &[&Symbol],
    kernel: &Kernel,
    row: &mut Row,
    met: &mut Met,
) {
    for symbol in symbols {
        let before = row.verdict.clone();
        prove_function(session, image, symbol, kernel, row, met);
        if row.verdict.is_proof() {
            name_functions(image, row);
        }
        if row.verdict.is_proof() {
            return;
        }
        if matches!(before, Verdict::Unproved(_)) {
            row.verdict = before;
        }
    }
}

/// Tries one function.
fn prove_function(
    session: &mut Session,
    image: &Image,
    symbol: &Symbol,
    kernel: &Kernel,
    row: &mut Row,
    met: &mut Met,
) {
    row.trace = Trace {
        start: symbol.start,
        ..Trace::default()
    };
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
        // A native run cannot cover any number of elements.
        row.ran_natively &= finding.ran_natively || contract.is_by_induction();
        row.features.add_all(finding.instructions.values());
        let lengths = finding.instructions.iter();
        let lengths = lengths.map(|(address, instruction)| (*address, instruction.len()));
        row.trace.executed.extend(lengths);
        row.trace.constants.extend(finding.constants);
        row.verdict = finding.verdict;
        if !row.verdict.is_proof() {
            break;
        }
    }
    row.hash = hash(image, &row.trace);
    meet(image, &row.trace, met);
}

/// Records the functions of the executed instructions, with their digests. If one has no name,
/// there is no proof.
fn name_functions(image: &Image, row: &mut Row) {
    let trace = &row.trace;
    let functions = coverage::functions_of(image, &trace.executed);
    if let Some(at) = coverage::nameless(&functions, &trace.executed) {
        row.verdict = Verdict::Unproved(format!(
            "the program names no function at {at:#x}, so its code would be in no digest"
        ));
        return;
    }
    let functions = functions.into_iter();
    let with_digest = |function| {
        let digest = Digest::new(image, &function, &trace.executed, &trace.constants);
        (function, digest)
    };
    row.functions = functions.map(with_digest).collect();
}

/// The instructions of a trace.
fn meet(image: &Image, trace: &Trace, met: &mut Met) {
    for (address, length) in &trace.executed {
        let code = image.code(*address, *length).unwrap_or_default();
        met.insert(code.to_vec(), decoder(code, *address).decode());
    }
}

/// The hash of a row.
fn hash(image: &Image, trace: &Trace) -> String {
    let hash = sha256::hash(&pieces(trace.start, &bytes_of(image, trace)));
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that a proof covers.
fn bytes_of(image: &Image, trace: &Trace) -> BTreeMap<u64, u8> {
    let mut bytes = BTreeMap::new();
    for (address, length) in &trace.executed {
        let code = image.code(*address, *length).unwrap_or_default();
        bytes.extend((*address..).zip(code.iter().copied()));
    }
    let constants = trace.constants.iter();
    bytes.extend(constants.filter_map(|at| Some((*at, image.byte(*at)?))));
    bytes
}

/// The bytes that a row's hash covers.
pub(super) fn pieces(start: u64, bytes: &BTreeMap<u64, u8>) -> Vec<u8> {
    let all: Vec<(u64, u8)> = bytes.iter().map(|(at, byte)| (*at, *byte)).collect();
    let mut text = Vec::new();
    for piece in all.chunk_by(|a, b| a.0 + 1 == b.0) {
        text.extend(piece[0].0.wrapping_sub(start).to_le_bytes());
        text.extend((piece.len() as u64).to_le_bytes());
        text.extend(piece.iter().map(|(_, byte)| byte));
    }
    text
}
