//! Changes of an instruction that change nothing.

use iced_x86::{Instruction, Mnemonic, OpKind};

/// Why the second instruction does the same as the first one in every program, if that is known.
/// The processor must have both: their features may differ.
pub(crate) fn reason(old: &Instruction, new: &Instruction) -> Option<&'static str> {
    if is_prefetch(old) && (is_prefetch(new) || new.mnemonic() == Mnemonic::Nop) {
        return Some("a prefetch changes no result");
    }
    if does_nothing(old) && does_nothing(new) {
        return Some("neither does anything");
    }
    if is_comparison_with_zero(old) && is_comparison_with_zero(new) {
        let is_same = old.op0_register() == new.op0_register();
        return is_same.then_some("the same flags, and the register keeps its value");
    }
    let mask = |it: &Instruction| (it.op_mask(), it.zeroing_masking());
    if mask(old) != mask(new) {
        return None;
    }
    let operands = 0..old.op_count().max(new.op_count());
    let mut differing = operands.filter(|n| !has_equal_operand(old, new, *n));
    let differing = [differing.next(), differing.next()];
    // A mask counts elements, and their size is in the name.
    let is_masked = old.has_op_mask() || new.has_op_mask();
    match differing {
        [None, None] if !is_masked && is_another_name(old.mnemonic(), new.mnemonic()) => {
            Some("another name of the same operation")
        }
        [Some(count), None] if old.mnemonic() == new.mnemonic() && same_count(old, new, count) => {
            Some("the count is taken modulo the bits of the register or element")
        }
        [Some(choice), None]
            if old.mnemonic() == new.mnemonic() && same_choice(old, new, choice) =>
        {
            Some("these bits of the immediate mean nothing")
        }
        _ => None,
    }
}

fn is_prefetch(instruction: &Instruction) -> bool {
    use Mnemonic::{Prefetchnta, Prefetcht0, Prefetcht1, Prefetcht2, Prefetchw};
    matches!(
        instruction.mnemonic(),
        Prefetchnta | Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetchw
    )
}

/// The forms that fill the space before a loop.
fn does_nothing(instruction: &Instruction) -> bool {
    let is_exchange = instruction.mnemonic() == Mnemonic::Xchg
        && instruction.op0_register() == instruction.op1_register()
        // The upper half of a register of 32 bits would become zero.
        && matches!(instruction.op0_register().size(), 2 | 8);
    instruction.mnemonic() == Mnemonic::Nop || is_exchange
}

/// `test`, `and` or `or` of a register and itself. Of the flags, they leave only AF undefined. With
/// 32 bits, two of them would clear the upper half.
fn is_comparison_with_zero(it: &Instruction) -> bool {
    matches!(it.mnemonic(), Mnemonic::Test | Mnemonic::And | Mnemonic::Or)
        && (it.op0_kind(), it.op1_kind()) == (OpKind::Register, OpKind::Register)
        && it.op0_register() == it.op1_register()
        && it.op0_register().size() == 8
}

fn has_equal_operand(old: &Instruction, new: &Instruction, n: u32) -> bool {
    if n >= old.op_count().min(new.op_count()) || old.op_kind(n) != new.op_kind(n) {
        return false;
    }
    match old.op_kind(n) {
        OpKind::Register => old.op_register(n) == new.op_register(n),
        OpKind::Memory => {
            let place = |it: &Instruction| {
                let registers = (it.memory_base(), it.memory_index(), it.segment_prefix());
                let scale = it.memory_index_scale();
                (registers, scale, it.memory_displacement64())
            };
            place(old) == place(new) && old.memory_size().size() == new.memory_size().size()
        }
        OpKind::Immediate8 | OpKind::Immediate32 | OpKind::Immediate8to64 => {
            old.immediate(n) == new.immediate(n)
        }
        _ => false,
    }
}

