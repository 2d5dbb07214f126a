//! Calls a function with given registers, until it returns or reaches an instruction.
//!
//! To stop at an instruction without changing the program, the CPU is told to trap after each one
//! (the trap flag, Intel SDM volume 1, 3.4.3.3). The handler of that signal checks whether the
//! instruction is reached. If it is, the handler saves the registers and continues after the call,
//! where the caller's registers are restored. In the same way, a call is recorded instruction by
//! instruction.

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The content of registers at a function's entry.
pub(crate) struct Entry {
    /// In the order of their encoding. The stack pointer is not set.
    pub(crate) general: [u64; 16],
    /// CF, PF, AF, ZF, SF and OF.
    pub(crate) flags: u64,
    /// On the stack, from the return address on.
    pub(crate) stack: [u64; ON_STACK],
    /// How far the stack pointer is moved down from the start of a page: a multiple of 16 bytes.
    /// So the lower bits of the stack pointer are the same in each run of a program.
    pub(crate) below_a_page: u64,
}

/// The place of rsp in the order of encoding.
const STACK_POINTER: usize = 4;

/// The number of words on the stack: arguments without a register.
pub(crate) const ON_STACK: usize = 8;

/// Where a call is stopped before the function returns.
pub(crate) struct Until {
    /// The address of the instruction.
    pub(crate) at: u64,
    /// The number of times that it is reached, including this time.
    pub(crate) visits: u64,
    /// Whether the instruction is executed. If it is a jump, it stays within the function.
    pub(crate) through: bool,
}

/// The registers of a call that was stopped there.
#[derive(Clone, Copy)]
pub(crate) struct Reached {
    /// Before the instruction, in the order of their encoding. If it was executed, the stack
    /// pointer is that after it.
    pub(crate) general: [u64; 16],
    /// The address of the instruction after it, if it was executed.
    pub(crate) next: u64,
}

/// An instruction that a recorded call has executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Its address in the image.
    pub at: u64,
    /// The general registers before it, in the order of their encoding: rax, rcx, rdx, rbx, rsp,
    /// rbp, rsi, rdi, r8 to r15.
    pub general: [u64; 16],
}

/// The largest number of instructions of a recorded call.
const MOST_RECORDED: usize = 1 << 16;

/// A page of code that calls, and one for its parameters. Unmapped on drop.
pub(crate) struct Caller {
    base: *mut u8,
    /// The address of the code after the call.
    exit: u64,
}

const BASE: u64 = 0x2c00_0000;
const LENGTH: usize = 0x2000;
/// The addresses of the code that calls.
const OWN: Range<u64> = BASE..BASE + LENGTH as u64;
const GENERAL: u64 = BASE + 0x1000;
const FLAGS: u64 = GENERAL + 128;
const FUNCTION: u64 = FLAGS + 8;
const STACK: u64 = FUNCTION + 8;
const RESULTS: u64 = STACK + 8;
const WORDS: u64 = RESULTS + 16;
const BELOW_A_PAGE: u64 = WORDS + 8 * ON_STACK as u64;

const PAGE: i32 = 4096;

const STATUS_FLAGS: u64 = 0x8d5;
const TRAP_FLAG: u64 = 0x100;
const RSP: usize = 4;
const REGISTERS: [AsmRegister64; 16] = [
    rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15,
];
/// The indices of the registers in the context of signal handlers.
const IN_CONTEXT: [libc::c_int; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];
const CALLEE_SAVED: [AsmRegister64; 6] = [rbx, rbp, r12, r13, r14, r15];

