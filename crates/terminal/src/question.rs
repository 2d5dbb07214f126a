//! Questions to the person at the terminal, also if standard input and output are redirected.
//!
//! From the first question until [`finish`], this process has the terminal to itself: other
//! commands of a pipe wait with their questions, and the terminal shows nothing that is typed.
//! Text that was typed before a question, or before the first of the questions of [`ask_lines`], is
//! discarded: it cannot be the answer.
//!
//! Messages of another command of the pipe wait as well: see [`between`].
//!
//! ```no_run
//! use sealstone_terminal::question;
//!
//! if question::is_there() {
//!     let passphrase = question::ask_secret("Passphrase")?;
//!     question::finish();
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

mod lock;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp, tcsetattr,
};
use zeroize::Zeroizing;

/// A terminal that this process asks questions on.
struct Turn {
    terminal: File,
    /// How the terminal was before the first question.
    before: Option<Termios>,
    /// Holds the lock that keeps other commands waiting. `None` where there is no lock to be had.
    _lock: Option<File>,
}

static TURN: Mutex<Option<Turn>> = Mutex::new(None);
static HAS_ASKED: AtomicBool = AtomicBool::new(false);

const TERMINAL: &str = "/dev/tty";

/// Whether there is a person to ask.
pub fn is_there() -> bool {
    File::open(TERMINAL).is_ok()
}

/// Asks for a secret; what is typed is not shown.
///
/// # Errors
/// The system's error.
pub fn ask_secret(question: &str) -> io::Result<Zeroizing<String>> {
    prepare(false)?;
    let answer = rpassword::prompt_password(format!("{question}: "));
    match answer {
        // Ctrl-C: the signal is on its way and ends the process.
        Err(e) if e.kind() == io::ErrorKind::Interrupted => loop {
            std::thread::park();
        },
        answer => answer.map(Zeroizing::new),
    }
}

/// Asks for a line, which is shown while it is typed. Later typing is not shown, because it may be
/// a passphrase.
///
/// # Errors
/// The system's error.
pub fn ask(question: &str) -> io::Result<Zeroizing<String>> {
    let mut answer = Zeroizing::default();
    ask_lines(question, |line| {
        answer = Zeroizing::new(line.to_owned());
        None
    })?;
    Ok(answer)
}

/// Asks for a line, and for more as long as `next`, which gets each of them, returns a question. A
/// pasted text has many lines, so those that are there before the next question count.
///
/// # Errors
/// The system's error.
pub fn ask_lines(question: &str, next: impl FnMut(&str) -> Option<String>) -> io::Result<()> {
    prepare(true)?;
    let asked = read_lines(question, next);
    prepare(false)?;
    asked
}

/// Asks a question that is answered with y or anything else.
///
/// # Errors
/// The system's error.
pub fn confirm(question: &str) -> io::Result<bool> {
    let answer = ask(&format!("{question} [y/N] "))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Takes the terminal again, if this process has asked on it before: until [`finish`] nothing that
/// is typed is shown, and what was typed is discarded. For derivations that come after [`finish`].
///
/// A process in the background, which would be stopped, leaves the terminal as it is.
///
/// # Errors
/// The system's error.
pub fn resume() -> io::Result<()> {
    match HAS_ASKED.load(Ordering::Relaxed) && is_in_foreground() {
        true => prepare(false),
        false => Ok(()),
    }
}

/// Puts the terminal back as it was before the first question, for the next command.
pub fn finish() {
    if let Some(turn) = turn().take() {
        turn.set_back();
    }
}

/// Runs `write`, which writes to standard error. If that is a terminal on which another command of
/// the same pipe asks, waits for its answers, at most a minute.
pub fn between<T>(write: impl FnOnce() -> T) -> T {
    let is_mine = turn().is_some();
    let _lock = match is_mine {
        true => None,
        false => lock::wait_for_a_message(),
    };
    write()
}

/// Whether another command of the same pipe asks on the terminal of standard error.
pub(crate) fn is_anothers() -> bool {
    let is_mine = turn().is_some();
    !is_mine && lock::is_a_peers()
}

fn read_lines(question: &str, mut next: impl FnMut(&str) -> Option<String>) -> io::Result<()> {
    let mut terminal = File::options().read(true).write(true).open(TERMINAL)?;
    let mut typed = BufReader::new(terminal.try_clone()?);
    let mut question = Some(question.to_owned());
    while let Some(text) = question {
        terminal.write_all(text.as_bytes())?;
        let mut line = Zeroizing::new(String::with_capacity(1024));
        typed.read_line(&mut line)?;
        question = next(&line);
    }
    Ok(())
}

/// Takes the terminal if this is the first question, and discards what was typed before it.
fn prepare(echo: bool) -> io::Result<()> {
    HAS_ASKED.store(true, Ordering::Relaxed);
    if turn().is_none() {
        // Taken without the mutex: a signal must not wait for another command.
        let mine = Turn::take()?;
        *turn() = Some(mine);
    }
    if let Some(turn) = &*turn() {
        turn.prepare(echo);
    }
    Ok(())
}

fn is_in_foreground() -> bool {
    let group = File::open(TERMINAL).and_then(|terminal| Ok(tcgetpgrp(&terminal)?));
    group.is_ok_and(|group| group == getpgrp())
}

fn turn() -> MutexGuard<'static, Option<Turn>> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turn {
    /// Waits until no other command asks on this terminal.
    fn take() -> io::Result<Self> {
        let lock = lock::wait();
        let terminal = File::open(TERMINAL)?;
        Ok(Self {
            before: tcgetattr(&terminal).ok(),
            terminal,
            _lock: lock,
        })
    }

    /// Sets the echo before the question is shown, because a program answers at once.
    fn prepare(&self, echo: bool) {
        let Some(before) = &self.before else { return };
        let mut mode = before.clone();
        if !echo {
            mode.local_modes.remove(LocalModes::ECHO);
        }
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &mode);
        let _ = tcflush(&self.terminal, QueueSelector::IFlush);
    }

    /// Also discards what was typed while nothing was shown: a shell would show and run it.
    fn set_back(self) {
        if let Some(before) = &self.before {
            let _ = tcflush(&self.terminal, QueueSelector::IFlush);
            let _ = tcsetattr(&self.terminal, OptionalActions::Now, before);
        }
    }
}
