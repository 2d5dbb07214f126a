//! `check sizes` measures functions, and refuses long files and wide prose.

use crate::repository::{Repository, own, passes};
use std::fs;
use std::process::Command;

fn wide() -> String {
    "word ".repeat(20) + "x"
}

#[test]
fn clean_tree_passes() {
    let told = Repository::clean().passes("sizes");
    assert!(told.contains("8 files (longest "), "{told}");
}

#[test]
fn no_source_is_no_pass() {
    let repository = Repository::clean();
    repository.write(".gitignore", "*\n");
    repository.refuses("sizes", &["no source file found"]);
}

#[test]
fn functions_are_measured() {
    let repository = Repository::clean();
    let body = "    a();\n".repeat(79);
    let declared = "type T = fn(u8);\ntrait U { fn u(&self) -> [u8; 2]; }\n";
    let long = format!("{declared}fn long(a: [u8; 2]) -> u8\nwhere\n    u8: Copy,\n{{\n{body}}}\n");
    repository.append("crates/skein/src/lib.rs", &long);
    let told = repository.passes("sizes");
    assert!(
        told.contains("3 functions (median 1 lines, ") && told.contains("longest 84)"),
        "{told}"
    );
}

#[test]
fn long_functions_in_general() {
    let repository = Repository::clean();
    let long = format!("{{\n{}}}\n", "    a();\n".repeat(7));
    let functions: String = (0..9).map(|i| format!("fn f{i}() {long}")).collect();
    repository.append("crates/skein/src/lib.rs", &functions);
    repository.refuses("sizes", &["the median function has 9 lines, more than 8"]);
}

#[test]
fn long_file() {
    let repository = Repository::clean();
    let table = "crates/skein/src/table.rs";
    repository.write(table, &"// a line\n".repeat(601));
    repository.refuses("sizes", &[&format!("{table}:1: 601 lines, more than 600")]);
}

#[test]
fn long_script() {
    let repository = Repository::clean();
    repository.write("scripts/long", &"# a line\n".repeat(601));
    repository.refuses("sizes", &["scripts/long:1: 601 lines"]);
}

#[test]
fn wide_prose() {
    let places = [
        ("crates/skein/src/a.rs", "/// "),
        ("crates/capi/a.h", "// "),
        ("scripts/a", "# "),
        ("python/a.pyi", "\"\"\"\n"),
        ("python/a.py", "a = \"\"\"\n\"\"\"\nb = 1\n# "),
        ("spec/a.md", ""),
        ("ASSURANCE.md", ""),
        ("store/a.lua", "-- "),
        ("tests/a.mjs", "// "),
        ("js/src/a.ts", "// "),
        ("js/src/a.ts", "/** "),
        ("js/src/a.ts", "/**\n * "),
        ("crates/capi/a.h", "/* a\n   b\n   "),
        ("js/page/a.css", "/* "),
        ("js/page/a.html", "<!-- "),
        ("deploy/Dockerfile", "# "),
        ("fuzz/planted", "# "),
        // The bar of an absolute value, and no row of a table.
        ("crates/skein/src/a.rs", "/// |W| "),
        ("spec/a.md", "|W| "),
        // An item of a list, and no code.
        ("spec/a.md", "- item\n\n    "),
        ("spec/a.md", "1. item\n    - item\n      "),
        ("crates/skein/src/a.rs", "const A: &str = \"\"; // "),
        ("python/a.py", "a = \"b\"  # "),
    ];
    for (name, mark) in places {
        let repository = Repository::clean();
        repository.write(name, &format!("{mark}{}\n", wide()));
        let line = mark.lines().count() + usize::from(mark.ends_with('\n'));
        let begin = mark.rsplit('\n').next().unwrap_or_default();
        let (line, columns) = (line.max(1), begin.len() + wide().len());
        let finding = format!("{name}:{line}: {columns} columns of prose, more than 100");
        repository.refuses("sizes", &[&finding, "1 violations"]);
    }
}

#[test]
fn wide_tables_code_and_links_pass() {
    let repository = Repository::clean();
    let wide = wide();
    let link = format!("https://{}", "x".repeat(100));
    repository.write(
        "spec/a.md",
        &format!("| {wide} |\n```\n{wide}\n```\n{link}\n\n    {wide}\n\n    - {wide}\n"),
    );
    let quoted = format!("const A: &str = \"{wide} // b\";");
    let comments = format!("//! | {wide} |\n//! ```\n//! {wide}\n//! ```\n{quoted}\n");
    repository.write(
        "js/src/a.ts",
        &format!("/* a */\nf({wide});\n/**\n * | {wide} |\n */\nf({wide});\n"),
    );
    repository.write("crates/skein/src/a.rs", &comments);
    repository.write(
        "python/a.py",
        &format!("a = \"\"\"{wide}\"\"\"\nb = \"{wide}\"\nc = f(\"{wide}\")  # type: ignore[b]\n"),
    );
    repository.passes("sizes");
}

#[test]
fn prose_of_100_columns_passes() {
    let repository = Repository::clean();
    repository.write("spec/a.md", &("word ".repeat(19) + "words\n"));
    repository.passes("sizes");
}

/// The gate counts the columns that the rule of this repository's Makefile prints.
#[test]
fn wide_line_of_make_help() {
    let makefile = fs::read_to_string(own("Makefile")).unwrap();
    let limit = 100 - "make a-long-name-of-a-target ".len();
    for (columns, target) in [(100 - 24, "short"), (limit, "a-long-name-of-a-target")] {
        let repository = Repository::clean();
        let rule = |more: &str| format!("\n{target}: ## {}{more}\n", "…".repeat(columns));
        repository.write("Makefile", &format!("{makefile}{}", rule("")));
        repository.passes("sizes");
        repository.append("Makefile", &rule("x"));
        let mut make = Command::new("make");
        let told = passes(make.arg("-C").arg(repository.path("")).arg("help"));
        let printed = told.lines().map(|line| line.chars().count()).max();
        assert_eq!(printed, Some(101), "{told}");
        repository.refuses("sizes", &["101 columns of `make help`", "1 violations"]);
    }
}
