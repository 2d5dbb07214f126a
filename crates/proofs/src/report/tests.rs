//! Tests of the rows.

use super::proving::pieces;
use super::*;
use crate::catalog::Set;
use crate::coverage::{self, Executed, Proofs};
use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Contract};
use sealstone_prover::formula;
use sealstone_prover::prove::Session;

/// Whether the models count as right after this comparison.
fn agree(models: Option<Result<Comparison, String>>) -> bool {
    let report = Report {
        models,
        ..Report::default()
    };
    report.models_agree()
}

#[test]
fn models_that_were_not_compared_are_not_right() {
    assert!(!agree(None));
    assert!(!agree(Some(Err("no AVX-512".into()))));
    let compared = || Comparison {
        agree: 1,
        ..Comparison::default()
    };
    assert!(agree(Some(Ok(compared()))));
    assert!(!agree(Some(Ok(Comparison::default()))), "nothing was");
    let mut one = compared();
    one.skipped.insert("push and pop".into());
    assert!(agree(Some(Ok(one))));
    let mut one = compared();
    one.skipped.insert("vpaddq".into());
    assert!(!agree(Some(Ok(one))));
    let mut one = compared();
    one.disagree.push("add".into());
    assert!(!agree(Some(Ok(one))));
}

#[test]
fn programs_are_told_which_forms_were_compared() {
    let forms = ["Xor_r64_rm64", "Add_r64_rm64", "VEX_Vpaddq_ymm_ymm_ymmm256"];
    let comparison = Comparison {
        forms: forms.map(String::from).into(),
        skipped: ["vpermq: this CPU has no such thing".into()].into(),
        ..Comparison::default()
    };
    let report = Report {
        models: Some(Ok(comparison)),
        ..Report::default()
    };
    let models = &report.json()["models"];
    let sorted = ["Add_r64_rm64", "VEX_Vpaddq_ymm_ymm_ymmm256", "Xor_r64_rm64"];
    assert_eq!(models["compared_forms"], json!(sorted));
    assert_eq!(models["forms"], 3);
    let not_executed = json!(["vpermq: this CPU has no such thing"]);
    assert_eq!(models["not_executed"], not_executed);
}

#[test]
fn the_hash_is_of_places_as_well_as_of_bytes() {
    let hashed = |bytes: &[(u64, u8)]| pieces(100, &bytes.iter().copied().collect());
    assert_eq!(
        hashed(&[(100, 1), (101, 2)]),
        [&[0; 8][..], &2_u64.to_le_bytes(), &[1, 2]].concat()
    );
    // The same bytes at another place, or in other pieces.
    assert_ne!(hashed(&[(100, 1), (101, 2)]), hashed(&[(101, 1), (102, 2)]));
    assert_ne!(hashed(&[(100, 1), (101, 2)]), hashed(&[(100, 1), (102, 2)]));
}

#[test]
fn a_function_with_the_name_of_a_kernel_that_no_row_proves_is_a_row() {
    sealstone_kernels::call_every_kernel();
    let image = Image::load(&std::env::current_exe().unwrap()).unwrap();
    let threefish = kernels()
        .into_iter()
        .find(|kernel| kernel.name == "Threefish-512 encryption")
        .unwrap();
    let symbols = image.symbols().iter();
    let starts: BTreeSet<u64> = symbols
        .filter(|symbol| symbol.is(threefish.function))
        .map(|symbol| symbol.start)
        .collect();
    assert!(starts.len() > 1, "one for each size");
    let place = (image.name.clone(), threefish.function, threefish.set.name());
    let images = [image];
    let all = Starts::from([(place.clone(), starts.clone())]);
    assert!(left_out(&images, &all).is_empty());
    let first = starts.first().copied().into_iter().collect();
    let rows = left_out(&images, &Starts::from([(place, first)]));
    assert_eq!(rows.len(), starts.len() - 1);
    assert!(rows.iter().all(|row| !row.verdict.is_proof()));
}

