//! Elements of any number, which a function takes in groups.

use super::{Contract, Steps};

/// Elements of any number, and a result of each. The function takes them in a loop over groups of
/// `size` elements, as a tree hash does that has a node in each lane of a vector. The last group
/// may be smaller. If it has fewer than `least` elements, the function leaves it to its caller. It
/// returns the number of elements that it has done.
///
/// The file `prove/groups.rs` has the invariant and the proof of soundness. The proof compares each
/// group with the steps here: with the position of its first element, and with the same contents
/// of all other buffers. A test must show that these are the results of its elements.
pub struct Groups {
    /// The buffer of the elements, which is only read.
    pub input: &'static str,
    /// The buffer of the results, which is written.
    pub output: &'static str,
    /// Cells of an element and of its result.
    pub cells: [usize; 2],
    /// A buffer and its cell that has the position of the first element.
    pub position: (&'static str, usize),
    /// The distance between the positions of two neighbouring elements.
    pub distance: u64,
    /// Elements of a full group.
    pub size: usize,
    /// The smallest group that is not left to the caller.
    pub least: usize,
    /// The specification of a group of so many elements. Its only buffer of results is `output`,
    /// with the results of these elements.
    pub steps: Box<dyn Fn(usize) -> Steps>,
}

impl Groups {
    /// The b for which there are at most 2^b elements: no memory has more than 2^63 bytes.
    pub(crate) fn bits(&self) -> usize {
        63 - (8 * self.cells[0]).ilog2() as usize
    }
}

impl Contract {
    /// The elements of `groups`, any number from 1 on. The cells
    /// [`Cell::Elements`](super::Cell::Elements) have their number. The buffers of elements and of
    /// results have room for one group.
    ///
    /// # Panics
    /// If a group of all these elements is too small to be hashed, or the buffers have other sizes.
    pub fn in_groups(self, groups: Groups) -> Self {
        assert!((1..=groups.size).contains(&groups.least), "some are hashed");
        let sizes = [
            (groups.input, groups.cells[0]),
            (groups.output, groups.cells[1]),
        ];
        for (name, cells) in sizes {
            let buffer = &self.buffers[self.index(name)];
            assert_eq!(
                buffer.cells.len(),
                groups.size * cells,
                "a group of `{name}`"
            );
        }
        assert_eq!(
            self.results, 1,
            "it returns the number of elements that are done"
        );
        let groups = Some(groups.into());
        Self { groups, ..self }
    }
}
