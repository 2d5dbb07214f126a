//! The loops of the tutorial's section 6, in a program as rustc optimises it.

#[allow(unreachable_pub, reason = "it stands as a reader writes it")]
#[path = "../examples/loops/contract.rs"]
mod contract;

#[path = "shared/late.rs"]
mod late;

use clap::Parser;
use sealstone_prover::command::{Arguments, Proof, prove_functions};
use sealstone_prover::contract::{Access, Contract};
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = include_str!("../examples/loops/main.rs");

/// The command's output on a function of the program with this source.
fn proof(name: &str, source: &str, contracts: &[Contract]) -> Proof {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, program) = (place.join(format!("{name}.rs")), place.join(name));
    std::fs::write(&file, source).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut rustc = Command::new(rustc);
    rustc
        .args(["--edition=2024", "-O", "-o"])
        .arg(&program)
        .arg(&file);
    assert!(rustc.status().unwrap().success());
    let arguments = [
        "machine-proof",
        program.to_str().unwrap(),
        "encrypt",
        "contract.rs",
    ];
    prove_functions(&Arguments::parse_from(arguments), contracts).unwrap()
}

const CONTRACT: &str = include_str!("../examples/loops/contract.rs");
const TUTORIAL: &str = include_str!("../src/tutorial.md");

#[test]
fn a_loop_over_any_number_of_words_is_proved() {
    let proof = proof("loops-right", PROGRAM, &contract::contracts());
    assert!(proof.holds, "{}", proof.text);
    // A run on this CPU is no part of this proof.
    let runs = "; no native runs: any number of elements\n";
    assert!(proof.text.ends_with(runs), "{}", proof.text);
    assert!(TUTORIAL.contains(runs));
}

/// The contract for a fixed number of words.
fn of_words(words: u64) -> Contract {
    let formula = contract::contracts().remove(0).formula;
    Contract::new(formula)
        .buffer("v", 4, 8, Access::Read)
        .buffer("data", words as usize, 8, Access::Write)
        .addresses(["data"])
        .number(words)
        .addresses(["v"])
}

/// From the fourth iteration on, a bit is flipped. Three iterations are right, and proved.
#[test]
fn a_bug_that_begins_in_a_later_iteration_is_refused() {
    let changed = late::with_the_bug(PROGRAM);
    let few = proof("loops-few", &changed, &[1, 2, 3].map(of_words));
    assert!(few.holds, "{}", few.text);
    let four = proof("loops-four", &changed, &[of_words(4)]);
    assert!(four.text.contains(": REFUTED: "), "{}", four.text);
    let proof = proof("loops-late", &changed, &contract::contracts());
    let why = "by induction on the turns of its loop";
    assert!(!proof.holds && proof.text.contains(why), "{}", proof.text);
    for words in [
        why,
        "`of_words`",
        "`a_bug_that_begins_in_a_later_iteration_is_refused`",
        "`the_formula_is_the_stream_of_groups`",
    ] {
        assert!(TUTORIAL.contains(words), "{words}");
    }
}

/// The contract's formula is what its words and groups give, one after the other.
#[test]
fn the_formula_is_the_stream_of_groups() {
    use sealstone_prover::algebra::Numbers;
    use sealstone_prover::term::{Terms, constant, value};
    let contract = &contract::contracts()[0];
    let (state, data) = ([3, 1, 4, 1], [5, 9, 2, 6, 5]);
    let contents = vec![state.to_vec(), data.to_vec(), vec![data.len() as u64]];
    let expected = (contract.formula.numeric)(&mut Numbers, &contents);
    let stream = contract.stream.as_ref().unwrap();
    let mut terms = Terms::new(1);
    let word = |number: &u64| constant(u128::from(*number), 64);
    let symbolic: Vec<Vec<_>> = contents
        .iter()
        .map(|cells| cells.iter().map(word).collect())
        .collect();
    let mut words = (stream.begin)(&mut terms, &symbolic);
    let mut output = Vec::new();
    for unit in &symbolic[1] {
        let result = (stream.transform)(&mut terms, &symbolic, &words, std::slice::from_ref(unit));
        output.extend(result.iter().map(|word| value(word).unwrap() as u64));
        words = (stream.next)(&mut terms, &words);
    }
    assert_eq!(vec![output], expected);
}

#[test]
fn the_tutorial_has_program_and_contract_as_they_are() {
    let part = |source: &str, from: &str, to: &str| {
        let (_, rest) = source.split_once(from).expect(from);
        let part = rest.split(to).next().unwrap_or(rest).trim_end();
        format!("{from}{part}\n```")
    };
    let program = part(PROGRAM, "/// Encrypts each word", "fn main()");
    let contract = part(CONTRACT, "/// Any number of words.", "\0");
    assert!(TUTORIAL.contains(&program), "{program}");
    assert!(TUTORIAL.contains(&contract), "{contract}");
}
