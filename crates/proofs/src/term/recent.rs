//! A memory of the last results, so that they need not be found in the tables again.

/// Results of an operation on two bits, by their numbers. It forgets: two pairs that share a place drive each other out, and are
/// worked out once more.
#[derive(Default)]
pub(super) struct Recent {
    /// Both operands and the result; zeros for none.
    entries: Vec<[u32; 3]>,
}

/// Kernels that hash eight nodes at once need about 150 000 in each turn of their loop, and the specification beside them the
/// same.
const ENTRIES: usize = 1 << 19;

impl Recent {
    /// The result, if it is still known. Neither operand is zero.
    pub(super) fn get(&self, a: u32, b: u32) -> Option<u32> {
        let [x, y, result] = self.entries.get(place(a, b))?;
        (*x == a && *y == b).then_some(*result)
    }

    /// Remembers a result.
    pub(super) fn put(&mut self, a: u32, b: u32, result: u32) {
        if self.entries.is_empty() {
            self.entries = vec![[0; 3]; ENTRIES];
        }
        self.entries[place(a, b)] = [a, b, result];
    }
}

fn place(a: u32, b: u32) -> usize {
    let both = u64::from(a) << 32 | u64::from(b);
    (both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 45) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_right_and_what_was_last_is_known() {
        let mut recent = Recent::default();
        assert_eq!(recent.get(1, 2), None);
        for i in 1..=4 * ENTRIES as u32 {
            recent.put(i, i + 1, i ^ 5);
            assert_eq!(recent.get(i, i + 1), Some(i ^ 5));
            assert_eq!(recent.get(i + 1, i), None);
        }
        let known = (1..=4 * ENTRIES as u32).filter(|i| {
            let result = recent.get(*i, i + 1);
            assert!(result.is_none_or(|result| result == i ^ 5));
            result.is_some()
        });
        let known = known.count();
        assert!(known > ENTRIES / 2 && known <= ENTRIES, "{known}");
    }
}
