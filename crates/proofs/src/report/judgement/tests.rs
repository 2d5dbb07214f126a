//! Bugs planted into a whole program in which every row stays PROVED.

use super::*;
use crate::catalog::{Kernel, kernels};
use crate::report::proving::prove_in;
use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind};
use sealstone_prover::image::Image;

const NAME: &str = "BLAKE2b F";

/// The rows of one kernel: one for each instruction set.
fn rows() -> Vec<Kernel> {
    let kernels = kernels().into_iter();
    kernels.filter(|kernel| kernel.name == NAME).collect()
}

/// The report on one kernel in a program, with the check of the whole program.
fn report(image: &Image) -> Report {
    let images = std::slice::from_ref(image);
    let mut report = prove_in(rows(), images, "", None, None).0;
    report.compare_models();
    report
}

/// This test's own program, with only the functions of one kernel. No row here proves the others.
fn program() -> Image {
    sealstone_kernels::call_every_kernel();
    let mut image = Image::load(&std::env::current_exe().unwrap()).unwrap();
    let rows = report(&image).rows;
    assert_eq!(rows.len(), 3, "instruction sets");
    let functions = rows.iter().flat_map(|row| &row.functions);
    let starts: Vec<u64> = functions.map(|(function, _)| function.start).collect();
    image.keep_functions(|symbol| starts.contains(&Image::in_file(symbol.start)));
    image
}

/// The judgement on a program, as `sealstone-prove` makes it, and the findings on its code. Every
/// row in it is proved.
fn judged(image: &Image, source: &[source::Row]) -> (Judgement, Vec<String>) {
    let report = report(image);
    assert!(report.is_proof(), "{}", report.table());
    // A CPU without AVX2 cannot compare the models.
    let without_models = matches!(report.models, Some(Err(_)));
    let request = Request {
        without_models,
        ..Request::default()
    };
    let judgement = report.judge(request, Some(source), None);
    (judgement, report.coverage.unwrap().findings)
}

/// The code of the kernel's function that rotates words by a number in its last byte, and the place
/// of such a byte.
fn rotating(image: &Image) -> (Vec<u8>, usize) {
    let mut symbols = image.symbols().iter();
    let found = symbols.find_map(|symbol| {
        let code = image.code(symbol.start, symbol.size as usize)?;
        let mut all = Decoder::new(64, code, DecoderOptions::NONE).into_iter();
        let turns = all.find(|it| {
            matches!(it.mnemonic(), Mnemonic::Rol | Mnemonic::Ror)
                && it.op1_kind() == OpKind::Immediate8
        })?;
        Some((code.to_vec(), turns.next_ip() as usize - 1))
    });
    found.unwrap()
}

#[test]
fn code_that_no_row_proves_is_refused_although_every_row_is_proved() {
    let source = source::prove_claims(NAME);
    let image = program();
    let (judgement, findings) = judged(&image, &source);
    assert_eq!(findings, [""; 0]);
    assert_eq!(judgement, Judgement::Proved);
    let (code, turn) = rotating(&image);
    let mut wrong = code.clone();
    wrong[turn] ^= 1;
    let rol_eax_13 = vec![0xc1, 0xc0, 0x0d, 0xc3];
    for (name, code, why) in [
        ("memchr", code.clone(), "has the instructions of"),
        ("memchr", wrong, "has the instructions of"),
        (
            "sealstone_argon2::planted",
            rol_eax_13,
            "looks like a kernel",
        ),
    ] {
        let mut image = image.clone();
        image.add_function(name, &code);
        let (judgement, findings) = judged(&image, &source);
        assert_eq!(judgement as u8, 1, "the exit status, with {name}");
        let is_it = |found: &String| found.starts_with(name) && found.contains(why);
        assert!(findings.len() == 1 && is_it(&findings[0]), "{findings:?}");
    }
}
