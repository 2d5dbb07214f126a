//! Decisions that depend on more than public numbers.

use super::*;

/// Asserts a decision that depends on the input, with two inputs for which this CPU decides
/// differently.
#[track_caller]
fn assert_leak(verdict: &Verdict, what: &str) {
    assert_refuted(verdict, &format!("{what} depends on the input"));
    let (_, how) = verdict
        .reason()
        .split_once("; reproduced natively: ")
        .unwrap_or_else(|| panic!("{verdict}"));
    let (one, other) = how
        .split_once(", and 0x")
        .unwrap_or_else(|| panic!("{how}"));
    let decided = |how: &str| {
        how.trim_start_matches("0x")
            .split_once(" with m = ")
            .map(|(numbers, _)| numbers.to_owned())
    };
    let (one, other) = (decided(one).unwrap(), decided(other).unwrap());
    assert_ne!(one, other);
}

/// The prover watches the run that shows it, and must survive an invalid stack pointer.
#[test]
fn a_stack_pointer_that_depends_on_the_input() {
    let verdict = identity(true, |code, _| {
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(qword_ptr(rsi), rax).unwrap();
        code.mov(rcx, rsp).unwrap();
        code.add(rsp, rax).unwrap();
        code.push(rax).unwrap();
        code.mov(rsp, rcx).unwrap();
        code.ret().unwrap();
    });
    assert_refuted(&verdict, "depends on the input");
}

#[test]
fn a_branch_on_a_secret() {
    let verdict = around_blake2b(
        |code| {
            let mut end = code.create_label();
            code.test(byte_ptr(rsi), 1).unwrap();
            code.je(end).unwrap();
            code.nop().unwrap();
            code.set_label(&mut end).unwrap();
        },
        nothing,
    );
    assert_leak(&verdict, "a branch");
}

/// The same branch depends on a public number first.
#[test]
fn a_branch_on_a_secret_when_it_comes_again() {
    let twice = |secret: bool| {
        around_blake2b(
            |code| {
                let (mut again, mut end) = (code.create_label(), code.create_label());
                code.xor(eax, eax).unwrap();
                code.mov(ecx, 2).unwrap();
                code.set_label(&mut again).unwrap();
                code.test(al, 1).unwrap();
                code.je(end).unwrap();
                code.nop().unwrap();
                code.set_label(&mut end).unwrap();
                if secret {
                    code.movzx(eax, byte_ptr(rsi)).unwrap();
                } else {
                    code.inc(eax).unwrap();
                }
                code.dec(ecx).unwrap();
                code.jne(again).unwrap();
            },
            nothing,
        )
    };
    assert_eq!(twice(false), Verdict::Proved);
    assert_leak(&twice(true), "a branch");
}

/// The count is in a vector register, and native runs show general-purpose registers only. The
/// verdict has two inputs nevertheless.
#[test]
fn a_vector_of_shift_counts_that_is_secret() {
    let verdict = around_blake2b(
        |code| {
            code.movq(xmm0, qword_ptr(rsi)).unwrap();
            code.psllq(xmm1, xmm0).unwrap();
        },
        nothing,
    );
    assert_refuted(&verdict, "a shift count depends on the input");
    assert_eq!(verdict.reason().matches("m = ").count(), 2, "{verdict}");
    assert!(!verdict.reason().contains("natively"), "{verdict}");
}

#[test]
fn a_branch_on_a_secret_where_nothing_is_run_natively() {
    let verdict = identity(false, |code, _| {
        let mut end = code.create_label();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.test(al, 1).unwrap();
        code.je(end).unwrap();
        code.nop().unwrap();
        code.set_label(&mut end).unwrap();
        code.mov(qword_ptr(rsi), rax).unwrap();
        code.ret().unwrap();
    });
    assert_refuted(&verdict, "a branch depends on the input");
    let (_, inputs) = verdict
        .reason()
        .split_once(" differ: in = ")
        .unwrap_or_else(|| panic!("{verdict}"));
    let (one, other) = inputs.split_once("; and in = ").unwrap();
    let odd = |input: &str| u64::from_str_radix(&input[..16], 16).unwrap() % 2;
    assert_ne!(odd(one), odd(other), "{verdict}");
}