impl Caller {
    /// Writes the code.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn new() -> Result<Self, String> {
        let (enter, leave) = code().map_err(|error| error.to_string())?;
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let address = BASE as *mut libc::c_void;
        // SAFETY: `MAP_FIXED_NOREPLACE` takes only addresses that are free.
        let base = unsafe { libc::mmap(address, LENGTH, protection, flags, -1, 0) };
        if base != address {
            let error = std::io::Error::last_os_error();
            return Err(format!("no memory for code of our own: {error}"));
        }
        let bytes = [&enter[..], &leave].concat();
        assert!(bytes.len() < 0x1000, "the code fits");
        // SAFETY: the code has its own page, and no reference to it exists.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), base.cast(), bytes.len()) };
        Ok(Self {
            base: base.cast(),
            exit: BASE + enter.len() as u64,
        })
    }

    /// Calls a function. Returns rax and rdx.
    ///
    /// # Safety
    /// The function can be executed with these registers, and follows the ABI.
    pub(crate) unsafe fn call(&mut self, function: u64, entry: &Entry) -> [u64; 2] {
        // SAFETY: the caller guarantees that the function may be called.
        unsafe { self.run(function, entry, 0) }
    }

    /// Calls a function until it reaches an instruction. `None` if it does not, or if this process
    /// cannot handle traps.
    ///
    /// # Safety
    /// The function can be executed with these registers up to that instruction.
    pub(crate) unsafe fn call_until(
        &mut self,
        function: u64,
        entry: &Entry,
        until: &Until,
    ) -> Option<Reached> {
        WATCH.begin(until, self.exit);
        let handler = Handler::install()?;
        // SAFETY: the caller guarantees that the function can be executed until the handler ends
        // the call.
        unsafe { self.run(function, entry, TRAP_FLAG) };
        drop(handler);
        WATCH.end()
    }

    /// Calls a function, and records each instruction. `None` if there are too many, or if this
    /// process cannot handle traps.
    ///
    /// # Safety
    /// As for [`Caller::call`].
    pub(crate) unsafe fn record(&mut self, function: u64, entry: &Entry) -> Option<Vec<Executed>> {
        let handler = Handler::install()?;
        let mut run = vec![Executed::default(); MOST_RECORDED];
        WATCH.begin_record(&mut run, self.exit);
        // SAFETY: the caller guarantees that the function may be called. The handler ends the call
        // early if `run` is full.
        unsafe { self.run(function, entry, TRAP_FLAG) };
        drop(handler);
        run.truncate(WATCH.end_record()?);
        Some(run)
    }

    unsafe fn run(&mut self, function: u64, entry: &Entry, more_flags: u64) -> [u64; 2] {
        assert!(
            entry.below_a_page.is_multiple_of(16),
            "what the ABI asks for"
        );
        // SAFETY: the written memory and the called code are in our pages. The code loads these
        // registers, calls the function and restores the registers of its caller. The caller
        // guarantees that the function may be called.
        unsafe {
            *(GENERAL as *mut [u64; 16]) = entry.general;
            *(FLAGS as *mut u64) = entry.flags & STATUS_FLAGS | more_flags;
            *(FUNCTION as *mut u64) = function;
            *(WORDS as *mut [u64; ON_STACK]) = entry.stack;
            *(BELOW_A_PAGE as *mut u64) = entry.below_a_page;
            let enter: extern "sysv64" fn() = core::mem::transmute(self.base);
            enter();
            *(RESULTS as *const [u64; 2])
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and no reference to it exists.
        unsafe { libc::munmap(self.base.cast(), LENGTH) };
    }
}

/// The code up to the call, and after it.
fn code() -> Result<(Vec<u8>, Vec<u8>), IcedError> {
    let mut code = CodeAssembler::new(64)?;
    for register in CALLEE_SAVED {
        code.push(register)?;
    }
    code.mov(qword_ptr(STACK), rsp)?;
    code.and(rsp, -PAGE)?;
    code.sub(rsp, qword_ptr(BELOW_A_PAGE))?;
    const { assert!(ON_STACK.is_multiple_of(2), "a multiple of 16 bytes") };
    for number in (0..ON_STACK as u64).rev() {
        code.push(qword_ptr(WORDS + 8 * number))?;
    }
    code.push(qword_ptr(FLAGS))?;
    code.popfq()?;
    for (number, register) in (0..).zip(REGISTERS).filter(|(i, _)| *i != RSP as u64) {
        code.mov(register, qword_ptr(GENERAL + 8 * number))?;
    }
    code.call(qword_ptr(FUNCTION))?;
    let enter = code.assemble(BASE)?;
    code.reset();
    code.mov(qword_ptr(RESULTS), rax)?;
    code.mov(qword_ptr(RESULTS + 8), rdx)?;
    code.mov(rsp, qword_ptr(STACK))?;
    for register in CALLEE_SAVED.into_iter().rev() {
        code.pop(register)?;
    }
    code.ret()?;
    let leave = code.assemble(BASE + enter.len() as u64)?;
    Ok((enter, leave))
}

/// The handler of traps: its target, and its findings.
struct Watch {
    at: AtomicU64,
    visits: AtomicU64,
    through: AtomicBool,
    exit: AtomicU64,
    is_reached: AtomicBool,
    general: [AtomicU64; 16],
    next: AtomicU64,
    /// The memory for [`MOST_RECORDED`] instructions, if the call is recorded; otherwise null.
    record: AtomicPtr<Executed>,
    recorded: AtomicUsize,
}

static WATCH: Watch = Watch {
    at: AtomicU64::new(0),
    visits: AtomicU64::new(0),
    through: AtomicBool::new(false),
    exit: AtomicU64::new(0),
    is_reached: AtomicBool::new(false),
    general: [const { AtomicU64::new(0) }; 16],
    next: AtomicU64::new(0),
    record: AtomicPtr::new(ptr::null_mut()),
    recorded: AtomicUsize::new(0),
};

impl Watch {
    fn begin(&self, until: &Until, exit: u64) {
        self.at.store(until.at, Relaxed);
        self.visits.store(until.visits, Relaxed);
        self.through.store(until.through, Relaxed);
        self.exit.store(exit, Relaxed);
        self.is_reached.store(false, Relaxed);
        self.next.store(0, Relaxed);
        self.record.store(ptr::null_mut(), Relaxed);
    }

