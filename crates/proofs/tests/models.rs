//! Proves kernels of the catalog in this test's own program, and compares the models of their
//! instructions with this CPU.

use iced_x86::code_asm::*;
use iced_x86::{Decoder, DecoderOptions, IcedError, Instruction};
use sealstone_proofs::catalog::{Kernel, kernels};
use sealstone_proofs::report::{Report, prove_kernels};
use sealstone_prover::cosim;
use sealstone_prover::image::Image;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Text in the names of kernels: of all but the four in [`is_long`].
const SHORT: [&str; 6] = [
    "Argon2 G",
    "BLAKE2b F",
    "Threefish",
    "Skein",
    "1 lane",
    "(self-test)",
];

/// Trees in four and eight lanes. Their proofs take three times as long as all others together.
/// `make prove` has them, for the command.
fn is_long(kernel: &Kernel) -> bool {
    let at_once = [" 4 lanes", " 8 lanes"];
    kernel.family == "tree" && at_once.iter().any(|lanes| kernel.name.ends_with(lanes))
}

fn own() -> Image {
    sealstone_kernels::call_every_kernel();
    Image::load(&std::env::current_exe().unwrap()).unwrap()
}

/// The proofs that are not long, once.
fn reports() -> &'static [Report] {
    static REPORTS: OnceLock<Vec<Report>> = OnceLock::new();
    REPORTS.get_or_init(|| {
        let own = [own()];
        let prove = |only: &&str| prove_kernels(&own, only, None);
        SHORT.iter().map(prove).collect()
    })
}

/// Everything that this CPU supports also ran natively.
fn check(report: &Report, kernels: &[Kernel]) {
    assert!(report.is_proof(), "{}", report.table());
    let json = report.json();
    let rows = json["kernels"].as_array().unwrap();
    assert_eq!(rows.len(), report.rows.len());
    assert!(rows.iter().all(|row| row["verdict"] == "PROVED"));
    for row in &report.rows {
        let mut kernels = kernels.iter();
        let kernel = kernels.find(|kernel| kernel.name == row.name && kernel.set.name() == row.set);
        let is_here = kernel.expect("a kernel of the catalog").set.is_here();
        assert_eq!(row.ran_natively, is_here, "{}", row.name);
    }
}

#[test]
fn every_kernel_with_a_short_proof_is_proved() {
    let kernels = kernels();
    for report in reports() {
        check(report, &kernels);
    }
    let proved = reports().iter().map(|report| report.rows.len());
    let long = kernels.iter().filter(|kernel| is_long(kernel));
    assert_eq!(proved.sum::<usize>() + long.count(), kernels.len());
}

#[test]
#[ignore = "takes a minute; make prove proves all kernels"]
fn every_kernel_is_proved() {
    let (report, kernels) = (prove_kernels(&[own()], "", None), kernels());
    check(&report, &kernels);
    assert_eq!(report.rows.len(), kernels.len());
}

/// As if the compiler had inlined all of them into their callers.
#[test]
fn kernels_that_are_not_there_are_not_proved() {
    let report = prove_kernels(&[Image::of_code("empty", &[0xc3])], "", None);
    assert_eq!(report.rows.len(), kernels().len());
    for row in &report.rows {
        let why = row.verdict.reason();
        // `cargo xtask levels` counts reasons with this beginning.
        assert!(why.starts_with("there is no function "), "{}", row.name);
    }
    assert!(!report.is_proof());
}

#[test]
fn no_kernel_is_no_proof() {
    assert!(!prove_kernels(&[], "there is no kernel of this name", None).is_proof());
}

/// The instructions of these proofs, of the long ones, and those of proofs of other programs.
fn instructions() -> Vec<Instruction> {
    let proved = reports().iter().flat_map(|report| &report.instructions);
    let mut all: BTreeMap<_, _> = proved.map(|(bytes, one)| (bytes.clone(), *one)).collect();
    all.extend(of_long_proofs(&own()));
    all.into_values()
        .chain(of_other_levels().unwrap())
        .collect()
}

