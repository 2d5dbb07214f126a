//! The tutorial has the exact program and contract, and the prover's verdicts on them and on bugs
//! in the program.

#[allow(unreachable_pub, reason = "it stands as a reader writes it")]
#[path = "../examples/tutorial/main.rs"]
#[expect(dead_code, reason = "its main function is for readers")]
mod program;

#[allow(unreachable_pub, reason = "it stands as a reader writes it")]
#[path = "../examples/tutorial/contract.rs"]
mod contract;

#[path = "shared/late.rs"]
mod late;

use clap::Parser;
use contract::contracts;
use program::sip_round;
use sealstone_prover::command::{Arguments, prove_functions};
use sealstone_prover::contract::{Access, Contract};
use sealstone_prover::formula;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const TEXT: &str = include_str!("../src/tutorial.md");
const PROGRAM: &str = include_str!("../examples/tutorial/main.rs");
const CONTRACT: &str = include_str!("../examples/tutorial/contract.rs");

type Kernel = extern "C" fn(&mut [u64; 4]);

/// The output of the command on a function of this program. The call keeps the function in it.
fn said(name: &str, kernel: Kernel, contracts: &[Contract]) -> String {
    black_box(kernel)(&mut black_box([0, 1, 2, 3]));
    let own = std::env::current_exe().unwrap();
    let arguments = ["machine-proof", own.to_str().unwrap(), name, "contract.rs"];
    let proof = prove_functions(&Arguments::parse_from(arguments), contracts).unwrap();
    assert_eq!(proof.holds, proof.text.contains(": PROVED\n"));
    proof.text
}

/// Asserts that the command and the tutorial have these words.
#[track_caller]
fn assert_said(said: &str, words: &str) {
    assert!(said.contains(words), "{said}");
    let text = TEXT.replace("\n> ", " ");
    let text: Vec<&str> = text.split_whitespace().collect();
    assert!(text.join(" ").contains(words), "not in the text: {words}");
}

/// The program and the contract in the text.
fn written() -> (&'static str, String) {
    let (text, _) = TEXT.split_once("# 4. The proof").unwrap();
    let blocks = text.split("```rust,ignore\n").skip(1);
    let blocks: Vec<&str> = blocks
        .filter_map(|block| Some(block.split_once("```")?.0))
        .collect();
    let (program, contract) = blocks.split_first().unwrap();
    (program, contract.join("\n"))
}

#[test]
fn the_text_has_program_and_contract_as_they_are() {
    let code = |file: &str| {
        let (_, code) = file
            .split_once("\n\n")
            .expect("code behind its description");
        code.to_owned()
    };
    let (program, contract) = written();
    assert_eq!(program, code(PROGRAM));
    assert_eq!(contract, code(CONTRACT));
}

#[test]
fn the_round_is_proved() {
    let said = said("sip_round", sip_round, &contracts());
    assert_said(&said, "sip_round: PROVED");
    assert_has_figures(&said);
}

/// Asserts that the line of figures has the form that the text shows. The numbers, and the
/// extensions of the processor, depend on the compiler.
#[track_caller]
fn assert_has_figures(said: &str) {
    let form = |text: &str| {
        let line = text.split_once("sip_round: PROVED\n").unwrap().1;
        let parts: Vec<&str> = line.lines().next().unwrap().split("; ").collect();
        let [figures, _, runs] = parts[..] else {
            panic!("three parts: {parts:?}")
        };
        let words = figures.split(' ');
        let words = words.map(|word| word.parse::<u64>().map_or(word, |_| "…"));
        (words.collect::<Vec<_>>().join(" "), runs.to_owned())
    };
    assert_eq!(form(said), form(TEXT));
}

#[inline(never)]
extern "C" fn wrong_rotation(v: &mut [u64; 4]) {
    v[1] = v[1].rotate_left(1);
    sip_round(v);
}

