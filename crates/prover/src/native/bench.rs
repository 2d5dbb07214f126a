//! Runs a single instruction on a given state of the CPU.

use super::{Guard, lock};
use iced_x86::code_asm::*;
use iced_x86::{CpuidFeature, Instruction};
use std::sync::Mutex;

/// The lock on the bench's addresses, which are fixed.
static ADDRESSES: Mutex<()> = Mutex::new(());

/// The state that an instruction can read and change.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct State {
    pub(crate) vectors: [[u64; 8]; 32],
    pub(crate) general: [u64; 16],
    pub(crate) masks: [u64; 8],
    pub(crate) flags: u64,
    /// The target of a memory operand; at [`SCRATCH`].
    pub(crate) memory: [u64; 16],
}

/// A page of code and two states. A second bench waits until the first is dropped.
pub(crate) struct Bench {
    base: *mut u8,
    width: Width,
    /// The last field: it is released after everything is unmapped.
    _guard: Guard<()>,
}

/// The vector features of this CPU.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// 32 registers of 512 bits, and masks.
    Avx512,
    /// 16 registers of 256 bits. The other registers are zero in every state, and stay zero.
    Avx2,
}

const BASE: u64 = 0x2b00_0000;
const LENGTH: usize = 0x1_0000;
const BEFORE: u64 = BASE + 0x4000;
const AFTER: u64 = BASE + 0x8000;
const STACK: u64 = BASE + 0x3fc0;
/// The address of the memory operand: a multiple of 64.
pub(crate) const SCRATCH: u64 = BASE + 0xc000;

const GENERAL: [AsmRegister64; 16] = [
    rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15,
];
const VECTORS: [AsmRegisterZmm; 32] = [
    zmm0, zmm1, zmm2, zmm3, zmm4, zmm5, zmm6, zmm7, zmm8, zmm9, zmm10, zmm11, zmm12, zmm13, zmm14,
    zmm15, zmm16, zmm17, zmm18, zmm19, zmm20, zmm21, zmm22, zmm23, zmm24, zmm25, zmm26, zmm27,
    zmm28, zmm29, zmm30, zmm31,
];
const HALVES: [AsmRegisterYmm; 16] = [
    ymm0, ymm1, ymm2, ymm3, ymm4, ymm5, ymm6, ymm7, ymm8, ymm9, ymm10, ymm11, ymm12, ymm13, ymm14,
    ymm15,
];
const MASKS: [AsmRegisterK; 8] = [k0, k1, k2, k3, k4, k5, k6, k7];
const OF_GENERAL: u64 = 2048;
const OF_MASKS: u64 = OF_GENERAL + 128;
const OF_FLAGS: u64 = OF_MASKS + 64;
const RSP: usize = 4;

impl Bench {
    /// Maps its memory.
    ///
    /// # Errors
    /// The reason, if there is no bench.
    pub(crate) fn new() -> Result<Self, String> {
        let width = Width::here().ok_or("this CPU has no AVX2, in which states are kept")?;
        let guard = lock(&ADDRESSES);
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let address = BASE as *mut libc::c_void;
        // SAFETY: `MAP_FIXED_NOREPLACE` takes only addresses that are free.
        let base = unsafe { libc::mmap(address, LENGTH, protection, flags, -1, 0) };
        if base == address {
            Ok(Self {
                base: base.cast(),
                width,
                _guard: guard,
            })
        } else {
            let error = std::io::Error::last_os_error();
            Err(format!("no memory for code of our own: {error}"))
        }
    }

    pub(crate) fn width(&self) -> Width {
        self.width
    }

    /// Whether this CPU has the instruction. If it has the first part of AVX-512, the others that
    /// have models count as there too.
    pub(crate) fn has(&self, instruction: &Instruction) -> bool {
        let features = instruction.cpuid_features();
        if features.contains(&CpuidFeature::SHA) {
            return std::arch::is_x86_feature_detected!("sha");
        }
        if features.contains(&CpuidFeature::AES) {
            return std::arch::is_x86_feature_detected!("aes");
        }
        self.width == Width::Avx512 || !features.iter().any(is_avx512)
    }

