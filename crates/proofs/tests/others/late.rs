//! Bugs that show on long data only, in code that is proved for any length.

use crate::{longest, own, prove, symbol};
use iced_x86::code_asm::{
    AsmRegister32, AsmRegister64, CodeAssembler, dword_ptr, r8, r8d, r9, r9d, rax, rbp, rcx, rdi,
    rdx, rsi, rsp,
};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use sealstone_proofs::catalog::{Kernel, others};
use sealstone_prover::image::Image;
use sealstone_prover::verdict::Verdict;

/// A function with contracts for any length, the registers with the remaining length and with the
/// counter's bug, and the remaining length that ends its loop.
pub(crate) struct Endless {
    pub(crate) row: Kernel,
    left: AsmRegister64,
    /// The number that the last instruction of an iteration subtracts from it.
    group: i32,
    last: u64,
    /// Adds the low half of the register to the next counter.
    count: Count,
    scratch: (AsmRegister64, AsmRegister32),
}

type Count = fn(&mut CodeAssembler, AsmRegister32);

/// All functions with a contract for any length.
pub(crate) fn endless() -> Vec<Endless> {
    let rows = others().into_iter();
    let rows = rows.filter(|row| row.contracts.iter().any(|any| any.stream.is_some()));
    let all: Vec<Endless> = rows
        .map(|row| {
            let (left, group, last, count, scratch): (_, _, _, Count, _) = match row.name {
                "aws-lc ChaCha20_ctr32_nohw" => (
                    rbp,
                    64,
                    64,
                    |code, wrong| code.add(dword_ptr(rsp + 48), wrong).unwrap(),
                    (r8, r8d),
                ),
                "aws-lc ChaCha20_ctr32_ssse3" => (
                    rdx,
                    64,
                    64,
                    |code, wrong| code.add(dword_ptr(rsp + 48), wrong).unwrap(),
                    (r8, r8d),
                ),
                "aws-lc ChaCha20_ctr32_ssse3_4x" => (
                    rdx,
                    256,
                    256,
                    |code, wrong| code.add(dword_ptr(rcx), wrong).unwrap(),
                    (r8, r8d),
                ),
                "aws-lc ChaCha20_ctr32_avx2" => (
                    rdx,
                    512,
                    512,
                    |code, wrong| code.add(dword_ptr(rax), wrong).unwrap(),
                    (r8, r8d),
                ),
                "aws-lc aes_hw_ctr32_encrypt_blocks" => (
                    rdx,
                    8,
                    0,
                    |code, wrong| code.add(r8d, wrong).unwrap(),
                    (r9, r9d),
                ),
                other => panic!("no bugs for {other}"),
            };
            Endless {
                row,
                left,
                group,
                last,
                count,
                scratch,
            }
        })
        .collect();
    assert_eq!(all.len(), 5);
    all
}

/// The function with other code before the last two instructions of an iteration, which subtract a
/// group from the remaining length and jump back.
fn with_turn(own: &Image, endless: &Endless, bug: &dyn Fn(&mut CodeAssembler, &Endless)) -> Image {
    let mut image = own.clone();
    let function = symbol(&image, &endless.row).clone();
    let bytes = image.code(function.start, function.size as usize).unwrap();
    let decoder = Decoder::with_ip(64, bytes, function.start, DecoderOptions::NONE);
    let instructions: Vec<Instruction> = decoder.into_iter().collect();
    let is_end = |pair: &&[Instruction]| {
        let takes = pair[0].mnemonic() == Mnemonic::Sub
            && pair[0].op1_kind() != OpKind::Register
            && pair[0].immediate(1) == endless.group as u64;
        takes && pair[1].is_jcc_short_or_near() && pair[1].near_branch_target() < pair[1].ip()
    };
    let mut ends = instructions.windows(2).filter(is_end);
    let [sub, jump] = ends.next().expect("the end of a turn") else {
        unreachable!("windows of two");
    };
    assert!(ends.next().is_none(), "one loop");
    let mut code = CodeAssembler::new(64).unwrap();
    bug(&mut code, endless);
    code.sub(endless.left, endless.group).unwrap();
    match jump.mnemonic() {
        Mnemonic::Jne => code.jne(jump.near_branch_target()).unwrap(),
        Mnemonic::Jae => code.jae(jump.near_branch_target()).unwrap(),
        other => panic!("{other:?}"),
    }
    code.jmp(jump.next_ip()).unwrap();
    let (at, planted) = (sub.ip(), image.next_free());
    let bytes = code.assemble(planted).unwrap();
    image.add_function("planted", &bytes);
    let mut code = CodeAssembler::new(64).unwrap();
    code.jmp(planted).unwrap();
    let bytes = code.assemble(at).unwrap();
    assert!(at + bytes.len() as u64 <= jump.next_ip());
    image.patch(at, &bytes);
    image
}

