//! The command `machine-proof`, without the compilation of the contract.
//!
//! `machine-proof PROGRAM FUNCTION CONTRACT` builds a small program from the contract's file and
//! this crate, and runs it with the same arguments. The main function of this program is [`main`].
//! A package with contracts can also have such a program of its own.

use crate::contract::Contract;
use crate::features::Processor;
use crate::image::{Image, Symbol};
use crate::prove::{Finding, Session};
use crate::solver::Solver;
use clap::Parser;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Proves that a function in a program file computes what its specification says, for all inputs.
///
/// The contract is a file of Rust with a function `contracts() -> Vec<Contract>`; the documentation
/// of the crate `sealstone-prover` has a tutorial. It is compiled with cargo.
#[derive(Clone, Debug, Parser)]
#[command(name = "machine-proof", after_help = EXIT_STATUS)]
pub struct Arguments {
    /// The program or library, for x86-64 Linux, with its symbols.
    pub program: PathBuf,
    /// The function: its path, or the end of it. All functions of that name must be proved.
    pub function: String,
    /// The contract, a file of Rust.
    pub contract: PathBuf,
    /// The processor whose instructions the function may use.
    #[arg(long, default_value = "x86-64", value_parser = ["x86-64", "x86-64-v3", "x86-64-v4"])]
    pub cpu: String,
    /// The program z3: it is asked for an input, for ten seconds, if there is neither a proof nor
    /// an input that refutes.
    #[arg(long, value_name = "FILE")]
    pub z3: Option<String>,
    /// Where the contract is compiled.
    #[arg(long, value_name = "DIRECTORY", default_value = "target/machine-proof")]
    pub build_dir: PathBuf,
    /// The source of the crate `sealstone-prover`, if it is no longer where it was when this
    /// command was built.
    #[arg(long, value_name = "DIRECTORY")]
    pub prover: Option<PathBuf>,
}

const EXIT_STATUS: &str = "Exit status: 0 if every function of that name is proved under every \
                           contract, 1 if not, 2 if that could not be tried.";

/// The main function of a program with contracts.
pub fn main(contracts: Vec<Contract>) -> ExitCode {
    let arguments = Arguments::parse();
    match prove_functions(&arguments, &contracts) {
        Ok(proof) => {
            print!("{}", proof.text);
            ExitCode::from(u8::from(!proof.holds))
        }
        Err(why) => {
            eprintln!("machine-proof: {why}");
            ExitCode::from(2)
        }
    }
}

/// The verdicts on all functions of a name.
#[derive(Debug)]
pub struct Proof {
    /// Whether all of them are proved, under each contract.
    pub holds: bool,
    /// The verdicts as text.
    pub text: String,
}

/// Tries to prove each function of that name, under each contract.
///
/// # Errors
/// A message that says why no proof can be tried.
pub fn prove_functions(arguments: &Arguments, contracts: &[Contract]) -> Result<Proof, String> {
    if contracts.is_empty() {
        let place = arguments.contract.display();
        return Err(format!("{place}: `contracts()` gives no contract"));
    }
    let processor = Processor::of_target(&arguments.cpu)
        .ok_or_else(|| format!("no processor `{}` is known", arguments.cpu))?;
    let mut session = Session::new();
    if let Some(z3) = &arguments.z3 {
        let solver = Solver::z3(z3);
        let works = solver.try_out();
        works.map_err(|why| format!("{z3} does not work as z3 ({why})"))?;
        session = session.with_solver(solver);
    }
    let (image, symbols) = functions(arguments)?;
    let mut proof = Proof {
        holds: true,
        text: String::new(),
    };
    for symbol in symbols {
        for contract in contracts {
            let finding = session.prove(&image, &symbol, contract, &processor);
            proof.holds &= finding.verdict.is_proof();
            proof.add(&symbol, contract, &finding);
        }
    }
    Ok(proof)
}

/// The program file, and all functions in it that have the name.
///
/// # Errors
/// A message if the file cannot be read or has no such function; it lists similar names.
pub fn functions(arguments: &Arguments) -> Result<(Image, Vec<Symbol>), String> {
    let image = Image::load(&arguments.program)?;
    let name = &arguments.function;
    let has_name = |symbol: &&Symbol| symbol.is(name) || ends_in(symbol, name);
    let found: Vec<Symbol> = image.symbols().iter().filter(has_name).cloned().collect();
    if !found.is_empty() {
        return Ok((image, found));
    }
    let mut why = format!(
        "{} has no function `{name}`. Was it inlined? `#[inline(never)]` keeps it",
        arguments.program.display()
    );
    let last = name.rsplit("::").next().unwrap_or(name);
    let symbols = image.symbols().iter();
    let mut similar = symbols.filter(|symbol| symbol.name.contains(last));
    for symbol in similar.by_ref().take(MOST_SIMILAR) {
        let _ = write!(why, "\n  similar: {}", symbol.name);
    }
    match similar.count() {
        0 => {}
        more => {
            let _ = write!(why, "\n  and {more} more");
        }
    }
    Err(why)
}

/// The largest number of names that are shown.
const MOST_SIMILAR: usize = 10;

