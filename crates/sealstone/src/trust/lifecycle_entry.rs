//! The lifecycle of a key in an entry of the log (`spec/trust.md`, "Key lifecycle").

use minicbor::{Decode, Encode};

use crate::lifecycle::{KeyLifecycle, Limits, Stage};
use crate::passport::Fingerprint;

/// Field 9 of an entry: what the log says about a lifecycle.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(map)]
pub(super) struct LifecycleEntry {
    #[n(0)]
    pub(super) stage: LoggedStage,
    #[n(1)]
    pub(super) not_before: Option<u64>,
    #[n(2)]
    pub(super) not_after: Option<u64>,
    #[n(3)]
    pub(super) max_uses: Option<u64>,
    #[n(4)]
    pub(super) successor: Option<Fingerprint>,
}

/// The stages that are not a status of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub(super) enum LoggedStage {
    #[n(0)]
    Active,
    #[n(1)]
    Rotating,
    #[n(2)]
    Deprecated,
}

impl LifecycleEntry {
    /// `None` for a stage that is a status of the record.
    pub(super) fn new(lifecycle: &KeyLifecycle) -> Option<Self> {
        let stage = match lifecycle.stage {
            Stage::Active => LoggedStage::Active,
            Stage::Rotating => LoggedStage::Rotating,
            Stage::Deprecated => LoggedStage::Deprecated,
            Stage::Revoked | Stage::Compromised => return None,
        };
        let Limits {
            not_before,
            not_after,
            max_uses,
        } = lifecycle.limits;
        Some(Self {
            stage,
            not_before,
            not_after,
            max_uses,
            successor: lifecycle.successor.map(Fingerprint::from_bytes),
        })
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            not_before: self.not_before,
            not_after: self.not_after,
            max_uses: self.max_uses,
        }
    }

    pub(super) fn stage(&self) -> Stage {
        match self.stage {
            LoggedStage::Active => Stage::Active,
            LoggedStage::Rotating => Stage::Rotating,
            LoggedStage::Deprecated => Stage::Deprecated,
        }
    }

    /// Whether the format allows these fields.
    pub(super) fn is_valid(&self) -> bool {
        let successor_fits = match self.stage {
            LoggedStage::Active => self.successor.is_none(),
            LoggedStage::Rotating => self.successor.is_some(),
            LoggedStage::Deprecated => true,
        };
        successor_fits && self.limits().are_valid()
    }
}
