//! The lives of the user's own keys, gathered from the log (`spec/trust.md`, "Key life").

use std::collections::HashMap;

use super::entry::{Entry, Event};
use crate::life::{KeyLife, Stage};
use crate::passport::Fingerprint;

/// The life of every key about which the log has an entry.
#[derive(Default)]
pub(super) struct Lives {
    lives: HashMap<Fingerprint, Logged>,
    /// In the order of their first entries of event 7.
    order: Vec<Fingerprint>,
}

#[derive(Default)]
struct Logged {
    life: KeyLife,
    label: String,
    /// Revoked or compromised, whatever the log says later.
    ended: Option<Stage>,
}

impl Lives {
    /// Those that were ever changed, with the labels of their passports.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Fingerprint, &str, KeyLife)> {
        self.order.iter().map(|fingerprint| {
            let label = self.lives[fingerprint].label.as_str();
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
        if ends.is_none() && entry.life.is_none() && entry.uses.is_none() {
            return;
        }
        let logged = self.lives.entry(fingerprint).or_default();
        if logged.ended != Some(Stage::Compromised) {
            logged.ended = ends.or(logged.ended);
        }
        let life = &mut logged.life;
        if let Some(uses) = entry.uses {
            life.used = life.used.saturating_add(uses);
            life.latest = life.latest.max(entry.time);
        }
        if let Some(new) = &entry.life {
            life.stage = new.stage();
            life.limits = new.limits();
            life.successor = new.successor.map(|successor| *successor.as_bytes());
            life.latest = entry.time;
            entry.label.clone_into(&mut logged.label);
            if !self.order.contains(&fingerprint) {
                self.order.push(fingerprint);
            }
        }
    }

    pub(super) fn get(&self, fingerprint: &Fingerprint) -> KeyLife {
        self.lives
            .get(fingerprint)
            .map_or_else(KeyLife::default, |logged| KeyLife {
                stage: logged.ended.unwrap_or(logged.life.stage),
                ..logged.life
            })
    }

    /// Whether the log says anything about the life of this key.
    pub(super) fn contains(&self, fingerprint: &Fingerprint) -> bool {
        self.lives.contains_key(fingerprint)
    }
}
