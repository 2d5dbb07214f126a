//! Bugs that show on one input of very many. A solver finds it, and a run on it shows the bug.

use super::*;
use sealstone_prover::solver::Solver;

/// No sample has this input.
const RARE: u64 = 0x0123_4567_89ab_cdef;

fn z3() -> Solver {
    let [z3, _] =
        sealstone_proofs::lemma::solvers().expect("scripts/prove-lemmas installs the solvers");
    z3
}

/// A solver that always gives this answer.
fn says(words: &str) -> Solver {
    let script = format!("cat > /dev/null; echo '{words}'");
    Solver::new("z3", &["sh", "-c", &script])
}

/// The verdicts without and with a solver on code that gets a word in rax and returns it.
fn with_bug(solver: Solver, bug: impl Fn(&mut CodeAssembler)) -> [Verdict; 2] {
    [Session::new(), Session::new().with_solver(solver)].map(|session| {
        identity_in(session, &Processor::baseline(), |code, _| {
            code.mov(rax, qword_ptr(rdi)).unwrap();
            bug(code);
            code.mov(qword_ptr(rsi), rax).unwrap();
            code.ret().unwrap();
        })
    })
}

/// Flips a bit if the word is `RARE`.
fn wrong_once(code: &mut CodeAssembler) {
    code.mov(rdx, RARE).unwrap();
    code.xor(ecx, ecx).unwrap();
    code.cmp(rax, rdx).unwrap();
    code.sete(cl).unwrap();
    code.xor(rax, rcx).unwrap();
}

#[track_caller]
fn assert_unproved(verdict: &Verdict) {
    assert!(matches!(verdict, Verdict::Unproved(_)), "{verdict}");
}

#[test]
fn an_output_that_is_wrong_for_one_input() {
    let [without, with] = with_bug(z3(), wrong_once);
    assert_unproved(&without);
    let expected = format!("wrong output in `out`, word 0, with in = {RARE:016x}");
    assert_refuted(&with, &expected);
    assert_refuted(&with, "reproduced natively");
}

/// The bug needs this number after a sum and a product.
#[test]
fn an_input_that_must_be_computed() {
    let [without, with] = with_bug(z3(), |code| {
        code.mov(r8, rax).unwrap();
        code.mov(rdx, 0xff51_afd7_ed55_8ccd_u64).unwrap();
        code.add(rax, rdx).unwrap();
        code.imul_2(rax, rdx).unwrap();
        code.mov(rdx, RARE).unwrap();
        code.xor(ecx, ecx).unwrap();
        code.cmp(rax, rdx).unwrap();
        code.sete(cl).unwrap();
        code.mov(rax, r8).unwrap();
        code.xor(rax, rcx).unwrap();
    });
    assert_unproved(&without);
    assert_refuted(&with, "wrong output in `out`, word 0, with in = ");
}

#[test]
fn a_branch_that_one_input_takes() {
    let branch = |code: &mut CodeAssembler| {
        let mut on = code.create_label();
        code.mov(rdx, RARE).unwrap();
        code.cmp(rax, rdx).unwrap();
        code.jne(on).unwrap();
        code.nop().unwrap();
        code.set_label(&mut on).unwrap();
    };
    let [without, with] = with_bug(z3(), branch);
    assert_unproved(&without);
    assert_refuted(&with, "a branch depends on the input");
    assert_refuted(&with, &format!("in = {RARE:016x}"));
}

/// The prover treats an answer as a hint.
#[test]
fn a_solver_that_lies_or_knows_nothing_changes_no_verdict() {
    for words in [
        "sat ((a2 true) (a3 true))",
        "sat",
        "unsat",
        "unknown",
        "",
        "(x",
    ] {
        let [without, with] = with_bug(says(words), wrong_once);
        assert_eq!(with, without, "{words}");
        let right = with_bug(says(words), |_| {});
        assert_eq!(right, [Verdict::Proved, Verdict::Proved], "{words}");
    }
    let nothing = Solver::new("z3", &["/nonexistent"]);
    let [without, with] = with_bug(nothing, wrong_once);
    assert_eq!(with, without);
}
