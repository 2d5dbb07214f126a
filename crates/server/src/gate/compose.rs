//! Several gates as one: all, any, or at least a given number.

use serde_json::{Value, json};

use super::{Ask, Failure, Gate, MAX_WAYS, Way};

/// Passes if at least `threshold` of its parts pass.
pub(super) struct AtLeast {
    threshold: usize,
    parts: Vec<Box<dyn Gate>>,
}

impl AtLeast {
    pub(super) fn new(threshold: usize, parts: Vec<Box<dyn Gate>>) -> Self {
        Self { threshold, parts }
    }
}

impl Gate for AtLeast {
    fn describe(&self, now: u64) -> Value {
        let parts: Vec<Value> = self.parts.iter().map(|part| part.describe(now)).collect();
        match self.threshold {
            1 => json!({"kind": "any", "of": parts}),
            all if all == parts.len() => json!({"kind": "all", "of": parts}),
            threshold => json!({"kind": "at-least", "threshold": threshold, "of": parts}),
        }
    }

    fn check(&self, ask: &Ask<'_>) -> Result<Vec<Way>, Failure> {
        let (mut passed, mut failure) = (Vec::new(), Failure::Missing);
        for part in &self.parts {
            match part.check(ask) {
                Ok(ways) => passed.push(ways),
                Err(wrong @ Failure::Wrong(_)) => failure = wrong,
                Err(Failure::Missing) => {}
            }
        }
        let ways = choose(&passed, self.threshold);
        match ways.is_empty() {
            true => Err(failure),
            false => Ok(ways),
        }
    }

    fn ways(&self) -> usize {
        let ways: Vec<usize> = self.parts.iter().map(|part| part.ways()).collect();
        count(&ways, self.threshold)
    }

    /// Every way has one if enough parts have.
    fn has_accounts(&self) -> bool {
        let without = self.parts.iter().filter(|part| !part.has_accounts());
        without.count() < self.threshold
    }

    /// The first account counts, whichever part it comes from.
    fn has_ages(&self) -> bool {
        let mut of_accounts = self.parts.iter().filter(|part| part.has_accounts());
        self.has_accounts() && of_accounts.all(|part| part.has_ages())
    }
}

/// All ways to pass `threshold` of the gates, in the order of the gates.
fn choose(gates: &[Vec<Way>], threshold: usize) -> Vec<Way> {
    if threshold == 0 {
        return vec![Way::default()];
    }
    let Some((first, rest)) = gates.split_first() else {
        return Vec::new();
    };
    let tails = choose(rest, threshold - 1);
    let with_first = first
        .iter()
        .flat_map(|way| tails.iter().map(|tail| way.clone().and(tail.clone())));
    with_first.chain(choose(rest, threshold)).collect()
}

/// How many ways [`choose`] returns if all gates pass; any number above [`MAX_WAYS`] is the same.
fn count(ways: &[usize], threshold: usize) -> usize {
    // The coefficient of x^threshold in the product of (1 + ways · x).
    let mut coefficients = vec![0_usize; threshold + 1];
    coefficients[0] = 1;
    for gate in ways {
        for degree in (1..=threshold).rev() {
            let more = coefficients[degree - 1].saturating_mul(*gate);
            coefficients[degree] = coefficients[degree].saturating_add(more).min(MAX_WAYS + 1);
        }
    }
    coefficients[threshold]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Change, Mark, Set};

    fn way(number: u8) -> Way {
        let mark = Mark::new(&Set::new("s", 1), [number; 32]);
        Way::new(Change::new(1).mark(mark), None)
    }

    #[test]
    fn every_way_is_listed_in_order() {
        let gates = [vec![way(1)], vec![way(2), way(3)], vec![way(4)]];
        assert_eq!(
            choose(&gates, 1),
            [way(1), way(2), way(3), way(4)],
            "any of them"
        );
        assert_eq!(choose(&gates, 2).len(), 5);
        assert_eq!(choose(&gates, 2)[0], way(1).and(way(2)));
        assert_eq!(choose(&gates, 3).len(), 2, "all of them");
        assert!(choose(&gates, 4).is_empty());
        for threshold in 1..=3 {
            assert_eq!(
                count(&[1, 2, 1], threshold),
                choose(&gates, threshold).len()
            );
        }
        assert_eq!(count(&[9; 40], 20), MAX_WAYS + 1);
    }
}
