//! Native runs of loops with a few elements.

use super::{many, planted, some};
use iced_x86::code_asm::{CodeAssembler, qword_ptr, rax, rdi, rdx, rsi};
use sealstone_prover::contract::Contract;
use sealstone_prover::features::Processor;
use sealstone_prover::prove::Session;
use sealstone_prover::verdict::Verdict;

/// A loop that adds this much to each sum, and the elements.
pub(super) fn counts_down(code: &mut CodeAssembler, more: i32) {
    let mut again = code.create_label();
    code.mov(rax, qword_ptr(rdi)).unwrap();
    code.set_label(&mut again).unwrap();
    code.add(rax, qword_ptr(rsi)).unwrap();
    code.add(rax, more).unwrap();
    code.rol(rax, 7).unwrap();
    code.add(rsi, 8).unwrap();
    code.add(qword_ptr(rdi + 8), 1).unwrap();
    code.dec(rdx).unwrap();
    code.jne(again).unwrap();
    code.mov(qword_ptr(rdi), rax).unwrap();
    code.ret().unwrap();
}

#[test]
fn native_runs_with_a_few_elements() {
    let run = |more, contract: &Contract, processor: &Processor| {
        let (image, symbol) = planted(|code| counts_down(code, more));
        Session::new().run_with_few(&image, &symbol, contract, processor)
    };
    let here = Processor::baseline();
    assert_eq!(run(0, &many(), &here), Some(Verdict::Proved));
    let wrong = run(1, &many(), &here).expect("it runs");
    let is_wrong = matches!(&wrong, Verdict::Refuted(why) if why.contains("the prover is wrong"));
    assert!(is_wrong, "{wrong:?}");
    let elsewhere = Processor {
        is_here: false,
        ..Processor::baseline()
    };
    assert_eq!(run(0, &many(), &elsewhere), None);
    assert_eq!(run(0, &some(2), &here), None);
}