#[test]
fn a_wrong_rotation_is_refuted_with_an_input() {
    let said = said("wrong_rotation", wrong_rotation, &contracts());
    assert_said(
        &said,
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
    let said = said("leak", leak, &contracts());
    assert_said(&said, "REFUTED: a branch depends on the input, at ");
    assert_said(&said, "reproduced natively: ");
}

#[inline(never)]
extern "C" fn rare(v: &mut [u64; 4]) {
    let flip = u64::from(v[0] == 0x0123_4567_89ab_cdef);
    sip_round(v);
    v[3] ^= flip;
}

#[test]
fn a_bug_on_one_input_of_very_many_is_not_proved() {
    let said = said("rare", rare, &contracts());
    assert_said(
        &said,
        "UNPROVED: wrong output in `v`, word 3: 1 bits are not shown to be equal, and no sample \
         input tells them apart",
    );
}

#[test]
fn a_buffer_that_is_too_short_is_refuted() {
    let short = Contract::new(formula!(|_a, contents| contents.clone()))
        .buffer("v", 3, 8, Access::Write)
        .addresses(["v"]);
    let said = said("sip_round", sip_round, &[short]);
    assert_said(&said, "bytes outside of its memory, +");
}

#[inline(never)]
extern "C" fn by_floating_point(v: &mut [u64; 4]) {
    v[0] = (v[0] as f64).sqrt() as u64;
}

#[test]
fn an_instruction_without_a_model_is_unsupported() {
    let said = said("by_floating_point", by_floating_point, &contracts());
    assert_said(&said, "UNSUPPORTED: the instruction `");
}

/// The installed command, in an empty folder.
fn command(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machine-proof"));
    // A runner that cargo is configured to start gives no verdict.
    command.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "true");
    command.args(arguments).current_dir(place).output().unwrap()
}

/// A new folder with the contract of the tutorial, and this test's own program to try it on.
fn folder(name: &str) -> (PathBuf, String) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("contract.rs"), CONTRACT).unwrap();
    let own = std::env::current_exe().unwrap();
    (place, own.to_str().unwrap().to_owned())
}

