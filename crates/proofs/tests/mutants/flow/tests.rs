//! Pieces of code with the same data flow, and others.

use super::*;
use iced_x86::IcedError;
use iced_x86::code_asm::*;

type Write = fn(&mut CodeAssembler) -> Result<(), IcedError>;

/// Whether two pieces of code have the same data flow. All registers but rsp keep their values, so
/// the code does not compute addresses, and no jump is taken.
fn are_same(pieces: [Write; 2], compared: Compared) -> bool {
    let runs = pieces.map(|write| {
        let mut code = CodeAssembler::new(64).unwrap();
        write(&mut code).unwrap();
        code.ret().unwrap();
        let mut image = Image::of_code("program", &[0xcc]);
        let start = image.next_free();
        let code = code.assemble(start).unwrap();
        image.add_function("piece", &code);
        let mut general = core::array::from_fn(|number| 0x10_0000_0000 * (number as u64 + 1));
        let decoder = Decoder::with_ip(64, &code, start, DecoderOptions::NONE);
        let mut run = Vec::new();
        for instruction in decoder {
            let at = instruction.ip();
            run.push(Executed { at, general });
            let increment = i64::from(instruction.stack_pointer_increment());
            general[STACK_POINTER] = general[STACK_POINTER].wrapping_add_signed(increment);
        }
        (image, run)
    });
    let [(one, first), (other, second)] = &runs;
    is_same([(one, first), (other, second)], compared)
}

fn results(results: usize) -> Compared {
    Compared {
        results,
        branches: true,
    }
}

/// All pairs have the same data flow, or none has. The result is in rax.
fn all(is_same: bool, pieces: &[[Write; 2]]) {
    for (number, pieces) in pieces.iter().enumerate() {
        assert_eq!(are_same(*pieces, results(1)), is_same, "{number}");
    }
}

type Join =
    fn(&mut CodeAssembler, AsmRegisterYmm, AsmRegisterYmm, AsmRegisterYmm) -> Result<(), IcedError>;

/// Shifts a vector to the left and to the right, and joins both.
fn rotates(code: &mut CodeAssembler, left: u32, right: u32, join: Join) -> Result<(), IcedError> {
    code.vpsllq(ymm1, ymm2, left)?;
    code.vpsrlq(ymm3, ymm2, right)?;
    join(code, ymm4, ymm1, ymm3)?;
    code.vmovdqu(ptr(rdi), ymm4)
}

#[test]
fn the_same_results_by_the_same_operations() {
    let same: &[[Write; 2]] = &[
        // Nothing reads it.
        [|c| c.add(rcx, 5), |c| c.nop()],
        [|c| c.mov(ptr(rsp - 8), rcx), |c| c.nop()],
        [|c| c.prefetcht0(ptr(rcx)), |c| c.nop()],
        [|c| c.cmp(rcx, 5), |c| c.cmp(rdx, rcx)],
        [
            |c| c.mov(ptr(rdi), rcx).and_then(|()| c.mov(ptr(rdi), rdx)),
            |c| c.mov(ptr(rdi), rdx),
        ],
        // It is there already.
        [
            |c| c.mov(rcx, ptr(rdi)).and_then(|()| c.mov(rcx, ptr(rdi))),
            |c| c.mov(rcx, ptr(rdi)),
        ],
        [
            |c| c.mov(rdx, rcx).and_then(|()| c.mov(ptr(rdi), rdx)),
            |c| c.mov(rdx, rcx).and_then(|()| c.mov(ptr(rdi), rcx)),
        ],
        [
            |c| {
                c.lea(rax, ptr(rsp - 8))
                    .and_then(|()| c.lea(rax, ptr(rsp - 8)))
            },
            |c| c.lea(rax, ptr(rsp - 8)),
        ],
        [|c| c.push(rbx).and_then(|()| c.pop(rbx)), |c| c.nop()],
    ];
    all(true, same);
}

#[test]
fn zeros_and_parts_of_registers() {
    let same: &[[Write; 2]] = &[
        // Zeros.
        [|c| c.xor(eax, eax), |c| c.mov(eax, 0)],
        [
            |c| {
                c.vpxor(xmm1, xmm1, xmm1)
                    .and_then(|()| c.vmovdqu64(ptr(rdi), zmm1))
            },
            |c| {
                c.vpxord(zmm2, zmm7, zmm7)
                    .and_then(|()| c.vmovdqu64(ptr(rdi), zmm2))
            },
        ],
        // The upper half of a word.
        [
            |c| c.mov(eax, ecx),
            |c| {
                c.mov(ptr(rsp - 8), ecx)
                    .and_then(|()| c.mov(eax, ptr(rsp - 8)))
            },
        ],
    ];
    all(true, same);
}

