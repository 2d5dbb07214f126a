//! Colours, where the terminal and the user want them (<https://no-color.org>).

use std::io::IsTerminal;

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

/// The colours of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// For errors.
    Red = 31,
    /// For what is good.
    Green = 32,
    /// For warnings.
    Yellow = 33,
}

impl Paint {
    /// Paints on a stream that is a terminal, unless the environment has `NO_COLOR`.
    pub fn on(stream: &impl IsTerminal) -> Self {
        let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self(stream.is_terminal() && is_wanted)
    }

    /// Whether text gets colours.
    pub fn is_coloured(self) -> bool {
        self.0
    }

    /// The text in bold and in this colour.
    ///
    /// ```
    /// use sealstone_terminal::colour::{Colour, Paint};
    ///
    /// let file = tempfile::tempfile()?;
    /// assert_eq!(Paint::on(&file).paint(Colour::Red, "BAD"), "BAD");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn paint(self, colour: Colour, text: &str) -> String {
        match self.0 {
            true => format!("\x1b[1;{}m{text}\x1b[0m", colour as u8),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_those_of_terminals() {
        let painted = Paint(true).paint(Colour::Yellow, "warning:");
        assert_eq!(painted, "\x1b[1;33mwarning:\x1b[0m");
    }
}