/// Two functions have the name, and take the CPU as an argument. Each is right for one CPU only.
#[test]
fn a_function_is_proved_for_each_instruction_set() {
    let kernel = |set, cpu| {
        let contract = Contract::new(formula!(|_a, contents| vec![contents[0].clone()]));
        let contract = contract.buffer("x", 1, 8, Access::Write);
        Kernel {
            name: "the identity",
            set,
            function: "identity",
            shows: "",
            shipped: true,
            family: "",
            contracts: vec![contract.addresses(["x"]).number(cpu)],
        }
    };
    let report = |codes: &[Vec<u8>]| {
        let mut image = Image::of_code("identity", &codes[0]);
        for code in &codes[1..] {
            image.add_function("identity", code);
        }
        let kernels = vec![kernel(Set::Baseline, 0), kernel(Set::Avx2, 1)];
        prove_in(kernels, &[image], "", None, None).0
    };
    let right = report(&[identity_but_for(2)]);
    assert!(right.is_proof(), "{}", right.table());
    let twice = report(&[identity_but_for(2), identity_but_for(3)]);
    assert!(!twice.is_proof(), "nobody proved the second one");
    for codes in [[0, 1], [1, 0]] {
        let report = report(&codes.map(identity_but_for));
        let (rows, left_out) = report.rows.split_at(2);
        assert!(rows.iter().all(|row| row.verdict.is_proof()));
        let sets: Vec<&str> = left_out.iter().map(|row| row.set).collect();
        assert_eq!(sets, ["AVX2", "x86-64"], "{}", report.table());
        // The first function lacks the proof for the first CPU, or for the second.
        let lacks = if codes[0] == 0 { 1 } else { 0 };
        let first = left_out[lacks].verdict.reason();
        assert!(first.starts_with("the function at 0x0 has"), "{first}");
        assert!(!report.is_proof());
    }
}

/// Leaves a word as it is, but adds one to it for this CPU.
fn identity_but_for(cpu: i32) -> Vec<u8> {
    use iced_x86::code_asm::{CodeAssembler, qword_ptr, rdi, rsi};
    let mut code = CodeAssembler::new(64).unwrap();
    let mut end = code.create_label();
    code.cmp(rsi, cpu).unwrap();
    code.jne(end).unwrap();
    code.inc(qword_ptr(rdi)).unwrap();
    code.set_label(&mut end).unwrap();
    code.ret().unwrap();
    code.assemble(0).unwrap()
}

/// One function is proved. A second function of its name does nothing.
#[test]
fn a_second_function_with_the_name_of_others_is_a_row() {
    sealstone_kernels::call_others();
    let name = "blake3_compress_in_place_sse2";
    let mut image = Image::load(&std::env::current_exe().unwrap()).unwrap();
    let rows = |image: &Image| {
        let mut report = Report::default();
        report.prove_others(std::slice::from_ref(image), name, None);
        report.others
    };
    let alone = rows(&image);
    assert_eq!(alone.len(), 1, "the program has it once");
    assert!(alone[0].verdict.is_proof(), "{}", alone[0].verdict);
    image.add_function(name, &[0xc3]);
    let both = rows(&image);
    let reasons: Vec<&str> = both.iter().map(|row| row.verdict.reason()).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert_eq!(reasons[0], "");
    assert!(
        reasons[1].ends_with("and no row of this set proves it"),
        "{reasons:?}"
    );
}

