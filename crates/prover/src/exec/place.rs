//! Symbolic addresses: a proof holds for every place of memory.
//!
//! Every buffer of a contract, the stack, the program, the functions of other libraries and each
//! return address have a *base*: a symbolic address. The machine knows only its low zero bits,
//! which the contract or the ABI promises. It knows nothing of the return addresses of calls that
//! the function makes: code can return there, and do nothing else with such an address.
//!
//! An address is a base plus a constant distance. If the normal form of a word minus that of a base
//! is a constant, the word is an address with this base, and with no other. It is not zero if it is
//! the address of a byte of a buffer or of the stack. The difference of two bases is unknown, so an
//! address that is computed in another way, or a branch on it, ends the run. By the contract,
//! different bases have separate memory.
//!
//! Within the executor, each base has its own *slot* of addresses, far from all others. These
//! numbers only name places; native runs use them. The executor refuses a distance that leaves the
//! slot, so no code reaches one buffer from another.
//!
//! A function that aligns its stack (`and rsp, -64`) moves the stack pointer down by an unknown
//! distance, from 0 to 63 bytes. The aligned stack pointer is a base of its own. Let `room` be the
//! distance from the old stack pointer up to the lowest byte of the stack that was accessed before:
//! the memory that the function has reserved (`sub rsp, 96`) and not used. From the aligned stack
//! pointer, the function may address memory below it and `room` bytes above it; from the old one,
//! memory at least `room` bytes above it. The aligned stack pointer is not above the old one, so
//! the two parts never overlap. The function must not address memory between the two parts. So the
//! outputs are the same for every distance. No content crosses the gap. When the stack is aligned,
//! the machine gives up the bytes below the gap. When the stack pointer leaves the aligned stack,
//! it gives up all bytes that the aligned stack may have. That is stricter than needed: a function
//! that aligns the stack twice in the same way finds its red zone again, and the machine does not
//! know it. What remains on the stack is counted as if the distance were that of the slot, so a
//! function that promises to wipe must not align its stack.

use super::{Machine, Outcome, RSP, STACK, STACK_POINTER};
use crate::hash::Map;
use crate::image::Image;
use crate::term::{Bit, Word, constant, value};

/// A symbolic address.
#[derive(Clone, Debug)]
pub struct Base {
    /// Its name.
    pub name: String,
    /// Its formula.
    pub word: Word,
    /// The start of its used part of the slot. This number only names it.
    pub start: u64,
    /// The number of its known low bits. They are those of `start`.
    pub known: u32,
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The address within the executor.
    pub(super) address: u64,
    /// The index of its base; `None` for plain numbers, in co-simulation.
    base: Option<usize>,
}

/// All bases, and what is known about words.
#[derive(Clone, Default)]
pub(super) struct Bases {
    all: Vec<Base>,
    places: Map<Word, Place>,
    /// The formulas of addresses of code whose distance from all others is unknown: those to which
    /// calls return, and functions of other libraries.
    code: Map<u64, Word>,
    /// The bases of the machine itself.
    stack: usize,
    program: usize,
    /// The aligned stack, if there is one.
    aligned: Option<Aligned>,
    /// The last one that was left.
    left: Option<Left>,
    /// The start and the end of a buffer of any number of elements.
    end: Option<(Word, Word)>,
}

/// An aligned stack.
#[derive(Clone, Copy)]
struct Aligned {
    /// Its base.
    base: usize,
    /// Accesses from it end here or lower.
    end: u64,
    /// Accesses from the old stack pointer begin here or higher.
    floor: u64,
    /// The distance from its start up to the old stack pointer, as these numbers have it.
    distance: u64,
    /// The least distance that it can be.
    least: u64,
    /// The lowest address that was accessed before the alignment, or a higher one.
    touched: u64,
}

/// An aligned stack that the stack pointer has left.
#[derive(Clone, Copy)]
struct Left {
    /// The old stack pointer, and the number of bits that the alignment cleared: they decide where
    /// the aligned stack began.
    from: (u64, u32),
    /// The lowest address that was accessed then, or a higher one, by the numbers of that stack.
    touched: u64,
}

impl Bases {
    /// Adds the addresses of code of a later moment: each has one formula in all runs.
    pub(super) fn keep_code(&mut self, later: Self) {
        for (address, word) in later.code {
            if let Some(place) = later.places.get(&word) {
                self.places.insert(word.clone(), *place);
            }
            self.code.entry(address).or_insert(word);
        }
    }
}

