//! Bugs that show on one input of very many. A solver finds it, and a run on it shows the bug.

use super::*;
use iced_x86::{Decoder, DecoderOptions};
use sealstone_proofs::report::Report;
use sealstone_prover::solver::Solver;

/// No sample has this input.
pub(super) const RARE: u64 = 0x0123_4567_89ab_cdef;

pub(super) fn z3() -> Solver {
    let [z3, _] = sealstone_proofs::lemma::solvers().expect("`make prove` installs the solvers");
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
        .verdict
    })
}

/// Flips a bit if the word is `RARE`.
fn wrong_once(code: &mut CodeAssembler) {
    is_rare(code);
    code.xor(rax, rcx).unwrap();
}

/// 1 in rcx if the word is `RARE`, else 0.
fn is_rare(code: &mut CodeAssembler) {
    code.mov(rdx, RARE).unwrap();
    code.xor(ecx, ecx).unwrap();
    code.cmp(rax, rdx).unwrap();
    code.sete(cl).unwrap();
}

/// A kind of decision, and code that decides so by rcx.
type Decides = (&'static str, fn(&mut CodeAssembler));

/// Decisions that must not depend on the word, and one input of 2^64 on which they differ.
const DECISIONS: [Decides; 6] = [
    ("an address", |code| {
        code.mov(r8, qword_ptr(rdi + rcx * 8)).unwrap()
    }),
    ("an address", |code| {
        code.mov(r8, qword_ptr(rsp + rcx * 8 - 16)).unwrap()
    }),
    ("a shift count", |code| code.shl(r8, cl).unwrap()),
    ("a division", |code| {
        divide(code, |code| code.add(r8, rcx).unwrap())
    }),
    ("a division", |code| {
        divide(code, |code| code.add(r9, rcx).unwrap())
    }),
    ("a branch", |code| {
        let mut end = code.create_label();
        code.test(ecx, ecx).unwrap();
        code.jne(end).unwrap();
        code.mov(r8, rax).unwrap();
        code.set_label(&mut end).unwrap();
        code.nop().unwrap();
    }),
];

/// Divides r9 by r8 after a change of one of them.
fn divide(code: &mut CodeAssembler, change: impl Fn(&mut CodeAssembler)) {
    code.mov(r11, rax).unwrap();
    change(code);
    code.mov(rax, r9).unwrap();
    code.xor(edx, edx).unwrap();
    code.div(r8).unwrap();
    code.mov(rax, r11).unwrap();
}

#[track_caller]
pub(super) fn assert_unproved(verdict: &Verdict) {
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

#[test]
fn a_decision_that_differs_for_one_input() {
    for (what, decide) in DECISIONS {
        let bug = |code: &mut CodeAssembler| {
            is_rare(code);
            code.mov(r8, 7u64).unwrap();
            code.mov(r9, 9u64).unwrap();
            decide(code);
        };
        let [without, with] = with_bug(z3(), bug);
        assert_unproved(&without);
        assert_refuted(&with, &format!("{what} depends on the input"));
        assert_refuted(&with, &format!("{RARE:016x}"));
        let [_, with] = with_bug(says("sat ((a2 true) (a3 true))"), bug);
        assert_unproved(&with);
    }
}

#[test]
fn a_register_that_is_not_restored_after_one_input() {
    let bug = |code: &mut CodeAssembler| {
        is_rare(code);
        code.xor(rbx, rcx).unwrap();
    };
    let [without, with] = with_bug(z3(), bug);
    assert_unproved(&without);
    assert_refuted(
        &with,
        "a register that belongs to the caller is not restored",
    );
    assert_refuted(&with, &format!("{RARE:016x}"));
    let [_, with] = with_bug(says("sat ((a2 true) (a3 true))"), bug);
    assert_unproved(&with);
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

/// BLAKE3's compression, but for one chaining value of 2^64.
#[test]
fn a_bug_in_the_code_of_others_on_one_input() {
    let name = "blake3_compress_in_place_sse2";
    sealstone_kernels::call_others();
    let mut image = Image::load(&std::env::current_exe().unwrap()).unwrap();
    let verdict = |image: &Image, solver: Option<&Solver>| {
        let mut report = Report::default();
        report.prove_others(std::slice::from_ref(image), name, solver);
        let [row] = &report.others[..] else {
            panic!("one function");
        };
        row.verdict.clone()
    };
    assert_eq!(verdict(&image, None), Verdict::Proved);
    let start = image.symbols().iter().find(|it| it.is(name)).unwrap().start;
    flip_after_one_input(&mut image, start);
    assert_unproved(&verdict(&image, None));
    let with = verdict(&image, Some(&z3()));
    assert_refuted(&with, &format!("{RARE:016x}"));
    assert_refuted(&with, "reproduced natively");
}

/// Skein's UBI, but for one chaining value of 2^64. The solver finds the value for one block, for
/// three, and for any number, of which it tries a few.
#[test]
fn a_bug_in_a_loop_of_any_length_on_one_input() {
    let (mut image, kernel) = (own_image(), kernel("Skein-256 UBI", Set::Baseline));
    let contract = |case: &str| {
        let contract = kernel.contracts.iter().find(|it| it.case == case);
        contract.expect("a contract of the row")
    };
    let symbols = image.symbols().iter();
    let mut symbols = symbols.filter(|it| it.is(kernel.function));
    let is_right = |it: &&Symbol| {
        let proof = prove(&image, it, contract("1 block"), kernel.set);
        proof.verdict.is_proof()
    };
    let symbol = symbols.find(is_right).unwrap().clone();
    flip_after_one_input(&mut image, symbol.start);
    for case in ["1 block", "3 blocks", "2 blocks or more"] {
        let verdict = |session: Session| {
            let mut session = session;
            let processor = kernel.set.processor();
            session
                .prove(&image, &symbol, contract(case), &processor)
                .verdict
        };
        assert_unproved(&verdict(Session::new()));
        let with = verdict(Session::new().with_solver(z3()));
        assert_refuted(&with, &format!("{RARE:016x}"));
    }
}

/// The function at `start` jumps to code that calls it and then flips a bit of its first buffer, if
/// the first word of that buffer was `RARE`.
fn flip_after_one_input(image: &mut Image, start: u64) {
    // Its first instructions, which a jump of five bytes replaces.
    let first = image.code(start, 16).unwrap().to_vec();
    let mut decoder = Decoder::with_ip(64, &first, start, DecoderOptions::NONE);
    let mut length = 0;
    while length < 5 {
        length += decoder.decode().len();
    }
    let mut code = CodeAssembler::new(64).unwrap();
    let mut original = code.create_label();
    code.push(rdi).unwrap();
    code.mov(rax, RARE).unwrap();
    code.cmp(qword_ptr(rdi), rax).unwrap();
    code.sete(al).unwrap();
    code.movzx(eax, al).unwrap();
    code.push(rax).unwrap();
    code.sub(rsp, 8).unwrap();
    code.call(original).unwrap();
    code.add(rsp, 8).unwrap();
    // Not a register of its result.
    code.pop(rcx).unwrap();
    code.pop(rdi).unwrap();
    code.xor(qword_ptr(rdi), rcx).unwrap();
    code.ret().unwrap();
    code.set_label(&mut original).unwrap();
    code.db(&first[..length]).unwrap();
    code.jmp(start + length as u64).unwrap();
    let planted = added(image, code).start;
    let distance = planted.wrapping_sub(start + 5) as u32;
    image.patch(start, &[&[0xe9][..], &distance.to_le_bytes()].concat());
}
