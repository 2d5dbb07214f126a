//! The binary interface: what the committed `abi.txt` says of names, functions, numbers and the
//! layout of structures is what the header and a C compiler say.

use super::installed::{here, passes, text};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Numbers, functions, and structures with the offset and the size of each field.
fn interface(header: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let layouts = layouts(directory.path(), header);
    let mut found = String::new();
    for line in header.lines().filter(|it| it.starts_with("#define ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [_, name, value] = words[..] {
            writeln!(found, "{name} = {value}").unwrap();
        }
    }
    found + &functions(header) + &layouts
}

/// The declarations of functions and of types of functions, each on a line.
fn functions(header: &str) -> String {
    let code = header
        .lines()
        .filter(|it| !it.trim_start().starts_with("//"));
    let code: Vec<&str> = code.collect();
    let declarations = code.join("\n");
    let mut found = String::new();
    for declaration in declarations.split(";\n").filter(|it| it.contains('(')) {
        let begin = declaration.rfind("\n\n").map_or(0, |at| at + 2);
        let words: Vec<&str> = declaration[begin..].split_whitespace().collect();
        writeln!(found, "{}", words.join(" ")).unwrap();
    }
    found
}

/// The layouts that a C compiler gives the structures.
fn layouts(directory: &Path, header: &str) -> String {
    let mut program =
        String::from("#include <stdio.h>\n#include \"sealstone.h\"\nint main(void) {\n");
    for structure in header.split("typedef struct {\n").skip(1) {
        let (fields, rest) = structure.split_once("\n} ").unwrap();
        let (name, _) = rest.split_once(';').unwrap();
        writeln!(program, "printf(\"{name} %zu\\n\", sizeof({name}));").unwrap();
        for field in fields.lines().filter_map(|it| it.strip_suffix(';')) {
            let field = field.rsplit([' ', '*']).next().unwrap();
            writeln!(
                program,
                "printf(\"    {field} %zu %zu\\n\", offsetof({name}, {field}), \
                 sizeof((({name} *)0)->{field}));"
            )
            .unwrap();
        }
    }
    program.push_str("}\n");
    std::fs::write(directory.join("layout.c"), program).unwrap();
    std::fs::write(directory.join("sealstone.h"), header).unwrap();
    let binary = directory.join("layout");
    let mut cc = Command::new("cc");
    cc.arg(directory.join("layout.c")).arg("-o").arg(&binary);
    passes(&cc.output().unwrap(), "");
    let printed = Command::new(binary).output().unwrap();
    text(&printed.stdout)
}

fn header() -> String {
    std::fs::read_to_string(here("include/sealstone.h")).unwrap()
}

/// The first line in which the baseline and this interface differ.
fn difference(interface: &str) -> Option<String> {
    let baseline = std::fs::read_to_string(here("abi.txt")).unwrap();
    let mut lines = baseline.lines().filter(|it| !it.starts_with('#'));
    for line in interface.lines() {
        match lines.next() {
            Some(known) if known == line => {}
            known => return Some(format!("abi.txt has {known:?}, and now it is {line:?}")),
        }
    }
    lines.next().map(|line| format!("{line:?} is gone"))
}

/// On purpose? Then SEALSTONE_WRITE_ABI=1 writes the baseline anew.
#[test]
#[cfg(target_pointer_width = "64")]
fn the_interface_is_the_committed_one() {
    let interface = interface(&header());
    assert!(interface.lines().count() > 150);
    if std::env::var_os("SEALSTONE_WRITE_ABI").is_some() {
        let head = "# The binary interface of 64-bit systems: numbers, functions, and structures \
                    with their size,\n# and the offset and the size of each field. Written by \
                    `SEALSTONE_WRITE_ABI=1 cargo test -p\n# sealstone-capi --test c`.\n";
        std::fs::write(here("abi.txt"), head.to_owned() + &interface).unwrap();
    }
    assert_eq!(difference(&interface), None);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_changed_interface_is_noticed() {
    let header = header();
    let changes = [
        ("uint32_t lanes;", "uint64_t lanes;"),
        ("    uint32_t variant;\n", ""),
        (
            "    uint64_t time;\n",
            "    uint64_t time;\n    uint64_t later;\n",
        ),
        ("#define SEALSTONE_ALTERED 6", "#define SEALSTONE_ALTERED 7"),
        ("size_t tag_len);", "uint32_t tag_len);"),
        (
            "size_t sealstone_buffer_len(",
            "size_t sealstone_buffer_size(",
        ),
    ];
    for (from, to) in changes {
        assert!(header.contains(from), "{from}");
        let found = difference(&interface(&header.replacen(from, to, 1)));
        assert!(found.is_some(), "{from}");
    }
}
