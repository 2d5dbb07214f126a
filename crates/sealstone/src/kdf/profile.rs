//! Profiles and sizes of memory as people write them.

use std::fmt;
use std::str::FromStr;

use super::KdfParams;
use crate::Error;

/// An amount of memory in KiB; as text `4GiB`, `512MiB` or `65536KiB`.
///
/// ```
/// use sealstone::MemorySize;
///
/// let size: MemorySize = "512MiB".parse()?;
/// assert_eq!((size, size.to_string()), (MemorySize(512 << 10), "512MiB".into()));
/// # Ok::<(), sealstone::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemorySize(pub u64);

const PROFILE: Error =
    Error::Invalid("choose sensitive, moderate, interactive, or custom:m=256MiB,t=3,p=1");
const SIZE: Error = Error::Invalid("a size is a whole number with KiB, MiB or GiB, as in 256MiB");
const TOO_MUCH: Error = Error::Invalid("too much memory");

impl MemorySize {
    /// The number, and the largest unit that it is whole in.
    fn parts(self) -> (u64, &'static str) {
        let units = [(30 - 10, "GiB"), (20 - 10, "MiB")];
        let fitting = units
            .into_iter()
            .find(|(shift, _)| self.0 > 0 && self.0.trailing_zeros() >= *shift);
        fitting.map_or((self.0, "KiB"), |(shift, unit)| (self.0 >> shift, unit))
    }

    /// As text for people: `256 MiB`.
    #[must_use]
    pub fn spaced(self) -> String {
        let (number, unit) = self.parts();
        format!("{number} {unit}")
    }
}

impl fmt::Display for MemorySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = self.parts();
        write!(f, "{number}{unit}")
    }
}

impl FromStr for MemorySize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let number: u64 = digits.trim_end().parse().map_err(|_| SIZE)?;
        let shift = match &text[digits.len()..] {
            "KiB" | "K" => 0,
            "MiB" | "M" => 10,
            "GiB" | "G" => 20,
            _ => return Err(SIZE),
        };
        number.checked_mul(1 << shift).map(Self).ok_or(SIZE)
    }
}

impl KdfParams {
    /// The profile of this name: `sensitive`, `moderate` or `interactive`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "sensitive" => Some(Self::SENSITIVE),
            "moderate" => Some(Self::MODERATE),
            "interactive" => Some(Self::INTERACTIVE),
            _ => None,
        }
    }

    fn custom(text: &str) -> Result<Self, Error> {
        let fields = text.strip_prefix("custom:").ok_or(PROFILE)?.split(',');
        let fields: Vec<_> = fields.map(|field| field.split_once('=')).collect();
        let [Some(("m", memory)), Some(("t", passes)), Some(("p", lanes))] = fields[..] else {
            return Err(PROFILE);
        };
        let MemorySize(memory) = memory.parse()?;
        let memory = u32::try_from(memory).map_err(|_| TOO_MUCH)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| PROFILE);
        Self::new(memory, number(passes)?, number(lanes)?)
    }
}

impl FromStr for KdfParams {
    type Err = Error;

    /// Reads what [`fmt::Display`] writes, as long as a writer may use it.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::named(text).map_or_else(|| Self::custom(text), Ok)
    }
}

impl fmt::Display for KdfParams {
    /// The name of the profile, or `custom:m=256MiB,t=3,p=1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = MemorySize(self.memory_kib.into());
        match *self {
            Self::SENSITIVE => f.write_str("sensitive"),
            Self::MODERATE => f.write_str("moderate"),
            Self::INTERACTIVE => f.write_str("interactive"),
            Self { passes, lanes, .. } => write!(f, "custom:m={memory},t={passes},p={lanes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_as_they_are_written() {
        for text in [
            "sensitive",
            "moderate",
            "interactive",
            "custom:m=7MiB,t=5,p=1",
            "custom:m=7169KiB,t=6,p=4",
            "custom:m=2GiB,t=1,p=1",
        ] {
            assert_eq!(text.parse::<KdfParams>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn weak_or_malformed_profiles_are_refused() {
        for text in [
            "",
            "fast",
            "custom:",
            "custom:m=1MiB,t=1,p=1",
            "custom:t=3,m=256MiB,p=1",
            "custom:m=256MiB,t=3",
            "custom:m=9999999GiB,t=1,p=1",
        ] {
            assert!(text.parse::<KdfParams>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        let read = |text: &str| text.parse::<MemorySize>().ok();
        assert_eq!(read("4GiB"), Some(MemorySize(4 << 20)));
        assert_eq!(read("4 MiB"), Some(MemorySize(4 << 10)));
        for text in ["", "4", "GiB", "4GB", "-1MiB", "99999999999999GiB"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(MemorySize(1 << 20).spaced(), "1 GiB");
        assert_eq!(MemorySize(0).to_string(), "0KiB");
    }
}
