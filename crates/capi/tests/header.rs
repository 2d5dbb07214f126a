//! The header declares what the library exports: the same names, types, structures and numbers.

use std::collections::BTreeSet;
use std::path::Path;

const FILES: [&str; 6] = ["status", "buffer", "argon2", "skein", "passport", "file"];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(path).unwrap()
}

/// One space between words, none beside punctuation.
fn normal(text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for mark in ["(", ")", ",", "*", ";", "{", "}"] {
        text = text.replace(&format!(" {mark}"), mark);
        text = text.replace(&format!("{mark} "), mark);
    }
    text
}

/// `SealOptions` as `sealstone_seal_options`.
fn c_name(name: &str) -> String {
    let mut text = String::from("sealstone");
    for letter in name.chars() {
        if letter.is_uppercase() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

fn c_type(rust: &str) -> String {
    let pointee = |rest: &str, suffix: &str| format!("{}{suffix}", c_type(rest));
    if let Some(rest) = rust.strip_prefix("*const *const ") {
        return format!("const {}*const*", c_type(rest));
    }
    if let Some(rest) = rust.strip_prefix("*const ") {
        return format!("const {}*", c_type(rest));
    }
    if let Some(rest) = rust.strip_prefix("*mut ") {
        return pointee(rest, "*");
    }
    match rust {
        "u8" => "uint8_t".into(),
        "u32" => "uint32_t".into(),
        "usize" => "size_t".into(),
        "c_char" => "char".into(),
        "bool" => "bool".into(),
        "Status" => "int".into(),
        name => c_name(name),
    }
}

/// `name: type` as C declares it.
fn c_field(field: &str) -> String {
    let (name, rust) = field.trim().split_once(": ").unwrap();
    let name = name.trim_start_matches("pub ");
    // A word of C++.
    let name = if name == "public" { "public_" } else { name };
    normal(&format!("{} {name}", c_type(rust)))
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    let parts = text.split(start).skip(1);
    parts.map(|it| it.split_once(end).unwrap().0).collect()
}

/// Every declaration that the sources stand for.
fn of_sources() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for source in FILES.map(|name| read(&format!("src/{name}.rs"))) {
        for function in between(&source, "extern \"C\" fn ", " {\n") {
            let (name, rest) = function.split_once('(').unwrap();
            let (arguments, result) = rest.rsplit_once(')').unwrap();
            let result = result
                .trim()
                .strip_prefix("-> ")
                .map_or("void".into(), c_type);
            let arguments = arguments.split(',').filter(|it| !it.trim().is_empty());
            let arguments: Vec<_> = arguments.map(c_field).collect();
            let arguments = if arguments.is_empty() {
                "void".into()
            } else {
                arguments.join(",")
            };
            found.insert(normal(&format!("{result} {name}({arguments})")));
        }
        for structure in between(&source, "#[repr(C)]\npub struct ", "\n}") {
            let (name, fields) = structure.split_once(" {").unwrap();
            let fields = fields
                .lines()
                .map(str::trim)
                .filter(|it| it.starts_with("pub "));
            let fields: String = fields
                .map(|it| c_field(it.trim_end_matches(',')) + ";")
                .collect();
            let name = c_name(name);
            found.insert(format!("typedef struct {name}{{{fields}}}{name}"));
        }
        let handles = between(&source, "\npub struct ", "\n").into_iter();
        let opaque = handles.filter(|it| !source.contains(&format!("#[repr(C)]\npub struct {it}")));
        for name in opaque.map(|it| c_name(it.split([' ', '(']).next().unwrap())) {
            found.insert(format!("typedef struct {name} {name}"));
        }
        for constant in between(&source, "\npub const ", ";") {
            let (name, number) = constant.split_once(": ").unwrap();
            let number = number.split_once("= ").unwrap().1;
            found.insert(format!("#define SEALSTONE_{name} {number}"));
        }
    }
    found
}

/// Every declaration of the header.
fn of_header(header: &str) -> BTreeSet<String> {
    let mut text = String::new();
    for (n, part) in header.split("/*").enumerate() {
        text.push_str(if n == 0 {
            part
        } else {
            part.split_once("*/").unwrap().1
        });
    }
    let numbers = text
        .lines()
        .map(normal)
        .filter(|it| it.starts_with("#define SEALSTONE_"));
    let mut found: BTreeSet<String> = numbers.filter(|it| it != "#define SEALSTONE_H").collect();
    let code: Vec<_> = text.lines().filter(|it| !it.starts_with('#')).collect();
    let code = code.join("\n").replace("extern \"C\" {", "");
    let mut depth = 0;
    let mut declaration = String::new();
    for letter in code.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == ';' && depth == 0 {
            found.insert(normal(std::mem::take(&mut declaration).trim()));
        } else if depth >= 0 {
            declaration.push(letter);
        }
    }
    found
}

#[test]
fn the_header_declares_what_the_library_exports() {
    let (header, sources) = (of_header(&read("include/sealstone.h")), of_sources());
    let missing: Vec<_> = sources.difference(&header).collect();
    let surplus: Vec<_> = header.difference(&sources).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "missing: {missing:#?} surplus: {surplus:#?}"
    );
    assert!(sources.len() > 35, "{sources:#?}");
}

/// The comparison above would see each of these.
#[test]
fn a_header_that_differs_is_noticed() {
    let header = read("include/sealstone.h");
    let changes = [
        ("const uint8_t *salt,", "uint8_t *salt,"),
        ("uint32_t passes;", "uint64_t passes;"),
        ("SEALSTONE_ALTERED 6 ", "SEALSTONE_ALTERED 7 "),
        ("void sealstone_skein_free(sealstone_skein *skein);", ""),
        ("size_t sealstone_buffer_len", "int sealstone_buffer_len"),
        ("sealstone_skein **skein", "sealstone_skein *skein"),
    ];
    for (from, to) in changes {
        assert!(header.contains(from), "{from}");
        assert_ne!(
            of_header(&header.replacen(from, to, 1)),
            of_sources(),
            "{from}"
        );
    }
}