#[test]
fn the_command_says_what_is_missing_before_it_compiles() {
    let (place, own) = folder("missing");
    for (arguments, words) in [
        (["no-program", "sip_round", "contract.rs"], "no-program: "),
        ([&own, "sip_round", "no-contract.rs"], "no-contract.rs: "),
        (
            [&own, "sip_rounds", "contract.rs"],
            "no function `sip_rounds`",
        ),
        (["contract.rs", "sip_round", "contract.rs"], "contract.rs: "),
    ] {
        let output = command(&place, &arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(
            error.starts_with("machine-proof: ") && error.contains(words),
            "{error}"
        );
        assert!(!error.contains("compiling"), "{error}");
    }
    let elsewhere = ["--prover", "nowhere", &own, "sip_round", "contract.rs"];
    let error = String::from_utf8(command(&place, &elsewhere).stderr).unwrap();
    assert!(
        error.contains("is not in nowhere: say where it is with --prover"),
        "{error}"
    );
}

/// Cargo is configured to take crates from a folder without the crates that the prover needs.
#[test]
fn the_command_says_what_to_do_with_vendored_crates() {
    let (place, own) = folder("vendored");
    black_box(sip_round as Kernel)(&mut black_box([0, 1, 2, 3]));
    fs::create_dir_all(place.join("vendor")).unwrap();
    fs::create_dir_all(place.join(".cargo")).unwrap();
    let source = "[source.crates-io]\nreplace-with = \"vendored\"\n\n\
                  [source.vendored]\ndirectory = \"vendor\"\n";
    fs::write(place.join(".cargo/config.toml"), source).unwrap();
    let output = command(&place, &[&own, "program::sip_round", "contract.rs"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("`cargo vendor --sync "), "{error}");
    assert!(!error.contains("does not compile"), "{error}");
}

#[test]
#[ignore = "compiles the prover again, which takes minutes"]
fn the_command_compiles_a_contract_and_proves_it() {
    let (place, own) = folder("whole");
    black_box(sip_round as Kernel)(&mut black_box([0, 1, 2, 3]));
    let arguments = [&own, "program::sip_round", "contract.rs"];
    let output = command(&place, &arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("::sip_round: PROVED\n"), "{text}");
    black_box(wrong_rotation as Kernel)(&mut black_box([0, 1, 2, 3]));
    let output = command(&place, &[&own, "wrong_rotation", "contract.rs"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("REFUTED: wrong output in `v`, word 0"),
        "{text}"
    );
    // Another contract is used, although its file is older.
    let path = place.join("contract.rs");
    let short = CONTRACT.replace("\"v\", 4", "\"v\", 3").replace(
        "vec![specification(a, &contents[0])]",
        "{ let _ = a; contents.clone() }",
    );
    assert_ne!(short, CONTRACT);
    fs::write(&path, short).unwrap();
    let old = std::time::SystemTime::UNIX_EPOCH;
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(old).unwrap();
    let output = command(&place, &arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("outside of its memory"), "{text}");
    // A contract that does not compile is not a verdict.
    fs::write(place.join("contract.rs"), "fn contracts() {}").unwrap();
    let output = command(&place, &arguments);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

/// Types what the text shows behind `$ ` into a shell, and returns its status, its output and its
/// messages.
fn typed(place: &Path, line: &str) -> (Option<i32>, String, String) {
    assert!(TEXT.contains(&format!("$ {line}\n")), "{line}");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let installed = Path::new(env!("CARGO_BIN_EXE_machine-proof"));
    let solvers = std::env::var_os("SEALSTONE_SOLVERS")
        .map_or_else(|| here.join("../../.tools/solvers"), PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = [installed.parent().unwrap().into(), solvers.join("bin")];
    let path = first.into_iter().chain(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(place);
    shell.env("PATH", std::env::join_paths(path).unwrap());
    // A reader has set this variable, and has no other directory for what cargo builds.
    shell.env("P", here).env_remove("CARGO_TARGET_DIR");
    let output = shell.output().unwrap();
    let [text, error] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    (output.status.code(), text, error)
}

/// Types this line. It must succeed, and print what the text shows behind it, if it shows
/// something.
#[track_caller]
fn succeeds(place: &Path, line: &str) {
    ends(place, line, 0);
}

/// The same, with this status.
#[track_caller]
fn ends(place: &Path, line: &str, expected: i32) {
    let (status, text, error) = typed(place, line);
    assert_eq!(status, Some(expected), "{line}: {text}{error}");
    let shown = TEXT
        .split_once(&format!("$ {line}\n"))
        .map_or("", |(_, shown)| shown);
    let shown = shown
        .lines()
        .take_while(|line| !line.starts_with(['$', '`']));
    let shown: Vec<&str> = shown.collect();
    assert!(
        shown.is_empty() || is_shown(&shown.join("\n"), text.trim_end()),
        "{text}"
    );
}

/// Whether a text is one that the tutorial shows. An ellipsis stands for any text on one line.
fn is_shown(shown: &str, text: &str) -> bool {
    let (shown, text): (Vec<&str>, Vec<&str>) = (shown.lines().collect(), text.lines().collect());
    let is_line = |(shown, line): (&&str, &&str)| {
        let (begin, rest) = shown.split_once('…').unwrap_or((shown, ""));
        let Some(mut left) = line.strip_prefix(begin) else {
            return false;
        };
        for part in rest.split('…') {
            let Some((_, behind)) = left.split_once(part) else {
                return false;
            };
            left = behind;
        }
        left.is_empty() || shown.ends_with('…')
    };
    shown.len() == text.len() && shown.iter().zip(&text).all(is_line)
}

#[test]
fn another_output_than_the_text_shows_is_noticed() {
    let shown = "loops::encrypt: PROVED\n  … instructions executed, …";
    let details = "\n  40 instructions executed, 8 bytes of stack";
    let proved = format!("loops::encrypt: PROVED{details}");
    assert!(is_shown(shown, &proved));
    for other in [
        "loops::encrypt: PROVED",
        &format!("loops::encrypt: PROVED, or not{details}"),
        &format!("loops::encrypt: UNPROVED{details}"),
        &format!("encrypt: PROVED{details}"),
        &format!("{proved}{details}"),
        "loops::encrypt: PROVED\n  40 instructions, 8 bytes of stack",
    ] {
        assert!(!is_shown(shown, other), "{other}");
    }
}

/// The text's program with one of its pieces of code, at the place that the text names: before or
/// after the first line that begins with this code.
fn with(program: &str, piece: &str, place: &str) -> String {
    let text: Vec<&str> = TEXT.split_whitespace().collect();
    let words = format!("nsert `{piece}` {place}");
    assert!(text.join(" ").contains(&words), "not in the text: {words}");
    let code = place.split('`').nth(1).expect("code in the place");
    let mut lines: Vec<&str> = program.lines().collect();
    let line = lines
        .iter()
        .position(|it| it.trim_start().starts_with(code));
    let line = line.expect(place) + usize::from(place.starts_with("after"));
    lines.insert(line, piece);
    lines.join("\n")
}

const BUILD: &str = "cargo build --release";
const BEFORE_LET: &str = "before the `let` line";

/// A reader's new crate, with the text's program and contract, and each of its bugs in turn.
#[test]
#[ignore = "compiles the prover again, which takes minutes, and needs z3"]
fn a_reader_who_follows_the_text_succeeds() {
    let above = tempfile::tempdir().unwrap();
    succeeds(above.path(), "cargo new siphash");
    let place = above.path().join("siphash");
    let proof = |program: &str, contract: &str, expected: i32, words: &str| {
        fs::write(place.join("src/main.rs"), program).unwrap();
        fs::write(place.join("contract.rs"), contract).unwrap();
        succeeds(&place, BUILD);
        let line = "machine-proof target/release/siphash sip_round contract.rs";
        let (status, text, error) = typed(&place, line);
        assert_eq!(status, Some(expected), "{text}{error}");
        assert_said(&text, words);
        text
    };
    let (program, contract) = written();
    let right = proof(program, &contract, 0, "siphash::sip_round: PROVED");
    assert_has_figures(&right);

    let piece = "b = b.rotate_left(1);";
    let wrong = with(program, piece, "before the line `a = a.wrapping_add(b);`");
    let words = "REFUTED: wrong output in `v`, word 0: ";
    proof(&wrong, &contract, 1, words);
    let branch = "if v[0] > v[1] { v[2] = std::hint::black_box(v[2]); }";
    let leak = with(program, branch, BEFORE_LET);
    let words = "REFUTED: a branch depends on the input, at ";
    let text = proof(&leak, &contract, 1, words);
    assert!(text.contains("at siphash::sip_round+0x"), "{text}");
    assert!(TEXT.contains("`siphash::sip_round+0x"));
    let flip = "let flip = u64::from(v[0] == 0x0123_4567_89ab_cdef);";
    let end = "after the last line, `*v = [a, b, c.rotate_left(32), d];`";
    let rare = with(&with(program, flip, BEFORE_LET), "v[3] ^= flip;", end);
    let words = "UNPROVED: wrong output in `v`, word 3: 1 bits are not shown to be equal";
    proof(&rare, &contract, 1, words);
    let with_z3 = "machine-proof --z3 z3 target/release/siphash sip_round contract.rs";
    ends(&place, with_z3, 1);
    let root = with(program, "v[0] = (v[0] as f64).sqrt() as u64;", BEFORE_LET);
    proof(&root, &contract, 1, "UNSUPPORTED: the instruction `");

    let formula = "formula!(|_a, contents| contents.clone())";
    assert!(TEXT.contains(&format!("`{formula}`")));
    let right = "formula!(|a, contents| vec![specification(a, &contents[0])])";
    let short = contract
        .replace("\"v\", 4", "\"v\", 3")
        .replace(right, formula);
    proof(program, &short, 1, "bytes outside of its memory, +");
}

/// A reader's crate with program and contract of an example: where it is. The lines begin it.
fn example(above: &Path, name: &str, lines: &[&str]) -> PathBuf {
    let place = above.join(name);
    succeeds(above, &format!("cargo new {name}"));
    lines.iter().for_each(|line| succeeds(&place, line));
    place
}

/// Sections 6 and 7: each line as it is shown, and what it prints. Then the bug of section 6, and
/// the assumption of section 7.
#[test]
#[ignore = "compiles the prover again, which takes minutes, and fetches a crate"]
fn a_reader_of_the_last_sections_succeeds() {
    let above = tempfile::tempdir().unwrap();
    let refused = |place: &Path, line: &str| {
        let (status, text, error) = typed(place, line);
        assert_eq!(status, Some(1), "{text}{error}");
        text
    };
    let copies = [
        "cp \"$P/examples/loops/main.rs\" src/main.rs",
        "cp \"$P/examples/loops/contract.rs\" contract.rs",
    ];
    let place = example(above.path(), "loops", &copies);
    let line = "machine-proof --build-dir ../siphash/target/machine-proof target/release/loops \
                encrypt contract.rs";
    succeeds(&place, BUILD);
    succeeds(&place, line);
    let main = place.join("src/main.rs");
    let late = late::with_the_bug(&fs::read_to_string(&main).unwrap());
    fs::write(&main, late).unwrap();
    succeeds(&place, BUILD);
    let text = refused(&place, line);
    assert_said(&text, "by induction on the turns of its loop");
    assert!(text.starts_with("loops::encrypt: UNPROVED: "), "{text}");

    let copies = [
        "cargo add blake3",
        "cp \"$P/examples/published/main.rs\" src/main.rs",
        "cp \"$P/examples/published/contract.rs\" contract.rs",
    ];
    let place = example(above.path(), "b3", &copies);
    let line = "machine-proof --cpu x86-64-v3 --build-dir ../siphash/target/machine-proof \\\n    \
                target/release/b3 blake3_compress_in_place_sse41 contract.rs";
    succeeds(&place, BUILD);
    succeeds(&place, line);
    let contract = place.join("contract.rs");
    let small = fs::read_to_string(&contract).unwrap();
    let any = small.replace("Cell::Small(8)", "Cell::Input");
    assert_ne!(any, small);
    fs::write(contract, any).unwrap();
    let text = refused(&place, line);
    assert!(text.contains(": REFUTED: "), "{text}");
}
