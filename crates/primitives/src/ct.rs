//! Comparison in constant time, and marks for the check of constant time.

/// Whether `a` and `b` are equal, in a time that depends on their lengths only.
///
/// ```
/// use sealstone_primitives::ct;
///
/// assert!(ct::eq(b"tag", b"tag"));
/// assert!(!ct::eq(b"tag", b"gat"));
/// ```
#[must_use]
pub fn eq(a: &[u8], b: &[u8]) -> bool {
    // The result is what callers act on.
    declassified(aws_lc_rs::constant_time::verify_slices_are_equal(a, b).is_ok())
}

/// Declares `value` public, although it was computed from a secret.
///
/// Says so to valgrind in the build of `scripts/test-constant-time`, and does nothing in any
/// other. Each call has a comment that says why the value may be known.
#[cfg(not(sealstone_valgrind))]
#[inline(always)]
#[must_use]
pub fn declassified<T: Copy>(value: T) -> T {
    value
}

#[cfg(sealstone_valgrind)]
pub use marks::{declassified, mark_public, mark_secret};

/// Requests to valgrind's memcheck: a secret is memory without a defined value.
#[cfg(sealstone_valgrind)]
mod marks {
    use std::arch::asm;

    /// `VG_USERREQ__MAKE_MEM_UNDEFINED` of valgrind's memcheck.h.
    const MAKE_MEM_UNDEFINED: u64 = 0x4d43_0001;
    /// `VG_USERREQ__MAKE_MEM_DEFINED`.
    const MAKE_MEM_DEFINED: u64 = 0x4d43_0002;

    /// From here on, no branch and no address may depend on `bytes` or on what comes of them.
    pub fn mark_secret(bytes: &[u8]) {
        request(MAKE_MEM_UNDEFINED, bytes.as_ptr(), bytes.len());
    }

    /// From here on, `bytes` may be known.
    pub fn mark_public(bytes: &[u8]) {
        request(MAKE_MEM_DEFINED, bytes.as_ptr(), bytes.len());
    }

    /// As its namesake above.
    #[inline(never)]
    #[must_use]
    pub fn declassified<T: Copy>(value: T) -> T {
        request(MAKE_MEM_DEFINED, (&raw const value).cast(), size_of::<T>());
        // SAFETY: a valid value on the stack; volatile, so that the marked memory is read.
        unsafe { (&raw const value).read_volatile() }
    }

    fn request(number: u64, start: *const u8, len: usize) {
        let arguments: [u64; 6] = [number, start as u64, len as u64, 0, 0, 0];
        // SAFETY: the sequence that valgrind.h gives for this processor. Four rotations restore
        // rdi, and exchanging rbx with itself does nothing, where no valgrind reads them.
        unsafe {
            asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") &raw const arguments,
                inout("rdx") 0_u64 => _,
            );
        }
    }
}
