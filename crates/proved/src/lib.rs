//! Lists of proved machine code: whether a program has the code that a list names.
//!
//! `sealstone-prove` writes a list of the functions that it proved. A program is compared with it
//! by digests, which do not depend on the place of a function in the program: code names other
//! places by their distance, which depends on the code between them. So a digest is of the
//! [`normal_form`]: the bytes of a function with zeros in such *distances*, and the constants that
//! the proof has read through them, in the order of the code. Functions with the same digest have
//! the same code and these constants.
//!
//! A digest does not cover
//!
//! - the targets of calls: each executed function has its own digest;
//! - constants that no run has read: those of paths to a panic;
//! - tables whose address is first put into a register: aws-lc's SHA-256 without vectors has one.
//!
//! | to | use |
//! |---|---|
//! | compute what a digest is of | [`normal_form`], [`Distance`] |
//! | read a list | [`List`], [`Kernel`], [`Function`] |
//! | ask a program file whether it has a function | [`Program`] |
#![forbid(unsafe_code)]

mod list;
mod program;

pub use list::{Function, Kernel, List};
pub use program::{Program, Unreadable};

/// Four bytes of code: the distance of another place from the end of their instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// Their offset in the function.
    pub at: usize,
    /// The offset of the end of their instruction.
    pub from: usize,
    /// The length of the constant there; 0 if the digest does not cover it.
    pub length: usize,
}

/// The bytes that the digest of a function covers. The function stands at `start` and has this
/// code; `read` gives the bytes of a constant. `None` if the code has no such distances, or a
/// constant cannot be read.
///
/// ```
/// use sealstone_proved::{Distance, normal_form};
///
/// // A call, and a constant of two bytes right behind it.
/// let code = [0xe8, 0, 0, 0, 0];
/// let distances = [Distance { at: 1, from: 5, length: 2 }];
/// let read = |place, length| (place == 0x1005).then(|| vec![7; length]);
/// let form = normal_form(&code, 0x1000, &distances, read);
/// assert_eq!(form, Some(vec![0xe8, 0, 0, 0, 0, 7, 7]));
/// ```
pub fn normal_form(
    code: &[u8],
    start: u64,
    distances: &[Distance],
    read: impl Fn(u64, usize) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let mut form = code.to_vec();
    for &Distance { at, from, length } in distances {
        let bytes = form.get_mut(at..at.checked_add(4)?)?;
        let distance = i32::from_le_bytes((&*bytes).try_into().ok()?);
        bytes.fill(0);
        if length > 0 {
            let place = start.wrapping_add(from as u64);
            form.extend(read(place.wrapping_add_signed(distance.into()), length)?);
        }
    }
    Some(form)
}
