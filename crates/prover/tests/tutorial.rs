//! The tutorial has the exact program and contract, and the prover's verdicts on them and on bugs
//! in the program.

#[allow(unreachable_pub, reason = "it stands as a reader writes it")]
#[path = "../examples/tutorial/main.rs"]
#[expect(dead_code, reason = "its main function is for readers")]
mod program;

#[allow(unreachable_pub, reason = "it stands as a reader writes it")]
#[path = "../examples/tutorial/contract.rs"]
mod contract;

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
    let blocks = TEXT.split("```rust,ignore\n").skip(1);
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

/// Runs what the text shows behind `$ `, and returns its status, its output and its messages. A
/// change of the folder behind it is the caller's.
fn typed(place: &Path, line: &str) -> (Option<i32>, String, String) {
    assert!(TEXT.contains(&format!("$ {line}\n")) || TEXT.contains(&format!("\n{line}\n")));
    let (command, _) = line.split_once(" && cd ").unwrap_or((line, ""));
    let mut words = command.split(' ');
    let name = match words.next() {
        Some("machine-proof") => env!("CARGO_BIN_EXE_machine-proof"),
        Some(name) => name,
        None => unreachable!("a line has words"),
    };
    let mut command = Command::new(name);
    // A reader's folder has a target directory of its own.
    command.env_remove("CARGO_TARGET_DIR");
    let output = command.args(words).current_dir(place).output().unwrap();
    let [text, error] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    (output.status.code(), text, error)
}

