//! `cargo xtask levels` fails if one kernel at one level is not proved, missing, or not compared.

use crate::repository::{Repository, passes, refuses};
use serde_json::{Value, json};

const PLANTED: &str = "s-x86-64-v3";

fn ways() -> Vec<String> {
    let targets = ["x86-64", "x86-64-v3", "x86-64-v4"];
    let of_level = |level| targets.map(|target| format!("{level}-{target}"));
    ["1", "2", "3", "s"]
        .into_iter()
        .flat_map(of_level)
        .collect()
}

fn proofs(code: &str) -> Value {
    let row = |kernel| {
        json!({
            "kernel": kernel,
            "instruction_set": "AVX2",
            "verdict": "PROVED",
            "reason": "",
            "residue": {"stack": 40},
            "sha256": code,
        })
    };
    json!({
        "only": "",
        "proved": true,
        "models": {"compared": true, "disagree": []},
        "kernels": [row("Argon2 G"), row("BLAKE2b F")],
    })
}

fn results() -> Repository {
    let repository = Repository::empty();
    ways()
        .iter()
        .for_each(|way| write(&repository, way, &proofs(way)));
    repository
}

fn write(repository: &Repository, way: &str, content: &Value) {
    repository.write(&format!("{way}/proofs.json"), &content.to_string());
}

fn command(repository: &Repository) -> std::process::Command {
    repository.xtask(&[
        "levels",
        "--read",
        &repository.path("").display().to_string(),
    ])
}

fn refused(repository: &Repository, message: &str) -> String {
    refuses(&mut command(repository), &[message])
}

/// With this at this place in one result, the command fails and says why.
fn refused_with(place: &str, value: Value, message: &str) {
    let repository = results();
    let mut content = proofs(PLANTED);
    *content.pointer_mut(place).unwrap() = value;
    write(&repository, PLANTED, &content);
    refused(&repository, message);
}

/// With this verdict of one kernel the command fails, and its table has these numbers.
fn refused_kernel(verdict: &str, reason: &str, message: &str, numbers: &str) {
    let repository = results();
    let mut content = proofs(PLANTED);
    content["proved"] = json!(false);
    content["kernels"][1]["verdict"] = json!(verdict);
    content["kernels"][1]["reason"] = json!(reason);
    write(&repository, PLANTED, &content);
    assert_numbers(&refused(&repository, message), numbers);
}

fn assert_numbers(told: &str, numbers: &str) {
    let lines = told
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let expected = format!("s x86-64-v3 {numbers}");
    assert!(
        lines.into_iter().any(|line| line == expected),
        "{expected:?} is not in:\n{told}"
    );
}

#[test]
fn all_proved() {
    let told = passes(&mut command(&results()));
    assert!(
        told.contains("every kernel is proved in 12 programs"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 14);
}

#[test]
fn one_kernel_is_refuted() {
    let message = "s-x86-64-v3: BLAKE2b F AVX2: REFUTED: wrong output in `out`";
    refused_kernel("REFUTED", "wrong output in `out`", message, "1 1 0 0 0 40");
}

#[test]
fn one_kernel_is_not_proved() {
    refused_kernel("UNPROVED", "3 bits", "UNPROVED: 3 bits", "1 0 1 0 0 40");
}

#[test]
fn an_instruction_has_no_model() {
    let reason = "the instruction `bts rcx,3Fh`";
    refused_kernel(
        "UNSUPPORTED",
        reason,
        "UNSUPPORTED: the instruction",
        "1 0 0 1 0 40",
    );
}

#[test]
fn the_compiler_has_left_no_function() {
    let reason = "there is no function sealstone_argon2::blake2b::engine::compress_on";
    let message = "BLAKE2b F AVX2: UNSUPPORTED: there is no function";
    refused_kernel("UNSUPPORTED", reason, message, "1 0 0 0 1 40");
}

#[test]
fn a_row_is_missing() {
    let one = json!([proofs(PLANTED)["kernels"][0]]);
    refused_with("/kernels", one, "s-x86-64-v3: no row for BLAKE2b F AVX2");
}

#[test]
fn nothing_was_proved() {
    let repository = results();
    repository.remove(&format!("{PLANTED}/proofs.json"));
    let told = refused(&repository, "s-x86-64-v3: nothing was proved");
    assert_numbers(&told, "0 0 0 0 0 0");
}

#[test]
fn only_a_part_was_proved() {
    refused_with("/only", json!("BLAKE2b"), "s-x86-64-v3: only a part");
}

#[test]
fn models_were_not_compared() {
    let message = "s-x86-64-v3: the models were not compared with this CPU: ";
    let none = json!({"compared": false, "reason": "this CPU has no AVX-512"});
    refused_with(
        "/models",
        Value::Null,
        &format!("{message}that was not asked for"),
    );
    refused_with(
        "/models",
        none,
        &format!("{message}this CPU has no AVX-512"),
    );
}

#[test]
fn a_model_is_wrong() {
    let wrong = json!(["bts rcx,3Fh"]);
    refused_with(
        "/models/disagree",
        wrong,
        "s-x86-64-v3: wrong models: bts rcx,3Fh",
    );
}

#[test]
fn the_prover_says_no() {
    let message = "s-x86-64-v3: the prover says that this is not a proof";
    refused_with("/proved", json!(false), message);
}

#[test]
fn the_level_was_not_applied() {
    let repository = results();
    write(&repository, PLANTED, &proofs("s-x86-64"));
    refused(&repository, "s-x86-64-v3: the same code as s-x86-64");
}
