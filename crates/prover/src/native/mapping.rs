//! An image and its buffers in memory, at the addresses of the proof.

use super::caller::{Caller, Entry, Executed, Reached, Until};
use super::{Guard, lock};
use crate::image::Image;
use std::ops::Range;
use std::sync::Mutex;

/// An image that can be called. Drop unmaps its buffers. The image itself stays mapped until
/// another one is mapped: copying it takes longer than most proofs.
///
/// A process has one mapping at a time, because addresses are fixed and traps have one handler. A
/// second mapping waits until the first is dropped.
pub(crate) struct Mapping {
    memory: Pieces,
    buffers: Vec<Range<u64>>,
    caller: Caller,
    /// The last field: it is released after everything else is unmapped.
    _loaded: Guard<Option<Loaded>>,
}

/// Code and constants of an image, mapped read-only.
struct Loaded {
    version: u64,
    pieces: Pieces,
}

/// The image that was mapped last.
static LAST: Mutex<Option<Loaded>> = Mutex::new(None);

/// Mapped memory. Unmapped on drop.
#[derive(Default)]
struct Pieces(Vec<Piece>);

struct Piece {
    start: u64,
    length: usize,
}

const PAGE: u64 = 4096;

impl Mapping {
    /// Maps an image, the functions of the C library at their addresses, and memory for buffers.
    ///
    /// # Errors
    /// The part that cannot be mapped.
    pub(crate) fn new(image: &Image, buffers: &[Range<u64>]) -> Result<Self, String> {
        let mut last = lock(&LAST);
        let loaded = match last.take() {
            Some(same) if same.version == image.version() => same,
            other => {
                drop(other);
                Loaded::new(image)?
            }
        };
        let loaded = last.insert(loaded);
        let caller = Caller::new()?;
        let mut memory = Pieces::default();
        for range in buffers {
            let pages = range.start / PAGE * PAGE..range.end;
            let mut constants = loaded.pieces.0.iter();
            let shares = |piece: &Piece| {
                piece.start < pages.end && pages.start < piece.start + piece.length as u64
            };
            if !range.is_empty() && constants.any(shares) {
                return Err("a variable is on a page of constants".into());
            }
            memory.map(range.start, (range.end - range.start) as usize)?;
        }
        Ok(Self {
            memory,
            buffers: buffers.to_vec(),
            caller,
            _loaded: last,
        })
    }

    /// Writes the cells of each buffer. The last cell may be longer than what is left of it.
    pub(crate) fn fill(&mut self, contents: &[Vec<u64>]) {
        for (range, cells) in self.buffers.clone().into_iter().zip(contents) {
            let bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
            let length = (range.end - range.start) as usize;
            assert_eq!(bytes.len(), length.next_multiple_of(8), "an entire buffer");
            self.memory.write(range.start, &bytes[..length]);
        }
    }

    /// The cells of each buffer.
    pub(crate) fn contents(&self) -> Vec<Vec<u64>> {
        let cell = |address: u64, end: u64| {
            let mut bytes = [0; 8];
            let length = bytes.len().min((end - address) as usize);
            // SAFETY: `new` mapped every buffer readable, and it stays mapped as long as `self`
            // lives. No more is copied than is left of the buffer and than `bytes` has.
            unsafe {
                core::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), length);
            }
            u64::from_le_bytes(bytes)
        };
        let buffers = self.buffers.iter();
        let cells = buffers.map(|range| {
            let addresses = range.clone().step_by(8);
            addresses.map(|address| cell(address, range.end)).collect()
        });
        cells.collect()
    }

    /// Calls a function. Returns rax and rdx.
    pub(crate) fn call(&mut self, function: u64, entry: &Entry) -> [u64; 2] {
        // SAFETY: the prover calls only functions that it has run to their end on formulas, for
        // this image and these addresses: they stay within the buffers and their own stack, and
        // follow the ABI. The caller of `Session::prove` guarantees that the CPU has the
        // instructions.
        unsafe { self.caller.call(function, entry) }
    }

    /// Calls a function, and records each instruction. `None` if there are too many.
    pub(crate) fn record(&mut self, function: u64, entry: &Entry) -> Option<Vec<Executed>> {
        // SAFETY: as for `call`.
        unsafe { self.caller.record(function, entry) }
    }

    /// Calls a function until it reaches the instruction at which the run on formulas has stopped.
    pub(crate) fn call_until(
        &mut self,
        function: u64,
        entry: &Entry,
        until: &Until,
    ) -> Option<Reached> {
        // SAFETY: as for `call`, up to that instruction. No decision before it depends on data, so
        // the path is the same.
        unsafe { self.caller.call_until(function, entry, until) }
    }
}

