//! A control chart that knows nothing about the distribution of its samples (`spec/monitor.md`,
//! "The chart").

use minicbor::{Decode, Encode};

use super::normal;

/// The last values of a stream, and the two sums of the CUSUM over their ranks.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct Chart {
    /// The baseline; once it is full, the oldest value is at `oldest`.
    #[n(0)]
    values: Vec<u64>,
    #[n(1)]
    oldest: u32,
    #[n(2)]
    above: f64,
    #[n(3)]
    below: f64,
    /// How many samples there were in all.
    #[n(4)]
    count: u64,
}

/// The direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum Direction {
    /// Values became larger.
    #[n(0)]
    Up,
    /// Values became smaller.
    #[n(1)]
    Down,
}

/// Values in a baseline.
pub(super) const WINDOW: usize = 512;
/// With fewer values nothing is tested.
const WARM_UP: usize = 32;
/// Deviations that are not a change.
const ALLOWANCE: f64 = 0.5;
/// A sum above it is an alarm.
const THRESHOLD: f64 = 14.0;

impl Chart {
    /// Tests `value` against the earlier ones, then adds it to them.
    pub(super) fn add(&mut self, value: u64) -> Option<Direction> {
        let alarm = self.test(value);
        if alarm.is_some() {
            // The following samples are the new baseline.
            let count = self.count;
            *self = Self {
                count,
                ..Self::default()
            };
        }
        self.count = self.count.saturating_add(1);
        if self.values.len() < WINDOW {
            self.values.push(value);
        } else {
            self.values[self.oldest as usize] = value;
            self.oldest = (self.oldest + 1) % WINDOW as u32;
        }
        alarm
    }

    fn test(&mut self, value: u64) -> Option<Direction> {
        if self.values.len() < WARM_UP {
            return None;
        }
        let score = self.score(value);
        self.above = (self.above + score - ALLOWANCE).max(0.0);
        self.below = (self.below - score - ALLOWANCE).max(0.0);
        match (self.above > THRESHOLD, self.below > THRESHOLD) {
            (true, _) => Some(Direction::Up),
            (_, true) => Some(Direction::Down),
            _ => None,
        }
    }

    /// The normal score of the rank of `value` among the earlier ones.
    fn score(&self, value: u64) -> f64 {
        let values = self.values.iter();
        let smaller: u32 = values.clone().map(|old| u32::from(*old < value)).sum();
        let not_larger: u32 = values.map(|old| u32::from(*old <= value)).sum();
        let middle = f64::from(smaller + not_larger) / 2.0;
        normal::quantile((middle + 0.5) / (self.values.len() as f64 + 1.0))
    }

    /// The values of the baseline, oldest first.
    pub fn values(&self) -> impl Iterator<Item = u64> {
        let (newer, older) = self.values.split_at(self.oldest as usize);
        older.iter().chain(newer).copied()
    }

    /// How many samples there were in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The value below which this part (0 to 1) of the baseline lies; `None` without one.
    #[must_use]
    pub fn quantile(&self, part: f64) -> Option<u64> {
        let mut sorted = self.values.clone();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        Some(sorted[(part * last as f64).round() as usize])
    }

    /// Whether the parts fit together.
    pub(super) fn is_valid(&self) -> bool {
        let sums = [self.above, self.below];
        let full = self.values.len() == WINDOW;
        self.values.len() <= WINDOW
            && self.count >= self.values.len() as u64
            && (self.oldest == 0 || full && (self.oldest as usize) < WINDOW)
            && sums.iter().all(|sum| (0.0..=THRESHOLD).contains(sum))
    }
}
