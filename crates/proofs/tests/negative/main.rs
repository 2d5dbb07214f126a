//! Bugs planted into machine code. The prover must reject each.
//!
//! The code is this test's own copy of the shipped kernels. Some bugs are a changed byte of it;
//! others are a few instructions around it.

mod addresses;
mod arguments;
mod few;
mod leaks;
mod library;
mod probes;
mod processor;
mod witnesses;

use iced_x86::code_asm::{
    CodeAssembler, al, byte_ptr, cl, dl, eax, ebx, ecx, edx, ptr, qword_ptr, r8, r9, r11, r11b,
    r12, r13, rax, rbx, rcx, rdi, rdx, rsi, rsp, xmm0, xmm1,
};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use sealstone_proofs::catalog::{Kernel, Set, kernels};
use sealstone_prover::algebra::{Algebra, Choices};
use sealstone_prover::contract::{Access, Cell, Contract};
use sealstone_prover::features::Processor;
use sealstone_prover::formula;
use sealstone_prover::image::{Image, Symbol};
use sealstone_prover::prove::{Finding, Session};
use sealstone_prover::verdict::Verdict;

fn own_image() -> Image {
    sealstone_kernels::call_every_kernel();
    Image::load(&std::env::current_exe().unwrap()).unwrap()
}

fn kernel(name: &str, set: Set) -> Kernel {
    kernels()
        .into_iter()
        .find(|kernel| kernel.name == name && kernel.set == set)
        .unwrap()
}

fn symbol(image: &Image, kernel: &Kernel) -> Symbol {
    image
        .symbols()
        .iter()
        .find(|symbol| symbol.is(kernel.function))
        .unwrap()
        .clone()
}

fn prove(image: &Image, symbol: &Symbol, contract: &Contract, set: Set) -> Finding {
    Session::new().prove(image, symbol, contract, &set.processor())
}

/// Proves the kernel, then changes up to `most` instructions for which `change` returns other
/// bytes, and tries again.
fn with_changed_code(
    name: &str,
    set: Set,
    most: usize,
    change: impl Fn(&Instruction, &[u8]) -> Option<Vec<u8>>,
) -> Verdict {
    let (mut image, kernel) = (own_image(), kernel(name, set));
    let symbol = symbol(&image, &kernel);
    let finding = prove(&image, &symbol, &kernel.contracts[0], set);
    assert_eq!(finding.verdict, Verdict::Proved, "without the bug");
    let changed = finding
        .instructions
        .iter()
        .filter_map(|(address, instruction)| {
            let bytes = image.code(*address, instruction.len())?;
            Some((*address, change(instruction, bytes)?))
        });
    let changed: Vec<(u64, Vec<u8>)> = changed.take(most).collect();
    assert!(!changed.is_empty(), "an instruction to plant the bug in");
    for (address, bytes) in changed {
        image.patch(address, &bytes);
    }
    prove(&image, &symbol, &kernel.contracts[0], set).verdict
}

/// Flips bits of the last byte, the immediate, of an instruction of this kind.
fn with_wrong_immediate(name: &str, set: Set, mnemonics: &[Mnemonic], flip: u8) -> Verdict {
    with_changed_code(name, set, 1, |instruction, bytes| {
        let (last, rest) = bytes.split_last()?;
        mnemonics
            .contains(&instruction.mnemonic())
            .then(|| [rest, &[last ^ flip]].concat())
    })
}

/// Puts code around BLAKE2b's F: `before` has its arguments in rdi, rsi and rdx, `after` the
/// state's address in r12.
fn around_blake2b(
    before: impl Fn(&mut CodeAssembler),
    after: impl Fn(&mut CodeAssembler),
) -> Verdict {
    let (mut image, kernel) = (own_image(), kernel("BLAKE2b F", Set::Baseline));
    let inner = symbol(&image, &kernel);
    let mut code = CodeAssembler::new(64).unwrap();
    code.push(r12).unwrap();
    code.mov(r12, rsi).unwrap();
    before(&mut code);
    code.call(inner.start).unwrap();
    after(&mut code);
    code.pop(r12).unwrap();
    code.ret().unwrap();
    let symbol = added(&mut image, code);
    prove(&image, &symbol, &kernel.contracts[0], Set::Baseline).verdict
}