/// Two functions have the name. The first one leaves more bytes behind and is wrong. The row is
/// about the second.
#[test]
fn a_row_has_the_figures_of_the_function_that_was_proved() {
    use iced_x86::code_asm::{CodeAssembler, qword_ptr, rax, rdi};
    let code = |write: &dyn Fn(&mut CodeAssembler)| {
        let mut code = CodeAssembler::new(64).unwrap();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        write(&mut code);
        code.mov(qword_ptr(rdi), rax).unwrap();
        code.xor(rax, rax).unwrap();
        code.ret().unwrap();
        code.assemble(0).unwrap()
    };
    let wrong = code(&|code| {
        code.push(rax).unwrap();
        code.push(rax).unwrap();
        code.pop(rax).unwrap();
        code.pop(rax).unwrap();
        code.inc(rax).unwrap();
    });
    let right = code(&|_| {});
    let contract = Contract::new(formula!(|_a, contents| vec![contents[0].clone()]));
    let kernel = Kernel {
        name: "the identity",
        set: Set::Baseline,
        function: "identity",
        shows: "",
        shipped: true,
        family: "",
        contracts: vec![contract.buffer("x", 1, 8, Access::Write).addresses(["x"])],
    };
    let mut image = Image::of_code("identity", &wrong);
    image.add_function("identity", &right);
    let (mut proved, mut met) = (Proved::default(), BTreeMap::new());
    let row = prove_kernel(
        &mut Session::new(),
        (&[image], None),
        &kernel,
        &mut proved,
        &mut met,
    );
    assert_eq!(row.verdict, Verdict::Proved);
    assert_eq!((row.depth, row.steps), (8, 4), "the return address alone");
    assert_eq!(row.residue, Residue::default());
}

/// A program has a proved kernel, and a second copy of it under a name that no row has, with the
/// same bytes or with a bug. Every row stays PROVED. The program is refused for the copy.
#[test]
fn a_copy_is_refused_although_every_row_is_proved() {
    let (ours, copied) = ("sealstone_x::kernel", "memchr");
    let rows = |image: &Image, function| {
        let images = std::slice::from_ref(image);
        prove_in(vec![rotating(function)], images, "", None, None).0
    };
    let image = Image::of_code(ours, &rotations([7; 40]));
    let alone = rows(&image, ours);
    assert!(alone.is_proof() && alone.is_complete(), "{}", alone.table());
    let mut wrong = [7; 40];
    wrong[10..13].fill(9);
    for (turns, is_right) in [([7; 40], true), (wrong, false)] {
        let mut image = image.clone();
        image.add_function(copied, &rotations(turns));
        assert_eq!(rows(&image, copied).is_proof(), is_right, "with a row");
        let report = rows(&image, ours);
        assert_eq!(report.rows.len(), 1);
        assert_eq!(report.rows[0].verdict, Verdict::Proved);
        assert!(report.is_proof() && !report.is_complete());
        let findings = report.coverage.unwrap().findings;
        let what = format!("has the instructions of {ours}, and no row proves it");
        assert!(
            findings.len() == 1 && findings[0].starts_with(copied) && findings[0].ends_with(&what),
            "{findings:?}"
        );
    }
}

/// A library has no function of the kernel, but a copy of it under another name.
#[test]
fn a_library_has_no_copy_of_what_is_proved_in_the_command() {
    let ours = "sealstone_x::kernel";
    let command = Image::of_code(ours, &rotations([7; 40]));
    let images = std::slice::from_ref(&command);
    let rows = prove_in(vec![rotating(ours)], images, "", None, None)
        .0
        .rows;
    assert_eq!(rows[0].verdict, Verdict::Proved);
    let mut library = Image::of_code("library", &[0xc3]);
    library.add_function("memchr", &rotations([7; 40]));
    let findings = |rows: &[Row]| {
        let images = std::slice::from_ref(&library);
        let report = prove_in(Vec::new(), images, "", None, Some((&command, rows))).0;
        report.coverage.unwrap().findings
    };
    let found = findings(&rows);
    let what = format!("has the instructions of {ours}, and no row proves it");
    assert!(found.len() == 1 && found[0].ends_with(&what), "{found:?}");
    // These rows prove nothing there.
    let unproved = Row {
        verdict: Verdict::Unproved(String::new()),
        ..rows[0].clone()
    };
    let elsewhere = Row {
        artefact: "library".into(),
        ..rows[0].clone()
    };
    for row in [unproved, elsewhere] {
        assert_eq!(findings(&[row]), [""; 0]);
    }
}

