//! Whether memory comes from the system as huge pages or as small ones.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How pages are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Huge pages, while few of them are slow.
    Huge,
    /// Small ones, while few are slow.
    Small,
    /// Huge ones, whatever they take.
    HugeForGood,
}

/// The choice of a region, made anew when too much of its memory was slow.
///
/// Huge pages come first, and mostly stay. A system has some of them at hand, and then often none: those that it or the host of a
/// virtual machine has to find take 50 times as long. What is left at hand by then is in smaller pieces: it comes as small pages. When
/// that is used up too, small pages take as long as huge ones, which are quicker to use.
#[derive(Debug)]
pub(crate) struct Choice {
    /// From so many slow ones on, small ones; and from so many, huge ones again.
    limits: [usize; 2],
    /// Slow ones so far.
    slow: AtomicUsize,
}

/// For so many pages, one that is slow is no sign: single ones come among quick ones.
const PAGES_FOR_A_SLOW_ONE: usize = 64;

/// Who goes back to huge pages too soon pays for it with every page, and who does so late only in what small pages cost to use.
const BEFORE_GOING_BACK: usize = 8;

impl Choice {
    /// For so many huge pages or the memory of as many; with patience, only for huge ones.
    pub(crate) fn new(pages: usize, patient: bool) -> Self {
        let too_many = match patient {
            true => usize::MAX,
            false => 1 + pages / PAGES_FOR_A_SLOW_ONE,
        };
        Self {
            limits: [
                too_many,
                too_many.saturating_mul(2).saturating_add(BEFORE_GOING_BACK),
            ],
            slow: AtomicUsize::new(0),
        }
    }

    /// What to ask for.
    pub(crate) fn kind(&self) -> Kind {
        self.after(self.slow.load(Relaxed))
    }

    /// A page that was asked for as `kind` was slow: what to ask for from now on, if that is something else. Of several threads one is told.
    pub(crate) fn was_slow(&self, kind: Kind) -> Option<Kind> {
        // What was asked for before the last choice says nothing about this one.
        let counts =
            |slow| (kind != Kind::HugeForGood && self.after(slow) == kind).then(|| slow + 1);
        let before = self.slow.fetch_update(Relaxed, Relaxed, counts).ok()?;
        let now = self.after(before + 1);
        (now != kind).then_some(now)
    }

    fn after(&self, slow: usize) -> Kind {
        let [small, huge_again] = self.limits;
        if slow < small {
            Kind::Huge
        } else if slow < huge_again {
            Kind::Small
        } else {
            Kind::HugeForGood
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The changes that slow pages lead to when each is asked for as it should be: after how many, and to what.
    fn changes(choice: &Choice) -> Vec<(usize, Kind)> {
        let slow = (1..10_000).map(|number| (number, choice.was_slow(choice.kind())));
        slow.filter_map(|(number, change)| Some((number, change?)))
            .collect()
    }

    #[test]
    fn a_region_allows_for_slow_pages_by_its_size() {
        for (pages, too_many) in [
            (1, 1),
            (10, 1),
            (63, 1),
            (64, 2),
            (512, 9),
            (1 << 20, 16_385),
        ] {
            let choice = Choice::new(pages, false);
            assert_eq!(choice.kind(), Kind::Huge);
            let again = 2 * too_many + BEFORE_GOING_BACK;
            let expected = [(too_many, Kind::Small), (again, Kind::HugeForGood)];
            let changes = changes(&choice);
            assert_eq!(changes, expected[..changes.len()], "{pages} pages");
            assert_eq!(changes.is_empty(), too_many >= 10_000);
        }
    }

    #[test]
    fn patience_stays_with_huge_pages() {
        let choice = Choice::new(512, true);
        assert_eq!((changes(&choice), choice.kind()), (vec![], Kind::Huge));
    }

    /// Two threads wait for huge pages, and both of these are slow: that says nothing about small ones.
    #[test]
    fn a_slow_page_counts_for_its_own_kind_only() {
        let choice = Choice::new(1, false);
        assert_eq!(choice.was_slow(Kind::Huge), Some(Kind::Small));
        assert_eq!(choice.was_slow(Kind::Huge), None);
        assert_eq!(choice.kind(), Kind::Small);
        for _ in 0..BEFORE_GOING_BACK {
            assert_eq!(choice.was_slow(Kind::Small), None);
        }
        assert_eq!(choice.was_slow(Kind::Small), Some(Kind::HugeForGood));
        assert_eq!(choice.was_slow(Kind::Small), None);
        assert_eq!(choice.was_slow(Kind::HugeForGood), None);
        assert_eq!(choice.kind(), Kind::HugeForGood);
    }
}