fn added(image: &mut Image, mut code: CodeAssembler) -> Symbol {
    let bytes = code.assemble(image.next_free()).unwrap();
    image.add_function("planted", &bytes);
    image.symbols().last().unwrap().clone()
}

fn nothing(_: &mut CodeAssembler) {}

#[track_caller]
fn assert_refuted(verdict: &Verdict, why: &str) {
    assert!(
        matches!(verdict, Verdict::Refuted(reason) if reason.contains(why)),
        "{verdict}"
    );
}

/// Asserts a wrong output, with its input if this CPU has the instructions.
#[track_caller]
fn assert_wrong_output(verdict: &Verdict, set: Set) {
    assert_refuted(verdict, "wrong output");
    if set.is_here() {
        assert_refuted(verdict, "; reproduced natively, with x = ");
    }
}

#[test]
fn code_around_a_kernel_is_no_bug() {
    assert_eq!(around_blake2b(nothing, nothing), Verdict::Proved);
}

#[test]
fn a_wrong_rotation() {
    let verdict = with_wrong_immediate(
        "BLAKE2b F",
        Set::Baseline,
        &[Mnemonic::Rol, Mnemonic::Ror],
        1,
    );
    assert_refuted(&verdict, "reproduced natively");
}

#[test]
fn a_wrong_shuffle() {
    let verdict = with_wrong_immediate(
        "Argon2 G",
        Set::Avx2,
        &[Mnemonic::Vpermq, Mnemonic::Vpermpd, Mnemonic::Vpshufd],
        0b11,
    );
    assert_wrong_output(&verdict, Set::Avx2);
}

#[test]
fn a_wrong_lane() {
    let verdict = with_wrong_immediate("Argon2 G", Set::Avx2, &[Mnemonic::Vpalignr], 8);
    assert_wrong_output(&verdict, Set::Avx2);
    let verdict = with_wrong_immediate("Argon2 G", Set::Avx512, &[Mnemonic::Vshufi64x2], 1);
    assert_wrong_output(&verdict, Set::Avx512);
}

#[test]
fn a_missing_vzeroupper() {
    let verdict = with_changed_code("Argon2 G", Set::Avx2, usize::MAX, |instruction, _| {
        (instruction.mnemonic() == Mnemonic::Vzeroupper).then(|| vec![0x0f, 0x1f, 0x00])
    });
    assert_refuted(&verdict, "vzeroupper");
}

/// It shows on one input in 2^64, so no sample finds it. But there is no proof.
#[test]
fn a_bug_that_no_test_would_find() {
    let verdict = around_blake2b(nothing, |code| {
        code.mov(rax, qword_ptr(r12)).unwrap();
        code.mov(rcx, 0x0123_4567_89ab_cdef_u64).unwrap();
        code.xor(rax, rcx).unwrap();
        code.cmp(rax, 1).unwrap();
        code.setb(al).unwrap();
        code.movzx(eax, al).unwrap();
        code.xor(qword_ptr(r12 + 8), rax).unwrap();
    });
    assert!(
        matches!(&verdict, Verdict::Unproved(why) if why.contains("`h`, word 1")),
        "{verdict}"
    );
}

#[test]
fn accesses_one_byte_outside_a_buffer() {
    let past = |code: &mut CodeAssembler| code.mov(byte_ptr(r12 + 64), 0).unwrap();
    assert_refuted(
        &around_blake2b(nothing, past),
        "write of 1 bytes outside of its memory, +64 from the start of `h`",
    );
    let before = |code: &mut CodeAssembler| code.mov(al, byte_ptr(r12 - 1)).unwrap();
    assert_refuted(
        &around_blake2b(nothing, before),
        "read of 1 bytes outside of its memory, -1 from the start of `h`",
    );
}

