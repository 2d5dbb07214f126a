use super::*;
use crate::catalog::{FAMILIES, UNPROVED, others};
use crate::coverage::Function;
use crate::digest::Digest;
use sealstone_prover::verdict::Verdict;

const FAMILY: &[Family] = &[Family {
    library: "aws-lc",
    shipped: true,
    names: &["aes_hw_*", "gcm_*", "sha256_block_data_order"],
    callers: &["aes_hw_encrypt_wrapper"],
}];

const LIST: &[Unproved] = &[
    of("aws-lc", Code::Functions(&["gcm_*_nohw", "aes_hw_decrypt"])),
    of(
        "aws-lc",
        Code::Nameless {
            what: "inlined",
            absent: &["aes_inlined*"],
        },
    ),
];

const fn of(library: &'static str, code: Code) -> Unproved {
    Unproved {
        library,
        code,
        verdict: "not tried",
        why: "for old processors",
    }
}

const PROVED: &str = "aws_lc_0_47_0_aes_hw_encrypt";

/// A program with a proved function, its proved part, and the functions of the list.
fn program() -> Image {
    let mut image = Image::of_code(PROVED, &[0xc3]);
    for name in [
        "_aes_hw_encrypt2",
        "aws_lc_0_47_0_gcm_init_nohw",
        "gcm_mul_nohw.part.0",
    ] {
        image.add_function(name, &[0xc3]);
    }
    image.add_function("aws_lc_0_47_0_aes_hw_decrypt", &[0xc3]);
    image.add_function("aes_hw_encrypt_wrapper", &[0xc3]);
    image.add_function("sealstone::aes_hw_new", &[0xc3]);
    image.name = "sealstone".into();
    image
}

/// A row that has executed these functions of the program.
fn row(image: &Image, names: &[&str]) -> Row {
    let symbols = image.symbols().iter();
    let executed = symbols.filter(|symbol| names.contains(&symbol.name.as_str()));
    let functions = executed.map(|symbol| {
        let function = Function {
            symbol: symbol.name.clone(),
            start: Image::in_file(symbol.start),
            end: Image::in_file(symbol.start + symbol.size),
        };
        let digest = Digest {
            sha256: String::new(),
            distances: Vec::new(),
        };
        (function, digest)
    });
    Row {
        artefact: image.name.clone(),
        verdict: Verdict::Proved,
        functions: functions.collect(),
        ..Row::new("aws-lc aes_hw_encrypt", "AES", "")
    }
}

fn findings(image: &Image, names: &[&str], list: &[Unproved]) -> Vec<String> {
    let rows = [row(image, names)];
    compare(std::slice::from_ref(image), &rows, FAMILY, list)
}

const BOTH: [&str; 2] = [PROVED, "_aes_hw_encrypt2"];

#[track_caller]
fn assert_found(findings: &[String], name: &str, what: &str) {
    assert!(
        findings.len() == 1 && findings[0].starts_with(name) && findings[0].contains(what),
        "{findings:?}"
    );
}

#[test]
fn a_proved_or_listed_function_is_no_finding() {
    assert!(findings(&program(), &BOTH, LIST).is_empty());
}

/// The library has a new function, in assembly or in C, or the compiler makes a part of one.
#[test]
fn a_function_without_proof_and_reason_is_noticed() {
    for name in [
        "aws_lc_0_47_0_aes_hw_new",
        "aws_lc_1_0_0_sha256_block_data_order",
        "_aes_hw_encrypt3",
        "gcm_new.constprop.0",
        "aes_hw_decrypt_wrapper",
    ] {
        let mut image = program();
        image.add_function(name, &[0xc3]);
        let found = findings(&image, &BOTH, LIST);
        assert_found(&found, name, "neither a proof nor a reason");
        // A row that is not proved is no reason.
        let rows = [Row {
            verdict: Verdict::Unproved("why".into()),
            ..row(&image, &[name])
        }];
        let with = |rows: &[Row]| compare(std::slice::from_ref(&image), rows, FAMILY, LIST);
        let names = with(&rows);
        assert!(names.iter().any(|it| it.starts_with(name)), "{names:?}");
        // Nor is a proof in another program.
        let elsewhere = [Row {
            artefact: "another".into(),
            ..row(&image, &[name])
        }];
        let names = with(&elsewhere);
        assert!(names.iter().any(|it| it.starts_with(name)), "{names:?}");
    }
}

/// The library no longer has a function, or none of a pattern, or another version of it has code
/// that the list calls inlined.
#[test]
fn an_entry_of_the_list_that_is_stale_is_noticed() {
    let with = |code| {
        let list = [LIST, &[of("aws-lc", code)]].concat();
        findings(&program(), &BOTH, &list)
    };
    for names in [
        &["gcm_ghash_ssse3"][..],
        &["vpaes_*"],
        &["aes_hw_decrypt", "aes_hw_decrypt_"],
    ] {
        let name = names.last().unwrap();
        assert_found(
            &with(Code::Functions(names)),
            name,
            "no function of sealstone",
        );
    }
    let nameless = Code::Nameless {
        what: "portable",
        absent: &["aes_hw_decrypt"],
    };
    assert_found(
        &with(nameless),
        "the list says that",
        "aes_hw_decrypt, and it has",
    );
}

/// It was proved later, or the pattern is too wide.
#[test]
fn a_proved_function_in_the_list_is_noticed() {
    let names = [BOTH[0], BOTH[1], "aws_lc_0_47_0_aes_hw_decrypt"];
    let found = findings(&program(), &names, LIST);
    assert_found(&found, names[2], "has a proof, and is in the list");
}

#[test]
fn an_entry_for_an_unknown_library_is_noticed() {
    let list = [of("aws-ld", Code::Functions(&["aes_hw_decrypt"]))];
    let found = compare(&[program()], &[], &[], &list);
    assert_found(&found, "aws-ld", "is no library");
}

/// So a row of a new function says which others are like it.
#[test]
fn every_row_and_every_name_is_of_a_family() {
    let is_known = |name: &str| {
        let symbol = Symbol {
            name: name.replace("aws_lc_*", ""),
            start: 0,
            size: 1,
        };
        FAMILIES.iter().any(|family| family.has(&symbol))
    };
    for row in others() {
        assert!(is_known(row.function), "{}", row.function);
    }
    for it in UNPROVED {
        if let Code::Functions(names) = it.code {
            names
                .iter()
                .for_each(|name| assert!(is_known(name), "{name}"));
        }
    }
}

/// The second program is the prover's own.
#[test]
fn a_published_crate_is_looked_for_in_the_provers_own_program() {
    let families = [Family {
        library: "blake3",
        shipped: false,
        names: &["blake3_*"],
        callers: &[],
    }];
    let own = Image::of_code("blake3_new", &[0xc3]);
    let found = |images: &[Image]| compare(images, &[], &families, &[]);
    assert_found(&found(&[program(), own.clone()]), "blake3_new", "neither");
    assert!(found(&[own, program()]).is_empty());
}
