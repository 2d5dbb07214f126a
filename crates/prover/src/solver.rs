//! An external solver of SMT-LIB questions.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// A solver that is installed.
#[derive(Clone, Debug)]
pub struct Solver {
    /// Its name in messages.
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
    /// It does not know, took too long, or failed: its output.
    Unknown(String),
}

impl Solver {
    /// The longest time for a question.
    pub const LIMIT: Duration = Duration::from_secs(10);

    /// A solver with this command, which reads SMT-LIB from its standard input.
    pub fn new(name: &'static str, command: &[&str]) -> Self {
        let command = command.iter().map(|word| String::from(*word)).collect();
        Self { name, command }
    }

    /// The program `z3` at this path.
    pub fn z3(program: &str) -> Self {
        let limit = format!("-t:{}", Self::LIMIT.as_millis());
        Self::new("z3", &[program, "-in", &limit])
    }

    /// Asks a question with a known answer.
    ///
    /// # Errors
    /// A message, if the answer is wrong or the solver cannot be run.
    pub fn try_out(&self) -> Result<(), String> {
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
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn run(&self, script: &str) -> io::Result<String> {
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        // The pipe is dropped at the end of the statement, which ends the script.
        child
            .stdin
            .take()
            .ok_or(io::ErrorKind::BrokenPipe)?
            .write_all(script.as_bytes())?;
        // Read at the same time: a long answer does not fit into the pipe.
        let mut stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let reader = spawn(move || {
            let mut output = String::new();
            stdout.read_to_string(&mut output).map(|_| output)
        });
        let questions = script.matches("(check-sat)").count() as u32;
        wait(&mut child, Self::LIMIT * (questions + 1))?;
        reader.join().map_err(|_| io::ErrorKind::Other)?
    }
}

/// Waits for the end of `child`. Kills it after `limit`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solver_is_tried_out_with_a_known_answer() {
        let tried = |script: &str| Solver::new("z3", &["sh", "-c", script]).try_out();
        assert_eq!(tried("cat > /dev/null; echo unsat"), Ok(()));
        for wrong in ["cat > /dev/null; echo sat", "cat > /dev/null", "exit 1"] {
            assert!(tried(wrong).is_err(), "{wrong}");
        }
        assert!(Solver::z3("/no/such/program").try_out().is_err());
    }
}