#[test]
fn a_write_to_what_is_only_to_be_read() {
    let write = |code: &mut CodeAssembler| code.mov(byte_ptr(rdx), 0).unwrap();
    assert_refuted(&around_blake2b(write, nothing), "write of 1 bytes outside");
}

#[test]
fn accesses_outside_of_its_own_stack() {
    let caller = |code: &mut CodeAssembler| code.mov(rax, ptr(rsp + 16)).unwrap();
    assert_refuted(&around_blake2b(nothing, caller), "read of 8 bytes outside");
    let far_below = |code: &mut CodeAssembler| code.mov(qword_ptr(rsp - 136), rax).unwrap();
    assert_refuted(
        &around_blake2b(far_below, nothing),
        "write of 8 bytes outside",
    );
}

#[test]
fn a_register_of_the_caller_that_is_not_restored() {
    let clobber = |code: &mut CodeAssembler| code.xor(ebx, ebx).unwrap();
    let verdict = around_blake2b(nothing, clobber);
    assert_refuted(
        &verdict,
        "a register that belongs to the caller is not restored",
    );
    assert_refuted(&verdict, "; reproduced natively: with m = ");
    // A bit is always wrong.
    let flip = |code: &mut CodeAssembler| code.xor(rbx, 0x20).unwrap();
    let verdict = around_blake2b(nothing, flip);
    assert_refuted(&verdict, "; reproduced natively: with m = ");
}

/// The flags at a function's entry are as arbitrary as its registers. The code is right if each
/// flag is clear. Without the bug it is always right.
#[test]
fn an_output_that_depends_on_a_flag_at_the_entry() {
    type Keep = fn(&mut CodeAssembler);
    let flags: [(&str, Keep); 4] = [
        ("CF", |code| code.setb(al).unwrap()),
        ("ZF", |code| code.sete(al).unwrap()),
        ("SF", |code| code.sets(al).unwrap()),
        ("OF", |code| code.seto(al).unwrap()),
    ];
    for (name, keep) in flags {
        let with = |by_flag: bool| {
            identity(true, |code, _| {
                keep(code);
                code.movzx(eax, al).unwrap();
                if !by_flag {
                    code.xor(eax, eax).unwrap();
                }
                code.xor(rax, qword_ptr(rdi)).unwrap();
                code.mov(qword_ptr(rsi), rax).unwrap();
                code.ret().unwrap();
            })
        };
        assert_eq!(with(false), Verdict::Proved, "{name}");
        assert_refuted(&with(true), "wrong output in `out`, word 0");
        assert_refuted(&with(true), "reproduced natively");
    }
}

#[test]
fn an_output_that_depends_on_what_was_in_a_register() {
    let verdict = around_blake2b(nothing, |code| {
        code.mov(rax, rbx).unwrap();
        code.or(rax, 1).unwrap();
        code.xor(qword_ptr(r12), rax).unwrap();
    });
    assert_refuted(&verdict, "wrong output in `h`, word 0");
}

#[test]
fn an_instruction_that_is_not_known() {
    let verdict = around_blake2b(|code| code.xlatb().unwrap(), nothing);
    assert!(matches!(verdict, Verdict::Unsupported(_)), "{verdict}");
}

/// The verdict on code that gets one word and must return it.
fn identity(runs_here: bool, write: impl Fn(&mut CodeAssembler, &Image)) -> Verdict {
    let processor = Processor {
        is_here: runs_here,
        ..Processor::baseline()
    };
    identity_on(&processor, write)
}

fn identity_on(processor: &Processor, write: impl Fn(&mut CodeAssembler, &Image)) -> Verdict {
    identity_in(Session::new(), processor, write).verdict
}

