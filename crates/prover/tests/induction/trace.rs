//! What a function executes on the CPU.

use super::few::counts_down;
use super::{many, planted, some};
use iced_x86::code_asm::{CodeAssembler, eax, qword_ptr, rdi};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};
use sealstone_prover::contract::Contract;
use sealstone_prover::features::Processor;
use sealstone_prover::prove::{Executed, Session};

/// The places of rdx and rdi in the order of encoding.
const RDX: usize = 2;
const RDI: usize = 7;

fn traces(
    write: impl Fn(&mut CodeAssembler),
    contract: &Contract,
    processor: &Processor,
) -> Result<Vec<Vec<(Instruction, Executed)>>, String> {
    let (image, symbol) = planted(write);
    let traces = Session::new().trace(&image, &symbol, contract, processor)?;
    let decoded = |executed: Executed| {
        let code = image.code(executed.at, 15).unwrap();
        let decoded = Decoder::with_ip(64, code, executed.at, DecoderOptions::NONE).decode();
        (decoded, executed)
    };
    let traces = traces.into_iter();
    Ok(traces
        .map(|trace| trace.into_iter().map(decoded).collect())
        .collect())
}

#[test]
fn each_instruction_with_the_registers_before_it() {
    let write = |code: &mut CodeAssembler| counts_down(code, 0);
    let found = traces(write, &many(), &Processor::baseline()).unwrap();
    assert_eq!(found.len(), 2);
    for (trace, elements) in found.iter().zip([2, 3]) {
        // A move, seven instructions for each element, a move, a return.
        assert_eq!(trace.len(), 3 + 7 * elements as usize);
        let (first, last) = (trace[0].0, trace[trace.len() - 1].0);
        assert_eq!(first.mnemonic(), Mnemonic::Mov);
        assert_eq!(last.mnemonic(), Mnemonic::Ret);
        let counted = trace
            .iter()
            .filter(|(instruction, _)| instruction.mnemonic() == Mnemonic::Dec);
        let counts: Vec<u64> = counted.map(|(_, executed)| executed.general[RDX]).collect();
        assert_eq!(counts, (1..=elements).rev().collect::<Vec<_>>());
        let same = |(_, executed): &(Instruction, Executed)| {
            executed.general[RDI] == trace[0].1.general[RDI]
        };
        assert!(trace.iter().all(same));
    }
    let fixed = traces(write, &some(3), &Processor::baseline()).unwrap();
    assert_eq!(fixed.len(), 1);
    assert_eq!(fixed[0].len(), found[1].len());
}

#[test]
fn reasons_for_no_trace() {
    let write = |code: &mut CodeAssembler| counts_down(code, 0);
    let elsewhere = Processor {
        is_here: false,
        ..Processor::baseline()
    };
    let why = traces(write, &some(3), &elsewhere).unwrap_err();
    assert_eq!(why, "this CPU lacks its instructions");
    // Two instructions for each number from `count` down, three others.
    let long = |count: u32| {
        let write = move |code: &mut CodeAssembler| {
            let mut again = code.create_label();
            code.mov(eax, count).unwrap();
            code.set_label(&mut again).unwrap();
            code.dec(eax).unwrap();
            code.jne(again).unwrap();
            code.mov(qword_ptr(rdi), 0).unwrap();
            code.ret().unwrap();
        };
        traces(write, &some(1), &Processor::baseline())
    };
    assert_eq!(long(32_766).unwrap()[0].len(), 65_535);
    let why = long(32_767).unwrap_err();
    assert!(why.starts_with("too many instructions"), "{why}");
}
