//! The machine code of a program that the proofs cover, and the code that they do not cover.
//!
//! A proof covers the bytes that its run executed. A program may contain the same source a second
//! time: inlined into a caller, copied for another crate, under a name without a row. So this
//! module checks the whole program file, function by function. It reports five kinds of findings:
//!
//! - a function of our crates that *looks like a kernel* (`Mix::is_of_kernel`: it rotates words,
//!   or has 16 instructions of vector arithmetic), was not proved, and is not a driver that the
//!   catalog names with a reason and with the most that it may have ([`Driver`]);
//! - a function of any crate that has the instructions of a proved one (`Mix::contains`) and was
//!   not proved: a second copy. The proved one may be in another program ([`Proofs`]);
//! - instructions of that kind in a proved function that no run has executed;
//! - code of one of our crates that was not proved, if the catalog has no reason for this crate
//!   ([`Rest`]);
//! - a function of our crates that a proved function may call, if no run has entered it, or if the
//!   place that may call it was not executed. A place may call a function if it jumps to it, calls
//!   it, takes its address, or reads its address where the loader writes it. Addresses in other
//!   tables, for example of a trait object, are not followed.
//!
//! The names of functions tell which are of our crates. The compiler may inline our code into an
//! instance of a generic function of others, for example `core::ops::FnOnce::call_once`, whose name
//! need not have one of our crates. Such code is found only as a second copy.

mod mix;

use iced_x86::{FlowControl, Instruction};
use mix::Mix;
use sealstone_prover::image::{Image, decoder};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A function in a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// Its path.
    pub symbol: String,
    /// Its start in the program file.
    pub start: u64,
    /// Its end.
    pub end: u64,
}

/// Code of our crates that looks like a kernel and is not proved, with the reason.
pub struct Driver {
    /// A part of its path.
    pub path: &'static str,
    /// How many rotations it may have, and how many instructions of vector arithmetic. Code that
    /// the compiler inlines into it, and that has more, is not explained.
    pub most: [usize; 2],
    /// The reason for the missing proof, and what covers it instead.
    pub why: &'static str,
}

/// A crate of ours, with the reason why nothing proves the rest of its code.
pub struct Rest {
    /// The crate, as paths have it.
    pub name: &'static str,
    /// The reason for the missing proofs, and what covers the code instead.
    pub why: &'static str,
}

/// The reasons why code of our crates is not proved.
#[derive(Clone, Copy)]
pub struct Reasons {
    /// Of code that looks like a kernel.
    pub drivers: &'static [Driver],
    /// Of all other code.
    pub crates: &'static [Rest],
}

/// Instructions that runs have executed: address and length.
pub type Executed = BTreeMap<u64, usize>;

/// The proofs in a program: what their runs have executed.
#[derive(Clone, Copy)]
pub struct Proofs<'a> {
    /// The program.
    pub image: &'a Image,
    /// The instructions.
    pub executed: &'a Executed,
}

