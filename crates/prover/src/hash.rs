//! Tables whose keys nobody chooses in order to make them slow: a hash that is quick, and the same in
//! every run.

use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};

/// A table.
pub(crate) type Map<K, V> = HashMap<K, V, FixedState>;
/// A set.
pub(crate) type Set<K> = HashSet<K, FixedState>;
