//! Wipes what a hash leaves outside of its memory.

use crate::block::ZERO_BLOCK;
use crate::kernel::with_zero;
use sealstone_lanes::{Cpu, Portable};

/// On drop, even after a panic, overwrites what a hash left in registers and on the stack below the
/// caller's frame. Functions that have returned kept their values there.
pub(crate) struct Spent(pub(crate) Cpu);

/// Bytes of stack: about twice as many as any instruction set takes. The rest is for a signal that
/// comes meanwhile: the system saves the registers below, some 3 KiB with AVX-512.
const STACK: usize = 48 << 10;

impl Drop for Spent {
    fn drop(&mut self) {
        // First the registers, since a signal may save them to the stack at any time. No kernel
        // uses more vectors than G, or more words than G on words alone.
        for cpu in [self.0, Cpu::Portable(Portable)] {
            core::hint::black_box(with_zero(cpu, &ZERO_BLOCK));
        }
        overwrite();

        #[inline(never)]
        fn overwrite() {
            core::hint::black_box(&mut [0_u8; STACK]);
        }
    }
}
