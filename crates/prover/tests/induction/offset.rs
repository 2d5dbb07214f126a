//! Loops that count the bytes that are done, and add them to the address of the first element.

use super::{assert_only_some, assert_proved, nothing, sums, to_the_end, verdicts};
use iced_x86::code_asm::{
    CodeAssembler, edx, qword_ptr, r8, r8d, r9, r9b, r9d, r10d, r11, rax, rcx, rdi, rdx, rsi, rsp,
};
use sealstone_prover::verdict::Verdict;

/// Changes of the loop.
#[derive(Clone, Copy)]
struct Change<'a> {
    /// Before the first turn. rdx is the number of bytes.
    begin: &'a dyn Fn(&mut CodeAssembler),
    /// Before an element is added. Its address is rsi + r9, and r8 bytes are done.
    turn: &'a dyn Fn(&mut CodeAssembler),
}

const NONE: Change<'_> = Change {
    begin: &nothing,
    turn: &nothing,
};

/// The loop.
fn counted(change: Change<'_>) -> [Verdict; 4] {
    verdicts(|code| {
        let mut again = code.create_label();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(rcx, qword_ptr(rdi + 8)).unwrap();
        code.shl(rdx, 3).unwrap();
        code.xor(r8d, r8d).unwrap();
        (change.begin)(code);
        code.set_label(&mut again).unwrap();
        code.mov(r9, r8).unwrap();
        (change.turn)(code);
        code.add(rax, qword_ptr(rsi + r9)).unwrap();
        code.rol(rax, 7).unwrap();
        code.inc(rcx).unwrap();
        code.add(r8, 8).unwrap();
        code.cmp(rdx, r8).unwrap();
        code.jne(again).unwrap();
        code.mov(qword_ptr(rdi), rax).unwrap();
        code.mov(qword_ptr(rdi + 8), rcx).unwrap();
        code.ret().unwrap();
    })
}

/// A compiler saves the offset on the stack, where it is 0 after the first turn only.
#[test]
fn a_loop_by_offset_is_proved() {
    assert_proved(&counted(NONE));
    assert_proved(&counted(Change {
        turn: &|code| code.mov(qword_ptr(rsp - 8), r8).unwrap(),
        ..NONE
    }));
    assert_proved(&counted(Change {
        begin: &|code| {
            code.mov(qword_ptr(rsp - 16), rdx).unwrap();
            code.mov(qword_ptr(rsp - 8), 8).unwrap();
        },
        turn: &|code| code.mov(rdx, qword_ptr(rsp - 16)).unwrap(),
    }));
}

/// The fifth element is the first again.
#[test]
fn an_offset_that_is_wrong_later() {
    assert_only_some(&counted(Change {
        turn: &|code| code.and(r9d, 31).unwrap(),
        ..NONE
    }));
}

/// From 24 bytes on, the sum is wrong.
#[test]
fn a_bug_by_the_number_of_bytes() {
    let wrong = |code: &mut CodeAssembler| {
        code.cmp(r8, 24).unwrap();
        code.setae(r9b).unwrap();
        code.movzx(r9d, r9b).unwrap();
        code.xor(rax, r9).unwrap();
        code.mov(r9, r8).unwrap();
    };
    assert_only_some(&counted(Change {
        turn: &wrong,
        ..NONE
    }));
}

/// At most 2^32 - 1 bytes are read.
#[test]
fn a_number_of_bytes_that_is_cut() {
    assert_only_some(&counted(Change {
        begin: &|code| code.mov(edx, edx).unwrap(),
        ..NONE
    }));
}

/// A place has a constant after the first turn, and another number after each later one.
#[test]
fn a_constant_that_changes() {
    let change = |turn| Change {
        begin: &|code| code.mov(qword_ptr(rsp - 8), 0).unwrap(),
        turn,
    };
    assert_proved(&counted(change(&|code| {
        code.add(qword_ptr(rsp - 8), 3).unwrap();
    })));
    // It reaches the sum in the fourth turn.
    assert_only_some(&counted(change(&|code| {
        code.add(qword_ptr(rsp - 8), 3).unwrap();
        code.mov(r9, qword_ptr(rsp - 8)).unwrap();
        code.cmp(r9, 12).unwrap();
        code.sete(r9b).unwrap();
        code.movzx(r9d, r9b).unwrap();
        code.xor(rax, r9).unwrap();
        code.mov(r9, r8).unwrap();
    })));
}

/// A loop by addresses, with a loop within it and the bytes of one element in a register: that is
/// no offset.
#[test]
fn a_constant_that_is_no_offset() {
    assert_proved(&sums(
        |code| {
            let mut again = code.create_label();
            code.mov(r11, 8_u64).unwrap();
            code.mov(r10d, 3).unwrap();
            code.set_label(&mut again).unwrap();
            code.dec(r10d).unwrap();
            code.jne(again).unwrap();
        },
        to_the_end,
    ));
}