/// The content of a program.
pub struct Coverage {
    /// The program.
    pub program: String,
    /// Code of our crates.
    pub ours: Share,
    /// The part of it in proved functions.
    pub proved: Share,
    /// Bytes of proved functions that no run has executed. They do not look like a kernel.
    pub not_executed: u64,
    /// Functions of our crates that look like kernels, are not proved, and are explained.
    pub drivers: Vec<(Function, &'static str)>,
    /// The code of each crate that is not proved. These drivers are a part of it.
    pub unproved: Vec<(&'static Rest, Share)>,
    /// Findings of the kinds that the module's description lists.
    pub findings: Vec<String>,
}

/// An amount of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Functions.
    pub functions: usize,
    /// Bytes.
    pub bytes: u64,
}

/// The crate of functions for C.
const C_INTERFACE: &str = "sealstone_capi";

/// A function, or the code without a symbol after it, with its instructions.
struct Piece {
    name: String,
    start: u64,
    end: u64,
    /// Whether there are only bytes that align what follows.
    is_padding: bool,
    mix: Mix,
    /// The addresses outside of it that its instructions mention ([`mentioned`]), each with the
    /// address of the instruction.
    targets: BTreeSet<(u64, u64)>,
}

impl Share {
    fn add(&mut self, piece: &Piece) {
        self.functions += 1;
        self.bytes += piece.end - piece.start;
    }
}

/// The functions in which instructions were executed.
pub fn functions_of(image: &Image, executed: &Executed) -> Vec<Function> {
    let mut functions = BTreeSet::new();
    for address in executed.keys() {
        if let Some(symbol) = image.symbol_at(*address) {
            functions.insert(Function {
                symbol: symbol.name.clone(),
                start: Image::in_file(symbol.start),
                end: Image::in_file(symbol.start + symbol.size),
            });
        }
    }
    functions.into_iter().collect()
}

/// An instruction that is in none of these functions: its address in the program file.
pub(crate) fn nameless(functions: &[Function], executed: &Executed) -> Option<u64> {
    let mut addresses = executed.keys().map(|address| Image::in_file(*address));
    let is_in = |function: &Function, at| (function.start..function.end).contains(&at);
    addresses.find(|at| !functions.iter().any(|function| is_in(function, *at)))
}

impl Proofs<'_> {
    /// Whether a run has executed a part of a function.
    fn entered(&self, piece: &Piece) -> bool {
        let mut inside = self.executed.range(piece.start..piece.end);
        inside.next().is_some()
    }

    /// The functions that are proved.
    fn functions(&self) -> Vec<Piece> {
        let pieces = pieces(self.image).into_iter();
        pieces.filter(|piece| self.entered(piece)).collect()
    }
}

/// Checks a program. It must have no second copies of functions that are proved `elsewhere`.
pub fn cover(proofs: Proofs<'_>, elsewhere: Option<Proofs<'_>>, reasons: Reasons) -> Coverage {
    let image = proofs.image;
    let pieces = pieces(image);
    let elsewhere = elsewhere.map_or_else(Vec::new, |proofs| proofs.functions());
    let here = pieces.iter().filter(|piece| proofs.entered(piece));
    let kernels: Vec<&Piece> = here.chain(&elsewhere).collect();
    let mut coverage = Coverage {
        program: image.name.clone(),
        ours: Share::default(),
        proved: Share::default(),
        not_executed: 0,
        drivers: Vec::new(),
        unproved: Vec::new(),
        findings: Vec::new(),
    };
    coverage.add_crates(&pieces, proofs, reasons.crates);
    for piece in &pieces {
        if piece.owner().is_some() {
            coverage.ours.add(piece);
        }
        if proofs.entered(piece) {
            if piece.owner().is_some() {
                coverage.proved.add(piece);
            }
            coverage.look_at_proved(proofs, piece, &pieces);
        } else if let Some(kernel) = kernels
            .iter()
            .find(|kernel| piece.mix.contains(&kernel.mix))
        {
            coverage.findings.push(format!(
                "{} at {:#x} has the instructions of {}, and no row proves it",
                piece.name,
                Image::in_file(piece.start),
                kernel.name
            ));
        } else if is_ours(&piece.name) && piece.mix.is_of_kernel() {
            coverage.look_at_driver(piece, reasons.drivers);
        }
    }
    coverage
}

impl Coverage {
    /// Whether there are no findings.
    pub fn is_complete(&self) -> bool {
        self.findings.is_empty() && self.proved.bytes > 0
    }

