//! Tables with a hash that is fast and the same in every run. No attacker chooses their keys.

use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};

/// A table.
pub(crate) type Map<K, V> = HashMap<K, V, FixedState>;
/// A set.
pub(crate) type Set<K> = HashSet<K, FixedState>;