/// Operations on all bits of a vector that differ only in the type that they are for. An aligned
/// move of memory also stops where the address is not aligned: the proof has shown that it is.
fn is_another_name(old: Mnemonic, new: Mnemonic) -> bool {
    use Mnemonic::*;
    let groups: [&[Mnemonic]; 12] = [
        &[
            Vmovaps, Vmovapd, Vmovdqa, Vmovdqa32, Vmovdqa64, Vmovups, Vmovupd, Vmovdqu, Vmovdqu32,
            Vmovdqu64,
        ],
        &[Movaps, Movapd, Movdqa, Movups, Movupd, Movdqu],
        &[Vpxor, Vxorps, Vxorpd, Vpxord, Vpxorq],
        &[Pxor, Xorps, Xorpd],
        &[Vpand, Vandps, Vandpd, Vpandd, Vpandq],
        &[Vpor, Vorps, Vorpd, Vpord, Vporq],
        &[Vpunpcklqdq, Vunpcklpd],
        &[Vpunpckhqdq, Vunpckhpd],
        &[Vpermq, Vpermpd],
        &[Vperm2i128, Vperm2f128],
        &[Vinserti128, Vinsertf128],
        &[Vextracti128, Vextractf128],
    ];
    let is_in = |group: &&[Mnemonic]| group.contains(&old) && group.contains(&new);
    groups.iter().any(is_in)
}

/// Whether operand `n` is the count of a shift or a rotation, and both counts move the bits equally
/// far. The processor takes a count modulo the bits of the register. In a rotation of a vector, it
/// takes the count modulo the bits of an element.
fn same_count(old: &Instruction, new: &Instruction, n: u32) -> bool {
    use Mnemonic::{Rol, Ror, Sar, Shl, Shld, Shr, Shrd, Vprold, Vprolq, Vprord, Vprorq};
    let (count, bits) = match (old.mnemonic(), old.op0_register().size()) {
        (Rol | Ror | Shl | Shr | Sar, 8) => (1, 64),
        (Rol | Ror | Shl | Shr | Sar, 4) => (1, 32),
        (Shld | Shrd, 8) => (2, 64),
        (Shld | Shrd, 4) => (2, 32),
        (Vprolq | Vprorq, _) => (2, 64),
        (Vprold | Vprord, _) => (2, 32),
        _ => return false,
    };
    n == count && have_equal_bits(old, new, n, bits - 1)
}

/// Whether operand `n` is an immediate that chooses parts of vectors, and both choose the same.
fn same_choice(old: &Instruction, new: &Instruction, n: u32) -> bool {
    use Mnemonic::*;
    let (choice, meant) = match old.mnemonic() {
        Pextrq | Vpextrq => (2, 1),
        Pextrd | Vpextrd => (2, 0b11),
        Vextractf128 | Vextracti128 | Vextractf64x4 | Vextracti64x4 => (2, 1),
        // Two or four quarters.
        Vextractf32x4 | Vextracti32x4 => (2, old.op1_register().size() as u64 / 16 - 1),
        Pinsrq => (2, 1),
        Pinsrd => (2, 0b11),
        // Which half of each factor.
        Pclmulqdq => (2, 0x11),
        Vpclmulqdq => (3, 0x11),
        Vinsertf128 | Vinserti128 | Vpinsrq => (3, 1),
        Vpinsrd => (3, 0b11),
        // Two choices among four halves, each with a bit that makes zeros.
        Vperm2f128 | Vperm2i128 => (3, 0b1011_1011),
        _ => return false,
    };
    n == choice && have_equal_bits(old, new, n, meant)
}

/// Whether operand `n` is an immediate of 8 bits in both, and these bits of it are the same.
fn have_equal_bits(old: &Instruction, new: &Instruction, n: u32, bits: u64) -> bool {
    old.op_kind(n) == OpKind::Immediate8
        && new.op_kind(n) == OpKind::Immediate8
        && (old.immediate(n) ^ new.immediate(n)) & bits == 0
}

#[cfg(test)]
mod tests {
    use super::reason;
    use iced_x86::Instruction;
    use iced_x86::code_asm::{
        CodeAssembler, IcedError, ax, eax, ptr, qword_bcst, rax, rsi, word_ptr, xmm1, xmm2, xmm3,
        ymm1, ymm2, ymm3, zmm1, zmm2, zmm3,
    };

    type Write = fn(&mut CodeAssembler) -> Result<(), IcedError>;

    fn instruction(write: Write) -> Instruction {
        let mut code = CodeAssembler::new(64).unwrap();
        write(&mut code).unwrap();
        code.instructions()[0]
    }

