use super::*;
use iced_x86::code_asm::{CodeAssembler, IcedError, eax, ecx, rax, xmm0, xmm1};
use sealstone_prover::image::Symbol;

fn code(write: impl Fn(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code).unwrap();
    code.ret().unwrap();
    code.assemble(0).unwrap()
}

/// Forty rotations, each by `turn`.
fn kernel(turn: u32) -> Vec<u8> {
    code(|code| {
        for _ in 0..40 {
            code.add(rax, rax)?;
            code.rol(rax, turn)?;
        }
        Ok(())
    })
}

const KERNEL: &str = "sealstone_kernels::kernel";
/// The crates of these tests have code without a proof.
const CRATES: &[Rest] = &[
    Rest {
        name: "sealstone_x",
        why: "is tested",
    },
    Rest {
        name: "sealstone_kernels",
        why: "is tested too",
    },
];
const NO_DRIVERS: Reasons = Reasons {
    drivers: &[],
    crates: CRATES,
};

fn image() -> Image {
    let mut image = Image::default();
    image.add_function(KERNEL, &kernel(7));
    image
}

/// All of the first function.
fn executed(image: &Image) -> Executed {
    all_of(image, &image.symbols()[0])
}

fn all_of(image: &Image, symbol: &Symbol) -> Executed {
    let all = instructions(image, symbol.start, symbol.start + symbol.size);
    all.map(|instruction| (instruction.ip(), instruction.len()))
        .collect()
}

/// The coverage of a program whose proofs stand alone.
fn alone(image: &Image, executed: &Executed, reasons: Reasons) -> Coverage {
    cover(Proofs { image, executed }, None, reasons)
}

fn findings_of(image: &Image, executed: &Executed) -> Vec<String> {
    alone(image, executed, NO_DRIVERS).findings
}

fn findings(image: &Image) -> Vec<String> {
    findings_of(image, &executed(image))
}

#[track_caller]
fn assert_found(image: &Image, what: &str) {
    let findings = findings(image);
    assert!(
        findings.len() == 1 && findings[0].contains(what),
        "{findings:?}"
    );
}

#[test]
fn a_program_of_proved_code_is_covered() {
    let image = image();
    let coverage = alone(&image, &executed(&image), NO_DRIVERS);
    assert!(coverage.is_complete(), "{:?}", coverage.findings);
    assert_eq!(coverage.proved, coverage.ours);
    assert!(!alone(&image, &Executed::new(), NO_DRIVERS).is_complete());
}

/// The copy has another name and a bug: three rotations differ.
#[test]
fn a_copy_that_no_row_proves() {
    for name in ["core::ops::function::FnOnce::call_once", "memchr", KERNEL] {
        let mut image = image();
        let mut copy = kernel(7);
        for place in [6, 13, 20] {
            assert_eq!(copy[place], 7, "an immediate");
            copy[place] = 9;
        }
        image.add_function(name, &copy);
        assert_found(&image, "has the instructions of sealstone_kernels::kernel");
    }
}

/// Another kernel, which is not a copy. Our kernels must be proved, those of others need not be.
#[test]
fn code_that_looks_like_a_kernel() {
    let sums = |count| code(|code| (0..count).try_for_each(|_| code.paddq(xmm0, xmm1)));
    let vectors = sums(16);
    let turned = code(|code| code.rol(eax, 13));
    for bytes in [kernel(9), vectors, turned] {
        let mut image = image();
        image.add_function("<sealstone_x::A as core::ops::Drop>::drop", &bytes);
        assert_found(&image, "looks like a kernel");
        let mut image = self::image();
        image.add_function("other::not_sealstone", &bytes);
        assert!(findings(&image).is_empty());
    }
    let mut image = image();
    let others = code(|code| {
        code.xchg(eax, ecx)?;
        code.shld(eax, ecx, 3)?;
        code.pxor(xmm0, xmm1)
    });
    image.add_function("sealstone_x::driver", &others);
    image.add_function("sealstone_x::counts", &sums(15));
    assert!(findings(&image).is_empty());
}

