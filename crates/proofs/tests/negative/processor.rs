//! Instructions that the row's instruction set lacks: the code would crash on other processors.

use super::{assert_refuted, identity_on};
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
    assert_refuted(&on(Set::Avx2, with_xmm16), "needs AVX512VL");
    assert_eq!(on(Set::Avx512, with_xmm16), Verdict::Proved);
}

#[test]
fn a_vex_instruction_in_a_row_of_the_baseline() {
    let through_xmm0 = |code: &mut CodeAssembler| {
        code.vmovq(xmm0, qword_ptr(rdi)).unwrap();
        code.vmovq(qword_ptr(rsi), xmm0).unwrap();
        code.ret().unwrap();
    };
    assert_refuted(&on(Set::Baseline, through_xmm0), "needs AVX");
    assert_eq!(on(Set::Avx2, through_xmm0), Verdict::Proved);
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
    assert_refuted(&on(Set::Avx2, with_rorx), "needs BMI2");
}