/// Doubles a word and rotates it, by each of these numbers of bits in turn.
fn rotations(turns: [u32; 40]) -> Vec<u8> {
    use iced_x86::code_asm::{CodeAssembler, qword_ptr, rax, rdi};
    let mut code = CodeAssembler::new(64).unwrap();
    code.mov(rax, qword_ptr(rdi)).unwrap();
    for turn in turns {
        code.add(rax, rax).unwrap();
        code.rol(rax, turn).unwrap();
    }
    code.mov(qword_ptr(rdi), rax).unwrap();
    code.ret().unwrap();
    code.assemble(0).unwrap()
}

fn rotated<A: Algebra<64>>(a: &mut A, word: &A::Word) -> A::Word {
    (0..40).fold(word.clone(), |word, _| {
        let double = a.add(&word, &word);
        a.rotate_left(&double, 7)
    })
}

/// The row of a function that does so by seven bits each time.
fn rotating(function: &'static str) -> Kernel {
    let contract = Contract::new(formula!(|a, contents| vec![vec![rotated(
        a,
        &contents[0][0]
    )]]));
    Kernel {
        name: "rotations",
        set: Set::Baseline,
        function,
        shows: "",
        shipped: true,
        family: "",
        contracts: vec![contract.buffer("x", 1, 8, Access::Write).addresses(["x"])],
    }
}

/// A library must have a kernel, and its kernels are proved.
#[test]
fn a_library_without_kernels_or_with_a_wrong_one_is_no_proof() {
    let proved = || Report {
        rows: vec![Row {
            verdict: Verdict::Proved,
            ..Row::new("kernel", "", "")
        }],
        ..Report::default()
    };
    let with = |function: &str, only: &str| {
        let mut report = proved();
        report.libraries.push(proved());
        let library = Image::of_code(function, &[0xc3]);
        report.prove_library(library, None, only, None);
        report
    };
    let shipped = kernels().iter().filter(|kernel| kernel.shipped).count();

    let without = with("something else", "");
    assert!(!without.is_proof());
    assert_eq!(without.libraries[1].absent.len(), shipped);
    let json = without.json();
    assert_eq!(
        json["libraries"][1]["absent"].as_array().unwrap().len(),
        shipped
    );
    assert!(
        without
            .table()
            .contains("not in this file: Skein-512 UBI x86-64")
    );

    let wrong = with("sealstone_skein::ubi::absorb", "");
    assert!(!wrong.is_proof());
    let rows = &wrong.libraries[1].rows;
    let names = ["Skein-256 UBI", "Skein-512 UBI", "Skein-1024 UBI"];
    assert!(rows.iter().map(|row| row.name).eq(names));

    // The library has no kernel of this part.
    let part = with("something else", "Skein-512 UBI");
    assert!(part.is_proof() && part.libraries.len() == 1);
}

/// A function of one size is proved, so the other sizes are absent. A second function of the name
/// is not absent.
#[test]
fn a_kernel_is_absent_only_if_all_of_its_name_is_proved() {
    let name = "sealstone_skein::ubi::absorb";
    let mut image = Image::of_code(name, &[0xc3]);
    let first = image.symbols()[0].start;
    let report = || Report {
        rows: vec![Row::new("Skein-256 UBI", "x86-64", "")],
        ..Report::default()
    };
    let place = (image.name.clone(), name, "x86-64");
    let starts = Starts::from([(place, BTreeSet::from([first]))]);
    let mut one = report();
    one.leave_out_absent(&image, &starts);
    assert_eq!(one.absent, [("Skein-256 UBI", "x86-64")]);
    image.add_function(name, &[0xc3]);
    let mut two = report();
    two.leave_out_absent(&image, &starts);
    assert_eq!((two.absent.len(), two.rows.len()), (0, 1));
}

