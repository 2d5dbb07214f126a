//! The solvers, which are programs of others.

use std::env;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// Reads questions in Python: the package of cvc5 has no command.
const CVC5: &str = include_str!("cvc5.py");

/// A solver that is installed.
#[derive(Clone, Debug)]
pub struct Solver {
    /// `z3` or `cvc5`.
    pub name: &'static str,
    command: Vec<String>,
}

/// A solver's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There are no such numbers.
    Unsat,
    /// There are.
    Sat,
    /// It does not know, took too long, or failed: its words.
    Unknown(String),
}

impl Solver {
    /// Both solvers, of the Python environment that `SEALSTONE_SOLVERS` names or of the project's
    /// `.tools/solvers`.
    ///
    /// # Errors
    /// If they are not there or do not answer: what to do.
    pub fn all() -> Result<[Self; 2], String> {
        Self::of(&environment())
    }

    /// A solver that this command is.
    pub fn new(name: &'static str, command: &[&str]) -> Self {
        let command = command.iter().map(|word| String::from(*word)).collect();
        Self { name, command }
    }

    fn of(environment: &Path) -> Result<[Self; 2], String> {
        let program = |name| environment.join("bin").join(name);
        let (z3, python) = (program("z3"), program("python"));
        if !z3.exists() || !python.exists() {
            let place = environment.display();
            return Err(format!("no solvers in {place}: run scripts/prove-lemmas"));
        }
        let limit = LIMIT.as_millis();
        let words = |words: &[&str]| words.iter().map(|word| String::from(*word)).collect();
        let z3 = words(&[&z3.to_string_lossy(), "-in", &format!("-t:{limit}")]);
        let cvc5 = words(&[&python.to_string_lossy(), "-c", CVC5, &limit.to_string()]);
        let solver = |name, command| Self { name, command };
        let solvers = [solver("z3", z3), solver("cvc5", cvc5)];
        for solver in &solvers {
            solver.try_out().map_err(|why| {
                let (name, place) = (solver.name, environment.display());
                format!("{name} in {place} does not work ({why}): remove that directory and run scripts/prove-lemmas")
            })?;
        }
        Ok(solvers)
    }

    /// A question with an answer that is known.
    fn try_out(&self) -> Result<(), String> {
        let question = "(set-logic QF_NIA)\n(declare-const x Int)\n(assert (= (* x x) 2))\n(assert (< 0 x 2))\n(check-sat)\n";
        match self.answer(&[question.to_owned()]).as_deref() {
            Ok([Answer::Unsat]) => Ok(()),
            Ok(other) => Err(format!("it says {other:?} where unsat is right")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Its answers to the `questions`, one after the other.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn answer(&self, questions: &[String]) -> io::Result<Vec<Answer>> {
        let output = self.run(&questions.join("(reset)\n"))?;
        let mut lines = output.lines();
        let answers = questions.iter().map(|_| match lines.next().map(str::trim) {
            Some("unsat") => Answer::Unsat,
            Some("sat") => Answer::Sat,
            Some(other) => Answer::Unknown(other.into()),
            None => Answer::Unknown("no answer".into()),
        });
        Ok(answers.collect())
    }

    /// All that it prints when it reads `script`.
    pub(crate) fn run(&self, script: &str) -> io::Result<String> {
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        // Dropped at the end of the statement, which ends the script.
        child
            .stdin
            .take()
            .ok_or(io::ErrorKind::BrokenPipe)?
            .write_all(script.as_bytes())?;
        // At the same time, for a long answer does not fit into the pipe.
        let mut stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let reader = spawn(move || {
            let mut output = String::new();
            stdout.read_to_string(&mut output).map(|_| output)
        });
        let questions = script.matches("(check-sat)").count() as u32;
        wait(&mut child, LIMIT * (questions + 1))?;
        reader.join().map_err(|_| io::ErrorKind::Other)?
    }
}

/// For each question.
const LIMIT: Duration = Duration::from_secs(10);

/// Until the end of `child`, or its end after `limit`, should it not keep its own.
fn wait(child: &mut Child, limit: Duration) -> io::Result<()> {
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(());
        }
        sleep(Duration::from_millis(2));
    }
    Ok(())
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
        let solvers = Solver::of(&place);
        fs::remove_dir_all(&place).unwrap();
        solvers
    }

    const RIGHT: &str = "cat > /dev/null; echo unsat";

    #[test]
    fn a_solver_that_is_missing_or_does_not_work_is_an_error_that_says_what_to_do() {
        let right = environment("right", &[("z3", RIGHT), ("python", RIGHT)]);
        assert_eq!(right.unwrap().map(|solver| solver.name), ["z3", "cvc5"]);
        let error = environment("missing", &[("z3", RIGHT)]).unwrap_err();
        assert!(error.ends_with("run scripts/prove-lemmas"), "{error}");
        for (name, script) in [
            ("wrong", "cat > /dev/null; echo sat"),
            ("silent", "cat > /dev/null"),
            ("failing", "exit 1"),
        ] {
            let error = environment(name, &[("z3", RIGHT), ("python", script)]).unwrap_err();
            assert!(error.starts_with("cvc5 in "), "{error}");
            assert!(error.ends_with("run scripts/prove-lemmas"), "{error}");
        }
    }
}