/// Runs the bug at a remaining length that is after more groups than any contract of one length
/// has.
fn once(code: &mut CodeAssembler, endless: &Endless, bug: &dyn Fn(&mut CodeAssembler)) {
    let mut right = code.create_label();
    code.cmp(endless.left, 1000 * endless.group).unwrap();
    code.jne(right).unwrap();
    bug(code);
    code.set_label(&mut right).unwrap();
    code.nop().unwrap();
}

/// A bug in an iteration.
type Bug = fn(&mut CodeAssembler, &Endless);

/// Bugs that show on long data only, in code that is proved for any length: a counter that is wrong
/// from some iteration on, a pointer that moves too little, a loop that ends an iteration early.
const LATE: [(&str, Bug); 5] = [
    ("counter", |code, endless| {
        let (wide, low) = endless.scratch;
        code.mov(wide, endless.left).unwrap();
        code.shr(wide, 20).unwrap();
        (endless.count)(code, low);
    }),
    ("counter once", |code, endless| {
        let (wide, low) = endless.scratch;
        once(code, endless, &|code| {
            code.mov(wide, 1_u64).unwrap();
            (endless.count)(code, low);
        });
    }),
    ("output", |code, endless| {
        once(code, endless, &|code| code.dec(rdi).unwrap());
    }),
    ("input", |code, endless| {
        let (wide, _) = endless.scratch;
        code.mov(wide, endless.left).unwrap();
        code.shr(wide, 20).unwrap();
        code.sub(rsi, wide).unwrap();
    }),
    ("early", |code, endless| {
        once(code, endless, &|code| {
            code.mov(endless.left, endless.last).unwrap()
        });
    }),
];

#[test]
fn a_bug_that_only_long_data_show_is_refused_in_each_function() {
    let own = own();
    for (endless, bug) in endless().iter().zip(LATE) {
        late_bugs_are_refused(&own, endless, &[bug]);
    }
}

#[test]
#[ignore = "takes a minute; one bug in each function is tested always"]
fn bugs_that_only_long_data_show_are_refused() {
    let own = own();
    for endless in endless() {
        late_bugs_are_refused(&own, &endless, &LATE);
    }
}

/// The function is proved, and with these bugs only for data of one length.
fn late_bugs_are_refused(own: &Image, endless: &Endless, bugs: &[(&str, Bug)]) {
    let row = &endless.row;
    let right = with_turn(own, endless, &|code, _| code.nop().unwrap());
    let any = || row.contracts.iter().filter(|any| any.stream.is_some());
    for contract in any() {
        let finding = prove(&right, row, contract);
        assert_eq!(finding.verdict, Verdict::Proved, "{}", row.name);
        // All lengths without a jump back, and all that may remain after the loop.
        let stream = contract.stream.as_ref().unwrap();
        let before = stream.longest() + 1 - stream.least;
        assert_eq!(finding.cases as u64, before + stream.group);
    }
    for (name, bug) in bugs {
        let wrong = with_turn(own, endless, bug);
        let of_one_length = prove(&wrong, row, longest(row)).verdict;
        assert_eq!(of_one_length, Verdict::Proved, "{} {name}", row.name);
        for contract in any() {
            let verdict = prove(&wrong, row, contract).verdict;
            let is_unproved = matches!(verdict, Verdict::Unproved(_));
            assert!(is_unproved, "{} {name}: {verdict}", row.name);
        }
    }
}
