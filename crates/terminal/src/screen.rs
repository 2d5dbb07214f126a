//! A terminal that receives text only.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::text::check_text;

/// Content that is no longer than this is checked as a whole before any of it is shown.
const FIRST: usize = 16 << 20;

/// A terminal, and content that has not been shown yet.
///
/// Nothing is shown before all content is known to be text, or more than its first 16 MiB. Control
/// characters in content could change the screen or imitate messages.
#[derive(Debug)]
pub struct Screen {
    file: File,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Whether the beginning has been shown.
    begun: bool,
}

impl Screen {
    /// The terminal that this file is.
    pub fn new(file: File) -> Self {
        Self {
            file,
            waiting: Mutex::default(),
        }
    }

    /// Shows what is left.
    ///
    /// # Errors
    /// If it is not text, or the terminal takes no more.
    pub fn finish(&self) -> io::Result<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.show(&mut waiting.bytes)
    }

    /// Shows the bytes, up to an incomplete character or line ending.
    fn show(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let shown = check_text(bytes)?;
        (&self.file).write_all(&bytes[..shown])?;
        bytes.drain(..shown);
        Ok(())
    }
}

impl Write for &Screen {
    /// Holds the first 16 MiB back. Later bytes are shown as soon as they are known to be text.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.bytes.extend_from_slice(bytes);
        waiting.begun |= waiting.bytes.len() > FIRST;
        if waiting.begun {
            self.show(&mut waiting.bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, pipe};
    use std::os::fd::OwnedFd;
    use std::thread;

    fn screen() -> (io::PipeReader, Screen) {
        let (shown, end) = pipe().unwrap();
        (shown, Screen::new(File::from(OwnedFd::from(end))))
    }

    #[test]
    fn half_a_character_waits_for_its_rest() {
        let (mut shown, screen) = screen();
        for piece in [&b"Gr\xc3"[..], b"\xbc\xc3", b"\x9fe\r", b"\n"] {
            assert_eq!((&screen).write(piece).unwrap(), piece.len());
        }
        screen.finish().unwrap();
        drop(screen);
        let mut text = String::new();
        shown.read_to_string(&mut text).unwrap();
        assert_eq!(text, "Grüße\r\n");
    }

    #[test]
    fn nothing_is_shown_of_what_is_not_text() {
        let (mut shown, screen) = screen();
        (&screen).write_all(b"harmless\n").unwrap();
        (&screen).write_all(b"\x1b[2J").unwrap();
        let error = screen.finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        drop(screen);
        let mut text = String::new();
        shown.read_to_string(&mut text).unwrap();
        assert_eq!(text, "");
    }

    #[test]
    fn a_long_text_is_shown_while_it_comes() {
        let (mut shown, screen) = screen();
        let reader = thread::spawn(move || {
            let mut first = [0; 4];
            shown.read_exact(&mut first).unwrap();
            first
        });
        let text = vec![b'a'; FIRST];
        (&screen).write_all(&text).unwrap();
        assert!(!reader.is_finished());
        let writer = thread::spawn(move || (&screen).write(b"a"));
        assert_eq!(reader.join().unwrap(), *b"aaaa");
        // The reader is gone, so the rest of the text has no place to go.
        assert!(writer.join().unwrap().is_err());
    }
}