/// The vector instructions of the kernels with long proofs, by their bytes.
fn of_long_proofs(own: &Image) -> BTreeMap<Vec<u8>, Instruction> {
    let mut found = BTreeMap::new();
    for kernel in kernels().iter().filter(|kernel| is_long(kernel)) {
        let mut symbols = own.symbols().iter();
        let function = symbols.find(|symbol| symbol.is(kernel.function)).unwrap();
        let code = own.code(function.start, function.size as usize).unwrap();
        let decoder = Decoder::with_ip(64, code, function.start, DecoderOptions::NONE);
        for one in decoder {
            let start = (one.ip() - function.start) as usize;
            let is_vector = (0..one.op_count()).any(|at| one.op_register(at).is_vector_register());
            if is_vector {
                found.insert(code[start..start + one.len()].to_vec(), one);
            }
        }
    }
    assert!(found.len() > 100, "{}", found.len());
    found
}

/// Forms with models for other levels of optimisation (`cargo xtask levels`) and for the code of
/// others. This program may not have them.
fn of_other_levels() -> Result<Vec<Instruction>, IcedError> {
    let mut code = CodeAssembler::new(64)?;
    code.bts(rcx, 63)?;
    code.bts(r14, 62)?;
    code.btr(rdx, 62)?;
    code.btr(rax, 1)?;
    code.vpmovsxbd(ymm5, qword_ptr(rax))?;
    code.vpmovsxbq(ymm4, dword_ptr(rax))?;
    code.vpmovsxbq(zmm8, qword_ptr(rax))?;
    // The code of others has these.
    code.vzeroall()?;
    code.sha256rnds2(xmm1, xmm2)?;
    code.sha256msg1(xmm3, xmm5)?;
    code.sha256msg2(xmm6, xmm4)?;
    code.aesenc(xmm2, xmm1)?;
    code.aesenclast(xmm7, xmm0)?;
    code.aeskeygenassist(xmm1, xmm2, 0x1b)?;
    code.blendvps(xmm3, xmm5)?;
    code.vpcmpud(k2, zmm2, zmm0, 1)?;
    code.knotw(k2, k1)?;
    code.vpblendmd(zmm13.k2(), zmm13, zmm12)?;
    code.pclmulqdq(xmm1, xmm2, 0x10)?;
    code.vpclmulqdq(xmm3, xmm4, xmm5, 0x01)?;
    code.vpclmulqdq(ymm6, ymm7, ymm5, 0x11)?;
    code.vpclmulqdq(zmm1, zmm17, zmm3, 0x10)?;
    code.vmovdqu8(zmm5.k1().z(), zmmword_ptr(rax))?;
    let bytes = code.assemble(0)?;
    Ok(Decoder::new(64, &bytes, DecoderOptions::NONE)
        .iter()
        .collect())
}

#[test]
fn models_agree_with_the_cpu() {
    let comparison = match cosim::compare(instructions().iter()) {
        Ok(comparison) => comparison,
        Err(why) => return println!("skipped: {why}"),
    };
    let right = comparison.is_right();
    let cosim::Comparison {
        agree,
        forms,
        elsewhere,
        skipped,
        disagree,
    } = comparison;
    let count = forms.len();
    println!("{agree} instructions of {count} forms agree; not executed: {skipped:?}");
    println!("not on this CPU: {elsewhere:?}");
    assert!(right, "{disagree:#?}");
    assert!(agree > 300 && count > 80, "{agree} of {count} forms");
    // As the decoder names it, and modelled for other levels of optimisation.
    assert!(forms.contains("Bts_rm64_imm8"), "{forms:?}");
}

/// The number of different instructions that are compared; `None` if this CPU cannot compare.
fn compared(write: impl Fn(&mut CodeAssembler)) -> Option<usize> {
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code);
    let bytes = code.assemble(0x1000).unwrap();
    let instructions: Vec<_> = Decoder::with_ip(64, &bytes, 0x1000, 0)
        .into_iter()
        .collect();
    assert_eq!(instructions.len(), 2);
    let comparison = cosim::compare(instructions.iter()).ok()?;
    if !comparison.elsewhere.is_empty() {
        return None;
    }
    assert!(comparison.is_right(), "{:?}", comparison.disagree);
    Some(comparison.agree)
}

