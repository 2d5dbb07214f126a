//! Threefish-1024: 16 words, 80 rounds. The word permutation has order four. It is folded into the
//! indices of the words, so that no word moves.

use super::{Block, Schedule, Step, mix, subkey, unmix};
use sealstone_lanes::Word;

/// Round `d` modulo 8: the pairs of words that are mixed, each with its rotation.
macro_rules! round {
    ($step:ident $v:ident 0) => {
        $step!($v; 0 1 24, 2 3 13, 4 5 8, 6 7 47);
        $step!($v; 8 9 8, 10 11 17, 12 13 22, 14 15 37);
    };
    ($step:ident $v:ident 1) => {
        $step!($v; 0 9 38, 2 13 19, 6 11 10, 4 15 55);
        $step!($v; 10 7 49, 12 3 18, 14 5 23, 8 1 52);
    };
    ($step:ident $v:ident 2) => {
        $step!($v; 0 7 33, 2 5 4, 4 3 51, 6 1 13);
        $step!($v; 12 15 34, 14 13 41, 8 11 59, 10 9 17);
    };
    ($step:ident $v:ident 3) => {
        $step!($v; 0 15 5, 2 11 20, 6 13 48, 4 9 41);
        $step!($v; 14 1 47, 8 5 28, 10 3 16, 12 7 25);
    };
    ($step:ident $v:ident 4) => {
        $step!($v; 0 1 41, 2 3 9, 4 5 37, 6 7 31);
        $step!($v; 8 9 12, 10 11 47, 12 13 44, 14 15 30);
    };
    ($step:ident $v:ident 5) => {
        $step!($v; 0 9 16, 2 13 34, 6 11 56, 4 15 51);
        $step!($v; 10 7 4, 12 3 53, 14 5 42, 8 1 41);
    };
    ($step:ident $v:ident 6) => {
        $step!($v; 0 7 31, 2 5 44, 4 3 47, 6 1 46);
        $step!($v; 12 15 19, 14 13 42, 8 11 44, 10 9 25);
    };
    ($step:ident $v:ident 7) => {
        $step!($v; 0 15 9, 2 11 48, 6 13 35, 4 9 52);
        $step!($v; 14 1 23, 8 5 31, 10 3 37, 12 7 20);
    };
}

impl<W: Word> Block<W> for [W; 16] {
    #[inline(always)]
    fn encrypt_observed(
        self,
        cpu: W::Cpu,
        key: &Self,
        tweak: &[W; 2],
        mut observe: impl FnMut(Step, &Self),
    ) -> Self {
        let schedule = Schedule::new(cpu, key, tweak);
        let mut v = self;
        macro_rules! eight_rounds {
            ($($d:literal)*) => { $(
                subkey!(add schedule v; 2 * $d; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
                observe(Step::Subkey(2 * $d), &v);
                round!(mix v 0);
                observe(Step::Round(8 * $d + 1), &v);
                round!(mix v 1);
                observe(Step::Round(8 * $d + 2), &v);
                round!(mix v 2);
                observe(Step::Round(8 * $d + 3), &v);
                round!(mix v 3);
                observe(Step::Round(8 * $d + 4), &v);
                subkey!(add schedule v; 2 * $d + 1; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
                observe(Step::Subkey(2 * $d + 1), &v);
                round!(mix v 4);
                observe(Step::Round(8 * $d + 5), &v);
                round!(mix v 5);
                observe(Step::Round(8 * $d + 6), &v);
                round!(mix v 6);
                observe(Step::Round(8 * $d + 7), &v);
                round!(mix v 7);
                observe(Step::Round(8 * $d + 8), &v);
            )* };
        }
        eight_rounds!(0 1 2 3 4 5 6 7 8 9);
        subkey!(add schedule v; 20; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        observe(Step::Subkey(20), &v);
        v
    }

    #[inline(always)]
    fn decrypt(self, cpu: W::Cpu, key: &Self, tweak: &[W; 2]) -> Self {
        let schedule = Schedule::new(cpu, key, tweak);
        let mut v = self;
        macro_rules! eight_rounds {
            ($($d:literal)*) => { $(
                round!(unmix v 7);
                round!(unmix v 6);
                round!(unmix v 5);
                round!(unmix v 4);
                subkey!(sub schedule v; 2 * $d + 1; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
                round!(unmix v 3);
                round!(unmix v 2);
                round!(unmix v 1);
                round!(unmix v 0);
                subkey!(sub schedule v; 2 * $d; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
            )* };
        }
        subkey!(sub schedule v; 20; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        eight_rounds!(9 8 7 6 5 4 3 2 1 0);
        v
    }
}