    /// The code of each crate that no run has entered. Each crate needs a reason.
    fn add_crates(&mut self, pieces: &[Piece], proofs: Proofs<'_>, crates: &'static [Rest]) {
        let mut shares: BTreeMap<&str, Share> = BTreeMap::new();
        for piece in pieces.iter().filter(|piece| !proofs.entered(piece)) {
            if let Some(name) = piece.owner() {
                shares.entry(name).or_default().add(piece);
            }
        }
        let mut unproved = |rest: &'static Rest| {
            let share = shares.remove(rest.name).unwrap_or_default();
            (rest, share)
        };
        self.unproved = crates.iter().map(&mut unproved).collect();
        let findings = shares.into_keys().map(|name| {
            format!("{name} has code that no row proves, and the catalog has no reason for it")
        });
        self.findings.extend(findings);
    }

    /// Parts of the proved functions that no run has executed, and their possible callees.
    fn look_at_proved(&mut self, proofs: Proofs<'_>, piece: &Piece, pieces: &[Piece]) {
        let Proofs { image, executed } = proofs;
        let mut left = Mix::default();
        for instruction in instructions(image, piece.start, piece.end) {
            if !executed.contains_key(&instruction.ip()) && !is_padding(&instruction) {
                self.not_executed += instruction.len() as u64;
                left.add(&instruction);
            }
        }
        if left.is_of_kernel() {
            self.findings.push(format!(
                "no run has executed all of {}: there are left {left}",
                piece.name
            ));
        }
        for (target, at) in &piece.targets {
            let callee = pieces
                .iter()
                .find(|other| (other.start..other.end).contains(target));
            let Some(callee) = callee.filter(|callee| is_ours(&callee.name)) else {
                continue;
            };
            let why = match (proofs.entered(callee), executed.contains_key(at)) {
                (false, _) => ", which no run has entered".into(),
                (true, false) => format!(" at {:#x}, which no run executes", Image::in_file(*at)),
                (true, true) => continue,
            };
            let finding = format!("{} may call {}{why}", piece.name, callee.name);
            self.findings.push(finding);
        }
    }

    fn look_at_driver(&mut self, piece: &Piece, drivers: &'static [Driver]) {
        let explained = drivers
            .iter()
            .find(|driver| piece.name.contains(driver.path));
        match explained {
            Some(driver) if !piece.mix.is_within(driver.most) => self.findings.push(format!(
                "{} at {:#x} has more than a driver may have that {} ({})",
                piece.name,
                Image::in_file(piece.start),
                driver.why,
                piece.mix
            )),
            Some(driver) => self.drivers.push((
                Function {
                    symbol: piece.name.clone(),
                    start: Image::in_file(piece.start),
                    end: Image::in_file(piece.end),
                },
                driver.why,
            )),
            None => self.findings.push(format!(
                "{} at {:#x} looks like a kernel ({}), and no row proves it",
                piece.name,
                Image::in_file(piece.start),
                piece.mix
            )),
        }
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let share = 100.0 * self.proved.bytes as f64 / self.ours.bytes.max(1) as f64;
        let _ = writeln!(
            text,
            "coverage of {}: {} functions of our crates have {} KiB of machine code; proved are {} of them, {} KiB, {share:.1} %",
            self.program,
            self.ours.functions,
            self.ours.bytes / 1024,
            self.proved.functions,
            self.proved.bytes / 1024,
        );
        let _ = writeln!(
            text,
            "  {} bytes of those are never executed (ways to a panic): no rotation, hardly a vector",
            self.not_executed
        );
        let mut by_reason: BTreeMap<&str, Share> = BTreeMap::new();
        for (function, why) in &self.drivers {
            let share = by_reason.entry(why).or_default();
            share.functions += 1;
            share.bytes += function.end - function.start;
        }
        for (why, Share { functions, bytes }) in by_reason {
            let _ = writeln!(
                text,
                "  not proved, with many sums of vectors: {functions} functions, {} KiB: {why}",
                bytes.div_ceil(1024)
            );
        }
        let _ = writeln!(
            text,
            "  all others rotate nothing and add few vectors; with those above, not proved are"
        );
        for (rest, Share { functions, bytes }) in &self.unproved {
            if *functions > 0 {
                let kib = bytes.div_ceil(1024);
                let Rest { name, why } = rest;
                let _ = writeln!(text, "  {name}: {functions} functions, {kib} KiB: {why}");
            }
        }
        for finding in &self.findings {
            let _ = writeln!(text, "NOT COVERED {finding}");
        }
        text
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let drivers = self.drivers.iter().map(|(function, why)| {
            let mut json = function.json();
            json["why"] = (*why).into();
            json
        });
        let share = |share: &Share| json!({ "functions": share.functions, "bytes": share.bytes });
        let unproved = self.unproved.iter().map(|(rest, unproved)| {
            let mut json = share(unproved);
            json["crate"] = rest.name.into();
            json["why"] = rest.why.into();
            json
        });
        json!({
            "program": self.program,
            "our_crates": share(&self.ours),
            "proved": share(&self.proved),
            "never_executed_bytes": self.not_executed,
            "drivers": drivers.collect::<Vec<_>>(),
            "unproved": unproved.collect::<Vec<_>>(),
            "findings": self.findings,
        })
    }
}

