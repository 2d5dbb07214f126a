//! The lifecycles of the user's own keys, gathered from the log (`spec/trust.md`, "Key lifecycle").

use std::collections::HashMap;

use super::entry::{Entry, Event};
use crate::lifecycle::{KeyLifecycle, Stage};
use crate::passport::Fingerprint;

/// The lifecycle of every key about which the log has an entry.
#[derive(Default)]
pub(super) struct Lifecycles {
    lifecycles: HashMap<Fingerprint, Logged>,
    /// In the order of their first entries of event 7.
    order: Vec<Fingerprint>,
}

#[derive(Default)]
struct Logged {
    lifecycle: KeyLifecycle,
    label: String,
    /// Revoked or compromised, whatever the log says later.
    ended: Option<Stage>,
}

impl Lifecycles {
    /// The lifecycles that were ever changed, with the labels of their passports.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Fingerprint, &str, KeyLifecycle)> {
        self.order.iter().map(|fingerprint| {
            let label = self.lifecycles[fingerprint].label.as_str();
            (*fingerprint, label, self.get(fingerprint))
        })
    }

    /// Takes the next entry of the log.
    pub(super) fn add(&mut self, entry: &Entry) {
        let Some(fingerprint) = entry.fingerprint() else {
            return;
        };
        let ends = match entry.event {
            Event::Revoked => Some(Stage::Revoked),
            Event::Compromised => Some(Stage::Compromised),
            _ => None,
        };
        if ends.is_none() && entry.lifecycle.is_none() && entry.uses.is_none() {
            return;
        }
        let logged = self.lifecycles.entry(fingerprint).or_default();
        if logged.ended != Some(Stage::Compromised) {
            logged.ended = ends.or(logged.ended);
        }
        let lifecycle = &mut logged.lifecycle;
        if let Some(uses) = entry.uses {
            lifecycle.used = lifecycle.used.saturating_add(uses);
            lifecycle.latest = lifecycle.latest.max(entry.time);
        }
        if let Some(new) = &entry.lifecycle {
            lifecycle.stage = new.stage();
            lifecycle.limits = new.limits();
            lifecycle.successor = new.successor.map(|successor| *successor.as_bytes());
            lifecycle.latest = entry.time;
            entry.label.clone_into(&mut logged.label);
            if !self.order.contains(&fingerprint) {
                self.order.push(fingerprint);
            }
        }
    }

    pub(super) fn get(&self, fingerprint: &Fingerprint) -> KeyLifecycle {
        self.lifecycles
            .get(fingerprint)
            .map_or_else(KeyLifecycle::default, |logged| KeyLifecycle {
                stage: logged.ended.unwrap_or(logged.lifecycle.stage),
                ..logged.lifecycle
            })
    }

    /// Whether the log says anything about the lifecycle of this key.
    pub(super) fn contains(&self, fingerprint: &Fingerprint) -> bool {
        self.lifecycles.contains_key(fingerprint)
    }
}
