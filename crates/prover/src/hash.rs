//! Tables with a hash that is quick, and the same in every run: nobody chooses their keys to make
//! them slow.

use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};

/// A table.
pub(crate) type Map<K, V> = HashMap<K, V, FixedState>;
/// A set.
pub(crate) type Set<K> = HashSet<K, FixedState>;
