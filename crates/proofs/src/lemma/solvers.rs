//! The two solvers that the project installs.

use sealstone_prover::solver::Solver;
use std::env;
use std::path::{Path, PathBuf};

/// Reads questions in Python: the package of cvc5 has no command.
const CVC5: &str = include_str!("cvc5.py");
/// Installs the packages of a list into a directory. `make prove` calls it.
const INSTALL: &str = "scripts/packages";
const LIST: &str = "crates/proofs/solvers.txt";

/// z3 and cvc5, of the Python environment that `SEALSTONE_SOLVERS` names or of the project's
/// `.tools/solvers`.
///
/// # Errors
/// If they are missing or do not answer: a message that says what to do.
pub fn solvers() -> Result<[Solver; 2], String> {
    installed(&environment())
}

fn installed(environment: &Path) -> Result<[Solver; 2], String> {
    let program = |name| environment.join("bin").join(name);
    let (z3, python) = (program("z3"), program("python"));
    if !z3.exists() || !python.exists() {
        let place = environment.display();
        return Err(format!(
            "no solvers in {place}: run {INSTALL} {place} {LIST}"
        ));
    }
    let limit = Solver::LIMIT.as_millis().to_string();
    let cvc5 = [&python.to_string_lossy(), "-c", CVC5, &limit];
    let solvers = [
        Solver::z3(&z3.to_string_lossy()),
        Solver::new("cvc5", &cvc5),
    ];
    for solver in &solvers {
        solver.try_out().map_err(|why| {
            let (name, place) = (solver.name, environment.display());
            format!(
                "{name} in {place} does not work ({why}): remove that directory and run \
                 {INSTALL} {place} {LIST}"
            )
        })?;
    }
    Ok(solvers)
}

fn environment() -> PathBuf {
    env::var_os("SEALSTONE_SOLVERS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/solvers"),
        PathBuf::from,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    /// An environment with a program for each solver.
    fn environment(name: &str, programs: &[(&str, &str)]) -> Result<[Solver; 2], String> {
        let place = env::temp_dir().join(format!("sealstone-{name}-{}", std::process::id()));
        fs::create_dir_all(place.join("bin")).unwrap();
        for (program, script) in programs {
            let path = place.join("bin").join(program);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        }
        let solvers = installed(&place);
        fs::remove_dir_all(&place).unwrap();
        solvers
    }

    const RIGHT: &str = "cat > /dev/null; echo unsat";

    #[test]
    fn a_solver_that_is_missing_or_does_not_work_is_an_error_that_says_what_to_do() {
        let right = environment("right", &[("z3", RIGHT), ("python", RIGHT)]);
        assert_eq!(right.unwrap().map(|solver| solver.name), ["z3", "cvc5"]);
        let error = environment("missing", &[("z3", RIGHT)]).unwrap_err();
        assert!(error.ends_with(LIST), "{error}");
        for (name, script) in [
            ("wrong", "cat > /dev/null; echo sat"),
            ("silent", "cat > /dev/null"),
            ("failing", "exit 1"),
        ] {
            let error = environment(name, &[("z3", RIGHT), ("python", script)]).unwrap_err();
            assert!(error.starts_with("cvc5 in "), "{error}");
            assert!(error.ends_with(LIST), "{error}");
        }
    }
}
