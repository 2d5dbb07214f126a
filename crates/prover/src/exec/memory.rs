//! Memory: declared buffers, arguments on the caller's stack, the function's own stack, and
//! constants of the program. Nothing else exists.

use crate::hash::Map;
use crate::image::Image;
use crate::term::{Bit, Terms, Word};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A piece of memory that the function may use.
#[derive(Clone, Debug)]
pub struct Region {
    /// Its name for people.
    pub name: String,
    /// Where it is.
    pub range: Range<u64>,
    /// Whether the function may write to it.
    pub writable: bool,
}

/// All memory.
#[derive(Clone, Default)]
pub struct Memory {
    /// Words of eight bytes that have contents, by address / 8.
    words: Map<u64, Box<Eight>>,
    regions: Vec<Region>,
    /// The stack. Its content at the entry is unknown.
    stack: Range<u64>,
    /// Bytes of the program that were read.
    constants: BTreeSet<u64>,
    given_up_read: Option<(u64, i64)>,
}

/// Eight bytes.
#[derive(Clone)]
struct Eight {
    bits: [Bit; 64],
    /// Which of the bytes have contents: a bit for each.
    present: u8,
    /// Which of those were given up since the last write. Other code may have used the memory, so a
    /// read finds unknown contents. The old ones remain here to be counted as residue.
    stale: u8,
}

impl Memory {
    /// Declares a buffer with its contents.
    pub fn declare(&mut self, region: Region, contents: &[Bit]) {
        assert_eq!(
            contents.len() as u64,
            8 * (region.range.end - region.range.start)
        );
        self.put(region.range.start, contents);
        self.regions.push(region);
    }

