//! Forms of instructions whose meaning is easily missed. A CPU without AVX-512 does not contradict
//! a wrong model of the first two.

use iced_x86::code_asm::{
    CodeAssembler, eax, k1, rax, rdi, rdx, rsi, xmm0, zmm0, zmm1, zmmword_ptr,
};
use iced_x86::code_asm::{qword_ptr, xmmword_ptr};
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Contract};
use sealstone_prover::features::Processor;
use sealstone_prover::formula;
use sealstone_prover::image::Image;
use sealstone_prover::prove::Session;
use sealstone_prover::verdict::Verdict;

fn prove(contract: &Contract, write: impl Fn(&mut CodeAssembler)) -> Verdict {
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code);
    let image = Image::of_code("function", &code.assemble(Image::BASE).unwrap());
    let processor = Processor::of_target("x86-64-v4").unwrap();
    let mut session = Session::new();
    session
        .prove(&image, &image.symbols()[0], contract, &processor)
        .verdict
}

/// rdi: x, rsi: y, rdx: x, but the exclusive or of both in the first 64 bits.
fn mixed() -> Contract {
    Contract::new(formula!(|a, contents| {
        let mut out = contents[0].clone();
        out[0] = Algebra::<64>::xor(a, &contents[0][0], &contents[1][0]);
        vec![out]
    }))
    .buffer("x", 8, 8, Access::Read)
    .buffer("y", 8, 8, Access::Read)
    .buffer("out", 8, 8, Access::Write)
    .addresses(["x", "y", "out"])
}

/// A mask of `vxorpd` has a bit for each 64 bits, one of `vxorps` for each 32.
#[test]
fn a_mask_of_exclusive_ors_of_64_bits() {
    let with = |double: bool| {
        prove(&mixed(), |code| {
            code.mov(eax, 1).unwrap();
            code.kmovw(k1, eax).unwrap();
            code.vmovdqu64(zmm0, zmmword_ptr(rdi)).unwrap();
            code.vmovdqu64(zmm1, zmmword_ptr(rsi)).unwrap();
            match double {
                true => code.vxorpd(zmm0.k1(), zmm0, zmm1).unwrap(),
                false => code.vxorps(zmm0.k1(), zmm0, zmm1).unwrap(),
            }
            code.vmovdqu64(zmmword_ptr(rdx), zmm0).unwrap();
            code.vzeroupper().unwrap();
            code.ret().unwrap();
        })
    };
    assert_eq!(with(true), Verdict::Proved);
    assert!(!with(false).is_proof());
}

/// rdi: a cell, rsi: where it is copied to.
fn copied(alignment: u64) -> Contract {
    Contract::new(formula!(|_a, contents| vec![contents[0].clone()]))
        .buffer("in", 8, alignment, Access::Read)
        .buffer("out", 8, 8, Access::Write)
        .addresses(["in", "out"])
}

/// The mask leaves out all but the first elements. The whole address must be aligned.
#[test]
fn an_aligned_load_under_a_mask() {
    let with = |alignment: u64, mask: i32| {
        prove(&copied(alignment), |code| {
            code.mov(eax, mask).unwrap();
            code.kmovw(k1, eax).unwrap();
            code.vmovdqu64(zmm0, zmmword_ptr(rdi)).unwrap();
            code.vmovdqa32(zmm1.k1().z(), zmmword_ptr(rdi)).unwrap();
            code.vmovdqu64(zmmword_ptr(rsi), zmm0).unwrap();
            code.vzeroupper().unwrap();
            code.ret().unwrap();
        })
    };
    assert_eq!(with(64, 0xff), Verdict::Proved);
    for mask in [0xff, 0xffff] {
        let verdict = with(8, mask).to_string();
        let why = "needs an address that is a multiple of 64";
        assert!(verdict.contains(why), "{verdict}");
    }
}

/// Copies eight words, then does `end`.
fn ended(end: impl Fn(&mut CodeAssembler)) -> Verdict {
    prove(&copied(8), |code| {
        for word in 0..8 {
            code.mov(rax, qword_ptr(rdi + 8 * word)).unwrap();
            code.mov(qword_ptr(rsi + 8 * word), rax).unwrap();
        }
        end(code);
    })
}

/// Intel's processors ignore the prefix for 16 bits of a near branch. AMD's do not.
#[test]
fn a_near_branch_of_16_bits() {
    assert_eq!(ended(|code| code.ret().unwrap()), Verdict::Proved);
    let branches: [&[u8]; 3] = [
        &[0x66, 0xc3],
        &[0x66, 0xe9, 0, 0, 0, 0, 0xc3],
        &[0x31, 0xc0, 0x66, 0x74, 0, 0xc3],
    ];
    for bytes in branches {
        let verdict = ended(|code| code.db(bytes).unwrap());
        assert!(matches!(verdict, Verdict::Unsupported(_)), "{verdict}");
    }
}

/// Other threads may see them late, without a fence, which is not modelled.
#[test]
fn a_store_around_the_caches() {
    let verdict = prove(&copied(64), |code| {
        code.vmovdqu64(zmm0, zmmword_ptr(rdi)).unwrap();
        code.vmovdqu64(zmmword_ptr(rsi), zmm0).unwrap();
        code.vmovntdq(xmmword_ptr(rsi), xmm0).unwrap();
        code.vzeroupper().unwrap();
        code.ret().unwrap();
    });
    assert!(matches!(verdict, Verdict::Unsupported(_)), "{verdict}");
}

/// `bt` leaves the zero flag as it is on Intel's processors. AMD's manual leaves it undefined.
#[test]
fn the_zero_flag_after_a_bit_test() {
    let verdict = ended(|code| {
        let mut end = code.create_label();
        code.xor(eax, eax).unwrap();
        code.bt(rax, 3).unwrap();
        code.je(end).unwrap();
        code.nop().unwrap();
        code.set_label(&mut end).unwrap();
        code.ret().unwrap();
    });
    let why = "a flag that the manual leaves undefined";
    assert!(verdict.to_string().contains(why), "{verdict}");
}
