//! Compares two results for all inputs, and finds an input for which they differ.

use super::symbol::Arena;
use core::fmt;
use sealstone_prover::term::{Bit, Terms};

/// The findings of a comparison.
#[derive(Clone, Debug)]
pub enum SourceVerdict {
    /// The same for all inputs.
    Proved,
    /// The same in every case that is listed, each on one random input.
    Checked,
    /// Not the same, for this input.
    Refuted(Counterexample),
    /// Neither proved nor refuted.
    Unproved(String),
}

impl SourceVerdict {
    /// Whether the claim holds, proved or checked.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Proved | Self::Checked)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Proved => "PROVED",
            Self::Checked => "CHECKED",
            Self::Refuted(_) => "REFUTED",
            Self::Unproved(_) => "UNPROVED",
        }
    }

    /// This verdict if it does not hold, else the weaker of this and the next.
    pub(super) fn and(self, next: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Proved => next(),
            Self::Checked => match next() {
                Self::Proved => Self::Checked,
                other => other,
            },
            other => other,
        }
    }

    /// The first verdict that does not hold, else the weakest. There must be at least one.
    pub(super) fn all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        let mut verdicts = verdicts.into_iter();
        let Some(mut weakest) = verdicts.next() else {
            return Self::Unproved(NOTHING.to_owned());
        };
        while weakest.holds() {
            let Some(next) = verdicts.next() else { break };
            weakest = weakest.and(|| next);
        }
        weakest
    }
}

impl fmt::Display for SourceVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Proved | Self::Checked => Ok(()),
            Self::Refuted(counterexample) => write!(f, "\n{counterexample}"),
            Self::Unproved(why) => write!(f, ": {why}"),
        }
    }
}

/// An input for which the source differs from the specification.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// Name and bytes of each input; words are little-endian.
    pub inputs: Vec<(String, Vec<u8>)>,
    /// The result of the source.
    pub computed: Vec<u8>,
    /// The specified result.
    pub specified: Vec<u8>,
}

pub(super) const NOTHING: &str = "nothing was compared";

/// Compares all bits of two results. There must be at least one bit.
pub(super) fn compare(arena: &Arena, computed: &[Bit], specified: &[Bit]) -> SourceVerdict {
    if specified.is_empty() {
        return SourceVerdict::Unproved(NOTHING.to_owned());
    }
    if computed == specified {
        return SourceVerdict::Proved;
    }
    if computed.len() != specified.len() {
        return SourceVerdict::Unproved(format!(
            "{} bits where {} are specified",
            computed.len(),
            specified.len()
        ));
    }
    arena.with(|terms| {
        let pairs = computed.iter().zip(specified);
        let apart = pairs.fold(0, |apart, (a, b)| {
            apart | (terms.bit_samples(*a) ^ terms.bit_samples(*b))
        });
        if apart == 0 {
            return SourceVerdict::Unproved(
                "the formulas differ, but not on the samples".to_owned(),
            );
        }
        let at = |bits: &[Bit]| bytes(terms, bits, apart.trailing_zeros());
        SourceVerdict::Refuted(Counterexample {
            inputs: arena
                .inputs()
                .into_iter()
                .map(|input| (input.name, at(&input.bits)))
                .collect(),
            computed: at(computed),
            specified: at(specified),
        })
    })
}

/// The value of `bits` on a sample input.
fn bytes(terms: &Terms, bits: &[Bit], sample: u32) -> Vec<u8> {
    let value = |bit: &Bit| (terms.bit_samples(*bit) >> sample & 1) as u8;
    let bytes = bits.chunks(8);
    bytes
        .map(|byte| {
            byte.iter()
                .rev()
                .fold(0, |byte, bit| byte << 1 | value(bit))
        })
        .collect()
}

impl Counterexample {
    /// The bytes of the first input with this name.
    #[cfg(test)]
    pub(super) fn bytes(&self, name: &str) -> &[u8] {
        let input = self.inputs.iter().find(|(input, _)| input == name);
        &input.expect("the input is there").1
    }

    /// The words of the first input with this name.
    #[cfg(test)]
    pub(super) fn words<const N: usize>(&self, name: &str) -> [u64; N] {
        let words = self.bytes(name).as_chunks().0.iter();
        let words: Vec<u64> = words.map(|word| u64::from_le_bytes(*word)).collect();
        words.try_into().expect("as many words as the input has")
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, bytes) in &self.inputs {
            writeln!(f, "{name} = {}", hex(bytes))?;
        }
        writeln!(f, "computed  {}", hex(&self.computed))?;
        write!(f, "specified {}", hex(&self.specified))
    }
}

/// The bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use SourceVerdict::{Checked, Proved};

    #[test]
    fn of_several_verdicts_the_weakest_counts() {
        let all = |verdicts: &[SourceVerdict]| SourceVerdict::all(verdicts.iter().cloned()).name();
        let unproved = SourceVerdict::Unproved("why".into());
        assert_eq!(all(&[Proved, Proved]), "PROVED");
        assert_eq!(all(&[Checked, Proved]), "CHECKED");
        assert_eq!(all(&[Proved, Checked, Proved]), "CHECKED");
        assert_eq!(all(&[Proved, unproved.clone(), Proved]), "UNPROVED");
        assert_eq!(all(&[Checked, unproved, Proved]), "UNPROVED");
        assert_eq!(all(&[]), "UNPROVED");
        assert_eq!(Checked.and(|| Proved).name(), "CHECKED");
    }

    #[test]
    fn to_compare_nothing_is_no_proof() {
        assert_eq!(compare(&Arena::new(1), &[], &[]).name(), "UNPROVED");
    }
}