    /// Writes the code that will run `instruction`. The instruction must not change rsp, jump, or
    /// use memory outside of [`SCRATCH`].
    pub(crate) fn prepare(&mut self, instruction: &Instruction) -> Result<(), IcedError> {
        let mut code = CodeAssembler::new(64)?;
        for register in [rbx, rbp, r12, r13, r14, r15] {
            code.push(register)?;
        }
        code.mov(qword_ptr(STACK), rsp)?;
        load(&mut code, self.width)?;
        code.add_instruction(*instruction)?;
        save(&mut code, self.width)?;
        code.mov(rsp, qword_ptr(STACK))?;
        for register in [r15, r14, r13, r12, rbp, rbx] {
            code.pop(register)?;
        }
        code.vzeroupper()?;
        code.ret()?;
        let bytes = code.assemble(BASE)?;
        assert!(bytes.len() < 0x3f00, "the code fits");
        // SAFETY: the code has its own pages, and no reference to them exists.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base, bytes.len()) };
        Ok(())
    }

    /// Runs it.
    pub(crate) fn run(&mut self, state: &State) -> State {
        // SAFETY: both states and the scratch memory are inside of the pages. `prepare` wrote the
        // code: it loads and saves registers, preserves those of the caller, and the instruction
        // obeys the rules of `prepare`.
        unsafe {
            *(BEFORE as *mut State) = *state;
            *(AFTER as *mut State) = *state; // registers that are not saved are unchanged
            *(SCRATCH as *mut [u64; 16]) = state.memory;
            let function: extern "sysv64" fn() = core::mem::transmute(self.base);
            function();
            let mut after = *(AFTER as *const State);
            after.memory = *(SCRATCH as *const [u64; 16]);
            after.general[RSP] = state.general[RSP];
            after
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and no reference to it exists.
        unsafe { libc::munmap(self.base.cast(), LENGTH) };
    }
}

impl Width {
    fn here() -> Option<Self> {
        let avx512 = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw");
        let avx2 = std::arch::is_x86_feature_detected!("avx2");
        match (avx512, avx2) {
            (true, _) => Some(Self::Avx512),
            (false, true) => Some(Self::Avx2),
            (false, false) => None,
        }
    }
}

fn is_avx512(feature: &CpuidFeature) -> bool {
    format!("{feature:?}").starts_with("AVX512")
}

fn load(code: &mut CodeAssembler, width: Width) -> Result<(), IcedError> {
    if width == Width::Avx2 {
        for (number, vector) in (0..).zip(HALVES) {
            code.vmovdqu(vector, ymmword_ptr(BEFORE + 64 * number))?;
        }
    } else {
        for (number, vector) in (0..).zip(VECTORS) {
            code.vmovdqu64(vector, zmmword_ptr(BEFORE + 64 * number))?;
        }
        for (number, mask) in (0..).zip(MASKS) {
            code.kmovq(mask, qword_ptr(BEFORE + OF_MASKS + 8 * number))?;
        }
    }
    code.push(qword_ptr(BEFORE + OF_FLAGS))?;
    code.popfq()?;
    for (number, register) in GENERAL.into_iter().enumerate().filter(|(i, _)| *i != RSP) {
        code.mov(register, qword_ptr(BEFORE + OF_GENERAL + 8 * number as u64))?;
    }
    Ok(())
}

fn save(code: &mut CodeAssembler, width: Width) -> Result<(), IcedError> {
    for (number, register) in GENERAL.into_iter().enumerate().filter(|(i, _)| *i != RSP) {
        code.mov(qword_ptr(AFTER + OF_GENERAL + 8 * number as u64), register)?;
    }
    code.pushfq()?;
    code.pop(qword_ptr(AFTER + OF_FLAGS))?;
    if width == Width::Avx2 {
        for (number, vector) in (0..).zip(HALVES) {
            code.vmovdqu(ymmword_ptr(AFTER + 64 * number), vector)?;
        }
        return Ok(());
    }
    for (number, vector) in (0..).zip(VECTORS) {
        code.vmovdqu64(zmmword_ptr(AFTER + 64 * number), vector)?;
    }
    for (number, mask) in (0..).zip(MASKS) {
        code.kmovq(qword_ptr(AFTER + OF_MASKS + 8 * number), mask)?;
    }
    Ok(())
}
