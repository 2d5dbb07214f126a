//! `selftest --proofs` with lists of functions that this build of the command has. A build for
//! tests has other machine code than the list in the command.

use std::fs;

use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use sealstone_primitives::hash::sha256;
use serde_json::{Value, json};

use crate::world::{World, json as parsed};

/// A function as lists have it. Its code is the same at each place, so it has no distances.
fn function(code: &[u8]) -> Value {
    let digest = sha256(&[code])
        .into_iter()
        .map(|byte| format!("{byte:02x}"));
    let digest: String = digest.collect();
    json!({ "size": code.len(), "sha256": digest, "distances": [] })
}

/// Some functions of the command, with different digests.
fn functions() -> [Value; 3] {
    let bytes = fs::read(env!("CARGO_BIN_EXE_sealstone")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let mut codes = Vec::new();
    for symbol in file.symbols().filter(|it| it.kind() == SymbolKind::Text) {
        let (at, size) = (symbol.address(), symbol.size());
        let code = file.segments().find_map(|it| it.data_range(at, size).ok()?);
        codes.extend(code.filter(|code| code.len() >= 64));
    }
    codes.sort_unstable();
    codes.dedup();
    core::array::from_fn(|i| function(codes[i * codes.len() / 3]))
}

/// A list with one kernel of two functions, and one of the third.
fn list([one, two, three]: &[Value; 3]) -> Value {
    let kernel = |name: &str, set: &str, functions: Value| {
        json!({ "kernel": name, "instruction_set": set, "program": "sealstone",
            "verdict": "PROVED", "functions": functions })
    };
    json!({ "kernels": [
        kernel("The first", "x86-64", json!([one, two])),
        kernel("The second", "AVX2", json!([three])),
    ] })
}

fn digest(function: &Value) -> &str {
    function["sha256"].as_str().unwrap()
}

/// What the command prints about a list for people and for machines, with its exit status.
fn selftest(list: &Value) -> (i32, String, Value) {
    let world = World::empty();
    world.write("list", list.to_string().as_bytes());
    let people = world.command(&["selftest", "--proofs=list"]);
    let people = { people }.output().unwrap();
    let machines = world.command(&["--json", "selftest", "--proofs=list"]);
    let machines = { machines }.output().unwrap();
    let status = people.status.code().unwrap();
    assert_eq!(machines.status.code(), Some(status));
    let messages = String::from_utf8(people.stderr).unwrap();
    let is_failure = messages.contains("not all kernels of this program have the proved machine");
    assert_eq!(is_failure, status != 0, "{messages}");
    let text = String::from_utf8(people.stdout).unwrap();
    (status, text, parsed(&machines.stdout))
}

/// The lines about the kernels of [`list`], with these words before them.
fn lines(words: [&str; 2], functions: &[Value; 3]) -> String {
    let [one, two, three] = functions.each_ref().map(|it| &digest(it)[..16]);
    let [first, second] = words;
    format!(
        "{first:7} The first                        x86-64   {one} {two}\n\
         {second:7} The second                       AVX2     {three}\n"
    )
}

/// The same as JSON.
fn values(proved: [bool; 2], functions: &[Value; 3]) -> Value {
    let [one, two, three] = functions.each_ref().map(digest);
    let kernel = |name: &str, set: &str, proved, digests: &[&str]| {
        json!({
            "kernel": name,
            "instruction_set": set,
            "proved": proved,
            "sha256": digests,
        })
    };
    json!({ "proved": proved == [true, true], "kernels": [
        kernel("The first", "x86-64", proved[0], &[one, two]),
        kernel("The second", "AVX2", proved[1], &[three]),
    ] })
}

#[test]
fn a_program_has_the_functions_of_a_list() {
    let functions = functions();
    let (status, text, value) = selftest(&list(&functions));
    assert_eq!(status, 0);
    assert_eq!(text, lines(["proved", "proved"], &functions));
    assert_eq!(value, values([true, true], &functions));
}

/// Each of the three functions in turn has the digest of other code.
#[test]
fn a_kernel_with_another_digest_is_unknown() {
    for altered in 0..3 {
        let mut functions = functions();
        let other = function(b"the digest of other code");
        functions[altered]["sha256"] = other["sha256"].clone();
        let (status, text, value) = selftest(&list(&functions));
        assert_eq!(status, 1, "{text}");
        let (words, proved) = match altered {
            2 => (["proved", "UNKNOWN"], [true, false]),
            _ => (["UNKNOWN", "proved"], [false, true]),
        };
        assert_eq!(text, lines(words, &functions));
        assert_eq!(value, values(proved, &functions));
    }
}

/// The code is here, but the list does not say that it is proved.
#[test]
fn a_kernel_without_a_proof_is_unknown() {
    let functions = functions();
    let mut list = list(&functions);
    list["kernels"][1]["verdict"] = "UNPROVED".into();
    let (status, text, value) = selftest(&list);
    assert_eq!(status, 1, "{text}");
    assert_eq!(text, lines(["proved", "UNKNOWN"], &functions));
    assert_eq!(value, values([true, false], &functions));
}