/// The function is proved for one instruction set only. It may be wrong for the other.
#[test]
fn a_kernel_of_another_instruction_set_is_not_absent() {
    let name = "sealstone_argon2::blake2b::engine::compress_on";
    let image = Image::of_code(name, &[0xc3]);
    let start = image.symbols()[0].start;
    for (set, absent) in [("AVX2", 1), ("x86-64", 0)] {
        let mut report = Report {
            rows: vec![Row::new("BLAKE2b F", "AVX2", "")],
            ..Report::default()
        };
        let place = (image.name.clone(), name, set);
        report.leave_out_absent(&image, &Starts::from([(place, BTreeSet::from([start]))]));
        assert_eq!(report.absent.len(), absent, "{set}");
    }
}

/// A library has a second copy of a kernel, and no row proves it.
#[test]
fn code_of_a_library_that_was_left_out_is_seen() {
    let coverage = |findings: &[&str]| {
        let proofs = Proofs {
            image: &Image::of_code("library", &[0xc3]),
            executed: &Executed::new(),
        };
        let mut all = coverage::cover(proofs, None, crate::catalog::REASONS);
        all.proved.bytes = 1;
        all.findings = findings.iter().map(|&finding| finding.into()).collect();
        Some(all)
    };
    for (findings, is_complete) in [(&[][..], true), (&["a copy"], false)] {
        let library = Report {
            coverage: coverage(findings),
            ..Report::default()
        };
        let report = Report {
            libraries: vec![library],
            ..Report::default()
        };
        assert_eq!(report.is_complete(), is_complete);
    }
}

/// This program is its own library. The same code needs no second proof. If one byte of a kernel
/// differs, the kernel is proved again and refuted.
#[test]
fn the_same_code_in_a_library_is_proved_once() {
    sealstone_kernels::call_every_kernel();
    let name = "BLAKE2b F";
    let image = Image::load(&std::env::current_exe().unwrap()).unwrap();
    let mut report = prove_kernels(std::slice::from_ref(&image), name, None);
    assert!(report.is_proof(), "{}", report.table());
    let row = &report.rows[0];
    let is_rotation = |(at, length): (&u64, &usize)| {
        let code = image.code(*at, *length)?;
        let instruction = Decoder::with_ip(64, code, *at, DecoderOptions::NONE).decode();
        let rotates = matches!(instruction.mnemonic(), Mnemonic::Rol | Mnemonic::Ror);
        rotates.then_some((at + *length as u64 - 1, code[*length - 1]))
    };
    let (at, byte) = row.trace.executed.iter().find_map(is_rotation).unwrap();
    let mut wrong = image.clone();
    wrong.patch(at, &[byte ^ 1]);
    for library in [&image, &wrong] {
        report.prove_library(library.clone(), Some(&image), name, None);
    }
    report.prove_library(image.clone(), None, name, None);
    let [same, wrong, anew] = &report.libraries[..] else {
        panic!("three libraries");
    };
    for (ours, row) in report.rows.iter().zip(&same.rows) {
        assert_eq!(row.same_as.as_ref(), Some(&image.name));
        assert_eq!(row.hash, ours.hash);
        assert_eq!(row.functions.len(), ours.functions.len());
    }
    assert!(same.is_proof() && anew.is_proof());
    assert!(anew.rows.iter().all(|row| row.same_as.is_none()));
    assert_eq!(
        (wrong.rows[0].set, &wrong.rows[0].same_as),
        ("x86-64", &None)
    );
    assert!(wrong.absent.is_empty() && !wrong.is_proof());
    assert!(matches!(wrong.rows[0].verdict, Verdict::Refuted(_)));
    assert_eq!(
        report.json()["libraries"][0]["kernels"][0]["same_as"],
        image.name
    );
    assert!(report.table().contains("same code as in"));
}