    /// Makes the region that starts at `start` longer.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn extend(&mut self, start: u64, contents: &[Bit]) {
        let mut regions = self.regions.iter_mut();
        let region = regions.find(|region| region.range.start == start);
        let region = region.expect("a declared region");
        let end = region.range.end;
        region.range.end += contents.len() as u64 / 8;
        self.put(end, contents);
    }

    /// Removes the regions that start at `start`. No access to that memory is allowed afterwards.
    pub(crate) fn withdraw(&mut self, start: u64) {
        let (gone, left) = core::mem::take(&mut self.regions)
            .into_iter()
            .partition::<Vec<_>, _>(|region| region.range.start == start);
        self.regions = left;
        for piece in gone.into_iter().flat_map(|region| pieces(region.range)) {
            let Some(eight) = self.words.get_mut(&(piece.start / 8)) else {
                continue;
            };
            let length = (piece.end - piece.start) as usize;
            eight.present &= !(0xff_u8 >> (8 - length) << (piece.start % 8));
            if eight.present == 0 {
                self.words.remove(&(piece.start / 8));
            }
        }
    }

    /// The start and the contents of each read-only region.
    pub(crate) fn read_only(&self) -> Vec<(u64, Word)> {
        let regions = self.regions.iter().filter(|region| !region.writable);
        let contents = |region: &Region| (region.range.start, self.contents(region.range.clone()));
        regions.map(contents).collect()
    }

    /// Writes `contents` at `start` without checking permissions.
    pub(crate) fn put(&mut self, start: u64, contents: &[Bit]) {
        for (address, byte) in (start..).zip(contents.as_chunks::<8>().0) {
            self.set(address, byte);
        }
    }

    /// Declares the stack.
    pub fn declare_stack(&mut self, range: Range<u64>) {
        self.stack = range;
    }

    /// Whether an address is in the stack.
    pub fn is_stack(&self, address: u64) -> bool {
        self.stack.contains(&address)
    }

    /// Whether there is a byte of a buffer or of the stack.
    pub fn exists(&self, address: u64) -> bool {
        let in_region = |region: &Region| region.range.contains(&address);
        self.is_stack(address) || self.regions.iter().any(in_region)
    }

    /// The end of the stack.
    pub fn stack_end(&self) -> u64 {
        self.stack.end
    }

    /// The regions.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Constants of the program that were read.
    pub fn constants(&self) -> &BTreeSet<u64> {
        &self.constants
    }

    /// Reads `length` bytes. `lowest` is the lowest address of the stack in use. Some words of the
    /// program are addresses, which have formulas.
    ///
    /// # Errors
    /// A message that describes the fault.
    pub fn load(
        &mut self,
        terms: &mut Terms,
        (image, relocated): (&Image, &[(u64, Word)]),
        address: u64,
        length: u64,
        lowest: u64,
    ) -> Result<Word, String> {
        let end = address + length;
        if self.is_all_ours(address..end, lowest)
            && let Some(word) = self.settled(address..end)
        {
            return Ok(word);
        }
        let mut word = Word::with_capacity(8 * length as usize);
        for at in address..address + length {
            let byte = match self.get(at) {
                Some((byte, false)) if self.is_ours(at, lowest) => byte,
                Some((old, true)) if self.is_ours(at, lowest) => {
                    let distance = address as i64 - self.stack.end as i64;
                    self.given_up_read.get_or_insert((length, distance));
                    let byte = unknown_byte(terms, &old);
                    self.set(at, &byte);
                    byte
                }
                _ if self.stack.contains(&at) && at >= lowest => {
                    let byte = junk_byte(terms);
                    self.set(at, &byte);
                    byte
                }
                _ => self
                    .constant(image, relocated, at)
                    .ok_or_else(|| self.outside("read", address, length))?,
            };
            word.extend(byte);
        }
        Ok(word)
    }

    /// Writes whole bytes. `lowest` is the lowest address of the stack in use.
    ///
    /// # Errors
    /// A message that describes the fault.
    pub fn store(&mut self, address: u64, word: &[Bit], lowest: u64) -> Result<(), String> {
        let length = word.len() as u64 / 8;
        let end = address.wrapping_add(length);
        let inside = |range: &Range<u64>| range.start <= address && end <= range.end;
        let in_region = self
            .regions
            .iter()
            .any(|region| region.writable && inside(&region.range));
        let on_stack = inside(&self.stack) && address >= lowest;
        if !in_region && !on_stack {
            return Err(self.outside("write", address, length));
        }
        let mut bytes = word.as_chunks::<8>().0;
        for piece in pieces(address..end) {
            let (now, later) = bytes.split_at((piece.end - piece.start) as usize);
            self.set_within(piece.start, now);
            bytes = later;
        }
        Ok(())
    }

    /// The first read of stack that was given up: the number of bytes, and the distance from the
    /// end of the stack.
    pub(crate) fn given_up_read(&self) -> Option<(u64, i64)> {
        self.given_up_read
    }

    /// Gives up the stack below `end`: its content is unknown from now on.
    pub fn give_up_stack(&mut self, end: u64) {
        for (word, eight) in &mut self.words {
            if self.stack.contains(&(word * 8)) && word * 8 < end {
                let bytes = (end - word * 8).min(8);
                eight.stale |= 0xff >> (8 - bytes);
            }
        }
    }

    /// The contents of a declared buffer.
    pub fn contents(&self, range: Range<u64>) -> Word {
        range
            .flat_map(|address| self.get(address).expect("declared memory has contents").0)
            .collect()
    }

    /// All bytes on the stack that have been written or read, below `end`.
    pub fn stack_below(&self, end: u64) -> impl Iterator<Item = [Bit; 8]> {
        let words = self.words.keys().map(|word| word * 8);
        let on_stack = words.filter(move |word| self.stack.contains(word) && *word < end);
        on_stack.flat_map(move |word| {
            (word..(word + 8).min(end)).filter_map(|at| Some(self.get(at)?.0))
        })
    }

    /// All words with such a bit, in the order of their addresses.
    pub(super) fn words_with(&mut self, is_like: impl Fn(Bit) -> bool) -> Vec<&mut [Bit; 64]> {
        let words = self
            .words
            .iter_mut()
            .map(|(word, eight)| (word, &mut eight.bits));
        let mut words: Vec<_> = words
            .filter(|(_, bits)| bits.iter().any(|bit| is_like(*bit)))
            .collect();
        words.sort_unstable_by_key(|(word, _)| **word);
        words.into_iter().map(|(_, bits)| bits).collect()
    }

    /// Readable memory, by address; and the given-up stack.
    pub(super) fn bytes(&self) -> (BTreeMap<u64, [Bit; 8]>, BTreeSet<u64>) {
        let (mut bytes, mut stale) = (BTreeMap::new(), BTreeSet::new());
        for word in self.words.keys() {
            for address in 8 * word..8 * word + 8 {
                match self.get(address) {
                    Some((byte, false)) => drop(bytes.insert(address, byte)),
                    Some((_, true)) => drop(stale.insert(address)),
                    None => {}
                }
            }
        }
        (bytes, stale)
    }

    /// Aligned words of eight bytes with contents.
    pub(super) fn eights(&self) -> impl Iterator<Item = &[Bit; 64]> {
        let eights = self.words.values().filter(|eight| eight.present == 0xff);
        eights.map(|eight| &eight.bits)
    }

    /// The addresses and contents of the aligned words of eight bytes that can all be read.
    pub(super) fn readable_eights(&self) -> impl Iterator<Item = (u64, &[Bit; 64])> {
        let words = self.words.iter();
        let readable = words.filter(|(_, eight)| eight.present == 0xff && eight.stale == 0);
        readable.map(|(word, eight)| (word * 8, &eight.bits))
    }

    /// One of them.
    pub(super) fn readable_eight(&self, address: u64) -> Option<&[Bit; 64]> {
        let eight = self.words.get(&(address / 8))?;
        (eight.present == 0xff && eight.stale == 0).then_some(&eight.bits)
    }

    /// The addresses of the aligned words of which some bytes have contents, and not all can be
    /// read; with the bytes that can.
    pub(crate) fn parts(&self) -> Vec<(u64, u8)> {
        let words = self.words.iter();
        let parts = words.filter(|(_, eight)| eight.present != 0xff || eight.stale != 0);
        let mut parts: Vec<(u64, u8)> = parts
            .map(|(word, eight)| (word * 8, eight.present & !eight.stale))
            .collect();
        parts.sort_unstable();
        parts
    }

    /// Bytes of the stack that were given up.
    pub(crate) fn given_up(&self) -> BTreeSet<u64> {
        self.bytes().1
    }

    /// Gives up one byte of the stack, with this content.
    pub(crate) fn give_up_byte(&mut self, address: u64, content: &[Bit; 8]) {
        assert!(self.is_stack(address), "a byte of the stack");
        self.set(address, content);
        let eight = self.words.get_mut(&(address / 8)).expect("just set");
        eight.stale |= 1 << (address % 8);
    }

    /// All bits on the stack and in buffers that may be written.
    pub(super) fn writable(&self) -> impl Iterator<Item = Bit> {
        let is_writable = |address: u64| {
            let written = self.regions.iter().filter(|region| region.writable);
            let mut written = written.map(|region| &region.range);
            self.stack.contains(&address) || written.any(|range| range.contains(&address))
        };
        let words = self.words.iter();
        let words = words.filter(move |(word, _)| is_writable(**word * 8));
        words.flat_map(|(_, eight)| eight.bits.iter().copied())
    }

    fn is_ours(&self, address: u64, lowest: u64) -> bool {
        address >= lowest && self.stack.contains(&address)
            || self
                .regions
                .iter()
                .any(|region| region.range.contains(&address))
    }

    /// Whether all bytes are in one buffer, or in the stack in use.
    fn is_all_ours(&self, bytes: Range<u64>, lowest: u64) -> bool {
        let contains = |all: &Range<u64>| all.start <= bytes.start && bytes.end <= all.end;
        bytes.start >= lowest && contains(&self.stack)
            || self.regions.iter().any(|region| contains(&region.range))
    }

    /// The contents of bytes, if all have contents and none was given up.
    fn settled(&self, bytes: Range<u64>) -> Option<Word> {
        let mut word = Word::with_capacity(8 * (bytes.end - bytes.start) as usize);
        for piece in pieces(bytes) {
            let eight = self.words.get(&(piece.start / 8))?;
            let (first, length) = (
                (piece.start % 8) as usize,
                (piece.end - piece.start) as usize,
            );
            let usable = (eight.present & !eight.stale) >> first;
            if usable.trailing_ones() < length as u32 {
                return None;
            }
            word.extend_from_slice(&eight.bits[8 * first..8 * (first + length)]);
        }
        Some(word)
    }

    fn constant(
        &mut self,
        image: &Image,
        relocated: &[(u64, Word)],
        address: u64,
    ) -> Option<[Bit; 8]> {
        let byte = image.byte(address)?;
        let inside = |(start, _): &&(u64, Word)| (*start..start + 8).contains(&address);
        if let Some((start, word)) = relocated.iter().find(inside) {
            return Some(word.as_chunks::<8>().0[(address - start) as usize]);
        }
        self.constants.insert(address);
        Some(core::array::from_fn(|i| Bit::from(byte >> i & 1 == 1)))
    }

    fn outside(&self, what: &str, address: u64, length: u64) -> String {
        let near = |region: &&Region| {
            region.range.start <= address + 64 && address <= region.range.end + 64
        };
        let place = match self.regions.iter().find(near) {
            Some(region) => format!(
                "{:+} from the start of `{}`",
                address as i64 - region.range.start as i64,
                region.name
            ),
            None if self.stack.start <= address && address < self.stack.end + 4096 => {
                format!(
                    "{:+} from the end of its stack",
                    address as i64 - self.stack.end as i64
                )
            }
            None => format!("at {address:#x}"),
        };
        format!("{what} of {length} bytes outside of its memory, {place}")
    }

    /// A byte, and whether it is stale.
    fn get(&self, address: u64) -> Option<([Bit; 8], bool)> {
        let eight = self.words.get(&(address / 8))?;
        let byte = (address % 8) as usize;
        let is = |bytes: u8| bytes >> byte & 1 == 1;
        is(eight.present).then(|| (eight.bits.as_chunks::<8>().0[byte], is(eight.stale)))
    }

    fn set(&mut self, address: u64, bits: &[Bit; 8]) {
        self.set_within(address, &[*bits]);
    }

    /// Bytes of one word.
    fn set_within(&mut self, address: u64, bytes: &[[Bit; 8]]) {
        let nothing = || Eight {
            bits: [Bit::ZERO; 64],
            present: 0,
            stale: 0,
        };
        let eight = self.words.entry(address / 8);
        let eight = eight.or_insert_with(|| Box::new(nothing()));
        let first = (address % 8) as usize;
        eight.bits[8 * first..8 * (first + bytes.len())].copy_from_slice(bytes.as_flattened());
        let written: u8 = 0xff >> (8 - bytes.len()) << first;
        eight.present |= written;
        eight.stale &= !written;
    }
}

/// Splits a range into parts within one word each.
fn pieces(bytes: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut start = bytes.start;
    std::iter::from_fn(move || {
        let end = (start / 8 * 8 + 8).min(bytes.end);
        let piece = start..end;
        start = end;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The content of a byte that was given up. It can still be the old one, so it depends on inputs if
/// that does.
fn unknown_byte(terms: &mut Terms, old: &[Bit; 8]) -> [Bit; 8] {
    match old.iter().any(|bit| terms.depends_on_input(*bit)) {
        true => terms.input(8).try_into().expect("eight bits"),
        false => junk_byte(terms),
    }
}

fn junk_byte(terms: &mut Terms) -> [Bit; 8] {
    terms.junk(8).try_into().expect("eight bits")
}