    #[test]
    fn changes_that_mean_the_same() {
        let same: [[Write; 2]; 31] = [
            [|c| c.rol(rax, 0x20), |c| c.rol(rax, 0xa0)],
            [|c| c.ror(eax, 7), |c| c.ror(eax, 0x47)],
            [|c| c.shl(rax, 10), |c| c.shl(rax, 0x4a)],
            [|c| c.prefetcht0(ptr(rsi)), |c| c.prefetcht0(ptr(rsi + 8))],
            [|c| c.prefetcht0(ptr(rsi)), |c| c.nop()],
            [|c| c.vmovdqa(ymm1, ymm2), |c| c.vmovaps(ymm1, ymm2)],
            [|c| c.vmovups(ptr(rsi), ymm2), |c| c.vmovdqa(ptr(rsi), ymm2)],
            [
                |c| c.vpxor(ymm1, ymm2, ymm3),
                |c| c.vxorps(ymm1, ymm2, ymm3),
            ],
            [
                |c| c.vpxord(zmm1, zmm2, zmm3),
                |c| c.vpxorq(zmm1, zmm2, zmm3),
            ],
            [
                |c| c.vpunpcklqdq(ymm1, ymm2, ymm3),
                |c| c.vunpcklpd(ymm1, ymm2, ymm3),
            ],
            [|c| c.xchg(ax, ax), |c| c.nop()],
            [|c| c.nop_1(word_ptr(rax)), |c| c.nop_1(word_ptr(rax + 8))],
            [|c| c.vpermq(ymm1, ymm2, 4), |c| c.vpermpd(ymm1, ymm2, 4)],
            [
                |c| c.vextractf128(xmm1, ymm2, 1),
                |c| c.vextracti128(xmm1, ymm2, 1),
            ],
            [
                |c| c.vextracti128(xmm1, ymm2, 1),
                |c| c.vextracti128(xmm1, ymm2, 0x41),
            ],
            [
                |c| c.vinserti128(ymm1, ymm2, xmm3, 0),
                |c| c.vinserti128(ymm1, ymm2, xmm3, 2),
            ],
            [
                |c| c.vperm2i128(ymm1, ymm2, ymm3, 0x31),
                |c| c.vperm2i128(ymm1, ymm2, ymm3, 0x75),
            ],
            [
                |c| c.vperm2i128(ymm1, ymm2, ymm3, 0x31),
                |c| c.vperm2f128(ymm1, ymm2, ymm3, 0x31),
            ],
            [|c| c.vpextrd(eax, xmm1, 1), |c| c.vpextrd(eax, xmm1, 5)],
            [|c| c.pextrq(rax, xmm1, 0), |c| c.pextrq(rax, xmm1, 2)],
            [|c| c.pinsrq(xmm1, rax, 1), |c| c.pinsrq(xmm1, rax, 3)],
            [|c| c.test(rax, rax), |c| c.and(rax, rax)],
            [|c| c.shrd(rax, rsi, 6), |c| c.shrd(rax, rsi, 0x86)],
            [
                |c| c.vpxorq(xmm1, xmm2, xmm3),
                |c| c.vpxor(xmm1, xmm2, xmm3),
            ],
            [
                |c| c.vextracti32x4(xmm1, ymm2, 1),
                |c| c.vextracti32x4(xmm1, ymm2, 3),
            ],
            [
                |c| c.vextracti32x4(xmm1, zmm2, 3),
                |c| c.vextracti32x4(xmm1, zmm2, 0x13),
            ],
            [
                |c| c.pclmulqdq(xmm1, xmm3, 0x10),
                |c| c.pclmulqdq(xmm1, xmm3, 0x14),
            ],
            [
                |c| c.vpclmulqdq(ymm1, ymm2, ymm3, 0),
                |c| c.vpclmulqdq(ymm1, ymm2, ymm3, 8),
            ],
            [
                |c| c.vpinsrd(xmm1, xmm3, eax, 1),
                |c| c.vpinsrd(xmm1, xmm3, eax, 5),
            ],
            [|c| c.vprolq(zmm1, zmm2, 40), |c| c.vprolq(zmm1, zmm2, 104)],
            [|c| c.vprord(zmm1, zmm2, 7), |c| c.vprord(zmm1, zmm2, 39)],
        ];
        for [old, new] in same.map(|both| both.map(instruction)) {
            assert!(reason(&old, &new).is_some(), "{old} -> {new}");
        }
    }

