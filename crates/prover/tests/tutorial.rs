//! The tutorial has its program as it is, and what the prover says to it and to bugs in it.

#[allow(unreachable_pub, reason = "it stands as a reader writes it")]
#[path = "../examples/tutorial.rs"]
#[expect(dead_code, reason = "its main function is for readers")]
mod program;

use program::{contract, sip_round, verdict};
use sealstone_prover::contract::{Access, Contract};
use sealstone_prover::formula;
use sealstone_prover::verdict::Verdict;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

const TEXT: &str = include_str!("../src/tutorial.md");
const PROGRAM: &str = include_str!("../examples/tutorial.rs");

/// Native runs map memory at fixed addresses: one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

type Kernel = extern "C" fn(&mut [u64; 4]);

/// The verdict on a function. The call keeps the function in the program.
fn said(name: &str, kernel: Kernel, contract: &Contract) -> Verdict {
    let _guard = ONE_AT_A_TIME.lock();
    let _guard = _guard.unwrap_or_else(PoisonError::into_inner);
    black_box(kernel)(&mut black_box([0, 1, 2, 3]));
    verdict(&format!("::{name}"), contract)
}

/// The verdict has these words, and so has the tutorial.
#[track_caller]
fn assert_said(verdict: &Verdict, words: &str) {
    assert!(verdict.to_string().contains(words), "{verdict}");
    let text = TEXT.replace("\n> ", " ");
    let text: Vec<&str> = text.split_whitespace().collect();
    assert!(text.join(" ").contains(words), "not in the text: {words}");
}

#[test]
fn the_text_has_the_program_as_it_is() {
    let (_, program) = PROGRAM
        .split_once("\n\n")
        .expect("code behind its description");
    let blocks = TEXT.split("```rust,ignore\n").skip(1);
    let blocks: Vec<&str> = blocks
        .filter_map(|block| Some(block.split_once("```")?.0))
        .collect();
    assert_eq!(blocks.join("\n"), program);
}

#[test]
fn the_round_is_proved() {
    let verdict = said("sip_round", sip_round, &contract());
    assert_eq!(verdict, Verdict::Proved);
}

#[inline(never)]
extern "C" fn wrong_rotation(v: &mut [u64; 4]) {
    v[1] = v[1].rotate_left(1);
    sip_round(v);
}

#[test]
fn a_wrong_rotation_is_refuted_with_an_input() {
    let verdict = said("wrong_rotation", wrong_rotation, &contract());
    assert_said(
        &verdict,
        "REFUTED: wrong output in `v`, word 0: sample input 0 gives something else; reproduced \
         natively, with v = ",
    );
}

#[inline(never)]
extern "C" fn leak(v: &mut [u64; 4]) {
    if v[0] > v[1] {
        v[2] = black_box(v[2]);
    }
    sip_round(v);
}

#[test]
fn a_branch_on_the_input_is_refuted_with_two_inputs() {
    let verdict = said("leak", leak, &contract());
    assert_said(&verdict, "REFUTED: a branch depends on the input, at ");
    assert_said(&verdict, "reproduced natively: ");
}

#[inline(never)]
extern "C" fn rare(v: &mut [u64; 4]) {
    let flip = u64::from(v[0] == 0x0123_4567_89ab_cdef);
    sip_round(v);
    v[3] ^= flip;
}

#[test]
fn a_bug_on_one_input_of_very_many_is_not_proved() {
    let verdict = said("rare", rare, &contract());
    assert_said(
        &verdict,
        "UNPROVED: wrong output in `v`, word 3: 1 bits are not shown to be equal, and no sample \
         input tells them apart",
    );
}

#[test]
fn a_buffer_that_is_too_short_is_refuted() {
    let short = Contract::new(formula!(|_a, contents| contents.clone()))
        .buffer("v", 3, 8, Access::Write)
        .addresses(["v"]);
    let verdict = said("sip_round", sip_round, &short);
    assert_said(&verdict, "bytes outside of its memory, +");
}

#[inline(never)]
extern "C" fn by_floating_point(v: &mut [u64; 4]) {
    v[0] = (v[0] as f64).sqrt() as u64;
}

#[test]
fn an_instruction_without_a_model_is_unsupported() {
    let verdict = said("by_floating_point", by_floating_point, &contract());
    assert_said(&verdict, "UNSUPPORTED: the instruction `");
}
