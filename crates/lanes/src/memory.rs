//! Cache lines: aligned memory, hints to fetch it, and overwriting it.

/// Eight words on one cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Line<W = u64>(pub [W; 8]);

/// The address of a line, for hints only: nothing can be read through it.
#[derive(Clone, Copy, Debug)]
pub struct Place(usize);

impl Place {
    /// The address of the first of `lines`.
    pub fn of(lines: &[Line]) -> Self {
        Self(lines.as_ptr().addr())
    }

    /// The address of the line that is `number` lines behind this one.
    #[inline(always)]
    pub fn line(self, number: usize) -> Self {
        Self(self.0.wrapping_add(number.wrapping_mul(size_of::<Line>())))
    }

    /// Asks the CPU to bring `LINES` lines into its caches, from this one on. This is a hint: it
    /// changes nothing and cannot fault, whatever the address is.
    #[inline(always)]
    pub fn prefetch<const LINES: usize>(self) {
        for line in 0..LINES {
            prefetch(self.line(line).0);
        }
    }
}

/// Overwrites `lines` with zeros, which the optimiser cannot leave out. Many lines are written past
/// the caches, which is quicker.
pub fn wipe(lines: &mut [Line]) {
    wipe_part(lines, lines.len());
}

/// [`wipe`], for a part of `all` lines whose other parts are wiped by other calls.
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_variables, reason = "nothing is streamed")
)]
pub fn wipe_part(lines: &mut [Line], all: usize) {
    #[cfg(target_arch = "x86_64")]
    if all.saturating_mul(size_of::<Line>()) >= STREAMED {
        stream_zeros(lines);
        return;
    }
    lines.fill(Line([0; 8]));
    keep(lines);
}

/// Zeros are streamed past the caches from this many bytes on. Less memory stays in a cache, for
/// the next hash. Measured: at 19 MiB, streaming makes a hash 10 % slower, and the next in the same
/// memory 26 %. At 64 MiB both ways take the same time; above it, streaming is quicker.
#[cfg(target_arch = "x86_64")]
const STREAMED: usize = 48 << 20;

#[cfg(target_arch = "x86_64")]
fn stream_zeros(lines: &mut [Line]) {
    use core::arch::x86_64::*;
    for line in lines.iter_mut() {
        let quarters = line.0.as_mut_ptr().cast::<__m128i>();
        // SAFETY: every x86-64 CPU has SSE2; the four stores stay inside the line, which is
        // aligned.
        unsafe {
            let zero = _mm_setzero_si128();
            for i in 0..4 {
                _mm_stream_si128(quarters.add(i), zero);
            }
        }
    }
    // SAFETY: every x86-64 CPU has SSE2. The fence orders the streamed stores before everything
    // that follows, as Rust's memory model requires.
    unsafe { _mm_sfence() };
    keep(lines);
}

/// Tells the optimiser that `lines` are read.
fn keep(lines: &mut [Line]) {
    core::hint::black_box(lines);
}

#[inline(always)]
fn prefetch(address: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::*;
        // SAFETY: every x86-64 CPU has SSE, and a prefetch cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::without_provenance(address)) };
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a prefetch changes nothing and cannot fault.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{}]", in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
    let _ = address;
}
