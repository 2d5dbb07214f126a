//! Numbering sequences: equal sequences get equal numbers.

/// A set of sequences of `u32`, each with a number, from 0 up in the order of their first
/// appearance.
#[derive(Default)]
pub struct Interner {
    /// All sequences, one after the other.
    items: Vec<u32>,
    /// Where each ends.
    ends: Vec<u32>,
    /// Open addressing: in the upper half the hash of a sequence, in the lower half its number plus
    /// one; zero for an empty slot. Beside the hash, other sequences need not be looked at: each
    /// look would be two cache misses.
    table: Vec<u64>,
}

impl Interner {
    /// How many sequences there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// How long they are together.
    pub fn length(&self) -> usize {
        self.items.len()
    }

    /// Sequence `number`.
    pub fn get(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[number] as usize]
    }

    /// The number of `items`, if it has one.
    pub fn find(&self, items: &[u32]) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        number_in(self.table[self.slot(items, hash(items))])
    }

    /// The number of `items`. New items get a new number.
    pub fn number(&mut self, items: &[u32]) -> u32 {
        // At most half full: what is not there is seen after three slots on average.
        if self.table.len() < 2 * (self.count() + 1) {
            self.grow();
        }
        let hash = hash(items);
        let slot = self.slot(items, hash);
        if let Some(number) = number_in(self.table[slot]) {
            return number;
        }
        let number = self.count() as u32;
        self.items.extend_from_slice(items);
        self.ends.push(self.items.len() as u32);
        assert!(self.items.len() < u32::MAX as usize, "too many terms");
        self.table[slot] = (u64::from(hash) << 32) + u64::from(number + 1);
        number
    }

    /// Where `items` is in the table, or where it would be.
    fn slot(&self, items: &[u32], hash: u32) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(number) = number_in(self.table[slot]) {
            if self.table[slot] >> 32 == u64::from(hash) && self.get(number) == items {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let length = (2 * self.table.len()).max(64);
        let old = core::mem::replace(&mut self.table, vec![0; length]);
        for entry in old.into_iter().filter(|entry| *entry != 0) {
            let mut slot = (entry >> 32) as usize & (length - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.table[slot] = entry;
        }
    }
}

/// The number in an entry of the table.
fn number_in(entry: u64) -> Option<u32> {
    (entry as u32).checked_sub(1)
}

/// Fowler–Noll–Vo by words, with a final mix: the low bits must depend on everything.
fn hash(items: &[u32]) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for item in items {
        hash = (hash.rotate_left(5) ^ u64::from(*item)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    ((hash ^ hash >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
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

    /// The table is a power of two, and at most half full.
    #[test]
    fn the_table_has_room() {
        let mut interner = Interner::default();
        assert_eq!(interner.find(&[1]), None);
        for i in 0..1000_usize {
            interner.number(&[i as u32]);
            let least = (2 * interner.count()).next_power_of_two().max(64);
            assert_eq!((interner.count(), interner.table.len()), (i + 1, least));
            interner.number(&[i as u32]);
        }
        assert_eq!(interner.length(), 1000);
    }

    /// Two sequences of the same hash are two sequences: no bits are taken for the same by a hash.
    #[test]
    fn equal_hashes_are_not_enough() {
        let mut interner = Interner::default();
        let mut hashes = std::collections::BTreeMap::new();
        let mut same = Vec::new();
        for i in 0..300_000 {
            same.extend(hashes.insert(hash(&[i]), i).map(|earlier| [earlier, i]));
        }
        // About ten are expected.
        assert!((3..40).contains(&same.len()), "{}", same.len());
        for pair in same {
            let numbers = pair.map(|i| interner.number(&[i]));
            assert_ne!(numbers[0], numbers[1], "{pair:?}");
            assert_eq!(pair.map(|i| interner.find(&[i])), numbers.map(Some));
        }
    }

    /// Each bit of a sequence turns each bit of its hash in about half of all cases.
    #[test]
    fn every_bit_of_a_hash_depends_on_every_bit() {
        const TRIES: u32 = 2000;
        let mut random = crate::term::Random::new(1);
        for place in 0..3 * 32 {
            let mut turned = [0; 32];
            for _ in 0..TRIES {
                let mut items = [(); 3].map(|()| random.number() as u32 >> 16);
                let before = hash(&items);
                items[place / 32] ^= 1 << (place % 32);
                let change = before ^ hash(&items);
                for (bit, count) in turned.iter_mut().enumerate() {
                    *count += change >> bit & 1;
                }
            }
            let about_half = TRIES * 2 / 5..=TRIES * 3 / 5;
            assert!(
                turned.iter().all(|count| about_half.contains(count)),
                "{place} {turned:?}"
            );
        }
    }
}
