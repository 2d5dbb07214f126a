//! A stack that code aligns: its guard page, and what remains on it.

use super::*;
use iced_x86::code_asm::{
    CodeAssembler, eax, ecx, k1, qword_ptr, r11, rax, rbp, rcx, rdi, rsi, rsp, zmm1, zmmword_ptr,
};
use sealstone_prover::features::Processor;
use sealstone_prover::prove::Session;
use sealstone_prover::verdict::Verdict;

/// An access at most 48 bytes further from the last one than it seems: the stack was aligned to 64
/// bytes. Within the aligned stack, and between two accesses of the old one, distances are exact.
#[test]
fn an_aligned_frame_that_is_not_probed() {
    let frame = |distances: &[i32], left: i32| {
        identity(true, |code, _| {
            code.push(rbp).unwrap();
            code.mov(rbp, rsp).unwrap();
            code.and(rsp, -64).unwrap();
            for distance in distances {
                code.sub(rsp, *distance).unwrap();
                code.mov(qword_ptr(rsp), rdi).unwrap();
            }
            code.mov(rsp, rbp).unwrap();
            code.sub(rsp, left).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
            code.mov(rsp, rbp).unwrap();
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.mov(qword_ptr(rsi), rax).unwrap();
            code.pop(rbp).unwrap();
            code.ret().unwrap();
        })
    };
    let is_probed = [
        frame(&[4096 - 48], 8),
        frame(&[4096 - 48, 4096], 8),
        frame(&[], 4096),
        frame(&[64], 64 + 4096),
    ];
    for verdict in is_probed {
        assert_eq!(verdict, Verdict::Proved);
    }
    let skips = [
        frame(&[4096 - 47], 8),
        frame(&[4096 - 48, 4097], 8),
        frame(&[], 4097),
        frame(&[64], 64 + 4097),
    ];
    for verdict in skips {
        assert_refuted(&verdict, "skip the guard of the stack");
    }
}

/// The depth that a finding tells holds for every distance of the alignment: up to 48 bytes here.
#[test]
fn the_depth_of_an_aligned_frame() {
    for words in 0..4 {
        let finding = identity_in(Session::new(), &Processor::baseline(), |code, _| {
            code.push(rbp).unwrap();
            code.mov(rbp, rsp).unwrap();
            for _ in 0..words {
                code.push(rbp).unwrap();
                code.push(rbp).unwrap();
            }
            code.and(rsp, -64).unwrap();
            code.sub(rsp, 192).unwrap();
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.mov(qword_ptr(rsp), rax).unwrap();
            code.mov(qword_ptr(rsi), rax).unwrap();
            code.mov(rsp, rbp).unwrap();
            code.pop(rbp).unwrap();
            code.ret().unwrap();
        });
        assert_eq!(finding.verdict, Verdict::Proved);
        let deepest = 16 + 16 * words + 48 + 192;
        let depths = deepest..deepest + 64;
        assert!(depths.contains(&finding.depth), "{}", finding.depth);
    }
}

/// An access that is no probe: from the old stack pointer while the stack is aligned, and under a
/// mask that may exclude all elements. The next one is more than a page below the last probe.
#[test]
fn accesses_that_are_no_probes() {
    let from_the_old_pointer = |down: i32| {
        framed(|code| {
            code.sub(rsp, 112).unwrap();
            code.and(rsp, -128).unwrap();
            code.mov(rax, qword_ptr(rbp)).unwrap();
            code.sub(rsp, down).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
        })
    };
    assert_eq!(from_the_old_pointer(4096 - 224), Verdict::Proved);
    let why = "skip the guard of the stack";
    assert_refuted(&from_the_old_pointer(4096 - 223), why);
    assert_refuted(&from_the_old_pointer(4096 - 112), why);
    let processor = Processor {
        is_here: false,
        ..Processor::of_target("x86-64-v4").unwrap()
    };
    let under_a_mask = |mask: u32| {
        framed_on(&processor, |code| {
            code.mov(eax, mask).unwrap();
            code.kmovw(k1, eax).unwrap();
            code.sub(rsp, 4096).unwrap();
            match mask {
                u32::MAX => code.vmovdqu64(zmmword_ptr(rsp), zmm1).unwrap(),
                _ => code.vmovdqu64(zmmword_ptr(rsp).k1(), zmm1).unwrap(),
            }
            code.vzeroupper().unwrap();
            code.sub(rsp, 4096).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
        })
    };
    assert_eq!(under_a_mask(u32::MAX), Verdict::Proved, "without a mask");
    for mask in [0, 0x80, 0xff] {
        assert_refuted(&under_a_mask(mask), why);
    }
}

