//! The one dispatch point.

use crate::{Lanes, Portable, Row, RowPair};

#[cfg(target_arch = "x86_64")]
use crate::{Avx2, Avx512, Both, Row4, U64x4, U64x8};
#[cfg(target_arch = "aarch64")]
use crate::{Neon, U64x2};

/// A computation with one independent stream in every lane, written once for all instruction sets.
pub trait Kernel {
    /// The result.
    type Output;

    /// Runs on lanes of one instruction set. Mark it and everything it calls `#[inline(always)]`,
    /// so that all of it is compiled with the instructions of the caller.
    fn run<const N: usize, L: Lanes<N, Lane = u64>>(self, cpu: L::Cpu) -> Self::Output;
}

/// A computation on matrices of words with rows of four, written once for all instruction sets.
pub trait RowKernel {
    /// The result.
    type Output;

    /// Runs on rows of one instruction set. Mark it `#[inline(always)]`, as [`Kernel::run`].
    fn run<R, P>(self, cpu: R::Cpu) -> Self::Output
    where
        R: Row<Lane = u64>,
        P: RowPair<Lane = u64, Cpu = R::Cpu>;
}

/// An instruction set that this CPU has.
///
/// Without the crate feature `std`, nothing is detected: the CPU has what the compiler was told.
///
/// Tests and measurements disable levels by the environment variables
/// `SEALSTONE_CPU_DISABLE_AVX512F`, `SEALSTONE_CPU_DISABLE_AVX2` and `SEALSTONE_CPU_DISABLE_NEON`,
/// with any value. [`Cpu::best`] reads them once, [`Cpu::available`] each time.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Cpu {
    /// Plain Rust, one word at a time.
    Portable(Portable),
    /// Four words in a vector.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// Eight words in a vector.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// Eight words in a vector, and one beside it. Rows are those of [`Cpu::Avx512`].
    #[cfg(target_arch = "x86_64")]
    Avx512Plus(Avx512),
    /// Two words in a vector.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

impl Cpu {
    /// The best level that the CPU has. Detected once.
    pub fn best() -> Self {
        let detect = || Self::available().next().unwrap_or(Self::Portable(Portable));
        #[cfg(feature = "std")]
        {
            static BEST: std::sync::OnceLock<Cpu> = std::sync::OnceLock::new();
            *BEST.get_or_init(detect)
        }
        #[cfg(not(feature = "std"))]
        detect()
    }

    /// All levels that the CPU has, best first; the portable one is the last. For tests and
    /// measurements.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let [wide, other] = match Avx512::detect() {
            Some(cpu) if cpu.works_in_halves() => {
                [Self::Avx512Plus(cpu), Self::Avx512(cpu)].map(Some)
            }
            Some(cpu) => [Self::Avx512(cpu), Self::Avx512Plus(cpu)].map(Some),
            None => [None, None],
        };
        let levels = [
            #[cfg(target_arch = "x86_64")]
            wide,
            #[cfg(target_arch = "x86_64")]
            other,
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "aarch64")]
            Neon::detect().map(Self::Neon),
            Some(Self::Portable(Portable)),
        ];
        levels.into_iter().flatten()
    }

    /// Runs `kernel` on this instruction set.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Portable(cpu) => portable(cpu, kernel),
            // SAFETY: the token proves that the CPU has AVX2.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(cpu) => unsafe { avx2(cpu, kernel) },
            // SAFETY: the token proves that the CPU has AVX-512F and AVX-512VL.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(cpu) => unsafe { avx512(cpu, kernel) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Plus(cpu) => unsafe { avx512_plus(cpu, kernel) },
            // SAFETY: the token proves that the CPU has NEON.
            #[cfg(target_arch = "aarch64")]
            Self::Neon(cpu) => unsafe { neon(cpu, kernel) },
        }
    }

    /// Runs `kernel` on rows of this instruction set.
    #[inline]
    pub fn run_rows<K: RowKernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Portable(cpu) => portable_rows(cpu, kernel),
            // SAFETY: the token proves that the CPU has AVX2.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(cpu) => unsafe { avx2_rows(cpu, kernel) },
            // SAFETY: the token proves that the CPU has AVX-512F and AVX-512VL.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(cpu) | Self::Avx512Plus(cpu) => unsafe { avx512_rows(cpu, kernel) },
            // SAFETY: the token proves that the CPU has NEON.
            #[cfg(target_arch = "aarch64")]
            Self::Neon(cpu) => unsafe { neon_rows(cpu, kernel) },
        }
    }
}

// One entry point for each instruction set. They are never inlined, so that the machine code of a
// kernel is one function.

#[inline(never)]
fn portable<K: Kernel>(cpu: Portable, kernel: K) -> K::Output {
    kernel.run::<1, u64>(cpu)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2")]
fn avx2<K: Kernel>(cpu: Avx2, kernel: K) -> K::Output {
    kernel.run::<4, U64x4>(cpu)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,avx512f,avx512vl")]
fn avx512<K: Kernel>(cpu: Avx512, kernel: K) -> K::Output {
    kernel.run::<8, U64x8>(cpu)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,avx512f,avx512vl")]
fn avx512_plus<K: Kernel>(cpu: Avx512, kernel: K) -> K::Output {
    kernel.run::<9, Both>(cpu)
}

#[cfg(target_arch = "aarch64")]
#[inline(never)]
#[target_feature(enable = "neon")]
fn neon<K: Kernel>(cpu: Neon, kernel: K) -> K::Output {
    kernel.run::<2, U64x2>(cpu)
}

#[inline(never)]
fn portable_rows<K: RowKernel>(cpu: Portable, kernel: K) -> K::Output {
    kernel.run::<[u64; 4], [u64; 8]>(cpu)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2")]
fn avx2_rows<K: RowKernel>(cpu: Avx2, kernel: K) -> K::Output {
    kernel.run::<U64x4, [U64x4; 2]>(cpu)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,avx512f,avx512vl")]
fn avx512_rows<K: RowKernel>(cpu: Avx512, kernel: K) -> K::Output {
    kernel.run::<Row4, U64x8>(cpu)
}

#[cfg(target_arch = "aarch64")]
#[inline(never)]
#[target_feature(enable = "neon")]
fn neon_rows<K: RowKernel>(cpu: Neon, kernel: K) -> K::Output {
    kernel.run::<[U64x2; 2], [U64x2; 4]>(cpu)
}
