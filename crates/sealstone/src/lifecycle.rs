//! The lifecycle of one's own keys (`spec/trust.md`, "Key lifecycle"): whether a key may sign now.
//!
//! This is the pure part: stages, limits and rules, without a store or a clock. The trust store
//! keeps the lifecycles: [`TrustStore::reserve`](crate::trust::TrustStore::reserve) applies these
//! rules durably before each signature.
//!
//! ```
//! use sealstone::lifecycle::{KeyLifecycle, Limits, Refusal, Stage};
//!
//! // A passport without entries is active and has no limits.
//! let mut key = KeyLifecycle::default();
//! assert!(key.may_sign(1_790_000_000, 1).is_ok());
//!
//! key.limits.not_after = Some(1_800_000_000);
//! assert_eq!(key.may_sign(1_800_000_001, 1), Err(Refusal::Over(1_800_000_000)));
//!
//! assert!(Stage::Active.to(Stage::Deprecated).is_ok());
//! let refused = Stage::Deprecated.to(Stage::Active).unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     "a deprecated key cannot become active; it can become revoked or compromised"
//! );
//! ```

use std::fmt;

use minicbor::{Decode, Encode};

/// Where a key is in its lifecycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stage {
    /// In use.
    #[default]
    Active,
    /// A successor is named; both sign.
    Rotating,
    /// It signs no more; its signatures stay good.
    Deprecated,
    /// It signs no more; signatures that are not known to be older than the revocation are refused.
    Revoked,
    /// It signs no more; signatures that are not known to be older than the compromise are refused.
    Compromised,
}

/// When and how often a key may sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[cbor(map)]
pub struct Limits {
    /// The first second in which it may sign, since 1970.
    #[n(1)]
    pub not_before: Option<u64>,
    /// The last second in which it may sign, since 1970.
    #[n(2)]
    pub not_after: Option<u64>,
    /// How many uses there may be in all: 1 to [`MAX_USES`].
    #[n(3)]
    pub max_uses: Option<u64>,
}

/// Everything that decides whether a key may sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLifecycle {
    /// Where it is in its lifecycle.
    pub stage: Stage,
    /// When and how often it may sign.
    pub limits: Limits,
    /// The fingerprint of the passport that succeeds it.
    pub successor: Option<[u8; 32]>,
    /// How many uses were reserved while there was a limit.
    pub used: u64,
    /// The latest time in the log since the lifecycle was last changed: seconds since 1970.
    pub latest: u64,
}

/// Why a key does not sign, or its lifecycle does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Keys of this stage do not sign.
    Stage(Stage),
    /// It signs from this second on.
    NotYet(u64),
    /// It signed until this second.
    Over(u64),
    /// Too few uses are left.
    UsedUp {
        /// How many uses are left.
        left: u64,
        /// How many there may be in all.
        max: u64,
    },
    /// The clock says `now`, but the key was used or changed at `latest`.
    ClockBack {
        /// The clock's time.
        now: u64,
        /// The time of the last entry.
        latest: u64,
    },
    /// The first stage never becomes the second.
    Change(Stage, Stage),
}

/// The highest limit of uses: each use is an entry in the log of the trust store.
pub const MAX_USES: u64 = 100_000;
/// Seconds that a clock may go back when it is set right.
const TOLERANCE: u64 = 300;

impl Stage {
    /// All of them, in their order.
    pub const ALL: [Self; 5] = [
        Self::Active,
        Self::Rotating,
        Self::Deprecated,
        Self::Revoked,
        Self::Compromised,
    ];

    /// The word for it in messages, lists and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Rotating => "rotating",
            Self::Deprecated => "deprecated",
            Self::Revoked => "revoked",
            Self::Compromised => "compromised",
        }
    }

    /// Whether keys of this stage sign.
    #[must_use]
    pub const fn signs(self) -> bool {
        matches!(self, Self::Active | Self::Rotating)
    }

    /// The stages that may follow.
    #[must_use]
    pub const fn next(self) -> &'static [Self] {
        use Stage::{Compromised, Deprecated, Revoked, Rotating};
        match self {
            Self::Active => &[Rotating, Deprecated, Revoked, Compromised],
            Rotating => &[Deprecated, Revoked, Compromised],
            Deprecated => &[Revoked, Compromised],
            Revoked => &[Compromised],
            Compromised => &[],
        }
    }

    /// Goes on to `next`.
    ///
    /// # Errors
    /// [`Refusal::Change`] if it may not follow; its text names the stages that may.
    pub fn to(self, next: Self) -> Result<Self, Refusal> {
        match self.next().contains(&next) {
            true => Ok(next),
            false => Err(Refusal::Change(self, next)),
        }
    }
}

impl Limits {
    /// Whether the format allows them.
    #[must_use]
    pub fn are_valid(&self) -> bool {
        let in_order = self.not_before.unwrap_or(0) <= self.not_after.unwrap_or(u64::MAX);
        in_order && (1..=MAX_USES).contains(&self.max_uses.unwrap_or(1))
    }
}

impl KeyLifecycle {
    /// Whether the key may sign `uses` times at `now` (seconds since 1970).
    ///
    /// # Errors
    /// The first reason against it.
    pub fn may_sign(&self, now: u64, uses: u64) -> Result<(), Refusal> {
        let Limits {
            not_before,
            not_after,
            max_uses,
        } = self.limits;
        if !self.stage.signs() {
            return Err(Refusal::Stage(self.stage));
        }
        if now.saturating_add(TOLERANCE) < self.latest {
            let latest = self.latest;
            return Err(Refusal::ClockBack { now, latest });
        }
        if let Some(first) = not_before.filter(|first| now < *first) {
            return Err(Refusal::NotYet(first));
        }
        if let Some(last) = not_after.filter(|last| now.max(self.latest) > *last) {
            return Err(Refusal::Over(last));
        }
        match (self.left(), max_uses) {
            (Some(left), Some(max)) if left < uses => Err(Refusal::UsedUp { left, max }),
            _ => Ok(()),
        }
    }

    /// How many uses are left; `None` without a limit.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        let max = self.limits.max_uses?;
        Some(max.saturating_sub(self.used))
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stage(stage) => write!(f, "the key is {stage}, and signs no more"),
            Self::NotYet(time) => {
                write!(f, "the key signs only from {time} (seconds since 1970) on")
            }
            Self::Over(time) => write!(f, "the key signed until {time} (seconds since 1970)"),
            Self::UsedUp { left: 0, max } => write!(f, "all {max} uses of the key are used up"),
            Self::UsedUp { left, max } => {
                write!(f, "of the {max} uses of the key only {left} are left")
            }
            Self::ClockBack { now, latest } => write!(
                f,
                "the clock says {now}, but the key was used or changed at {latest} (seconds since \
                 1970)"
            ),
            Self::Change(from, to) => {
                write!(f, "{} {from} key cannot become {to}", article(*from))?;
                match from.next() {
                    [] => write!(f, "; it stays {from}"),
                    next => write!(f, "; it can become {}", list(next)),
                }
            }
        }
    }
}

impl std::error::Error for Refusal {}

fn article(stage: Stage) -> &'static str {
    match stage {
        Stage::Active => "an",
        _ => "a",
    }
}

/// `a`, `a or b`, `a, b or c`.
fn list(stages: &[Stage]) -> String {
    let names: Vec<&str> = stages.iter().map(|stage| stage.name()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