impl Loaded {
    /// Maps the image at its addresses.
    fn new(image: &Image) -> Result<Self, String> {
        let mut pieces = Pieces::default();
        for (start, bytes, _) in image.segments() {
            pieces.map(start, bytes.len())?;
            pieces.write(start, bytes);
        }
        let trampolines = trampolines(image);
        if let Some(first) = image.imports().next() {
            pieces.map(first.0, trampolines.len())?;
            pieces.write(first.0, &trampolines);
        }
        for piece in &pieces.0 {
            piece.make_executable()?;
        }
        Ok(Self {
            version: image.version(),
            pieces,
        })
    }
}

impl Pieces {
    /// Maps pages for `length` bytes, unless they are mapped already.
    fn map(&mut self, start: u64, length: usize) -> Result<(), String> {
        let first = start / PAGE * PAGE;
        let end = (start + length as u64).next_multiple_of(PAGE);
        let covered = |page: u64| {
            self.0
                .iter()
                .any(|piece| (piece.start..piece.start + piece.length as u64).contains(&page))
        };
        let pages: Vec<u64> = (first..end)
            .step_by(PAGE as usize)
            .filter(|page| !covered(*page))
            .collect();
        for run in pages.chunk_by(|a, b| a + PAGE == *b) {
            self.0.push(Piece::new(run[0], run.len() * PAGE as usize)?);
        }
        Ok(())
    }

    fn write(&mut self, start: u64, bytes: &[u8]) {
        // SAFETY: the memory is from `map`, writable and not yet executable, and no other reference
        // to it exists.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), start as *mut u8, bytes.len()) };
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        for piece in &self.0 {
            // SAFETY: mapped by `Piece::new`, and no reference to it exists any more.
            unsafe { libc::munmap(piece.start as *mut libc::c_void, piece.length) };
        }
    }
}

impl Piece {
    fn new(start: u64, length: usize) -> Result<Self, String> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: `MAP_FIXED_NOREPLACE` takes only addresses that are free.
        let address =
            unsafe { libc::mmap(start as *mut libc::c_void, length, protection, flags, -1, 0) };
        if address as u64 != start {
            return Err(format!(
                "{start:#x} cannot be mapped: {}",
                std::io::Error::last_os_error()
            ));
        }
        Ok(Self { start, length })
    }

    fn make_executable(&self) -> Result<(), String> {
        // SAFETY: the pages are ours, and no reference into them exists.
        let done = unsafe {
            libc::mprotect(
                self.start as *mut libc::c_void,
                self.length,
                libc::PROT_READ | libc::PROT_EXEC,
            )
        };
        if done == 0 {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error().to_string())
        }
    }
}

/// Sixteen bytes for each import: a jump to the function of that name, or an instruction that
/// faults if the function must not be called.
fn trampolines(image: &Image) -> Vec<u8> {
    let mut code = Vec::new();
    for (_, name) in image.imports() {
        let target = match name {
            "memcpy" => libc::memcpy as *const () as u64,
            "memmove" => libc::memmove as *const () as u64,
            "memset" => libc::memset as *const () as u64,
            _ => {
                code.extend([0xcc; 16]);
                continue;
            }
        };
        // jmp [rip + 0], then the address.
        code.extend([0xff, 0x25, 0, 0, 0, 0]);
        code.extend(target.to_le_bytes());
        code.extend([0xcc; 2]);
    }
    code
}
