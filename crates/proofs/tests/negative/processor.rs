//! Instructions that the row's instruction set lacks: the code would crash on other processors.
//!
//! Each code is first PROVED in a row of a set that has its instructions: its output is right. Then
//! the same code is refused in a row of another set, for the instruction alone.

use super::{assert_refuted, identity_on, kernel, own_image, prove, symbol};
use iced_x86::code_asm::{CodeAssembler, eax, edi, qword_ptr, rax, rdi, rsi, xmm0, xmm16};
use sealstone_proofs::catalog::Set;
use sealstone_prover::verdict::Verdict;

fn on(set: Set, write: fn(&mut CodeAssembler)) -> Verdict {
    identity_on(&set.processor(), |code, _| write(code))
}

/// It clears a register that only EVEX can encode.
#[test]
fn an_evex_instruction_in_a_row_called_avx2() {
    let with_xmm16 = |code: &mut CodeAssembler| {
        code.vpxorq(xmm16, xmm16, xmm16).unwrap();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(qword_ptr(rsi), rax).unwrap();
        code.ret().unwrap();
    };
    assert_eq!(on(Set::Avx512, with_xmm16), Verdict::Proved);
    assert_refuted(&on(Set::Avx2, with_xmm16), "needs AVX512VL");
}

/// A shipped kernel as compiled for AVX-512. Code that dispatches to it where only AVX2 is detected
/// has the contract of the row called AVX2, and these bytes.
#[test]
fn a_kernel_of_avx512_in_a_row_called_avx2() {
    let (image, kernel) = (own_image(), kernel("BLAKE2b F", Set::Avx512));
    let symbol = symbol(&image, &kernel);
    let tried = |set| prove(&image, &symbol, &kernel.contracts[0], set).verdict;
    assert_eq!(tried(Set::Avx512), Verdict::Proved);
    assert_refuted(&tried(Set::Avx2), "needs AVX512");
}

#[test]
fn a_vex_instruction_in_a_row_of_the_baseline() {
    let through_xmm0 = |code: &mut CodeAssembler| {
        code.vmovq(xmm0, qword_ptr(rdi)).unwrap();
        code.vmovq(qword_ptr(rsi), xmm0).unwrap();
        code.ret().unwrap();
    };
    assert_eq!(on(Set::Avx2, through_xmm0), Verdict::Proved);
    assert_refuted(&on(Set::Baseline, through_xmm0), "needs AVX");
}

/// AVX2 does not imply BMI2, although most processors have both.
#[test]
fn a_neighbour_of_the_instruction_set() {
    let with_rorx = |code: &mut CodeAssembler| {
        code.rorx(eax, edi, 1).unwrap();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(qword_ptr(rsi), rax).unwrap();
        code.ret().unwrap();
    };
    assert_eq!(on(Set::Avx2Bmi2, with_rorx), Verdict::Proved);
    assert_refuted(&on(Set::Avx2, with_rorx), "needs BMI2");
}
