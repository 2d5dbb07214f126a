//! Talking to the person at the terminal, whatever standard input and output are.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::sync::Mutex;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::text::printable;

/// How the terminal was before a question hid what is typed.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

const TERMINAL: &str = "/dev/tty";

/// Whether there is a person to ask.
pub(crate) fn is_there() -> bool {
    File::open(TERMINAL).is_ok()
}

/// Asks for a secret; what is typed is not shown.
pub(crate) fn ask_secret(question: &str) -> io::Result<Zeroizing<String>> {
    hide();
    let answer = rpassword::prompt_password(format!("{question}: "));
    restore();
    match answer {
        // Ctrl-C: the signal is on its way and ends the process.
        Err(e) if e.kind() == io::ErrorKind::Interrupted => loop {
            std::thread::park();
        },
        answer => answer.map(Zeroizing::new),
    }
}

/// Asks for a line.
pub(crate) fn ask(question: &str) -> io::Result<Zeroizing<String>> {
    let mut terminal = File::options().read(true).write(true).open(TERMINAL)?;
    terminal.write_all(question.as_bytes())?;
    let mut line = Zeroizing::new(String::with_capacity(1024));
    BufReader::new(terminal).read_line(&mut line)?;
    Ok(line)
}

/// Asks a question that is answered with y or anything else.
pub(crate) fn confirm(question: &str) -> io::Result<bool> {
    let answer = ask(&format!("{question} [y/N] "))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Puts the terminal back as it was before a question.
pub(crate) fn restore() {
    let before = BEFORE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .take();
    if let (Some(before), Ok(terminal)) = (before, File::open(TERMINAL)) {
        let _ = tcsetattr(terminal, OptionalActions::Now, &before);
    }
}

/// Hides what is typed, and remembers how the terminal was. What reads the answer does so too, but not before it has asked: who is quick,
/// or a program, would be seen.
fn hide() {
    let Ok(terminal) = File::open(TERMINAL) else {
        return;
    };
    let Ok(before) = tcgetattr(&terminal) else {
        return;
    };
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    *BEFORE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner) = Some(before);
    let _ = tcsetattr(&terminal, OptionalActions::Now, &hidden);
}

/// Fails unless `bytes` are harmless on a terminal: control characters in somebody's file could imitate or change what is on the screen.
///
/// Returns how many of the bytes can be shown now: those of a character that is cut in two have to wait for the rest of it.
pub(crate) fn check_text(bytes: &[u8]) -> io::Result<usize> {
    let not_text = || {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the content is not text (choose -o FILE, or -o - to see it all the same)",
        )
    };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) if e.error_len().is_none() => {
            std::str::from_utf8(&bytes[..e.valid_up_to()]).map_err(|_| not_text())?
        }
        Err(_) => return Err(not_text()),
    };
    // A carriage return at the end of a piece waits for the line feed in the next.
    let text = text.strip_suffix('\r').unwrap_or(text);
    let lines = text.replace("\r\n", "\n");
    if printable(&lines) != lines {
        return Err(not_text());
    }
    Ok(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_and_what_a_terminal_would_obey_is_not() {
        for (good, shown) in [
            (&b"plain\r\ntext\n"[..], 12),
            ("Grüße\t名前".as_bytes(), 14),
            (b"half a character \xc3", 17),
            (b"half a line ending\r", 18),
        ] {
            assert_eq!(check_text(good).unwrap(), shown, "{good:?}");
        }
        for bad in [
            &b"\x1b[31m"[..],
            b"\x9b31m",
            b"\xc2\x9b31m",
            "\u{202e}".as_bytes(),
            b"over\rwritten",
            b"\x08",
            b"\x00",
        ] {
            assert!(check_text(bad).is_err(), "{bad:?}");
        }
    }
}
