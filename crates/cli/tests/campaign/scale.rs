//! The extent of the tests: a short version every day, and a long one in the ignored tests, which
//! `make campaign` runs.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Whether this is the long version. It fails if the machine lacks a feature. The short version
/// skips such tests.
static LONG: AtomicBool = AtomicBool::new(false);

pub(crate) fn is_long() -> bool {
    LONG.load(Ordering::Relaxed)
}

/// Runs the long version of a test. Others of this process must not run at the same time.
pub(crate) fn run_long(test: fn()) {
    LONG.store(true, Ordering::Relaxed);
    test();
    LONG.store(false, Ordering::Relaxed);
}

/// The long versions of these tests.
macro_rules! long_tests {
    ($($test:ident),+ $(,)?) => {
        mod long {
            $(
                #[test]
                #[ignore = "takes hours: make campaign"]
                fn $test() {
                    crate::scale::run_long(super::$test);
                }
            )+
        }
    };
}
pub(crate) use long_tests;

/// One of two values.
pub(crate) fn scaled<T>(everyday: T, long: T) -> T {
    if is_long() { long } else { everyday }
}

/// Prints a text that is visible although the test passes.
pub(crate) fn say(text: &str) {
    writeln!(std::io::stderr(), "campaign: {text}").expect("standard error takes a line");
}

/// Says that a test is not possible on this machine.
///
/// # Panics
/// In the long version, which must run all tests.
pub(crate) fn skip(what: &str, why: &str) {
    assert!(!is_long(), "{what}: {why}");
    say(&format!("skipped: {what}: {why}"));
}

/// Random numbers (SplitMix64) with a seed: `SEALSTONE_CAMPAIGN_SEED`.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        let now = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            since.expect("it is after 1970").as_micros() as u64
        };
        let asked = std::env::var("SEALSTONE_CAMPAIGN_SEED").ok();
        Self(asked.map_or_else(now, |seed| seed.parse().expect("the seed is a number")))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.fraction() * limit as f64) as usize
    }
}
