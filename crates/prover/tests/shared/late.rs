//! The bug of the tutorial's section 6, which begins in a later iteration.

const TUTORIAL: &str = include_str!("../../src/tutorial.md");

/// The example `loops` with the lines that the tutorial shows in place of its own.
pub(crate) fn with_the_bug(program: &str) -> String {
    const FIRST: &str = "    let (mut v, mut rest)";
    const LAST: &str = "black_box(behind);\n    }\n";
    let (_, lines) = TUTORIAL
        .split_once(&format!("```rust,ignore\n{FIRST}"))
        .expect("the lines of the tutorial");
    let (lines, _) = lines.split_once("```").expect("their end");
    let (before, rest) = program.split_once(FIRST).expect("the first line");
    let (_, after) = rest.split_once(LAST).expect("the last line");
    format!("{before}{FIRST}{lines}{after}")
}