#[test]
fn a_driver_is_explained_unless_it_is_a_copy() {
    let explained = with_driver(&kernel(9));
    assert!(explained.is_complete() && explained.drivers.len() == 1);
    assert!(!with_driver(&kernel(7)).is_complete());
}

/// The compiler has inlined a kernel into a driver.
#[test]
fn a_driver_that_has_more_than_its_own_code() {
    let more = |vectors| {
        with_driver(&code(|code| {
            code.rol(eax, 13)?;
            (0..vectors).try_for_each(|_| code.paddq(xmm0, xmm1))
        }))
    };
    assert!(more(3).is_complete());
    let rotations = code(|code| (0..41).try_for_each(|_| code.rol(eax, 13)));
    for found in [more(4), with_driver(&rotations)] {
        assert_eq!(found.findings.len(), 1);
        assert!(found.findings[0].contains("more than a driver may have that is tested"));
    }
}

/// A program with a driver that may have 40 rotations and three sums of vectors.
fn with_driver(bytes: &[u8]) -> Coverage {
    const DRIVERS: &[Driver] = &[Driver {
        path: "sealstone_x::driver",
        most: [40, 3],
        why: "is tested",
    }];
    let mut image = image();
    image.add_function("sealstone_x::driver", bytes);
    let reasons = Reasons {
        drivers: DRIVERS,
        crates: CRATES,
    };
    alone(&image, &executed(&image), reasons)
}

#[test]
fn rotations_that_no_run_has_executed() {
    let image = image();
    let mut executed = executed(&image);
    let last = *executed.keys().nth_back(1).unwrap();
    executed.remove(&last);
    let coverage = alone(&image, &executed, NO_DRIVERS);
    assert!(coverage.findings[0].contains("no run has executed all of"));
    assert_eq!(coverage.not_executed, 4);
}

#[test]
fn a_function_of_ours_that_a_kernel_may_call() {
    for (name, found) in [("sealstone_x::other", 1), ("core::panicking::panic", 0)] {
        let mut image = Image::default();
        let at = image.next_free();
        let mut code = CodeAssembler::new(64).unwrap();
        code.rol(rax, 7).unwrap();
        code.call(at + 4096).unwrap();
        image.add_function(KERNEL, &code.assemble(at).unwrap());
        image.add_function(name, &[0xc3]);
        let findings = findings(&image);
        assert_eq!(findings.len(), found, "{findings:?}");
        assert!(findings.iter().all(|why| why.contains("may call")));
    }
}

/// A run enters the other function, but from elsewhere. The call here may be wrong.
#[test]
fn a_call_that_no_run_executes() {
    let mut image = Image::of_code("sealstone_x::other", &[0xc3]);
    let other = image.symbols()[0].start;
    let at = image.next_free();
    let mut code = CodeAssembler::new(64).unwrap();
    code.call(other).unwrap();
    code.ret().unwrap();
    let code = code.assemble(at).unwrap();
    image.add_function("sealstone_x::caller", &code);
    let mut executed: Executed = all_of(&image, &image.symbols()[0]);
    executed.extend(last_executed(&image));
    assert_eq!(findings_of(&image, &executed), [""; 0]);
    executed.remove(&at).unwrap();
    let findings = findings_of(&image, &executed);
    let what = "sealstone_x::caller may call sealstone_x::other at 0x1000, which no run executes";
    assert_eq!(findings, [what]);
}

/// A way to a panic, within the function.
#[test]
fn a_jump_within_a_function_that_no_run_executes() {
    let mut image = Image::default();
    let at = image.next_free();
    let mut code = CodeAssembler::new(64).unwrap();
    let mut end = code.create_label();
    code.jmp(end).unwrap();
    code.nop().unwrap();
    code.set_label(&mut end).unwrap();
    code.ret().unwrap();
    image.add_function("sealstone_x::caller", &code.assemble(at).unwrap());
    let mut executed = last_executed(&image);
    executed.remove(&at).unwrap();
    assert_eq!(findings_of(&image, &executed), [""; 0]);
}