/// Types this line. It must succeed, and print what the text shows behind it, if it shows
/// something.
#[track_caller]
fn succeeds(place: &Path, line: &str) {
    let (status, text, error) = typed(place, line);
    assert_eq!(status, Some(0), "{line}: {text}{error}");
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

/// The text's program with one of its pieces of code before a line.
fn with(program: &str, piece: &str, line: &str) -> String {
    let text: Vec<&str> = TEXT.split_whitespace().collect();
    assert!(text.join(" ").contains(&format!("`{piece}`")), "{piece}");
    let changed = program.replacen(line, &format!("{piece}\n{line}"), 1);
    assert_ne!(changed, program, "{line}");
    changed
}

/// A reader's new crate, with the text's program and contract, and each of its bugs in turn.
#[test]
#[ignore = "compiles the prover again, which takes minutes"]
fn a_reader_who_follows_the_text_succeeds() {
    let above = tempfile::tempdir().unwrap();
    let (status, _, error) = typed(above.path(), "cargo new siphash");
    assert_eq!(status, Some(0), "{error}");
    let place = above.path().join("siphash");
    let proof = |program: &str, contract: &str, expected: i32, words: &str| {
        fs::write(place.join("src/main.rs"), program).unwrap();
        fs::write(place.join("contract.rs"), contract).unwrap();
        let (status, _, error) = typed(&place, "cargo build --release");
        assert_eq!(status, Some(0), "{error}");
        let line = "machine-proof target/release/siphash sip_round contract.rs";
        let (status, text, error) = typed(&place, line);
        assert_eq!(status, Some(expected), "{text}{error}");
        assert_said(&text, words);
    };
    let (program, contract) = written();
    proof(program, &contract, 0, "siphash::sip_round: PROVED");

    let first = "    let [mut a,";
    let wrong = with(program, "b = b.rotate_left(1);", "a = a.wrapping_add(b);");
    proof(
        &wrong,
        &contract,
        1,
        "REFUTED: wrong output in `v`, word 0: ",
    );
    let branch = "if v[0] > v[1] { v[2] = std::hint::black_box(v[2]); }";
    let leak = with(program, branch, first);
    proof(
        &leak,
        &contract,
        1,
        "REFUTED: a branch depends on the input, at ",
    );
    let flip = "let flip = u64::from(v[0] == 0x0123_4567_89ab_cdef);";
    let rare = with(&with(program, flip, first), "v[3] ^= flip;", "}\n\nfn main");
    let unproved = "UNPROVED: wrong output in `v`, word 3: 1 bits are not shown to be equal";
    proof(&rare, &contract, 1, unproved);
    let root = with(program, "v[0] = (v[0] as f64).sqrt() as u64;", first);
    proof(&root, &contract, 1, "UNSUPPORTED: the instruction `");

    let formula = "formula!(|_a, contents| contents.clone())";
    assert!(TEXT.contains(&format!("`{formula}`")));
    let right = "formula!(|a, contents| vec![specification(a, &contents[0])])";
    let short = contract
        .replace("\"v\", 4", "\"v\", 3")
        .replace(right, formula);
    proof(program, &short, 1, "bytes outside of its memory, +");
}

const LOOPS: [&str; 2] = [
    include_str!("../examples/loops/main.rs"),
    include_str!("../examples/loops/contract.rs"),
];
const PUBLISHED: [&str; 2] = [
    include_str!("../examples/published/main.rs"),
    include_str!("../examples/published/contract.rs"),
];

/// A reader's crate with program and contract of an example: where it is. The lines are those that
/// begin it. All crates here share one compiled prover, which takes minutes.
fn example(above: &Path, name: &str, begin: &[&str], [program, contract]: [&str; 2]) -> PathBuf {
    let place = above.join(name);
    succeeds(above, begin[0]);
    begin[1..].iter().for_each(|line| succeeds(&place, line));
    fs::write(place.join("src/main.rs"), program).unwrap();
    fs::write(place.join("contract.rs"), contract).unwrap();
    let built = above.join("machine-proof");
    fs::create_dir_all(&built).unwrap();
    fs::create_dir_all(place.join("target")).unwrap();
    std::os::unix::fs::symlink(built, place.join("target/machine-proof")).unwrap();
    place
}

/// Sections 7 and 8: each line as it is shown, and what it prints. Then the bug of section 7, and
/// the assumption of section 8.
#[test]
#[ignore = "compiles the prover again, which takes minutes, and fetches a crate"]
fn a_reader_of_the_last_sections_succeeds() {
    let above = tempfile::tempdir().unwrap();
    let refused = |place: &Path, line: &str| {
        let (status, text, error) = typed(place, line);
        assert_eq!(status, Some(1), "{text}{error}");
        text
    };
    let build = "cargo build --release";

    let begin = ["cargo new loops && cd loops"];
    let place = example(above.path(), "loops", &begin, LOOPS);
    let line = "machine-proof target/release/loops encrypt contract.rs";
    succeeds(&place, build);
    succeeds(&place, line);
    let late = LOOPS[0]
        .replace("(*v, data);", "(*v, data);\n    let mut count = 0_u64;")
        .replace(
            "*word ^= v[0];",
            "count += 1; *word ^= v[0] ^ (count >> 2);",
        );
    assert_ne!(late, LOOPS[0]);
    fs::write(place.join("src/main.rs"), late).unwrap();
    succeeds(&place, build);
    let text = refused(&place, line);
    assert_said(&text, "by induction on the turns of its loop");
    assert!(text.starts_with("loops::encrypt: UNPROVED: "), "{text}");

    let begin = ["cargo new b3 && cd b3", "cargo add blake3"];
    let place = example(above.path(), "b3", &begin, PUBLISHED);
    let line = "machine-proof --cpu x86-64-v3 target/release/b3 blake3_compress_in_place_sse41 \
                contract.rs";
    succeeds(&place, build);
    succeeds(&place, line);
    let any = PUBLISHED[1].replace("Cell::Small(8)", "Cell::Input");
    assert_ne!(any, PUBLISHED[1]);
    fs::write(place.join("contract.rs"), any).unwrap();
    let text = refused(&place, line);
    assert!(text.contains(": REFUTED: "), "{text}");
}

/// The texts that a source gives to the functions that end a proof or an attempt, and its constant
/// texts.
fn messages(source: &str) -> Vec<String> {
    const OPENERS: [&str; 12] = [
        "wrong(",
        "Wrong(",
        "unsupported(",
        "Unsupported(",
        "Unproved(",
        "Refuted(",
        "Err(",
        "ok_or(",
        "why = ",
        "write!(why, ",
        ": &str = ",
        "format!(",
    ];
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let behind = |opener| code.split(opener).skip(1);
    let texts = OPENERS.into_iter().flat_map(behind).filter_map(|rest| {
        let mut rest = rest.trim_start();
        for before in ["machine,", "format!("] {
            rest = rest.strip_prefix(before).unwrap_or(rest).trim_start();
        }
        let (text, _) = rest.strip_prefix('"')?.split_once('"')?;
        // A text for cargo, rustc or a solver begins with one of these.
        let is_code = text.starts_with(['[', '(', '#']);
        (!is_code).then(|| text.to_owned())
    });
    texts.collect()
}

/// The first part of a message that is the same in each of its forms, and is more than a word that
/// joins others.
fn fixed_part(message: &str) -> Option<String> {
    // The first line of a text of several lines.
    let message = message.split("\\\n").next()?.replace("\\n", "");
    let parts = message.split('{').flat_map(|part| {
        let fixed = part.split_once('}').map_or(part, |(_, fixed)| fixed);
        fixed.split([':', ',', ';', '(', '.', '?', '`'])
    });
    let mut parts = parts.map(|part| part.trim_matches(|it: char| !it.is_alphanumeric()));
    parts.find(|part| part.len() > 5).map(str::to_owned)
}

fn unexplained(source: &str) -> Vec<String> {
    let text: Vec<&str> = TEXT.split_whitespace().collect();
    let text = text.join(" ");
    let of_source = messages(source);
    let missing = of_source
        .iter()
        .filter(|message| fixed_part(message).is_some_and(|fixed| !text.contains(&fixed)));
    missing.cloned().collect()
}

/// All sources of the crate that are no tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_test = |path: &Path| path.file_stem().is_some_and(|name| name == "tests");
    let paths = paths.filter(|path| !is_test(path));
    let sources = paths.flat_map(|path| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    });
    let is_source = |path: &PathBuf| path.extension().is_some_and(|it| it == "rs");
    sources.filter(is_source).collect()
}

#[test]
fn every_message_is_explained() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut count = 0;
    let all = sources(&here);
    for path in &all {
        let source = fs::read_to_string(path).unwrap();
        assert_eq!(unexplained(&source), [""; 0], "{}", path.display());
        count += messages(&source).len();
    }
    assert!(count > 150, "{count}");
    for file in [
        "main.rs",
        "command.rs",
        "prove/groups/laws.rs",
        "native/mapping.rs",
    ] {
        assert!(all.contains(&here.join(file)), "{file}");
    }
}

#[test]
fn a_message_without_an_explanation_is_noticed() {
    for planted in [
        "return self.wrong(\n    \"a jump into the blue, at {place}\");",
        "Err(format!(\n    \"a jump into the blue, at {place}\"))",
        "let entry = entries.first().ok_or(\"a jump into the blue, at {place}\")?;",
        "let _ = write!(why, \"a jump into the blue, at {place}\");",
    ] {
        let missing = unexplained(planted);
        assert!(
            missing
                .iter()
                .all(|it| it == "a jump into the blue, at {place}"),
            "{missing:?}"
        );
        assert!(!missing.is_empty(), "{planted}");
    }
    let explained = "return self.unsupported(format!(\"the count of `{instruction}`\"));";
    assert_eq!(unexplained(explained), [""; 0]);
}
