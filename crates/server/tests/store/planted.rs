//! Stores with a planted bug, which the suite must catch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use sealstone_server::store::{Answer, Change, Outcome, Replace, Set, Store};

use tokio::runtime::Runtime;

use crate::conformance;
use crate::{Embedded, Kind};

/// The fault of a planted store.
#[derive(Clone, Copy)]
pub(crate) enum Bug {
    /// It answers first, and makes the change afterwards.
    AnswersEarly,
    /// It never makes a change.
    Forgets,
    /// It replaces records of logs.
    RewritesLogs,
}

struct Planted {
    inner: Arc<dyn Store>,
    bug: Bug,
}

/// Stores of a kind, with a bug.
pub(crate) struct With<'k>(pub(crate) Bug, pub(crate) &'k dyn Kind);

impl Kind for With<'_> {
    fn open(&self, directory: &Path, runtime: &Runtime) -> Arc<dyn Store> {
        Arc::new(Planted {
            inner: self.1.open(directory, runtime),
            bug: self.0,
        })
    }
}

impl Bug {
    /// Whether its requirements fail on this kind of store.
    pub(crate) fn is_caught(self, kind: &dyn Kind) -> bool {
        let fails = |requirement: fn(&dyn Kind)| {
            let with = AssertUnwindSafe(With(self, kind));
            catch_unwind(|| requirement(&*with)).is_err()
        };
        match self {
            Self::AnswersEarly => {
                fails(conformance::one_of_many_at_once_wins)
                    && fails(conformance::one_of_many_spread_at_once_wins)
            }
            Self::Forgets => {
                fails(conformance::a_mark_is_made_once)
                    && fails(conformance::spread_marks_are_made_once)
                    && fails(conformance::counters_are_exact_under_load)
            }
            Self::RewritesLogs => fails(conformance::logs_are_written_once),
        }
    }
}

impl Planted {
    /// With another name, the store below has no log.
    fn name(&self, name: &str) -> String {
        match self.bug {
            Bug::RewritesLogs => name.replace("log/", "not-a-log/"),
            _ => name.to_owned(),
        }
    }
}

impl Store for Planted {
    fn apply(&self, change: Change) -> Answer<'_, Outcome> {
        if let Bug::RewritesLogs = self.bug {
            return self.inner.apply(change);
        }
        Box::pin(async move {
            let answer = self.inner.probe(change.clone()).await;
            if let Bug::AnswersEarly = self.bug {
                let inner = self.inner.clone();
                tokio::spawn(async move { inner.apply(change).await });
            }
            answer
        })
    }

    fn probe(&self, change: Change) -> Answer<'_, Outcome> {
        self.inner.probe(change)
    }

    fn get(&self, name: &str) -> Answer<'_, Option<Vec<u8>>> {
        self.inner.get(&self.name(name))
    }

    fn update(&self, mut records: Vec<Replace>) -> Answer<'_, bool> {
        for record in &mut records {
            record.name = self.name(&record.name);
        }
        self.inner.update(records)
    }

    fn close_sets(&self, before: u64) -> Answer<'_, u64> {
        self.inner.close_sets(before)
    }

    fn sets(&self) -> Answer<'_, Vec<(Set, u64)>> {
        self.inner.sets()
    }
}

#[test]
fn a_store_that_answers_early_is_caught() {
    assert!(Bug::AnswersEarly.is_caught(&Embedded));
}

#[test]
fn a_store_that_forgets_is_caught() {
    assert!(Bug::Forgets.is_caught(&Embedded));
}

#[test]
fn a_store_that_rewrites_logs_is_caught() {
    assert!(Bug::RewritesLogs.is_caught(&Embedded));
    conformance::a_mark_is_made_once(&With(Bug::RewritesLogs, &Embedded));
}
