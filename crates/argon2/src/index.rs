//! The block that a new block refers to (RFC 9106, sections 3.4.1 and 3.4.2). Everything here is a
//! function of public numbers and, where Argon2 depends on data, of the pseudo-random word.

use sealstone_lanes::Index;

/// Slices in a lane, SL.
pub const SLICES: usize = 4;

/// A segment, one slice of one lane in one pass: the numbers that its references depend on.
#[derive(Clone, Copy, Debug)]
pub struct Segment<I> {
    /// Its lane, l.
    lane: I,
    /// Blocks in a segment, q / 4.
    length: I,
    /// The slice that was written longest ago.
    oldest: I,
    /// Blocks in this lane's finished segments: of the last three slices, or in pass 0 of all
    /// slices before.
    finished: I,
    /// J2 gives lane `first_lane` + (J2 mod `choice`): any lane, or in the very first slice this
    /// lane.
    first_lane: I,
    choice: I,
}

/// A block by its slice. Memory orders blocks by slice, then lane, then index, so that a slice is
/// in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference<I> {
    /// Slice number, below 4.
    pub slice: I,
    /// Number of the block within its slice: lane · length + index.
    pub block: I,
}

impl<I: Index> Segment<I> {
    /// Slice `slice`, below 4, of lane `lane`, below `lanes`, in pass 0 or a later one. `lanes` is
    /// below 2^24, `length` at least 2, and 4 · length · lanes below 2^32.
    pub fn new(cpu: I::Cpu, first_pass: bool, slice: usize, lane: I, lanes: I, length: I) -> Self {
        let number = |n: usize| I::splat(cpu, n as u64);
        let (oldest, finished) = if first_pass {
            (0, slice)
        } else {
            ((slice + 1) % SLICES, SLICES - 1)
        };
        let only_own = first_pass && slice == 0;
        Self {
            lane,
            length,
            oldest: number(oldest),
            finished: length.mul_lo32(number(finished)),
            first_lane: if only_own { lane } else { number(0) },
            choice: if only_own { number(1) } else { lanes },
        }
    }

    /// The reference of block `index` of this segment, when `word` = J2 ‖ J1 is its pseudo-random
    /// word.
    ///
    /// The block was written before, is not the block just before, and is in another lane only if
    /// its segment is finished.
    #[inline(always)]
    pub fn reference(&self, cpu: I::Cpu, index: I, word: I) -> Reference<I> {
        let number = |n: u64| I::splat(cpu, n);
        let lane = self
            .first_lane
            .add(word.shift_right::<32>().remainder(self.choice));
        let area = self.area(cpu, lane.is_equal(self.lane), index);
        let entry = entry(cpu, area, word);
        // The slice of the entry, by counting the segments before it instead of dividing.
        let two = self.length.add(self.length);
        let ends = [self.length, two, two.add(self.length)];
        let [a, b, c] = ends.map(|end| I::select(entry.is_below(end), number(0), number(1)));
        let passed = a.add(b).add(c);
        let slice = self.oldest.add(passed);
        let slice = I::select(slice.is_below(number(4)), slice, slice.sub(number(4)));
        let index = entry.sub(passed.mul_lo32(self.length));
        Reference {
            slice,
            block: lane.mul_lo32(self.length).add(index),
        }
    }

    /// |W|, the number of blocks that a reference may be to. These are the blocks of finished
    /// segments. In this lane, the blocks of this segment before `index` count too, but not the
    /// last of them. In another lane, the last block does not count if `index` is 0.
    #[inline(always)]
    fn area(&self, cpu: I::Cpu, own_lane: I::Truth, index: I) -> I {
        let (zero, one) = (I::splat(cpu, 0), I::splat(cpu, 1));
        let own = self.finished.add(index).sub(one);
        let other = self
            .finished
            .sub(I::select(index.is_equal(zero), one, zero));
        I::select(own_lane, own, other)
    }
}

/// zz: an entry of the area. Later entries are more likely.
#[inline(always)]
fn entry<I: Index>(cpu: I::Cpu, area: I, word: I) -> I {
    let x = word.mul_lo32(word).shift_right::<32>();
    let y = area.mul_lo32(x).shift_right::<32>();
    area.sub(I::splat(cpu, 1)).sub(y)
}
