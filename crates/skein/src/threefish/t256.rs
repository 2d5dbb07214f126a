//! Threefish-256: 4 words, 72 rounds. The word permutation has order two. It is folded into the
//! indices of the words, so that no word moves.

use super::{Block, Schedule, Step, mix, subkey, unmix};
use sealstone_lanes::Word;

/// Round `d` modulo 8: the pairs of words that are mixed, each with its rotation.
macro_rules! round {
    ($step:ident $v:ident 0) => {
        $step!($v; 0 1 14, 2 3 16);
    };
    ($step:ident $v:ident 1) => {
        $step!($v; 0 3 52, 2 1 57);
    };
    ($step:ident $v:ident 2) => {
        $step!($v; 0 1 23, 2 3 40);
    };
    ($step:ident $v:ident 3) => {
        $step!($v; 0 3 5, 2 1 37);
    };
    ($step:ident $v:ident 4) => {
        $step!($v; 0 1 25, 2 3 33);
    };
    ($step:ident $v:ident 5) => {
        $step!($v; 0 3 46, 2 1 12);
    };
    ($step:ident $v:ident 6) => {
        $step!($v; 0 1 58, 2 3 22);
    };
    ($step:ident $v:ident 7) => {
        $step!($v; 0 3 32, 2 1 32);
    };
}

impl<W: Word> Block<W> for [W; 4] {
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
                subkey!(add schedule v; 2 * $d; 0 1 2 3);
                observe(Step::Subkey(2 * $d), &v);
                round!(mix v 0);
                observe(Step::Round(8 * $d + 1), &v);
                round!(mix v 1);
                observe(Step::Round(8 * $d + 2), &v);
                round!(mix v 2);
                observe(Step::Round(8 * $d + 3), &v);
                round!(mix v 3);
                observe(Step::Round(8 * $d + 4), &v);
                subkey!(add schedule v; 2 * $d + 1; 0 1 2 3);
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
        eight_rounds!(0 1 2 3 4 5 6 7 8);
        subkey!(add schedule v; 18; 0 1 2 3);
        observe(Step::Subkey(18), &v);
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
                subkey!(sub schedule v; 2 * $d + 1; 0 1 2 3);
                round!(unmix v 3);
                round!(unmix v 2);
                round!(unmix v 1);
                round!(unmix v 0);
                subkey!(sub schedule v; 2 * $d; 0 1 2 3);
            )* };
        }
        subkey!(sub schedule v; 18; 0 1 2 3);
        eight_rounds!(8 7 6 5 4 3 2 1 0);
        v
    }
}