fn identity_in(
    mut session: Session,
    processor: &Processor,
    write: impl Fn(&mut CodeAssembler, &Image),
) -> Finding {
    let contract = Contract::new(formula!(|_a, contents| vec![contents[0].clone()]))
        .buffer("in", 1, 8, Access::Read)
        .buffer("out", 1, 8, Access::Write)
        .addresses(["in", "out"])
        .byte(7);
    let mut image = own_image();
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code, &image);
    let symbol = added(&mut image, code);
    session.prove(&image, &symbol, &contract, processor)
}

/// A panic does not count as a return, even if the word is right.
#[test]
fn a_path_that_does_not_return() {
    let verdict = identity(false, |code, _| {
        let mut panics = code.create_label();
        code.test(rdi, rdi).unwrap();
        code.jns(panics).unwrap();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(qword_ptr(rsi), rax).unwrap();
        code.ret().unwrap();
        code.set_label(&mut panics).unwrap();
        code.ud2().unwrap();
    });
    assert!(!verdict.is_proof(), "{verdict:?}");
}

/// Copies the word through the stack, at this distance from rsp, while rsp falls and rises twice. A
/// second copy is at the distance `away` from it.
fn by_stack(distance: i32, away: i32) -> Verdict {
    identity(false, |code, _| {
        code.mov(rax, qword_ptr(rdi)).unwrap();
        if distance <= 128 {
            code.mov(qword_ptr(rsp - distance), rax).unwrap();
        }
        code.sub(rsp, away).unwrap();
        code.mov(qword_ptr(rsp), rax).unwrap();
        code.add(rsp, away).unwrap();
        code.sub(rsp, away).unwrap();
        code.mov(rax, qword_ptr(rsp + away - distance)).unwrap();
        code.add(rsp, away).unwrap();
        code.mov(qword_ptr(rsi), rax).unwrap();
        code.ret().unwrap();
    })
}

#[test]
fn bytes_below_the_stack_pointer_are_gone() {
    assert_eq!(by_stack(8, 256), Verdict::Proved, "in the red zone");
    assert_eq!(by_stack(128, 256), Verdict::Proved, "at its end");
    // The lower copy was below rsp and its red zone for a moment.
    assert_refuted(&by_stack(256, 256), "of stack that was given up");
}

#[test]
fn a_function_of_the_c_library_may_overwrite_the_red_zone() {
    let around_memset = |keep: i32, below: i32| {
        identity(false, |code, image| {
            load_memset(code, image);
            code.push(r12).unwrap();
            code.mov(r12, rsi).unwrap();
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.sub(rsp, keep).unwrap();
            code.mov(qword_ptr(rsp - below), rax).unwrap();
            code.mov(rdi, rsi).unwrap();
            code.xor(rsi, rsi).unwrap();
            code.mov(rdx, 8_u64).unwrap();
            code.call(r11).unwrap();
            code.mov(rax, qword_ptr(rsp - below)).unwrap();
            code.mov(qword_ptr(r12), rax).unwrap();
            code.add(rsp, keep).unwrap();
            code.pop(r12).unwrap();
            code.ret().unwrap();
        })
    };
    assert_eq!(around_memset(32, 0), Verdict::Proved, "on its own stack");
    assert_refuted(&around_memset(32, 64), "of stack that was given up");
}