/// The kernel is proved in another program only. This one has a copy of it under another name.
#[test]
fn a_copy_of_a_kernel_of_another_program() {
    let proved = image();
    let elsewhere = executed(&proved);
    let elsewhere = Proofs {
        image: &proved,
        executed: &elsewhere,
    };
    let mut library = Image::of_code("sealstone_x::entry", &[0xc3]);
    let executed = executed(&library);
    let findings = |image: &Image, elsewhere| {
        let executed = &executed;
        cover(Proofs { image, executed }, elsewhere, NO_DRIVERS).findings
    };
    assert_eq!(findings(&library, Some(elsewhere)), [""; 0]);
    library.add_function("memchr", &kernel(7));
    assert_eq!(findings(&library, None), [""; 0]);
    let found = findings(&library, Some(elsewhere));
    let what = "memchr at 0x1000 has the instructions of sealstone_kernels::kernel";
    assert!(found.len() == 1 && found[0].starts_with(what), "{found:?}");
}

/// A function of ours with an instruction that has the distance to `place`.
fn add_instruction(image: &mut Image, opcode: &[u8], place: u64) {
    let start = image.next_free();
    let next = start + opcode.len() as u64 + 4;
    let distance = i32::try_from(place.wrapping_sub(next).cast_signed()).unwrap();
    let code = [opcode, &distance.to_le_bytes(), &[0xc3]].concat();
    image.add_function("sealstone_x::caller", &code);
}

/// All of the last function.
fn last_executed(image: &Image) -> Executed {
    all_of(image, image.symbols().last().unwrap())
}

#[test]
fn sixteen_instructions_of_each_kind_look_like_a_kernel() {
    type Write = fn(&mut CodeAssembler) -> Result<(), IcedError>;
    let kinds: [(Write, usize); 8] = [
        (|code| code.vpsubw(xmm0, xmm0, xmm1), 1),
        (|code| code.pmaddwd(xmm0, xmm1), 1),
        (|code| code.psraw(xmm0, 3), 1),
        (|code| code.aesenclast(xmm0, xmm1), 1),
        (|code| code.sha256msg1(xmm0, xmm1), 1),
        (|code| code.gf2p8mulb(xmm0, xmm1), 1),
        (|code| code.paddb(xmm0, xmm1), 0),
        (|code| code.pxor(xmm0, xmm1), 0),
    ];
    for (write, found) in kinds {
        let mut image = image();
        let bytes = code(|code| (0..16).try_for_each(|_| write(code)));
        image.add_function("sealstone_x::other", &bytes);
        assert_eq!(findings(&image).len(), found);
    }
}

/// The address of the other function is in a register when it is called, and no jump has it.
#[test]
fn a_function_of_ours_whose_address_a_kernel_takes() {
    let mut image = Image::of_code("sealstone_x::other", &[0xc3]);
    let other = image.symbols()[0].start;
    let lea_rcx = [0x48, 0x8d, 0x0d];
    add_instruction(&mut image, &lea_rcx, other);
    let findings = findings_of(&image, &last_executed(&image));
    assert_eq!(
        findings,
        ["sealstone_x::caller may call sealstone_x::other, which no run has entered"]
    );
}