/// The return address of a function.
pub(super) const RETURN: u64 = 0x2800_0000_0000;
/// Half of the size of a slot.
const REACH: u64 = 1 << 39;
/// The known low bits of the program's base: it begins at a page.
const PAGE_BITS: u32 = 12;
/// The ABI: the stack pointer is a multiple of 16 at calls.
pub(super) const STACK_BITS: u32 = 4;
/// The largest alignment of a stack, 128 bytes: aws-lc's AES-GCM has it.
const MOST_ALIGNED: u32 = 7;

impl Machine<'_> {
    /// Declares the bases of the contract and those that every run has. `stack` is the stack
    /// pointer of the caller. Without bases, addresses are numbers.
    pub(super) fn declare_bases(&mut self, of_contract: Vec<Base>, stack: u64) {
        self.bases.all = of_contract;
        let own = [
            ("its stack", stack, self.stack_bits),
            ("the program", Image::BASE, PAGE_BITS),
            ("another library", Image::IMPORTS, 0),
            ("its return address", RETURN, 0),
        ];
        self.bases.stack = self.bases.all.len();
        self.bases.program = self.bases.stack + 1;
        for (name, start, known) in own {
            self.bases.all.push(Base {
                name: name.into(),
                word: self.terms.base(start, known),
                start,
                known,
            });
        }
    }

    /// Declares one more base, for the element that a loop has reached.
    pub(crate) fn add_base(&mut self, base: Base) {
        self.bases.all.push(base);
    }

    /// Sets the end of the buffer whose first element is at `start`. It is at least one element
    /// after `start`.
    pub(crate) fn set_end(&mut self, start: Word, end: Word) {
        self.bases.end = Some((start, end));
    }

    /// Whether the address `a` is below `b`, if both are in one buffer or at its end. No buffer
    /// contains the last byte of the address space, so addresses in it are in the order of their
    /// distances from its start.
    pub(super) fn is_below_in_buffer(&mut self, a: &[Bit], b: &[Bit]) -> Option<Bit> {
        if self.bases.all.is_empty() || a.len() != 64 || value(a).is_some() || value(b).is_some() {
            return None;
        }
        if let (Some(a), Some(b)) = (self.place_in_buffer(a), self.place_in_buffer(b)) {
            return (a.base == b.base).then(|| Bit::from(a.address < b.address));
        }
        let (start, end) = self.bases.end.clone()?;
        let start = self.known_place(&start)?;
        let mut is_before_end = |a: &[Bit], b: &[Bit]| {
            let is_end = value(&self.terms.sub(b, &end)) == Some(0);
            is_end
                && self
                    .place_in_buffer(a)
                    .is_some_and(|a| a.base == start.base)
        };
        if is_before_end(b, a) {
            return Some(Bit::ZERO);
        }
        if !is_before_end(a, b) {
            return None;
        }
        let distance = self.terms.sub(a, b);
        let is_end = self.terms.is_zero(&distance);
        Some(self.terms.not(is_end))
    }

    /// The place of an address in a buffer, or at its end.
    fn place_in_buffer(&mut self, word: &[Bit]) -> Option<Place> {
        let place = self.known_place(word)?;
        let mut regions = self.memory.regions().iter();
        let within = |start: u64, end: u64| start <= place.address && place.address <= end;
        let found = regions.any(|region| within(region.range.start, region.range.end));
        found.then_some(place)
    }

    /// The formula of the stack pointer of the caller.
    pub(super) fn base_of_stack(&self) -> Word {
        self.bases.all[self.bases.stack].word.clone()
    }

    /// The formula of the return address.
    pub(super) fn return_address(&self) -> Word {
        self.bases.all[self.bases.stack + 3].word.clone()
    }

    /// The formula of an address of the program, or of a function that it imports.
    pub(super) fn word_of(&mut self, address: u64) -> Word {
        if self.bases.all.is_empty() {
            return constant(address.into(), 64);
        }
        if self.image.import_at(address).is_some() {
            let base = Some(self.bases.program + 1);
            return self.word_of_code(Place { address, base });
        }
        let base = &self.bases.all[self.bases.program];
        let (word, distance) = (base.word.clone(), address.wrapping_sub(base.start));
        self.distant(&word, distance)
    }

    /// The formula of the return address of a call in the program. Its distance from other
    /// addresses is unknown.
    pub(super) fn word_to_return_to(&mut self, address: u64) -> Word {
        if self.bases.all.is_empty() {
            return constant(address.into(), 64);
        }
        self.word_of_code(self.in_program(address))
    }

    /// The formula of an address of code, at an unknown distance from all others.
    fn word_of_code(&mut self, place: Place) -> Word {
        if let Some(word) = self.bases.code.get(&place.address) {
            return word.clone();
        }
        let word = self.terms.base(place.address, 0);
        self.bases.places.insert(word.clone(), place);
        self.bases.code.insert(place.address, word.clone());
        word
    }

    /// The sum of a word and a constant.
    pub(super) fn distant(&mut self, word: &[Bit], distance: u64) -> Word {
        self.terms.sum(64, &[(1, word)], distance.into())
    }

    /// The place whose address is this word.
    pub(super) fn place(&mut self, word: &[Bit], what: &'static str) -> Outcome<Place> {
        let place = self.place_of_part(word, what)?;
        self.keep_decided(place.address);
        Ok(place)
    }

    /// The words of the bases.
    pub(crate) fn bases(&self) -> impl Iterator<Item = &Word> {
        self.bases.all.iter().map(|base| &base.word)
    }

    /// As [`Machine::place`], for an address to which the caller adds a number.
    pub(super) fn place_of_part(&mut self, word: &[Bit], what: &'static str) -> Outcome<Place> {
        match self.known_place(word) {
            Some(place) => Ok(place),
            None if value(word).is_some() => self.wrong(format!("{what} that is a number")),
            None => self.secret(what, word.to_vec()),
        }
    }

    fn known_place(&mut self, word: &[Bit]) -> Option<Place> {
        if self.bases.all.is_empty() {
            let base = None;
            return value(word).map(|address| Place {
                address: address as u64,
                base,
            });
        }
        if let Some(place) = self.bases.places.get(word) {
            return Some(*place);
        }
        let numbers = 0..self.bases.all.len();
        let place = numbers.rev().find_map(|number| {
            let base = &self.bases.all[number];
            let start = base.start;
            let distance = self.terms.sub(word, &base.word.clone());
            let distance = value(&distance)? as u64;
            self.near(start, distance).map(|address| Place {
                address,
                base: Some(number),
            })
        })?;
        self.bases.places.insert(word.to_vec(), place);
        Some(place)
    }

    fn near(&self, start: u64, distance: u64) -> Option<u64> {
        let is_near = (distance as i64).unsigned_abs() < REACH;
        is_near.then(|| start.wrapping_add(distance))
    }

    /// A place at a constant distance from another.
    pub(super) fn moved(&self, place: Place, distance: u64) -> Outcome<Place> {
        let Some(base) = place.base else {
            let address = place.address.wrapping_add(distance);
            return Ok(Place { address, ..place });
        };
        let start = self.bases.all[base].start;
        let from_start = place.address.wrapping_sub(start).wrapping_add(distance);
        match self.near(start, from_start) {
            Some(address) => Ok(Place { address, ..place }),
            None => self.wrong("an address far outside of its memory"),
        }
    }

    /// A place in the program, relative to the instruction.
    pub(super) fn in_program(&self, address: u64) -> Place {
        let is_symbolic = !self.bases.all.is_empty();
        let base = is_symbolic.then_some(self.bases.program);
        Place { address, base }
    }

    /// Whether the contract or the ABI guarantees that a place is a multiple of `size`, a power of
    /// two.
    pub(super) fn is_aligned(&self, place: Place, size: u64) -> bool {
        let known = place.base.map_or(64, |base| self.bases.all[base].known);
        place.address.is_multiple_of(size) && size.trailing_zeros() <= known
    }

    /// Whether a word is the address of a byte of a buffer or of the stack. No such address is
    /// zero.
    pub(super) fn is_of_memory(&mut self, word: &[Bit]) -> bool {
        if self.bases.all.is_empty() || word.len() != 64 || value(word).is_some() {
            return false;
        }
        let place = self.known_place(word);
        place.is_some_and(|place| self.memory.exists(place.address))
    }

    /// Checks an access after an alignment of the stack pointer: each side of the gap has one base.
    pub(super) fn check_gap(&self, place: Place, length: u64) -> Outcome<()> {
        let Some(aligned) = self.bases.aligned else {
            return Ok(());
        };
        let end = place.address.wrapping_add(length);
        let is_right = match place.base {
            Some(base) if base == aligned.base => end <= aligned.end,
            Some(base) if base == self.bases.stack => place.address >= aligned.floor,
            _ => true,
        };
        if is_right {
            return Ok(());
        }
        self.wrong("an access that depends on how far the stack pointer was aligned")
    }

    /// `and` of the stack pointer `before` with a mask: the result is a new base, unless it is
    /// known.
    pub(super) fn align_stack(
        &mut self,
        before: &[Bit],
        mask: &[Bit],
        after: &[Bit],
    ) -> Outcome<()> {
        let (Some(mask), Some(place)) = (value(mask), self.known_place(before)) else {
            return Ok(());
        };
        let bits = (mask as u64).trailing_zeros();
        let known = self.bases.all[self.bases.stack].known;
        let is_alignment =
            (known + 1..=MOST_ALIGNED).contains(&bits) && mask as u64 == u64::MAX << bits;
        let is_stack = place.base == Some(self.bases.stack) && self.bases.aligned.is_none();
        if !is_alignment || !is_stack || self.known_place(after).is_some() {
            return Ok(());
        }
        if self.wipes {
            // A secret and the zeros over it may have other numbers.
            return self.unsupported("an alignment of the stack in a function that wipes");
        }
        let start = place.address >> bits << bits;
        let floor = self.touched.max(place.address);
        self.memory.give_up_stack(floor);
        self.bases.aligned = Some(Aligned {
            base: self.bases.all.len(),
            end: start + (floor - place.address),
            floor,
            distance: place.address - start,
            least: place.address % (1 << known),
            touched: self.touched,
        });
        // The aligned stack begins `most` bytes below the old stack pointer, or higher.
        let most = (1 << bits) - (1 << known) + place.address % (1 << known);
        self.touched = self.touched - (place.address - start) + most;
        let again = self
            .bases
            .left
            .filter(|left| left.from == (place.address, bits));
        if let Some(left) = again {
            self.touched = self.touched.min(left.touched);
        }
        self.bases.all.push(Base {
            name: "its aligned stack".into(),
            word: after.to_vec(),
            start,
            known: bits,
        });
        Ok(())
    }

    /// Removes the aligned stack if the stack pointer has left it. Returns the end of all that it
    /// may have then.
    pub(super) fn leave_aligned_stack(&mut self, pointer: Place) -> Option<u64> {
        match self.bases.aligned {
            Some(aligned) if pointer.base != Some(aligned.base) => {
                let base = &mut self.bases.all[aligned.base];
                // No word has a known distance from a new unknown.
                base.word = self.terms.junk(64);
                self.bases
                    .places
                    .retain(|_, place| place.base != Some(aligned.base));
                self.bases.aligned = None;
                let start = base.start;
                self.bases.left = Some(Left {
                    from: (start + aligned.distance, base.known),
                    touched: self.touched,
                });
                // The aligned stack began `least` bytes below the old stack pointer, or lower.
                let highest = self
                    .touched
                    .saturating_add(aligned.distance - aligned.least);
                self.touched = aligned.touched.min(highest);
                Some(aligned.floor)
            }
            _ => None,
        }
    }

    /// The start of the aligned stack, the end of accesses from it, and the beginning of those from
    /// the old stack pointer.
    pub(crate) fn aligned_stack(&self) -> Option<[u64; 3]> {
        let aligned = self.bases.aligned?;
        let start = self.bases.all[aligned.base].start;
        Some([start, aligned.end, aligned.floor])
    }

    /// Checks that the stack pointer is in the stack, and not above its place before the call: a
    /// signal handler may overwrite all memory below it.
    pub(super) fn check_stack_pointer(&self, pointer: Place) -> Outcome<()> {
        let Some(base) = pointer.base else {
            return Ok(());
        };
        let highest = match self.bases.aligned {
            Some(aligned) if base == aligned.base => aligned.end,
            _ if base == self.bases.stack => self.bases.all[base].start,
            _ => 0,
        };
        match pointer.address <= highest {
            true => Ok(()),
            false => self.wrong("the stack pointer leaves the stack below its caller's"),
        }
    }

    /// The place of the stack pointer.
    pub(super) fn stack_pointer(&mut self) -> Outcome<Place> {
        let word = self.general[RSP].clone();
        self.place(&word, STACK_POINTER)
    }

    /// Whether a place is in the part of the stack that the aligned stack pointer does not reach.
    /// That part is above all accesses before the alignment.
    pub(super) fn is_above_aligned(&self, place: Place) -> bool {
        self.bases.aligned.is_some() && place.base == Some(self.bases.stack)
    }

    /// The bytes by which an alignment may make the stack deeper than places show.
    pub(super) fn slack(&self) -> u64 {
        let aligned = self
            .bases
            .aligned
            .map(|aligned| self.bases.all[aligned.base].known);
        aligned.map_or(0, |bits| (1 << bits) - 1)
    }

    /// Addresses that the loader writes into the program, near `address`: their place and formula.
    pub(super) fn relocated(&mut self, address: u64, length: u64) -> Vec<(u64, Word)> {
        let near = address.saturating_sub(7)..address.saturating_add(length);
        let values: Vec<(u64, u64)> = self.image.relocated(near).collect();
        let words = values.into_iter();
        words.map(|(at, value)| (at, self.word_of(value))).collect()
    }

    pub(super) fn stack_range(&self, stack: u64) -> core::ops::Range<u64> {
        stack - STACK..stack
    }
}