/// A jump to a function, with the return address on the stack, is a call.
#[test]
fn a_jump_to_the_c_library_with_a_stack_pointer_that_is_not_aligned() {
    let jump = |reserved: i32| {
        identity(false, |code, image| {
            let mut back = code.create_label();
            load_memset(code, image);
            code.push(r12).unwrap();
            code.push(r13).unwrap();
            code.mov(r12, rsi).unwrap();
            code.mov(r13, qword_ptr(rdi)).unwrap();
            code.mov(rdi, rsi).unwrap();
            code.xor(rsi, rsi).unwrap();
            code.mov(rdx, 8_u64).unwrap();
            code.sub(rsp, reserved).unwrap();
            code.lea(rcx, ptr(back)).unwrap();
            code.push(rcx).unwrap();
            code.jmp(r11).unwrap();
            code.set_label(&mut back).unwrap();
            code.add(rsp, reserved).unwrap();
            code.mov(qword_ptr(r12), r13).unwrap();
            code.pop(r13).unwrap();
            code.pop(r12).unwrap();
            code.ret().unwrap();
        })
    };
    assert_eq!(jump(8), Verdict::Proved);
    assert_refuted(&jump(0), "not a multiple of 16");
}

fn load_memset(code: &mut CodeAssembler, image: &Image) {
    load_import("memset", code, image);
}

/// `mov r11, [rip + …]`, from where the loader writes the address of a function of another library.
/// It is the first instruction of the code.
fn load_import(function: &str, code: &mut CodeAssembler, image: &Image) {
    let (import, _) = image.imports().find(|(_, name)| *name == function).unwrap();
    let mut slots = image.relocated(0..u64::MAX);
    let (slot, _) = slots.find(|(_, value)| *value == import).unwrap();
    let distance = slot.wrapping_sub(image.next_free() + 7) as i32;
    code.db(&[&[0x4c, 0x8b, 0x1d][..], &distance.to_le_bytes()].concat())
        .unwrap();
}

#[test]
fn bits_above_an_argument_of_one_byte_are_not_known() {
    let with = |argument: fn(&mut CodeAssembler)| {
        identity(true, |code, _| {
            argument(code);
            code.sub(rdx, 7).unwrap();
            code.add(rdx, qword_ptr(rdi)).unwrap();
            code.mov(qword_ptr(rsi), rdx).unwrap();
            code.ret().unwrap();
        })
    };
    assert_eq!(
        with(|code| code.movzx(edx, dl).unwrap()),
        Verdict::Proved,
        "only the byte"
    );
    assert_refuted(&with(|_| ()), "reproduced natively");
}

/// Prefixes and operand sizes that change the meaning of an instruction, and flags that the manual
/// leaves undefined.
#[test]
fn odd_forms_of_instructions_are_not_known() {
    let forms: [(&str, &[u8]); 14] = [
        ("lea eax, [edi + 1]", &[0x67, 0x8d, 0x47, 0x01]),
        ("lea rax, [eip]", &[0x67, 0x48, 0x8d, 0x05, 0, 0, 0, 0]),
        ("mov eax, [edi]", &[0x67, 0x8b, 0x07]),
        ("mov rax, fs:[rdi]", &[0x64, 0x48, 0x8b, 0x07]),
        ("push imm16", &[0x66, 0x6a, 0x01]),
        ("push ax", &[0x66, 0x50]),
        ("pop ax", &[0x66, 0x58]),
        ("bswap ax", &[0x66, 0x0f, 0xc8]),
        ("repne movsb", &[0xf2, 0xa4]),
        ("rep movsb from fs", &[0x64, 0xf3, 0xa4]),
        ("rep movsb by edi", &[0x67, 0xf3, 0xa4]),
        (
            "bt, then the sign",
            &[0x0f, 0xba, 0xe0, 0x01, 0x0f, 0x98, 0xc0],
        ),
        (
            "shl by the width, then the carry",
            &[0xc0, 0xe0, 0x08, 0x0f, 0x92, 0xc0],
        ),
        ("a lock", &[0xf0, 0x48, 0x01, 0x06]),
    ];
    for (name, bytes) in forms {
        let verdict = identity(false, |code, _| {
            code.xor(rcx, rcx).unwrap();
            code.db(bytes).unwrap();
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.mov(qword_ptr(rsi), rax).unwrap();
            code.ret().unwrap();
        });
        assert!(
            matches!(verdict, Verdict::Unsupported(_)),
            "{name}: {verdict}"
        );
    }
}