    #[test]
    fn changes_that_do_not() {
        let others: [[Write; 2]; 30] = [
            [|c| c.rol(rax, 0x20), |c| c.rol(rax, 0x60 + 1)],
            [|c| c.rol(eax, 7), |c| c.rol(rax, 7)],
            [|c| c.rol(rax, 0x20), |c| c.ror(rax, 0xa0)],
            [|c| c.vpsllq(ymm1, ymm2, 7), |c| c.vpsllq(ymm1, ymm2, 0x47)],
            [|c| c.vmovdqa(ymm1, ymm2), |c| c.vmovaps(ymm1, ymm3)],
            [
                |c| c.vmovups(ptr(rsi), ymm2),
                |c| c.vmovups(ptr(rsi + 8), ymm2),
            ],
            [|c| c.vpxor(ymm1, ymm2, ymm3), |c| c.vpor(ymm1, ymm2, ymm3)],
            [|c| c.nop(), |c| c.prefetcht0(ptr(rsi))],
            [
                |c| c.vpxord(zmm1.k1(), zmm2, zmm3),
                |c| c.vpxorq(zmm1.k1(), zmm2, zmm3),
            ],
            [|c| c.add(rax, 8), |c| c.add(rax, 0x48)],
            [|c| c.xchg(eax, eax), |c| c.nop()],
            [|c| c.xchg(rax, rsi), |c| c.nop()],
            [|c| c.vpextrd(eax, xmm1, 1), |c| c.vpextrd(eax, xmm1, 3)],
            [|c| c.vpextrq(rax, xmm1, 0), |c| c.vpextrq(rax, xmm1, 1)],
            [|c| c.pinsrd(xmm1, eax, 1), |c| c.pinsrd(xmm1, eax, 3)],
            [|c| c.test(eax, eax), |c| c.and(eax, eax)],
            [|c| c.test(rax, rax), |c| c.and(rsi, rsi)],
            [|c| c.test(rax, rax), |c| c.and(rax, rsi)],
            [|c| c.shrd(rax, rsi, 6), |c| c.shrd(rax, rsi, 0x26)],
            [
                |c| c.vpxorq(xmm1, xmm2, qword_bcst(rsi)),
                |c| c.vpxor(xmm1, xmm2, ptr(rsi)),
            ],
            [
                |c| c.vextracti32x4(xmm1, zmm2, 1),
                |c| c.vextracti32x4(xmm1, zmm2, 3),
            ],
            [
                |c| c.pclmulqdq(xmm1, xmm3, 0x10),
                |c| c.pclmulqdq(xmm1, xmm3, 0x11),
            ],
            [
                |c| c.vpclmulqdq(ymm1, ymm2, ymm3, 0),
                |c| c.vpclmulqdq(ymm1, ymm2, ymm3, 0x10),
            ],
            [
                |c| c.vpinsrq(xmm1, xmm3, rax, 1),
                |c| c.vpinsrq(xmm1, xmm3, rax, 2),
            ],
            [|c| c.vprolq(zmm1, zmm2, 40), |c| c.vprolq(zmm1, zmm2, 72)],
            [|c| c.vprord(zmm1, zmm2, 7), |c| c.vprord(zmm1, zmm2, 23)],
            [
                |c| c.vextracti128(xmm1, ymm2, 1),
                |c| c.vextracti128(xmm1, ymm2, 0x40),
            ],
            [
                |c| c.vinserti128(ymm1, ymm2, xmm3, 0),
                |c| c.vinserti128(ymm1, ymm2, xmm3, 1),
            ],
            [
                |c| c.vperm2i128(ymm1, ymm2, ymm3, 0x31),
                |c| c.vperm2i128(ymm1, ymm2, ymm3, 0x39),
            ],
            [
                |c| c.vpshufd(ymm1, ymm2, 4),
                |c| c.vpshufd(ymm1, ymm2, 0x84),
            ],
        ];
        for [old, new] in others.map(|both| both.map(instruction)) {
            assert!(reason(&old, &new).is_none(), "{old} -> {new}");
        }
    }
}
