//! Sealed files in either form.

use std::io::{self, BufRead, Read};

use crate::wire::armor::{ArmorReader, Label};

/// The first byte of a binary sealed file.
const BINARY: u8 = 0x89;

/// Gives the bytes of a sealed file, whether it is binary or armored.
pub enum Dearmored<R> {
    /// The bytes as they are.
    Binary(R),
    /// The bytes that the text stands for.
    Armored(Box<ArmorText<R>>),
}

/// The armored form; made by [`Dearmored::detect`] only.
pub struct ArmorText<R>(ArmorReader<R>);

impl<R: BufRead> Dearmored<R> {
    /// Looks at the first byte: binary sealed files begin with 0x89, text does not.
    ///
    /// Armor may stand behind other text, as in a message.
    ///
    /// # Errors
    /// If `reader` fails.
    pub fn detect(mut reader: R) -> io::Result<Self> {
        let first = reader.fill_buf()?.first();
        if first.is_some_and(|&first| first != BINARY) {
            return Ok(Self::Armored(Box::new(ArmorText(ArmorReader::new(
                Label::File,
                reader,
            )))));
        }
        Ok(Self::Binary(reader))
    }

    /// Whether this is the armored form.
    pub fn is_armored(&self) -> bool {
        matches!(self, Self::Armored(_))
    }
}

impl<R: BufRead> Read for Dearmored<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Binary(reader) => reader.read(bytes),
            Self::Armored(text) => text.0.read(bytes),
        }
    }
}