/// Without the mask, both move the whole word.
#[test]
fn a_scalar_move_under_a_mask_is_not_known() {
    let with = |load: &[u8], store: &[u8]| {
        identity_on(&Set::Avx512.processor(), |code, _| {
            code.db(load).unwrap();
            code.db(store).unwrap();
            code.ret().unwrap();
        })
    };
    let load = &[0xc5, 0xfb, 0x10, 0x07]; // vmovsd xmm0, [rdi]
    let store = &[0xc5, 0xfb, 0x11, 0x06]; // vmovsd [rsi], xmm0
    assert_eq!(with(load, store), Verdict::Proved);
    let masked_load = &[0x62, 0xf1, 0xff, 0x09, 0x10, 0x07]; // vmovsd xmm0 {k1}, [rdi]
    let masked_store = &[0x62, 0xf1, 0xff, 0x09, 0x11, 0x06]; // vmovsd [rsi] {k1}, xmm0
    for verdict in [with(masked_load, store), with(load, masked_store)] {
        assert!(
            matches!(&verdict, Verdict::Unsupported(why) if why.contains("k1")),
            "{verdict}"
        );
    }
}

const AHEAD: &str = "Argon2 G, looking ahead";

#[test]
fn a_wrong_reference_that_is_returned() {
    for name in [AHEAD, "Argon2 G, in turn"] {
        // `slice - 4` for a slice after the last one.
        let verdict = with_changed_code(name, Set::Baseline, usize::MAX, |instruction, bytes| {
            let (last, rest) = bytes.split_last()?;
            let is_it = instruction.mnemonic() == Mnemonic::Sub
                && instruction.op1_kind() == OpKind::Immediate8to64
                && instruction.op0_register() != Register::RSP
                && *last == 4;
            is_it.then(|| [rest, &[5]].concat())
        });
        assert_refuted(&verdict, "wrong output in what it returns");
    }
}

#[test]
fn a_hint_that_reads() {
    let verdict = with_changed_code("Argon2 G", Set::Baseline, 1, |instruction, bytes| {
        let hint = instruction.mnemonic() == Mnemonic::Prefetcht0;
        let at = bytes.windows(2).position(|pair| pair == [0x0f, 0x18])?;
        let mut bytes = bytes.to_vec();
        // `movups` from the same place.
        bytes[at + 1] = 0x10;
        hint.then_some(bytes)
    });
    assert_refuted(&verdict, "read of 16 bytes outside of its memory");
}

/// A sum that goes through the stack, where it is wiped or not.
fn sum_by_stack(wipe: bool) -> Verdict {
    let contract = Contract::new(formula!(|a, contents| vec![vec![Algebra::<64>::add(
        a,
        &contents[0][0],
        &contents[0][1]
    )]]))
    .buffer("in", 2, 8, Access::Read)
    .buffer("out", 1, 8, Access::Write)
    .addresses(["in", "out"])
    .wipes();
    let mut code = CodeAssembler::new(64).unwrap();
    code.mov(rax, qword_ptr(rdi)).unwrap();
    code.mov(qword_ptr(rsp - 8), rax).unwrap();
    code.add(rax, qword_ptr(rdi + 8)).unwrap();
    code.mov(qword_ptr(rsi), rax).unwrap();
    code.xor(eax, eax).unwrap();
    if wipe {
        code.mov(qword_ptr(rsp - 8), 0).unwrap();
    }
    code.ret().unwrap();
    let mut image = own_image();
    let symbol = added(&mut image, code);
    prove(&image, &symbol, &contract, Set::Baseline).verdict
}

#[test]
fn a_missing_wipe() {
    assert_eq!(sum_by_stack(true), Verdict::Proved);
    assert_refuted(
        &sum_by_stack(false),
        "it leaves 8 bytes that depend on its input",
    );
}