#[test]
fn the_same_results_by_other_operations() {
    let same: &[[Write; 2]] = &[
        // A sum in the other order.
        [
            |c| c.add(rcx, rdx).and_then(|()| c.mov(rax, rcx)),
            |c| c.add(rdx, rcx).and_then(|()| c.mov(rax, rdx)),
        ],
        [
            |c| {
                c.vpaddq(ymm1, ymm2, ymm3)
                    .and_then(|()| c.vmovdqu(ptr(rdi), ymm1))
            },
            |c| {
                c.vpaddq(ymm4, ymm3, ymm2)
                    .and_then(|()| c.vmovdqa(ptr(rdi), ymm4))
            },
        ],
        [
            |c| {
                c.add(rcx, rdx)?;
                c.add(rax, rcx)
            },
            |c| {
                c.add(rax, rcx)?;
                c.add(rax, rdx)
            },
        ],
        // A carry that is zero, or alone.
        [
            |c| c.xor(rcx, rdx).and_then(|()| c.adc(rax, rcx)),
            |c| c.xor(rcx, rdx).and_then(|()| c.add(rax, rcx)),
        ],
        [
            |c| c.cmp(rcx, rdx).and_then(|()| c.sbb(rax, rax)),
            |c| {
                c.mov(rax, rsi)
                    .and_then(|()| c.cmp(rcx, rdx))
                    .and_then(|()| c.sbb(rax, rax))
            },
        ],
        // Vectors without a bit in common.
        [
            |c| rotates(c, 40, 24, CodeAssembler::vpor),
            |c| rotates(c, 40, 24, CodeAssembler::vpaddq),
        ],
        [
            |c| {
                c.vpaddq(ymm1, ymm2, ymm2)?;
                c.vpsrlq(ymm3, ymm2, 63)?;
                c.vpor(ymm4, ymm1, ymm3)?;
                c.vmovdqu(ptr(rdi), ymm4)
            },
            |c| {
                c.vpaddq(ymm1, ymm2, ymm2)?;
                c.vpsrlq(ymm3, ymm2, 63)?;
                c.vpxor(ymm4, ymm1, ymm3)?;
                c.vmovdqu(ptr(rdi), ymm4)
            },
        ],
    ];
    all(true, same);
}

#[test]
fn other_results() {
    let others: &[[Write; 2]] = &[
        [|c| c.add(rax, 5), |c| c.nop()],
        [|c| c.add(rax, 5), |c| c.add(rax, 6)],
        [|c| c.add(rax, rcx), |c| c.sub(rax, rcx)],
        [|c| c.sub(rax, rcx), |c| c.sub(rax, rdx)],
        [|c| c.add(rbx, 5), |c| c.nop()],
        [|c| c.mov(ptr(rdi), rcx), |c| c.nop()],
        [|c| c.mov(ptr(rdi), rcx), |c| c.mov(ptr(rdi + 1), rcx)],
        [|c| c.mov(ptr(rsp + 8), rcx), |c| c.nop()],
        [|c| c.mov(rax, ptr(rdi)), |c| c.mov(rax, ptr(rdi + 8))],
        [|c| c.mov(eax, ecx), |c| c.mov(rax, rcx)],
        [|c| c.mov(al, cl), |c| c.mov(al, ch)],
        [|c| c.lea(rax, ptr(rcx + 8)), |c| c.lea(rax, ptr(rcx + 16))],
        [
            |c| c.lea(rax, ptr(rcx + rdx)),
            |c| c.lea(rax, ptr(rcx + rdx * 2)),
        ],
        // Flags.
        [
            |c| c.cmp(rcx, rdx).and_then(|()| c.sbb(rax, rax)),
            |c| c.cmp(rcx, 5).and_then(|()| c.sbb(rax, rax)),
        ],
        // A mask.
        [
            |c| {
                c.vmovdqu64(zmm1.k1(), zmm2)
                    .and_then(|()| c.vmovdqu64(ptr(rdi), zmm1))
            },
            |c| {
                c.vmovdqu64(zmm1, zmm2)
                    .and_then(|()| c.vmovdqu64(ptr(rdi), zmm1))
            },
        ],
        // A factor that no operand names, though the address has its register.
        [
            |c| c.mul(qword_ptr(rax)),
            |c| c.mov(rax, rcx).and_then(|()| c.mul(qword_ptr(rax))),
        ],
        // The upper half of a vector.
        [
            |c| {
                c.vmovdqa(xmm1, xmm2)
                    .and_then(|()| c.vmovdqu(ptr(rdi), ymm1))
            },
            |c| {
                c.movdqa(xmm1, xmm2)
                    .and_then(|()| c.vmovdqu(ptr(rdi), ymm1))
            },
        ],
    ];
    all(false, others);
    // What the function does not return.
    assert!(are_same([|c| c.add(rax, 5), |c| c.nop()], results(0)));
    assert!(!are_same([|c| c.add(rdx, 5), |c| c.nop()], results(2)));
}

