//! Proves the lemmas about Argon2's reference index and about the cut of a message. Exits with 1
//! unless all are proved.
#![forbid(unsafe_code)]

use sealstone_proofs::lemma::{holds, prove_lemmas, solvers, table};
use std::process::ExitCode;

fn main() -> ExitCode {
    let solvers = match solvers() {
        Ok(solvers) => solvers,
        Err(message) => {
            eprintln!("sealstone-lemmas: {message}");
            return ExitCode::FAILURE;
        }
    };
    match prove_lemmas(&solvers) {
        Ok(rows) => {
            print!("{}", table(&rows));
            if holds(&rows) {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("sealstone-lemmas: {error}");
            ExitCode::FAILURE
        }
    }
}
