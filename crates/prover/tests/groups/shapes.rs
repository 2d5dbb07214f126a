//! Loops over groups in other shapes: with addresses from an index, with wide vectors, and with a
//! position on the stack.

use super::{
    Planted, RIGHT, WHILE, advance_by, any, assert_only_one_group, some, verdicts, verdicts_for,
};
use iced_x86::code_asm::{
    CodeAssembler, qword_ptr, r8, r10, r11, r12, r13, rax, rcx, rdx, rsi, rsp, xmm0, xmmword_ptr,
    ymm0, ymmword_ptr,
};
use sealstone_prover::features::Processor;
use sealstone_prover::verdict::Verdict;

/// Elements and results of a group by the number of elements that are done, and a bug.
fn from_index(code: &mut CodeAssembler, bug: impl Fn(&mut CodeAssembler)) {
    code.mov(rdx, rax).unwrap();
    code.shl(rdx, 5).unwrap();
    bug(code);
    code.mov(r8, qword_ptr(r13)).unwrap();
    code.add(r8, rdx).unwrap();
    code.mov(r10, qword_ptr(r13 + 16)).unwrap();
    code.lea(r10, qword_ptr(r10 + rax * 8)).unwrap();
}

const BY_INDEX: Planted<'_> = Planted {
    header: &|code| from_index(code, |_| ()),
    advance: &|code, header| {
        advance_by(code, [0, 0, 64, 2]);
        code.cmp(rcx, 2).unwrap();
        code.jne(header).unwrap();
    },
    ..RIGHT
};

/// No place has an address that each turn advances.
#[test]
fn addresses_from_an_index_are_proved() {
    assert_eq!(verdicts(BY_INDEX), [(); 3].map(|()| Verdict::Proved));
}

/// The third group has the elements of the first, or later ones.
#[test]
fn an_index_that_is_wrong_later() {
    assert_only_one_group(Planted {
        header: &|code| from_index(code, |code| code.and(rdx, 127).unwrap()),
        ..BY_INDEX
    });
    let skips = |code: &mut CodeAssembler| {
        code.lea(r10, qword_ptr(rdx + rdx)).unwrap();
        code.cmp(rdx, 64).unwrap();
        code.cmova(rdx, r10).unwrap();
    };
    assert_only_one_group(Planted {
        header: &|code| from_index(code, skips),
        ..BY_INDEX
    });
}

/// An address of code, here a return address, is the same at each arrival.
#[test]
fn an_address_of_code_from_before_the_loop() {
    let call = |code: &mut CodeAssembler| {
        let mut here = code.create_label();
        code.call(here).unwrap();
        code.set_label(&mut here).unwrap();
        code.nop().unwrap();
    };
    let with_address = Planted {
        begin: &call,
        after: &|code| code.add(rsp, 8).unwrap(),
        ..RIGHT
    };
    assert_eq!(verdicts(with_address), [(); 3].map(|()| Verdict::Proved));
}

/// A turn leaves upper halves in use, so the code after the loop must end that.
#[test]
fn upper_halves_that_a_turn_leaves_in_use() {
    let verdicts = |planted: Planted<'_>| {
        let processor = Processor {
            is_here: false,
            ..Processor::of_target("x86-64-v3").unwrap()
        };
        verdicts_for(&processor, [some(1), some(2), any(1)], planted)
    };
    let vectors = Planted {
        header: &|code| code.vmovups(ymm0, ymmword_ptr(r8)).unwrap(),
        after: &|code| code.vzeroupper().unwrap(),
        ..RIGHT
    };
    assert_eq!(verdicts(vectors), [(); 3].map(|()| Verdict::Proved));
    let [_, _, any] = verdicts(Planted {
        after: RIGHT.after,
        ..vectors
    });
    assert!(any.reason().contains("vzeroupper is missing"), "{any}");
    // Only the last group has an end of its own.
    let [one, _, any] = verdicts(Planted {
        rest: &|code| code.vzeroupper().unwrap(),
        after: RIGHT.after,
        ..vectors
    });
    assert_eq!(one, Verdict::Proved);
    assert!(any.reason().contains("vzeroupper is missing"), "{any}");
    // Only a group that is not full, and comes after a full one, has no end.
    let after_a_full_one = |rest| {
        verdicts(Planted {
            group: &|code| code.vmovups(ymm0, ymmword_ptr(r8)).unwrap(),
            advance: &|code, header| {
                (RIGHT.advance)(code, header);
                code.vzeroupper().unwrap();
            },
            rest,
            ..RIGHT
        })
    };
    let [one, two, any] = after_a_full_one(RIGHT.rest);
    assert_eq!([one, two], [(); 2].map(|()| Verdict::Proved));
    assert!(any.reason().contains("vzeroupper is missing"), "{any}");
    let ended = after_a_full_one(&|code| code.vzeroupper().unwrap());
    assert_eq!(ended, [(); 3].map(|()| Verdict::Proved));
    let narrow = Planted {
        header: &|code| code.vmovups(xmm0, xmmword_ptr(r8)).unwrap(),
        ..RIGHT
    };
    assert_eq!(verdicts(narrow), [(); 3].map(|()| Verdict::Proved));
}

/// A loop is proved whose turns take the position from the stack, where it is as at the header of
/// the groups. A loop with another advance of the position is proved for one group only.
#[test]
fn a_position_that_stays_on_the_stack_while_a_group_is_summed() {
    let stays = Planted {
        header: &|code| code.push(r11).unwrap(),
        word: &|code| {
            code.mov(r12, qword_ptr(rsp)).unwrap();
            code.lea(r12, qword_ptr(r12 + rsi + 8)).unwrap();
        },
        group: &|code| code.pop(r11).unwrap(),
        rest: &|code| code.pop(r11).unwrap(),
        ..RIGHT
    };
    let ends = Planted {
        advance: WHILE.advance,
        is_while: true,
        ..stays
    };
    for right in [stays, ends] {
        assert_eq!(verdicts(right), [(); 3].map(|()| Verdict::Proved));
    }
    for position in [0, 32, 72] {
        assert_only_one_group(Planted {
            advance: &|code, _| advance_by(code, [64, 16, position, 2]),
            ..ends
        });
    }
}
