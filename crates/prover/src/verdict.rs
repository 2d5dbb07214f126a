//! The verdict on a function.

use core::fmt;

/// The result of an attempt at a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that the contract says holds, for all inputs.
    Proved,
    /// The contract does not hold, and there is an input that shows it.
    Refuted(String),
    /// Neither proved nor refuted.
    Unproved(String),
    /// The prover has no model of something, or the contract cannot be used.
    Unsupported(String),
}

impl Verdict {
    /// Whether it is a proof.
    pub fn is_proof(&self) -> bool {
        *self == Self::Proved
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Proved => "PROVED",
            Self::Refuted(_) => "REFUTED",
            Self::Unproved(_) => "UNPROVED",
            Self::Unsupported(_) => "UNSUPPORTED",
        }
    }

    /// Why it is not a proof; empty for a proof.
    pub fn reason(&self) -> &str {
        match self {
            Self::Proved => "",
            Self::Refuted(why) | Self::Unproved(why) | Self::Unsupported(why) => why,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if !self.is_proof() {
            write!(f, ": {}", self.reason())?;
        }
        Ok(())
    }
}

/// The numbers of bytes that depend on the input and remain after the function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residue {
    /// On the stack, below the caller's part.
    pub stack: usize,
    /// In vector and mask registers.
    pub vectors: usize,
    /// In general-purpose registers that a function may change.
    pub general: usize,
}

impl Residue {
    /// All of it.
    pub fn bytes(&self) -> usize {
        self.stack + self.vectors + self.general
    }

    /// The larger of each.
    pub fn or(self, other: Self) -> Self {
        Self {
            stack: self.stack.max(other.stack),
            vectors: self.vectors.max(other.vectors),
            general: self.general.max(other.general),
        }
    }
}
