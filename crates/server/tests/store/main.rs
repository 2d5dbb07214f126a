//! The conformance suite of stores, on each store, and on planted stores that must fail it.

mod conformance;
mod moving;
mod planted;
mod proofs;
mod servers;
mod sizing;
mod throttle;

use std::path::Path;
use std::sync::Arc;

use sealstone_server::store::{RedbStore, Store};
use tokio::runtime::Runtime;

/// A kind of store.
pub(crate) trait Kind {
    /// Opens the store of `directory`, with all acknowledged changes.
    fn open(&self, directory: &Path, runtime: &Runtime) -> Arc<dyn Store>;

    /// Kills the server, if there is one, and starts it again.
    fn restart(&self) {}
}

/// The embedded store.
struct Embedded;

impl Kind for Embedded {
    fn open(&self, directory: &Path, _: &Runtime) -> Arc<dyn Store> {
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

/// A requirement, by name.
pub(crate) type Requirement = (&'static str, fn(&dyn Kind));

/// One test for each requirement on the embedded store, and the list of them for other stores.
macro_rules! suite {
    ($($name:ident),+ $(,)?) => {
        $(#[test]
        fn $name() {
            conformance::$name(&Embedded);
        })+

        /// All requirements.
        pub(crate) const SUITE: &[Requirement] = &[
            $((stringify!($name), conformance::$name)),+
        ];
    };
}

suite!(
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
    acknowledged_changes_survive,
    spread_marks_are_made_once,
    spread_sets_close_everywhere,
    a_spread_change_is_whole_or_an_error,
    one_of_many_spread_at_once_wins,
    proofs_of_gates_are_used_once,
);
