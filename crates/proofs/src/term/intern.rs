//! Numbering sequences: equal sequences get equal numbers.

/// A set of sequences of `u32`, each with a number, from 0 up in the order of their first appearance.
#[derive(Default)]
pub(crate) struct Interner {
    /// All sequences, one after the other.
    items: Vec<u32>,
    /// Where each ends.
    ends: Vec<u32>,
    /// Open addressing; a number plus one, or zero for an empty slot.
    table: Vec<u32>,
}

impl Interner {
    /// How many sequences there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Sequence `number`.
    pub(crate) fn get(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[number] as usize]
    }

    /// The number of `items`, if it has one.
    pub(crate) fn find(&self, items: &[u32]) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        self.table[self.slot(items)].checked_sub(1)
    }

    /// The number of `items`, a new one if it has none.
    pub(crate) fn number(&mut self, items: &[u32]) -> u32 {
        if self.table.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let slot = self.slot(items);
        if let Some(number) = self.table[slot].checked_sub(1) {
            return number;
        }
        let number = self.len() as u32;
        self.items.extend_from_slice(items);
        self.ends.push(self.items.len() as u32);
        assert!(self.items.len() < u32::MAX as usize, "too many terms");
        self.table[slot] = number + 1;
        number
    }

    /// Where `items` is in the table, or where it would be.
    fn slot(&self, items: &[u32]) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = hash(items) & mask;
        while let Some(number) = self.table[slot].checked_sub(1) {
            if self.get(number) == items {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.table = vec![0; (4 * (self.len() + 1)).next_power_of_two().max(64)];
        for number in 0..self.len() as u32 {
            let slot = self.slot(self.get(number));
            self.table[slot] = number + 1;
        }
    }
}

/// Fowler–Noll–Vo by words, with a final mix: the low bits must depend on everything.
fn hash(items: &[u32]) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for item in items {
        hash = (hash.rotate_left(5) ^ u64::from(*item)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    (hash ^ hash >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sequences_have_equal_numbers() {
        let mut interner = Interner::default();
        let sequence = |i: u32| vec![i, i / 3, i / 7];
        let numbers: Vec<u32> = (0..1000).map(|i| interner.number(&sequence(i))).collect();
        assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
        for i in 0..1000 {
            assert_eq!(interner.number(&sequence(i)), i);
            assert_eq!(interner.find(&sequence(i)), Some(i));
            assert_eq!(interner.get(i), sequence(i));
        }
        assert_eq!(interner.find(&[]), None);
        assert_eq!(interner.number(&[]), 1000);
        assert!(interner.get(1000).is_empty());
    }
}
