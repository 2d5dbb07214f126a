//! Functions that multiply polynomials over GF(2), and contracts with derived cells.

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use sealstone_prover::algebra::{Algebra, Polynomials};
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Cell, Contents, Contract};
use sealstone_prover::features::{Features, Processor};
use sealstone_prover::formula;
use sealstone_prover::image::Image;
use sealstone_prover::prove::Session;

fn verdict(
    contract: &Contract,
    write: impl Fn(&mut CodeAssembler) -> Result<(), IcedError>,
) -> String {
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code).unwrap();
    code.ret().unwrap();
    let image = Image::of_code("function", &code.assemble(Image::BASE).unwrap());
    let processor = Processor {
        features: Features::vpclmulqdq(),
        is_here: false,
    };
    let finding = Session::new().prove(&image, &image.symbols()[0], contract, &processor);
    finding.verdict.to_string()
}

/// x · y · z, of words, modulo x^128: the first product is a factor itself.
fn product<A: Polynomials>(a: &mut A, contents: &Contents<A::Word>) -> Contents<A::Word> {
    let (words, z) = (&contents[1], &contents[1][2]);
    let [low, high] = a.carryless_product(&words[0], &words[1]);
    let [low, of_low] = a.carryless_product(&low, z);
    let [of_high, _] = a.carryless_product(&high, z);
    vec![vec![low, a.xor(&of_low, &of_high)]]
}

fn three_words() -> Contract {
    Contract::new(formula!(|a, contents| product(a, contents)))
        .buffer("out", 2, 16, Write)
        .buffer("words", 4, 16, Read)
        .addresses(["out", "words"])
}

/// By Karatsuba's method: low · z ⊕ (low ⊕ high) · z is high · z.
fn by_karatsuba(code: &mut CodeAssembler, half: u32) -> Result<(), IcedError> {
    code.movdqa(xmm0, xmmword_ptr(rsi))?;
    code.movdqa(xmm1, xmmword_ptr(rsi + 16))?;
    code.pclmulqdq(xmm0, xmm0, half)?;
    code.pshufd(xmm2, xmm0, 0x4e)?;
    code.pxor(xmm2, xmm0)?;
    code.pclmulqdq(xmm2, xmm1, 0)?;
    code.pclmulqdq(xmm0, xmm1, 0)?;
    code.pxor(xmm2, xmm0)?;
    code.pslldq(xmm2, 8)?;
    code.pxor(xmm0, xmm2)?;
    code.movdqa(xmmword_ptr(rdi), xmm0)
}

#[test]
fn a_product_of_three_is_proved_and_a_wrong_half_refuted() {
    let contract = three_words();
    assert_eq!(
        verdict(&contract, |code| by_karatsuba(code, 0x10)),
        "PROVED"
    );
    let wrong = verdict(&contract, |code| by_karatsuba(code, 0x11));
    assert!(wrong.starts_with("REFUTED: wrong output"), "{wrong}");
}

fn sum<A: Algebra<64>>(a: &mut A, contents: &Contents<A::Word>) -> Contents<A::Word> {
    vec![vec![a.xor(&contents[1][0], &contents[1][1])]]
}

fn with_zero<A: Algebra<64>>(a: &mut A, contents: &Contents<A::Word>) -> Contents<A::Word> {
    vec![vec![contents[1][0].clone(), a.number(0)]]
}

/// The function relies on a sum that the caller computed: the third cell.
#[test]
fn a_cell_is_the_exclusive_or_of_two_others() {
    let contract = |cells: Vec<Cell>| {
        Contract::new(formula!(|a, contents| sum(a, contents)))
            .buffer("out", 1, 8, Write)
            .record("cells", cells, 8, Read)
            .addresses(["out", "cells"])
    };
    let copy = |code: &mut CodeAssembler| {
        code.mov(rax, qword_ptr(rsi + 16))?;
        code.mov(qword_ptr(rdi), rax)
    };
    let sum = contract(vec![Cell::Input, Cell::Input, Cell::Xor([0, 1])]);
    assert_eq!(verdict(&sum, copy), "PROVED");
    for cells in [
        vec![Cell::Input, Cell::Input, Cell::Input],
        vec![Cell::Input, Cell::Input, Cell::Xor([0, 0])],
    ] {
        let wrong = verdict(&contract(cells), copy);
        assert!(wrong.starts_with("REFUTED: wrong output"), "{wrong}");
    }
}

/// A load under a mask does not access memory after the last element of the mask.
#[test]
fn a_mask_leaves_memory_out() {
    let contract = Contract::new(formula!(|a, contents| with_zero(a, contents)))
        .buffer("out", 2, 1, Write)
        .buffer("in", 1, 1, Read)
        .addresses(["out", "in"]);
    let load = |mask: u32| {
        verdict(&contract, |code| {
            code.mov(eax, mask)?;
            code.kmovd(k1, eax)?;
            code.vmovdqu8(xmm0.k1().z(), xmmword_ptr(rsi))?;
            code.vmovdqu(xmmword_ptr(rdi), xmm0)
        })
    };
    assert_eq!(load(0xff), "PROVED");
    let long = load(0x1ff);
    assert!(long.contains("outside of its memory"), "{long}");
    let short = load(0x7f);
    assert!(short.starts_with("REFUTED: wrong output"), "{short}");
}