    fn end(&self) -> Option<Reached> {
        let reached = Reached {
            general: core::array::from_fn(|i| self.general[i].load(Relaxed)),
            next: self.next.load(Relaxed),
        };
        self.is_reached.load(Relaxed).then_some(reached)
    }

    fn begin_record(&self, run: &mut [Executed], exit: u64) {
        let nowhere = Until {
            at: 0,
            visits: 0,
            through: false,
        };
        self.begin(&nowhere, exit);
        assert_eq!(run.len(), MOST_RECORDED);
        self.recorded.store(0, Relaxed);
        self.record.store(run.as_mut_ptr(), Relaxed);
    }

    /// The number of instructions. `None` if there were too many.
    fn end_record(&self) -> Option<usize> {
        self.record.store(ptr::null_mut(), Relaxed);
        let recorded = self.recorded.load(Relaxed);
        (recorded < MOST_RECORDED).then_some(recorded)
    }

    /// Before an instruction. Returns whether there is room for more.
    fn record(&self, record: *mut Executed, registers: &[libc::greg_t; 23]) -> bool {
        let at = registers[libc::REG_RIP as usize] as u64;
        if OWN.contains(&at) {
            return true;
        }
        let recorded = self.recorded.load(Relaxed);
        let executed = Executed {
            at,
            general: IN_CONTEXT.map(|place| registers[place as usize] as u64),
        };
        // SAFETY: `begin_record` got memory for `MOST_RECORDED` of them, and `recorded` is smaller:
        // the call ends before it is not. The caller of `record` keeps that memory until then, and
        // does not use it.
        unsafe { record.add(recorded).write(executed) };
        self.recorded.store(recorded + 1, Relaxed);
        recorded + 1 < MOST_RECORDED
    }

    /// After each instruction, with the registers that it left.
    fn trap(&self, registers: &mut [libc::greg_t; 23]) {
        let next = registers[libc::REG_RIP as usize] as u64;
        let exit = self.exit.load(Relaxed);
        let record = self.record.load(Relaxed);
        if !record.is_null() && next != exit {
            if self.record(record, registers) {
                return;
            }
        } else if self.is_reached.load(Relaxed) {
            self.next.store(next, Relaxed);
            let after = registers[IN_CONTEXT[STACK_POINTER] as usize] as u64;
            self.general[STACK_POINTER].store(after, Relaxed);
        } else if next == self.at.load(Relaxed) {
            let left = self.visits.load(Relaxed).saturating_sub(1);
            self.visits.store(left, Relaxed);
            if left > 0 {
                return;
            }
            for (general, place) in self.general.iter().zip(IN_CONTEXT) {
                general.store(registers[place as usize] as u64, Relaxed);
            }
            self.is_reached.store(true, Relaxed);
            if self.through.load(Relaxed) {
                return;
            }
        } else if next != exit {
            return;
        }
        registers[libc::REG_RIP as usize] = exit as libc::greg_t;
        registers[libc::REG_EFL as usize] &= !(TRAP_FLAG as libc::greg_t);
    }
}

/// Our handler of traps, on its own stack: the watched code may have any stack pointer. Drop
/// restores the previous handler.
struct Handler {
    before: libc::sigaction,
    stack_before: libc::stack_t,
    _stack: Vec<u8>,
}

/// Enough for the registers of every CPU, AVX-512 included, and for the handler.
const HANDLER_STACK: usize = 64 << 10;

impl Handler {
    fn install() -> Option<Self> {
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = trapped;
        let mut stack = vec![0; HANDLER_STACK];
        let alternate = libc::stack_t {
            ss_sp: stack.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: stack.len(),
        };
        // SAFETY: all zeros is a `sigaction` without handler and flags, and a `stack_t` without a
        // stack. The arguments live until the call returns, and the stack lives until it is
        // replaced. The handler only reads and writes atomics, the record, and the registers of
        // its context.
        unsafe {
            let mut stack_before = core::mem::zeroed();
            if libc::sigaltstack(&alternate, &mut stack_before) != 0 {
                return None;
            }
            let mut action: libc::sigaction = core::mem::zeroed();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            let mut before = core::mem::zeroed();
            if libc::sigaction(libc::SIGTRAP, &action, &mut before) != 0 {
                libc::sigaltstack(&stack_before, ptr::null_mut());
                return None;
            }
            Some(Self {
                before,
                stack_before,
                _stack: stack,
            })
        }
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        // SAFETY: these are the previous action and stack.
        unsafe {
            libc::sigaction(libc::SIGTRAP, &self.before, ptr::null_mut());
            libc::sigaltstack(&self.stack_before, ptr::null_mut());
        }
    }
}

extern "C" fn trapped(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: with `SA_SIGINFO` the context is a `ucontext_t`, to which no other reference exists.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    WATCH.trap(registers);
}
