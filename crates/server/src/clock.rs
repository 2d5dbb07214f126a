//! The time, which tests set.
//!
//! ```
//! use sealstone_server::clock::Clock;
//!
//! let (clock, setter) = Clock::settable(1_767_225_600);
//! setter.set(1_767_229_200);
//! assert_eq!(clock.now(), 1_767_229_200);
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
#[derive(Clone, Debug, Default)]
pub struct Clock(Option<Arc<AtomicU64>>);

/// Sets the time of a clock.
#[derive(Clone, Debug)]
pub struct Setter(Arc<AtomicU64>);

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(None)
    }

    /// A clock that stands still until the setter changes its time.
    #[must_use]
    pub fn settable(now: u64) -> (Self, Setter) {
        let time = Arc::new(AtomicU64::new(now));
        (Self(Some(time.clone())), Setter(time))
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> u64 {
        match &self.0 {
            Some(time) => time.load(Ordering::Relaxed),
            None => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
        }
    }
}

impl Setter {
    /// Sets the time, forwards or backwards.
    pub fn set(&self, now: u64) {
        self.0.store(now, Ordering::Relaxed);
    }
}
