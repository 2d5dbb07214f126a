//! The conformance suite of stores, on each store, and on planted stores that must fail it.

mod conformance;
mod planted;

use std::path::Path;
use std::sync::Arc;

use sealstone_server::store::{RedbStore, Store};

/// A kind of store.
pub(crate) trait Kind {
    /// Opens the store in `directory`, with all that was acknowledged before.
    fn open(&self, directory: &Path) -> Arc<dyn Store>;
}

/// The embedded store.
struct Embedded;

impl Kind for Embedded {
    fn open(&self, directory: &Path) -> Arc<dyn Store> {
        let path = directory.join("store.redb");
        // The thread of a store that was just dropped may not have closed the file yet.
        for _ in 0..200 {
            match RedbStore::open(&path) {
                Ok(store) => return Arc::new(store),
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        }
        Arc::new(RedbStore::open(&path).expect("a store"))
    }
}

/// One test for each requirement.
macro_rules! suite {
    ($kind:expr, $($name:ident),+ $(,)?) => {
        $(#[test]
        fn $name() {
            conformance::$name(&$kind);
        })+
    };
}

suite!(
    Embedded,
    a_mark_is_made_once,
    an_operation_repeats_within_its_grace,
    a_change_is_whole_or_absent,
    a_mark_twice_in_one_change_is_refused,
    counters_stop_at_their_limit,
    present_marks_refuse,
    a_probe_changes_nothing,
    records_compare_and_replace,
    logs_are_written_once,
    closed_sets_refuse_for_ever,
    one_of_many_at_once_wins,
    counters_are_exact_under_load,
    what_was_acknowledged_survives,
);