/// Whether a function's path ends in another path. Names match as a whole.
fn ends_in(symbol: &Symbol, path: &str) -> bool {
    let starts = symbol.name.match_indices("::");
    starts.into_iter().any(|(at, colons)| {
        let end = Symbol {
            name: symbol.name[at + colons.len()..].into(),
            ..*symbol
        };
        end.is(path)
    })
}

impl Proof {
    fn add(&mut self, symbol: &Symbol, contract: &Contract, finding: &Finding) {
        let mut name = symbol.name.clone();
        if !contract.case.is_empty() {
            let _ = write!(name, ", {}", contract.case);
        }
        let _ = writeln!(self.text, "{name}: {}", finding.verdict);
        if finding.verdict.is_proof() {
            let _ = writeln!(self.text, "  {}", details(contract, finding));
        }
    }
}

/// The figures of a proof, as text.
fn details(contract: &Contract, finding: &Finding) -> String {
    let mut features = crate::features::Features::default();
    features.add_all(finding.instructions.values());
    let needed = match features.names().is_empty() {
        true => String::from("no vector instructions"),
        false => features.to_string(),
    };
    let run = match (contract.is_by_induction(), finding.ran_natively) {
        (true, _) => "no native runs: any number of elements",
        (false, true) => "64 native runs agree",
        (false, false) => "not run on this CPU",
    };
    format!(
        "{} instructions executed, {} bytes of stack, {} bytes of its inputs left behind; {needed}; {run}",
        finding.steps,
        finding.depth,
        finding.residue.bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Algebra;
    use crate::contract::Access;
    use crate::formula;
    use std::hint::black_box;

    mod inner {
        #[inline(never)]
        pub(super) extern "C" fn doubled(x: &mut [u64; 1]) {
            x[0] = x[0].wrapping_add(x[0]);
        }
    }

    fn arguments(function: &str) -> Arguments {
        let program = std::env::current_exe().unwrap();
        let program = program.to_string_lossy().into_owned();
        Arguments::parse_from(["machine-proof", &program, function, "contract.rs"])
    }

    fn add<A: Algebra<64>>(a: &mut A, x: &[A::Word]) -> Vec<A::Word> {
        vec![a.add(&x[0], &x[0])]
    }

    fn sub<A: Algebra<64>>(a: &mut A, x: &[A::Word]) -> Vec<A::Word> {
        vec![a.sub(&x[0], &x[0])]
    }

    fn contract() -> Contract {
        Contract::new(formula!(|a, contents| vec![add(a, &contents[0])]))
            .buffer("x", 1, 8, Access::Write)
            .addresses(["x"])
    }

    fn outcome(function: &str, contracts: &[Contract]) -> Result<Proof, String> {
        let mut x = black_box([1]);
        inner::doubled(&mut x);
        assert_eq!(x, [2]);
        prove_functions(&arguments(function), contracts)
    }

    #[test]
    fn a_function_is_found_by_the_end_of_its_path() {
        for name in ["doubled", "inner::doubled", "tests::inner::doubled"] {
            let proof = outcome(name, &[contract()]).unwrap();
            assert!(proof.holds, "{name}: {}", proof.text);
            assert!(proof.text.contains("native runs agree"), "{}", proof.text);
        }
    }

    #[test]
    fn one_contract_that_does_not_hold_is_no_proof() {
        let wrong = Contract {
            case: "backwards",
            formula: formula!(|a, contents| vec![sub(a, &contents[0])]),
            ..contract()
        };
        let proof = outcome("doubled", &[contract(), wrong]).unwrap();
        assert!(!proof.holds);
        let (first, second) = proof.text.split_once("backwards: ").unwrap();
        assert!(first.contains("inner::doubled: PROVED"), "{first}");
        assert!(
            second.starts_with("REFUTED: wrong output in `x`"),
            "{second}"
        );
    }

    /// A run on numbers overrules a proof, and so finds an error of the prover.
    #[test]
    fn a_proof_that_a_run_contradicts_is_none() {
        let symbolic = contract().formula.symbolic;
        let contract = Contract {
            formula: crate::contract::Formula {
                symbolic,
                numeric: Box::new(|a, contents| vec![sub(a, &contents[0])]),
            },
            ..contract()
        };
        let proof = outcome("inner::doubled", &[contract]).unwrap();
        let why = "contradicts the proof: the prover is wrong";
        assert!(!proof.holds && proof.text.contains(why), "{}", proof.text);
    }

    #[test]
    fn what_cannot_be_tried_is_an_error_that_says_what_to_do() {
        let error = outcome("doubled", &[]).unwrap_err();
        assert_eq!(error, "contract.rs: `contracts()` gives no contract");
        let error = outcome("other::doubled", &[contract()]).unwrap_err();
        assert!(error.contains("no function `other::doubled`"), "{error}");
        assert!(error.contains("\n  similar: "), "{error}");
        // A part of a name does not match.
        assert!(outcome("oubled", &[contract()]).is_err());
        let with_z3 = Arguments {
            z3: Some("/no/such/program".into()),
            ..arguments("doubled")
        };
        let error = prove_functions(&with_z3, &[contract()]).unwrap_err();
        assert!(
            error.starts_with("/no/such/program does not work as z3"),
            "{error}"
        );
    }
}
