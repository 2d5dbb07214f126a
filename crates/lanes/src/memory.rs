//! Cache lines: aligned memory, hints to fetch it, and overwriting it.

/// Eight words on one cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Line<W = u64>(pub [W; 8]);

/// Where lines begin. Nothing can be read through it: it is for hints only.
#[derive(Clone, Copy, Debug)]
pub struct Place(usize);

impl Place {
    /// Where `lines` begin.
    pub fn of(lines: &[Line]) -> Self {
        Self(lines.as_ptr().addr())
    }

    /// Where the line is that is so many lines behind this one.
    #[inline(always)]
    pub fn line(self, number: usize) -> Self {
        Self(self.0.wrapping_add(number.wrapping_mul(size_of::<Line>())))
    }

    /// Asks the CPU to bring `LINES` lines into its caches, from here on. That is a hint: it changes nothing and cannot fault,
    /// wherever it points.
    #[inline(always)]
    pub fn prefetch<const LINES: usize>(self) {
        for line in 0..LINES {
            prefetch(self.line(line).0);
        }
    }
}

/// Overwrites `lines` with zeros, in a way that the optimiser cannot leave out, and past the caches if that is quicker
/// because they are many.
pub fn wipe(lines: &mut [Line]) {
    wipe_part(lines, lines.len());
}

/// [`wipe`], where these are a part of `all` lines and others overwrite the rest.
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

/// Bytes from which on zeros are streamed: less than that would still be in a cache, and be wanted there. Measured: at 19 MiB streaming
/// makes a hash 10 % slower, and the next in the same memory 26 %; at 64 MiB both take the same time, above it streaming is quicker.
#[cfg(target_arch = "x86_64")]
const STREAMED: usize = 48 << 20;

#[cfg(target_arch = "x86_64")]
fn stream_zeros(lines: &mut [Line]) {
    use core::arch::x86_64::*;
    for line in lines.iter_mut() {
        let quarters = line.0.as_mut_ptr().cast::<__m128i>();
        // SAFETY: every x86-64 CPU has SSE2; the four stores stay inside the line, which is aligned.
        unsafe {
            let zero = _mm_setzero_si128();
            for i in 0..4 {
                _mm_stream_si128(quarters.add(i), zero);
            }
        }
    }
    // SAFETY: every x86-64 CPU has SSE2. The fence puts the streamed stores before everything that follows, as the memory
    // model of Rust takes for granted.
    unsafe { _mm_sfence() };
    keep(lines);
}

/// Tells the optimiser that somebody reads `lines`.
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
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
    let _ = address;
}
