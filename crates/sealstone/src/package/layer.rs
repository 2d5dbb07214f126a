//! The six layers, and what a verifier says of each.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// One of the six checks of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// 1: every file is the one that the manifest names.
    Content,
    /// 2: a holder of a shared key made this package.
    Hmac,
    /// 3: the classical signatures.
    Ed25519,
    /// 4: the post-quantum signatures.
    MlDsa65,
    /// 5: the verifier holds the secret that keys for this package are derived from.
    Keys,
    /// 6: the signatures existed at a time that a third party attests.
    Timestamp,
}

/// The verdict on a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was checked and holds.
    Good,
    /// It does not hold, or it is required and missing.
    Bad,
    /// It is there, and the verifier cannot or shall not check it.
    Unchecked,
    /// It is not there, and nobody requires it.
    Absent,
}

/// The verdict of one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerReport {
    /// Which layer.
    pub layer: Layer,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the package is bad unless this layer is good.
    pub required: bool,
    /// One line for people.
    pub reason: String,
    pub(super) missing: bool,
}

impl LayerReport {
    /// Whether it is bad only because it is required and not there.
    pub fn is_missing(&self) -> bool {
        self.missing
    }

    /// Whether nobody should co-sign or countersign a package with this layer: it is bad, or it is
    /// the content, and unread. A layer that is only missing may come later.
    pub fn prevents_signing(&self) -> bool {
        match self.verdict {
            Verdict::Bad => !self.missing,
            Verdict::Unchecked => self.layer == Layer::Content,
            Verdict::Good | Verdict::Absent => false,
        }
    }
}

impl Layer {
    /// All layers, in order.
    pub const ALL: [Self; 6] = [
        Self::Content,
        Self::Hmac,
        Self::Ed25519,
        Self::MlDsa65,
        Self::Keys,
        Self::Timestamp,
    ];

    /// From 1 to 6.
    pub fn number(self) -> u64 {
        self as u64 + 1
    }

    /// The name in commands and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Hmac => "hmac",
            Self::Ed25519 => "ed25519",
            Self::MlDsa65 => "ml-dsa-65",
            Self::Keys => "keys",
            Self::Timestamp => "timestamp",
        }
    }

    /// Whether every package needs it.
    pub fn is_always_required(self) -> bool {
        matches!(self, Self::Content | Self::Ed25519 | Self::MlDsa65)
    }

    /// A layer that a manifest may require.
    pub(super) fn optional(number: u64) -> Result<Self> {
        let layer = Self::ALL.into_iter().find(|it| it.number() == number);
        layer
            .filter(|layer| !layer.is_always_required())
            .ok_or(Error::Malformed("package: required layer"))
    }
}

impl FromStr for Layer {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let layer = Self::ALL.into_iter().find(|layer| layer.name() == name);
        layer.ok_or(Error::Invalid(
            "the layers are content, hmac, ed25519, ml-dsa-65, keys and timestamp",
        ))
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Verdict {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Unchecked => "unchecked",
            Self::Absent => "absent",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_layers_and_unread_content_prevent_a_signature() {
        let prevents = |layer, verdict, missing| {
            let report = LayerReport {
                layer,
                verdict,
                required: true,
                reason: String::new(),
                missing,
            };
            report.prevents_signing()
        };
        for layer in Layer::ALL {
            assert!(prevents(layer, Verdict::Bad, false), "{layer}");
            assert!(!prevents(layer, Verdict::Bad, true), "{layer}");
            assert!(!prevents(layer, Verdict::Good, false), "{layer}");
            assert!(!prevents(layer, Verdict::Absent, false), "{layer}");
            let is_content = layer == Layer::Content;
            assert_eq!(prevents(layer, Verdict::Unchecked, false), is_content);
        }
    }
}
