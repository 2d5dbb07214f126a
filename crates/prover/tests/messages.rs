//! The tutorial explains every message of the prover and of its command.

use std::fs;
use std::path::{Path, PathBuf};

const TEXT: &str = include_str!("../src/tutorial.md");

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
