//! Proves the lemmas about Argon2's reference index. Exits with 1 unless all are proved.
#![deny(unsafe_code)]

use sealstone_proofs::lemma::{Shipped, Solver, prove, report};
use std::process::ExitCode;

fn main() -> ExitCode {
    let solvers = match Solver::all() {
        Ok(solvers) => solvers,
        Err(message) => {
            eprintln!("sealstone-lemmas: {message}");
            return ExitCode::FAILURE;
        }
    };
    match prove(&Shipped, &solvers) {
        Ok(rows) if report(&rows) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("sealstone-lemmas: {error}");
            ExitCode::FAILURE
        }
    }
}