/// A stack that is aligned twice from the same place is the same stack. One that was left can have
/// begun 8 bytes below the old stack pointer at the highest, because that is not a multiple of 16.
#[test]
fn probes_of_a_stack_that_is_aligned_again() {
    let twice = |more: i32| {
        framed(|code| {
            code.and(rsp, -64).unwrap();
            code.sub(rsp, 4096 - 48).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
            code.lea(rsp, qword_ptr(rbp - more)).unwrap();
            code.and(rsp, -64).unwrap();
            code.sub(rsp, 2 * 4096 - 48).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
        })
    };
    assert_eq!(twice(0), Verdict::Proved);
    let why = "skip the guard of the stack";
    assert_refuted(&twice(16), why);
    let deeper_in_between = |more: i32| {
        framed(|code| {
            code.and(rsp, -64).unwrap();
            code.push(rdi).unwrap();
            code.lea(rsp, qword_ptr(rbp - 4096)).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
            code.mov(rsp, rbp).unwrap();
            code.and(rsp, -64).unwrap();
            code.sub(rsp, 4096 + more).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
        })
    };
    assert_eq!(deeper_in_between(4096 - 48), Verdict::Proved);
    assert_refuted(&deeper_in_between(4096 - 47), why);
    let left = |down: i32| {
        identity(true, |code, _| {
            code.mov(r11, rsp).unwrap();
            code.and(rsp, -64).unwrap();
            code.sub(rsp, 64).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
            code.mov(rsp, r11).unwrap();
            code.sub(rsp, 64 + down).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
            code.mov(rsp, r11).unwrap();
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.mov(qword_ptr(rsi), rax).unwrap();
            code.ret().unwrap();
        })
    };
    assert_eq!(left(8 + 4096), Verdict::Proved);
    assert_refuted(&left(9 + 4096), why);
}

/// The old stack pointer is 8 bytes above a multiple of 16, so the aligned stack begins from 8 to
/// 56 bytes below it.
#[test]
fn the_first_probe_below_an_odd_place() {
    let frame = |down: i32| {
        identity(true, |code, _| {
            code.mov(r11, rsp).unwrap();
            code.and(rsp, -64).unwrap();
            code.sub(rsp, down).unwrap();
            code.mov(qword_ptr(rsp), rdi).unwrap();
            code.mov(rsp, r11).unwrap();
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.mov(qword_ptr(rsi), rax).unwrap();
            code.ret().unwrap();
        })
    };
    assert_eq!(frame(4096 - 56), Verdict::Proved);
    assert_refuted(&frame(4096 - 55), "skip the guard of the stack");
}

/// A copy of a secret in given-up stack is a secret, too.
#[test]
fn a_promise_to_wipe_given_up_stack() {
    let wiped = |both: bool| {
        wiping(|code| {
            code.sub(rsp, 256).unwrap();
            code.mov(qword_ptr(rsp), rax).unwrap();
            code.add(rsp, 256).unwrap();
            code.sub(rsp, 256).unwrap();
            code.mov(rcx, qword_ptr(rsp)).unwrap();
            code.mov(qword_ptr(rsp + 8), rcx).unwrap();
            code.xor(ecx, ecx).unwrap();
            code.mov(qword_ptr(rsp), 0).unwrap();
            if both {
                code.mov(qword_ptr(rsp + 8), 0).unwrap();
            }
        })
    };
    assert_eq!(wiped(true), Verdict::Proved);
    assert_refuted(&wiped(false), "it leaves 8 bytes that depend on its input");
}

/// A secret on one side of an alignment, and zeros that seem to be over it on the other side.
#[test]
fn a_promise_to_wipe_across_an_alignment() {
    assert_eq!(wiping(|_| ()), Verdict::Proved);
    let before = wiping(|code| {
        code.mov(qword_ptr(rsp - 56), rax).unwrap();
        code.and(rsp, -64).unwrap();
        code.mov(qword_ptr(rsp - 8), 0).unwrap();
    });
    let within = wiping(|code| {
        code.and(rsp, -64).unwrap();
        code.mov(qword_ptr(rsp - 8), rax).unwrap();
        code.mov(rsp, rbp).unwrap();
        code.mov(qword_ptr(rsp - 56), 0).unwrap();
    });
    for verdict in [before, within] {
        let why = verdict.reason();
        assert!(
            why.starts_with("an alignment of the stack in a function that wipes"),
            "{verdict}"
        );
    }
}

/// The word is copied, with code of a function that promises to wipe. rax is the word.
fn wiping(write: impl Fn(&mut CodeAssembler)) -> Verdict {
    let contract = Contract::new(formula!(|_a, contents| vec![contents[0].clone()]))
        .buffer("in", 1, 8, Access::Read)
        .buffer("out", 1, 8, Access::Write)
        .addresses(["in", "out"])
        .wipes();
    let mut code = CodeAssembler::new(64).unwrap();
    code.push(rbp).unwrap();
    code.mov(rbp, rsp).unwrap();
    code.mov(rax, qword_ptr(rdi)).unwrap();
    write(&mut code);
    code.mov(rsp, rbp).unwrap();
    code.mov(qword_ptr(rsi), rax).unwrap();
    code.xor(eax, eax).unwrap();
    code.pop(rbp).unwrap();
    code.ret().unwrap();
    let mut image = own_image();
    let symbol = added(&mut image, code);
    prove(&image, &symbol, &contract, Set::Baseline).verdict
}

/// No alignment, but no panic either.
#[test]
fn a_stack_pointer_that_becomes_zero() {
    let verdict = framed(|code| {
        code.sub(rsp, 4).unwrap();
        code.and(rsp, 0).unwrap();
        code.mov(qword_ptr(rsp), rdi).unwrap();
    });
    assert!(!verdict.is_proof(), "{verdict}");
}

/// The word is copied after code with a frame pointer.
fn framed(frame: impl Fn(&mut CodeAssembler)) -> Verdict {
    framed_on(&Processor::baseline(), frame)
}

fn framed_on(processor: &Processor, frame: impl Fn(&mut CodeAssembler)) -> Verdict {
    identity_on(processor, |code, _| {
        code.push(rbp).unwrap();
        code.mov(rbp, rsp).unwrap();
        frame(code);
        code.mov(rsp, rbp).unwrap();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(qword_ptr(rsi), rax).unwrap();
        code.pop(rbp).unwrap();
        code.ret().unwrap();
    })
}