#[test]
fn a_table_index_that_is_secret() {
    let verdict = around_blake2b(
        |code| {
            code.movzx(eax, byte_ptr(rsi)).unwrap();
            code.mov(al, byte_ptr(rdx + rax)).unwrap();
        },
        nothing,
    );
    assert_leak(&verdict, "an address");
}

#[test]
fn a_shift_count_a_division_and_a_length_that_are_secret() {
    let verdict = around_blake2b(
        |code| {
            code.mov(cl, byte_ptr(rsi)).unwrap();
            code.shl(eax, cl).unwrap();
        },
        nothing,
    );
    assert_leak(&verdict, "a shift count");
    let verdict = around_blake2b(nothing, |code| {
        code.xor(rdx, rdx).unwrap();
        code.mov(rax, qword_ptr(r12)).unwrap();
        code.mov(ecx, 7).unwrap();
        code.div(rcx).unwrap();
    });
    assert_leak(&verdict, "a division");
    let verdict = around_blake2b(nothing, |code| {
        code.mov(rcx, qword_ptr(r12)).unwrap();
        code.mov(rdi, rsp).unwrap();
        code.rep().stosb().unwrap();
    });
    assert_leak(&verdict, "a string length");
}

/// No decision may depend on these flags.
#[test]
fn a_branch_on_a_flag_at_the_entry() {
    let verdict = identity(true, |code, _| {
        let mut end = code.create_label();
        code.jb(end).unwrap();
        code.nop().unwrap();
        code.set_label(&mut end).unwrap();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(qword_ptr(rsi), rax).unwrap();
        code.ret().unwrap();
    });
    assert_refuted(
        &verdict,
        "a branch depends on what is not known at the entry",
    );
    assert_refuted(&verdict, "reproduced natively");
}

/// A path that is taken only if a public number is 7.
#[test]
fn a_branch_on_a_public_number() {
    let (mut image, kernel) = (own_image(), kernel(AHEAD, Set::Baseline));
    let inner = symbol(&image, &kernel);
    let mut code = CodeAssembler::new(64).unwrap();
    let mut end = code.create_label();
    code.cmp(qword_ptr(r8 + 8), 7).unwrap();
    code.je(end).unwrap();
    code.jmp(inner.start).unwrap();
    code.set_label(&mut end).unwrap();
    code.ret().unwrap();
    let symbol = added(&mut image, code);
    let verdict = prove(&image, &symbol, &kernel.contracts[0], Set::Baseline).verdict;
    assert!(
        matches!(&verdict, Verdict::Unproved(why) if why.contains("a branch")),
        "{verdict}"
    );
}

/// A division that may depend on data must still be certain not to fault.
#[test]
fn a_division_that_may_fault() {
    let divide = |divisor: Cell, formula| {
        let contract = Contract::new(formula)
            .record("in", vec![Cell::Input, divisor], 8, Access::Read)
            .buffer("out", 1, 8, Access::Write)
            .addresses(["in", "out"])
            .by_data();
        let mut code = CodeAssembler::new(64).unwrap();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.xor(edx, edx).unwrap();
        code.div(qword_ptr(rdi + 8)).unwrap();
        code.mov(qword_ptr(rsi), rdx).unwrap();
        code.ret().unwrap();
        let mut image = own_image();
        let symbol = added(&mut image, code);
        prove(&image, &symbol, &contract, Set::Baseline).verdict
    };
    let remainder = formula!(|a, contents| {
        vec![vec![Choices::remainder(
            a,
            &contents[0][0],
            &contents[0][1],
        )]]
    });
    assert_eq!(divide(Cell::Count(24), remainder), Verdict::Proved);
    // The proof does not reach a comparison.
    let anything = formula!(|_a, contents| vec![contents[0][..1].to_vec()]);
    let verdict = divide(Cell::Input, anything);
    assert!(matches!(verdict, Verdict::Unsupported(_)), "{verdict}");
}