#[test]
fn only_displacements_are_not_told_apart() {
    let near = |code: &mut CodeAssembler| code.mov(rax, qword_ptr(rbx + 8)).unwrap();
    let Some(one) = compared(|code| {
        near(code);
        code.mov(rax, qword_ptr(rbx + 16)).unwrap();
    }) else {
        return println!("skipped: no AVX2");
    };
    assert_eq!(one, 1);
    type Write = fn(&mut CodeAssembler) -> Result<(), IcedError>;
    let others: [(&str, Write); 8] = [
        ("sign", |code| code.mov(rax, qword_ptr(rbx - 8))),
        ("length", |code| code.mov(rax, qword_ptr(rbx + 0x1000))),
        ("none", |code| code.mov(rax, qword_ptr(rbx))),
        ("index", |code| code.mov(rax, qword_ptr(rbx + rcx + 8))),
        ("register", |code| code.mov(rcx, qword_ptr(rbx + 8))),
        ("size", |code| code.mov(eax, dword_ptr(rbx + 8))),
        ("code", |code| code.add(rax, qword_ptr(rbx + 8))),
        ("direction", |code| code.mov(qword_ptr(rbx + 8), rax)),
    ];
    for (what, other) in others {
        let both = compared(|code| {
            near(code);
            other(code).unwrap();
        });
        assert_eq!(both, Some(2), "{what}");
    }
    let pairs: [(&str, [Write; 2]); 5] = [
        (
            "scale",
            [
                |code| code.mov(rax, qword_ptr(rbx + rcx * 4 + 8)),
                |code| code.mov(rax, qword_ptr(rbx + rcx * 8 + 8)),
            ],
        ),
        (
            "immediate",
            [
                |code| code.add(qword_ptr(rbx + 8), 1),
                |code| code.add(qword_ptr(rbx + 8), 2),
            ],
        ),
        (
            "displacement of lea",
            [
                |code| code.lea(rax, qword_ptr(rbx + 8)),
                |code| code.lea(rax, qword_ptr(rbx + 16)),
            ],
        ),
        (
            "broadcast",
            [
                |code| code.vpaddq(zmm1, zmm2, zmmword_ptr(rbx + 64)),
                |code| code.vpaddq(zmm1, zmm2, qword_bcst(rbx + 64)),
            ],
        ),
        (
            "vector register",
            [
                |code| code.vpaddq(ymm1, ymm2, ymmword_ptr(rbx + 64)),
                |code| code.vpaddq(ymm1, ymm3, ymmword_ptr(rbx + 64)),
            ],
        ),
    ];
    for (what, [one, other]) in pairs {
        let both = compared(|code| {
            one(code).unwrap();
            other(code).unwrap();
        });
        match both {
            None => println!("skipped: {what}: no AVX-512"),
            both => assert_eq!(both, Some(2), "{what}"),
        }
    }
}

/// The wrong models that are not noticed, as form and place, with the reason:
/// - all bits of `sbb r, r` are the carry flag, so rotating the result changes nothing; the
///   formulas do not show that;
/// - the upper half of rdx is zero in every state of `div` of 32 bits, so keeping it changes
///   nothing.
const SURVIVORS: [(&str, &str); 2] = [("sbb ", " Turned 0"), ("div ", " Upper 1")];

/// Without AVX-512 all bits above 256 are zero, so keeping them changes nothing.
const UNSEEN: (&str, &str) = ("vpshufb ", " Upper 0");

#[test]
fn wrong_models_are_noticed() {
    let mutants = match cosim::mutate(instructions().iter()) {
        Ok(mutants) => mutants,
        Err(why) => return println!("skipped: {why}"),
    };
    let (killed, survivors) = (mutants.killed, mutants.survivors);
    println!(
        "{killed} wrong models noticed, {} not: {survivors:#?}; {} places change nothing",
        survivors.len(),
        mutants.no_change
    );
    assert!(killed > 1000, "{killed}");
    for survivor in survivors {
        let is_known =
            |(form, place): &(&str, &str)| survivor.starts_with(form) && survivor.ends_with(place);
        let unseen = !is_x86_feature_detected!("avx512f") && is_known(&UNSEEN);
        assert!(SURVIVORS.iter().any(is_known) || unseen, "{survivor}");
    }
}
