//! Questions to the person at the terminal, also if standard input and output are redirected.
//!
//! From the first question until [`finish`], this process has the terminal to itself: other
//! commands of a pipe wait with their questions, and the terminal shows nothing that is typed.
//! Text that was typed before a question is discarded: it cannot be the answer.
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

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr, ttyname,
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

/// Asks for a line, which is shown while it is typed.
///
/// # Errors
/// The system's error.
pub fn ask(question: &str) -> io::Result<Zeroizing<String>> {
    prepare(true)?;
    let mut terminal = File::options().read(true).write(true).open(TERMINAL)?;
    terminal.write_all(question.as_bytes())?;
    let mut line = Zeroizing::new(String::with_capacity(1024));
    BufReader::new(terminal).read_line(&mut line)?;
    Ok(line)
}

/// Asks a question that is answered with y or anything else.
///
/// # Errors
/// The system's error.
pub fn confirm(question: &str) -> io::Result<bool> {
    let answer = ask(&format!("{question} [y/N] "))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Puts the terminal back as it was before the first question, for the next command.
pub fn finish() {
    if let Some(turn) = turn().take() {
        turn.set_back();
    }
}

/// Takes the terminal if this is the first question, and discards what was typed before it.
fn prepare(echo: bool) -> io::Result<()> {
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

fn turn() -> MutexGuard<'static, Option<Turn>> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turn {
    /// Waits until no other command asks on this terminal.
    fn take() -> io::Result<Self> {
        let lock = device().and_then(|path| {
            // The terminal must not become the controlling one of this process.
            let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            rustix::fs::open(path, flags, Mode::empty()).ok()
        });
        let lock = lock.map(File::from);
        let lock = lock.filter(|device| sealstone_files::lock(device).is_ok());
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

/// The name of the terminal. `/dev/tty` is the same name, and the same lock, for all terminals.
fn device() -> Option<PathBuf> {
    let standard = || {
        let name = ttyname(rustix::stdio::stderr(), Vec::new())
            .or_else(|_| ttyname(rustix::stdio::stdout(), Vec::new()))
            .or_else(|_| ttyname(rustix::stdio::stdin(), Vec::new()));
        Some(PathBuf::from(name.ok()?.into_string().ok()?))
    };
    pseudo_terminal().or_else(standard)
}

/// The controlling terminal if it is a pseudo-terminal, as Linux numbers them.
fn pseudo_terminal() -> Option<PathBuf> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold anything; after it come state, parent, group and session.
    let (_, fields) = stat.rsplit_once(')')?;
    let device: u32 = fields.split_whitespace().nth(4)?.parse().ok()?;
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xfff00);
    (136..144)
        .contains(&major)
        .then(|| format!("/dev/pts/{}", (major - 136) << 8 | minor).into())
}