impl Function {
    /// As JSON, with addresses of the program file.
    pub fn json(&self) -> Value {
        json!({ "symbol": self.symbol, "start": self.start, "end": self.end })
    }
}

/// Whether a path is in one of our crates, or is an instance for one of our types.
fn is_ours(name: &str) -> bool {
    crate_of(name).is_some()
}

/// The first of our crates that a path names. Functions for C have no path.
fn crate_of(name: &str) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut starts = name.match_indices("sealstone").map(|(at, _)| at);
    let at = starts.find(|at| !name[..*at].ends_with(is_part))?;
    let rest = &name[at..];
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let (word, behind) = rest.split_at(end);
    Some(if behind.starts_with("::") {
        word
    } else {
        C_INTERFACE
    })
}

/// All code of a program: functions, and the bytes between them.
fn pieces(image: &Image) -> Vec<Piece> {
    let mut names: BTreeMap<u64, (u64, BTreeSet<&str>)> = BTreeMap::new();
    for symbol in image.symbols() {
        let (size, names) = names.entry(symbol.start).or_default();
        *size = symbol.size.max(*size);
        names.insert(&symbol.name);
    }
    let mut pieces = Vec::new();
    for (start, bytes, _) in image.segments().filter(|(_, _, is_code)| *is_code) {
        let (mut at, end) = (start, start + bytes.len() as u64);
        let mut before = String::from("the start of the code");
        for (symbol, (size, names)) in names.range(start..end) {
            if at < *symbol {
                pieces.push(Piece::new(
                    image,
                    format!("code after {before}"),
                    at,
                    *symbol,
                ));
            }
            let names: Vec<&str> = names.iter().copied().collect();
            before = names.join(" = ");
            let stop = (symbol + size).min(end);
            pieces.push(Piece::new(image, before.clone(), *symbol, stop));
            at = at.max(stop);
        }
        if at < end {
            pieces.push(Piece::new(image, format!("code after {before}"), at, end));
        }
    }
    pieces
}

impl Piece {
    /// The crate of ours that has this code. Bytes that align code are of no crate.
    fn owner(&self) -> Option<&str> {
        let code = (!self.is_padding).then_some(&self.name);
        code.and_then(|name| crate_of(name))
    }

    fn new(image: &Image, name: String, start: u64, end: u64) -> Self {
        let (mut mix, mut targets) = (Mix::default(), BTreeSet::new());
        let mut is_padding = true;
        for instruction in instructions(image, start, end) {
            mix.add(&instruction);
            is_padding &= self::is_padding(&instruction);
            let mentioned = mentioned(image, &instruction).into_iter();
            targets.extend(mentioned.map(|target| (target, instruction.ip())));
        }
        targets.retain(|(target, _)| !(start..end).contains(target));
        Self {
            name,
            start,
            end,
            is_padding,
            mix,
            targets,
        }
    }
}

/// The addresses to which an instruction may lead: the target of a jump or call, the place that it
/// computes or reads, and the addresses that the loader writes to this place.
fn mentioned(image: &Image, instruction: &Instruction) -> Vec<u64> {
    if instruction.is_ip_rel_memory_operand() {
        let place = instruction.ip_rel_memory_address();
        let size = instruction.memory_size().size().max(1) as u64;
        let written = image.relocated(place..place.saturating_add(size));
        return written.map(|(_, target)| target).chain([place]).collect();
    }
    match instruction.flow_control() {
        FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            vec![instruction.near_branch_target()]
        }
        _ => Vec::new(),
    }
}

fn instructions(image: &Image, start: u64, end: u64) -> impl Iterator<Item = Instruction> + '_ {
    let bytes = image.code(start, (end - start) as usize).unwrap_or(&[]);
    decoder(bytes, start).into_iter()
}

/// The code between functions and loops.
fn is_padding(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic::{Int3, Nop};
    matches!(instruction.mnemonic(), Int3 | Nop)
}

#[cfg(test)]
mod tests;
