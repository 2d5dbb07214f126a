//! Algorithms and their names in lines.

use std::fmt::{self, Display, Formatter};

use crate::Parameters;
use crate::shape::Shape;
use zeroize::Zeroizing;

/// The size of the state of Skein.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// 256 bits.
    Skein256,
    /// 512 bits.
    Skein512,
    /// 1024 bits.
    Skein1024,
}

/// Everything that a hash depends on, except the message and the values of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// The size of the state.
    pub state: State,
    /// Length of the hash in bits, 1 to [`MAX_OUTPUT_BITS`].
    pub output_bits: u64,
    /// The tree, if there is one.
    pub tree: Option<Shape>,
    /// The arguments that it takes.
    pub uses: Uses,
    /// The number of bits after which the message ends.
    pub message_bits: Option<u64>,
}

/// The secret and public inputs of a hash beside the message, in the order of [`ARGUMENTS`]. An
/// empty value means none.
#[derive(Default)]
pub struct Arguments(pub [Zeroizing<Vec<u8>>; 5]);

/// Which of [`ARGUMENTS`] there are.
pub type Uses = [bool; 5];

/// The arguments in the order of the specification.
pub const ARGUMENTS: [&str; 5] = ["mac", "personalization", "public-key", "kdf-id", "nonce"];

/// 8 MiB: a hash is held in memory and written as digits.
pub const MAX_OUTPUT_BITS: u64 = 1 << 26;

/// The tree of `spec/tree.md`.
pub const STANDARD: Shape = Shape::new(6, 4, 255).expect("a shape that is allowed");

impl Algorithm {
    /// The tree hash of `spec/tree.md`, which is that of lines without an algorithm.
    pub const BARE: Self = Self {
        state: State::Skein512,
        output_bits: 512,
        tree: Some(STANDARD),
        uses: [false; 5],
        message_bits: None,
    };

    /// Length of the hash in bytes.
    pub fn output_bytes(&self) -> usize {
        self.output_bits.div_ceil(8) as usize
    }

    /// The inverse of `to_string`. Other spellings are refused.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('+');
        let mut numbers = parts.next()?.strip_prefix("Skein-")?.split('-');
        let state = State::of(numbers.next()?.parse().ok()?)?;
        let output_bits = numbers.next()?.parse().ok()?;
        let tree = match numbers.next() {
            None => None,
            Some("tree") => Some(shape(numbers)?),
            Some(_) => return None,
        };
        let mut algorithm = Self {
            state,
            output_bits,
            tree,
            uses: [false; 5],
            message_bits: None,
        };
        for part in parts {
            match ARGUMENTS.iter().position(|name| *name == part) {
                Some(i) => algorithm.uses[i] = true,
                None => {
                    let bits = part.strip_prefix("first-")?.strip_suffix("-bits")?;
                    algorithm.message_bits = Some(bits.parse().ok()?);
                }
            }
        }
        let is_allowed = (1..=MAX_OUTPUT_BITS).contains(&output_bits);
        (is_allowed && algorithm.to_string() == text).then_some(algorithm)
    }
}

impl Display for Algorithm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Skein-{}-{}", self.state.bits(), self.output_bits)?;
        if let Some(shape) = self.tree {
            let [leaf, fan_out, height] = shape.bytes();
            write!(f, "-tree-{leaf}-{fan_out}-{height}")?;
        }
        for (name, _) in ARGUMENTS.iter().zip(self.uses).filter(|(_, used)| *used) {
            write!(f, "+{name}")?;
        }
        match self.message_bits {
            Some(bits) => write!(f, "+first-{bits}-bits"),
            None => Ok(()),
        }
    }
}

fn shape<'t>(mut numbers: impl Iterator<Item = &'t str>) -> Option<Shape> {
    let mut number = || numbers.next()?.parse().ok();
    let shape = Shape::new(number()?, number()?, number()?);
    shape.filter(|_| numbers.next().is_none())
}

impl Arguments {
    /// Which values there are.
    pub fn uses(&self) -> Uses {
        self.0.each_ref().map(|value| !value.is_empty())
    }

    /// The parameters of `algorithm` with these values.
    pub fn parameters(&self, algorithm: &Algorithm) -> Parameters<'_> {
        let [key, personalization, public_key, key_id, nonce] = &self.0;
        Parameters::new()
            .output_bits(algorithm.output_bits)
            .key(key)
            .personalization(personalization)
            .public_key(public_key)
            .key_id(key_id)
            .nonce(nonce)
    }
}

impl State {
    const ALL: [Self; 3] = [Self::Skein256, Self::Skein512, Self::Skein1024];

    /// Its size in bits.
    pub fn bits(self) -> u64 {
        match self {
            Self::Skein256 => 256,
            Self::Skein512 => 512,
            Self::Skein1024 => 1024,
        }
    }

    fn of(bits: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.bits() == bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in [
            "Skein-512-512-tree-6-4-255",
            "Skein-256-160",
            "Skein-1024-7-tree-1-1-2+mac+nonce+first-13-bits",
            "Skein-512-512+mac+personalization+public-key+kdf-id+nonce",
        ] {
            assert_eq!(Algorithm::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Algorithm::parse("Skein-512-512-tree-6-4-255"),
            Some(Algorithm::BARE)
        );
    }

    #[test]
    fn every_other_spelling_is_refused() {
        for text in [
            "",
            "SHA256",
            "Skein-512",
            "Skein-512-0",
            "Skein-513-512",
            "Skein-512-0512",
            "Skein-512-512-",
            "Skein-512-512-tree",
            "Skein-512-512-tree-6-4",
            "Skein-512-512-tree-0-4-255",
            "Skein-512-512-tree-6-4-255-1",
            "Skein-512-512+",
            "Skein-512-512+nonce+mac",
            "Skein-512-512+mac+mac",
            "Skein-512-512+first--bits",
            "Skein-512-512+first-8-bits+mac",
            "Skein-512-99999999999999999999",
            "Skein-512-67108865",
        ] {
            assert_eq!(Algorithm::parse(text), None, "{text}");
        }
    }
}