/// The loader writes addresses into tables of this program. A function calls, jumps or reads there.
#[test]
fn a_function_of_ours_whose_address_the_loader_writes() {
    let image = Image::load(&std::env::current_exe().unwrap()).unwrap();
    let mut places = image.relocated(0..u64::MAX);
    let is_ours = |target: u64| image.symbol_at(target).is_some_and(|it| is_ours(&it.name));
    let (place, other) = places.find(|(_, target)| is_ours(*target)).unwrap();
    let other = &image.symbol_at(other).unwrap().name;
    for (opcode, place) in [
        (&[0xff, 0x15][..], place),       // call
        (&[0xff, 0x25], place),           // jmp
        (&[0x48, 0x8b, 0x05], place),     // mov rax
        (&[0x0f, 0x10, 0x05], place - 8), // movups xmm0, of which it is the second half
    ] {
        let mut image = image.clone();
        add_instruction(&mut image, opcode, place);
        let findings = findings_of(&image, &last_executed(&image));
        let what = format!("sealstone_x::caller may call {other}");
        assert!(findings.iter().any(|finding| finding.starts_with(&what)));
    }
}

#[test]
fn names_tell_our_code_from_that_of_others() {
    for (name, owner) in [
        ("sealstone::file::seal", "sealstone"),
        (
            "core::ptr::drop_in_place<sealstone_skein::output::Output<_>>",
            "sealstone_skein",
        ),
        (
            "<sealstone_token::A as sealstone_primitives::B>::f",
            "sealstone_token",
        ),
        ("my_sealstone::A<sealstone_x::B>", "sealstone_x"),
        ("sealstone_hash", C_INTERFACE),
    ] {
        assert_eq!(crate_of(name), Some(owner));
    }
    assert!(!is_ours("unsealstone::x") && !is_ours("my_sealstone::x"));
}

/// The code of each crate that is not proved, with the reason, and no other code.
#[test]
fn code_that_is_not_proved_is_listed_by_crate() {
    let mut image = image();
    image.add_function("sealstone_x::one", &[0x90, 0xc3]);
    image.add_function("<sealstone_x::A as other::B>::two", &[0xc3]);
    image.add_function("other::three", &[0xc3]);
    let coverage = alone(&image, &executed(&image), NO_DRIVERS);
    assert!(coverage.is_complete(), "{:?}", coverage.findings);
    let json = coverage.json();
    let of_x = json!({ "crate": "sealstone_x", "functions": 2, "bytes": 3, "why": "is tested" });
    let of_kernels = json!({
        "crate": "sealstone_kernels", "functions": 0, "bytes": 0, "why": "is tested too"
    });
    assert_eq!(json["unproved"], json!([of_x, of_kernels]));
    assert_eq!(
        json["our_crates"]["functions"], 3,
        "with the proved one, without alignment"
    );
    let text = coverage.text();
    assert!(
        text.contains("  sealstone_x: 2 functions, 1 KiB: is tested\n"),
        "{text}"
    );
    assert!(!text.contains("is tested too"), "{text}");
}

#[test]
fn a_crate_of_ours_without_a_reason() {
    let mut image = image();
    image.add_function("sealstone_y::one", &[0xc3]);
    let why = "sealstone_y has code that no row proves, and the catalog has no reason for it";
    assert_eq!(findings(&image), [why]);
}

/// A reason for a crate that there is no more would be in no program, and no program shows that.
#[test]
fn each_reason_is_of_a_crate() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for Rest { name, .. } in crate::catalog::REASONS.crates {
        let package = match name.strip_prefix("sealstone_") {
            Some("python") => "python".into(),
            Some(rest) => format!("crates/{rest}"),
            None => format!("crates/{name}"),
        };
        let package = format!("{root}/{package}/Cargo.toml");
        assert!(std::path::Path::new(&package).exists(), "{package}");
    }
}

/// No digest covers code between functions.
#[test]
fn an_instruction_outside_of_all_functions_is_noticed() {
    let function = |start, end| Function {
        symbol: String::new(),
        start,
        end,
    };
    let functions = [function(16, 20), function(32, 40)];
    let executed = |at: &[u64]| at.iter().map(|at| (Image::BASE + at, 4)).collect();
    assert_eq!(nameless(&functions, &executed(&[16, 32, 36])), None);
    assert_eq!(nameless(&functions, &executed(&[16, 20, 32])), Some(20));
}