#[test]
fn operands_without_a_name() {
    let others: &[[Write; 2]] = &[
        // A factor.
        [
            |c| {
                c.mov(rdx, rsi)?;
                c.mulx(rdx, rax, r11)?;
                c.mov(rax, rdx)
            },
            |c| c.mulx(rdx, rax, r11).and_then(|()| c.mov(rax, rdx)),
        ],
        // The value to compare with.
        [
            |c| c.mov(rax, rsi).and_then(|()| c.cmpxchg(ptr(rax), ecx)),
            |c| c.cmpxchg(ptr(rax), ecx),
        ],
        // A mask.
        [
            |c| {
                c.kmovq(k1, k2)?;
                c.vpcmpeqq(k1.k1(), zmm2, zmm3)?;
                c.kmovq(rax, k1)
            },
            |c| {
                c.vpcmpeqq(k1.k1(), zmm2, zmm3)
                    .and_then(|()| c.kmovq(rax, k1))
            },
        ],
        // Flags that remain if the count is zero.
        [
            |c| {
                c.cmp(rcx, rdx)?;
                c.shl(rsi, cl)?;
                c.sbb(rax, rax)
            },
            |c| {
                c.cmp(rcx, 5)?;
                c.shl(rsi, cl)?;
                c.sbb(rax, rax)
            },
        ],
        [
            |c| {
                c.cmp(rcx, rdx)?;
                c.shl(rsi, 64)?;
                c.sbb(rax, rax)
            },
            |c| {
                c.cmp(rcx, 5)?;
                c.shl(rsi, 64)?;
                c.sbb(rax, rax)
            },
        ],
    ];
    all(false, others);
}

/// Runs with a few elements do not stand for those that jump in another way.
#[test]
fn conditions_of_jumps() {
    fn jumps(code: &mut CodeAssembler, number: i32) -> Result<(), IcedError> {
        let mut next = code.create_label();
        code.cmp(rsi, number)?;
        code.jb(next)?;
        code.set_label(&mut next)?;
        code.mov(rax, rcx)
    }
    let pieces: [Write; 2] = [|c| jumps(c, 4), |c| jumps(c, 0x44)];
    assert!(!are_same(pieces, results(1)));
    let of_all = Compared {
        results: 1,
        branches: false,
    };
    assert!(are_same(pieces, of_all));
    assert!(are_same([pieces[0]; 2], results(1)));
}

/// The number of summands is limited: here it would be 2^64.
#[test]
fn sums_of_sums_of_sums() {
    let doubles: Write = |c| (0..64).try_for_each(|_| c.add(rax, rax));
    assert!(are_same([doubles, doubles], results(1)));
    assert!(!are_same([doubles, |c| c.add(rax, rax)], results(1)));
}

#[test]
fn other_sums() {
    let others: &[[Write; 2]] = &[
        [
            |c| {
                c.add(rax, rcx)
                    .and_then(|()| c.add(rax, rdx))
                    .and_then(|()| c.sbb(rax, rax))
            },
            |c| {
                c.add(rax, rdx)
                    .and_then(|()| c.add(rax, rcx))
                    .and_then(|()| c.sbb(rax, rax))
            },
        ],
        [
            |c| c.cmp(rcx, rdx).and_then(|()| c.adc(rax, rcx)),
            |c| c.cmp(rcx, rdx).and_then(|()| c.add(rax, rcx)),
        ],
        [|c| c.add(eax, ecx), |c| c.add(rax, rcx)],
        // Vectors that may have a bit in common.
        [
            |c| rotates(c, 40, 23, CodeAssembler::vpor),
            |c| rotates(c, 40, 23, CodeAssembler::vpaddq),
        ],
        [
            |c| rotates(c, 40, 24, CodeAssembler::vpor),
            |c| rotates(c, 40, 24, CodeAssembler::vpaddd),
        ],
        [
            |c| rotates(c, 40, 24, CodeAssembler::vpor),
            |c| rotates(c, 40, 25, CodeAssembler::vpor),
        ],
        [
            |c| {
                c.vpor(ymm1, ymm2, ymm2)?;
                c.vpsrlq(ymm3, ymm2, 63)?;
                c.vpor(ymm4, ymm1, ymm3)?;
                c.vmovdqu(ptr(rdi), ymm4)
            },
            |c| {
                c.vpor(ymm1, ymm2, ymm2)?;
                c.vpsrlq(ymm3, ymm2, 63)?;
                c.vpaddq(ymm4, ymm1, ymm3)?;
                c.vmovdqu(ptr(rdi), ymm4)
            },
        ],
    ];
    all(false, others);
}

#[test]
fn instructions_that_are_not_followed() {
    let gathers: Write = |c| c.vpgatherqq(ymm1.k1(), ptr(rdi + ymm2 * 8));
    assert!(!are_same([gathers, gathers], results(0)));
    let thread: Write = |c| c.mov(rcx, ptr(rcx).fs());
    assert!(!are_same([thread, thread], results(0)));
}
