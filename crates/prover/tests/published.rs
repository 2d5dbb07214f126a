//! The example `published` has a contract for a published function, and it is proved. A changed
//! byte of the function, and a contract with fewer assumptions, are refuted.

#[allow(unreachable_pub, reason = "it stands as a reader writes it")]
#[path = "../examples/published/contract.rs"]
mod contract;

use clap::Parser;
use contract::contracts;
use sealstone_prover::algebra::Numbers;
use sealstone_prover::command::{Arguments, functions, prove_functions};
use sealstone_prover::contract::{Cell, Contract};
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

const TEXT: &str = include_str!("../src/tutorial.md");
const FUNCTION: &str = "blake3_compress_in_place_sse41";

/// This program, with the crate in it.
fn own() -> PathBuf {
    black_box(blake3::hash(black_box(b"keeps it in the program")));
    std::env::current_exe().unwrap()
}

fn arguments(program: &Path) -> Arguments {
    let program = program.to_str().unwrap();
    let cpu = ["--cpu", "x86-64-v3"];
    let line = ["machine-proof", program, FUNCTION, "contract.rs"];
    Arguments::parse_from(line.into_iter().chain(cpu))
}

/// The output of the command.
fn said(program: &Path, contracts: &[Contract]) -> String {
    let proof = prove_functions(&arguments(program), contracts).unwrap();
    assert_eq!(proof.holds, proof.text.contains(": PROVED\n"));
    proof.text
}

#[test]
fn the_published_function_is_proved() {
    let said = said(&own(), &contracts());
    assert!(said.contains(": PROVED\n"), "{said}");
    assert!(TEXT.contains(&format!("{FUNCTION}: PROVED")));
}

/// The hash of no bytes, from the test vectors of BLAKE3's authors.
#[test]
fn the_specification_has_the_published_hash() {
    let initial: [u64; 4] = [
        0xbb67_ae85_6a09_e667,
        0xa54f_f53a_3c6e_f372,
        0x9b05_688c_510e_527f,
        0x5be0_cd19_1f83_d9ab,
    ];
    // The first and last block of the only chunk, which is the root.
    let flags = 1 | 2 | 8;
    let contents = vec![initial.to_vec(), vec![0; 8], vec![0], vec![0], vec![flags]];
    let hash = (contracts()[0].formula.numeric)(&mut Numbers, &contents);
    let hash: Vec<String> = hash[0]
        .iter()
        .map(|cell| format!("{:016x}", cell.swap_bytes()))
        .collect();
    assert_eq!(
        hash.concat(),
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    );
}

/// A copy of this program in which the function shifts by 21 once, where it has to rotate by 12.
fn with_a_changed_byte() -> PathBuf {
    let own = own();
    let (image, symbols) = functions(&arguments(&own)).unwrap();
    let code = image.code(symbols[0].start, symbols[0].size as usize);
    let code = code.unwrap();
    let shift = |at: &usize| code[*at..].starts_with(&[0x66, 0x0f, 0x72]) && code[at + 4] == 20;
    let shift = (0..code.len() - 4).find(shift).expect("a shift by 20");
    let mut program = fs::read(&own).unwrap();
    let mut places = (0..program.len()).filter(|at| program[*at..].starts_with(code));
    let place = places.next().expect("the function in the file");
    assert_eq!(places.next(), None);
    program[place + shift + 4] = 21;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("changed-blake3");
    fs::write(&path, program).unwrap();
    path
}

#[test]
fn a_changed_byte_of_it_is_refuted() {
    let said = said(&with_a_changed_byte(), &contracts());
    let words = "REFUTED: wrong output in `chaining value`, word 0: sample input 0 gives something \
                 else";
    assert!(said.contains(words), "{said}");
    // If the CPU has the instructions, the verdict has an input.
    let shown = said.contains("; reproduced natively, with chaining value = ");
    assert_eq!(shown, is_x86_feature_detected!("avx2"), "{said}");
}

/// The contract without its assumption about the bits above the arguments of a byte.
#[test]
fn what_the_contract_assumes_is_needed() {
    let mut contracts = contracts();
    for name in ["length", "flags"] {
        let mut buffers = contracts[0].buffers.iter_mut();
        let buffer = buffers.find(|buffer| buffer.name == name).unwrap();
        buffer.cells = vec![Cell::Input];
    }
    let said = said(&own(), &contracts);
    assert!(said.contains("REFUTED: "), "{said}");
}
