//! Vectors from files.

#![allow(dead_code, reason = "each test program uses a part")]

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(crate) use sealstone_testing::unhex as hex;
use serde_json::Value;

/// The files of a folder of `$SEALSTONE_VECTORS` whose names begin with `prefix`, in order. Without
/// the variable or the folder, prints that the test is skipped and returns `None`.
pub(crate) fn files(folder: &str, prefix: &str) -> Option<Vec<PathBuf>> {
    let Some(root) = std::env::var_os("SEALSTONE_VECTORS") else {
        println!("skipped: SEALSTONE_VECTORS is not set");
        return None;
    };
    let folder = Path::new(&root).join(folder);
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("skipped: no folder {}", folder.display());
            return None;
        }
        entries => entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display())),
    };
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder that can be read").path())
        .filter(|path| !is_note(name(path)) && name(path).starts_with(prefix))
        .collect();
    files.sort();
    Some(files)
}

/// Files that may lie beside vectors: their source, and hidden files.
fn is_note(name: &str) -> bool {
    name.starts_with('.') || name.ends_with(".md") || name.ends_with(".txt")
}

pub(crate) fn name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .expect("a file name in UTF-8")
}

pub(crate) fn read(path: &Path) -> Vec<Value> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    match serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    {
        Value::Array(cases) => cases,
        _ => panic!("{}: not a list", path.display()),
    }
}

/// The text of a required field.
pub(crate) fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field]
        .as_str()
        .unwrap_or_else(|| panic!("a case with the text {field}"))
}

pub(crate) fn number(case: &Value, field: &str) -> u64 {
    case[field]
        .as_u64()
        .unwrap_or_else(|| panic!("a case with the number {field}"))
}

pub(crate) fn list<'a>(case: &'a Value, field: &str) -> &'a [Value] {
    case[field]
        .as_array()
        .unwrap_or_else(|| panic!("a case with the list {field}"))
}

pub(crate) fn bytes(case: &Value, field: &str) -> Vec<u8> {
    hex(text(case, field))
}
