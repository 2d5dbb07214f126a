//! A memory of the last results, so that they need not be found in the tables again.

/// Results of an operation on two bits, by their numbers. It forgets: two pairs that share a place
/// drive each other out, and are worked out once more. It has as many places as it was told
/// results, up to a limit: most sets of formulas are small, and an empty table of the full size
/// costs as much time as they do.
#[derive(Default)]
pub(super) struct Recent {
    /// Both operands and the result; zeros for none. As many as a power of two, or none.
    entries: Vec<[u32; 3]>,
    told: usize,
}

/// The most places. A turn of a long loop, with the specification beside it, may need 300 000. The
/// table has room for more, so that few of them share a place.
const MOST: usize = 1 << 21;
const LEAST: usize = 1 << 8;

impl Recent {
    /// The result, if it is still known. Neither operand is zero.
    pub(super) fn get(&self, a: u32, b: u32) -> Option<u32> {
        let [x, y, result] = self.entries.get(self.place(a, b))?;
        (*x == a && *y == b).then_some(*result)
    }

    /// Remembers a result.
    pub(super) fn put(&mut self, a: u32, b: u32, result: u32) {
        if self.told == self.entries.len() && self.told < MOST {
            self.grow();
        }
        self.told += 1;
        let place = self.place(a, b);
        self.entries[place] = [a, b, result];
    }

    fn grow(&mut self) {
        let length = (2 * self.entries.len()).max(LEAST);
        let old = core::mem::replace(&mut self.entries, vec![[0; 3]; length]);
        for entry in old.into_iter().filter(|[a, ..]| *a != 0) {
            let place = self.place(entry[0], entry[1]);
            self.entries[place] = entry;
        }
    }

    /// Words have neighbouring bits, so pairs of bits come in runs: (a, b), (a + 1, b + 1), … Those
    /// have neighbouring places, and are read from the memory together.
    fn place(&self, a: u32, b: u32) -> usize {
        let run = u64::from(b.wrapping_sub(a)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mask = self.entries.len().saturating_sub(1);
        run.wrapping_add(a.into()) as usize & mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_right_and_what_was_last_is_known() {
        let mut recent = Recent::default();
        assert_eq!(recent.get(1, 2), None);
        recent.put(1, 2, 3);
        assert_eq!((recent.get(1, 2), recent.get(2, 1)), (Some(3), None));
        assert_eq!(recent.entries.len(), LEAST);
        for i in 1..=4 * MOST as u32 {
            recent.put(i, i + 1, i ^ 5);
            assert_eq!(recent.get(i, i + 1), Some(i ^ 5));
            assert_eq!(recent.get(i + 1, i), None);
        }
        let known = (1..=4 * MOST as u32).filter(|i| {
            let result = recent.get(*i, i + 1);
            assert!(result.is_none_or(|result| result == i ^ 5));
            result.is_some()
        });
        let known = known.count();
        assert!(known > MOST / 2 && known <= MOST, "{known}");
    }

    #[test]
    fn what_was_known_is_known_in_a_larger_table() {
        let mut recent = Recent::default();
        for i in 1..=LEAST as u32 {
            recent.put(i, i + 1, i);
        }
        let known: Vec<[u32; 3]> = recent.entries.clone();
        recent.put(1, 1, 1);
        assert_eq!(recent.entries.len(), 2 * LEAST);
        let lost = known.iter().filter(|[a, b, result]| {
            let now = recent.get(*a, *b);
            *a != 0 && now != Some(*result)
        });
        assert!(lost.count() <= 1, "but for the place of the new one");
    }

    /// The pairs of two words are side by side, wherever the first of them is.
    #[test]
    fn neighbouring_pairs_have_neighbouring_places() {
        let mut recent = Recent::default();
        recent.grow();
        for (a, b) in [(2, 700), (5, 6), (70, u32::MAX - 64), (9, 1 << 31 | 3)] {
            for i in 0..63 {
                let [here, next] = [i, i + 1].map(|i| recent.place(a + i, b + i));
                assert_eq!(next, (here + 1) % LEAST);
            }
        }
        let places: std::collections::BTreeSet<usize> = (0..LEAST as u32)
            .map(|i| recent.place(2, 700 + i))
            .collect();
        assert!(places.len() > LEAST / 2, "other runs are elsewhere");
    }

    /// Pairs with the same first or the same second operand have places of their own.
    #[test]
    fn places_depend_on_both_operands() {
        for pair in [|i| (i, 7), |i| (7, i)] {
            let mut recent = Recent::default();
            for i in 1..=4 * LEAST as u32 {
                let (a, b) = pair(i);
                recent.put(a, b, i);
            }
            let known = (1..=4 * LEAST as u32).filter(|i| {
                let (a, b) = pair(*i);
                recent.get(a, b) == Some(*i)
            });
            assert!(known.count() > LEAST);
        }
    }
}
