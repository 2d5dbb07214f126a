//! NIST's "response" files: `name = value` lines in records, `[name = value]` lines that hold for
//! all records after them.

use std::collections::HashMap;

use crate::common::{array, hex};

/// One record, with the bracketed values before it.
#[derive(Clone, Default)]
pub(crate) struct Record(HashMap<String, String>);

impl Record {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.0
            .get(name)
            .unwrap_or_else(|| panic!("a record with {name}"))
    }

    pub(crate) fn number(&self, name: &str) -> usize {
        self.text(name).parse().expect("a decimal number")
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        hex(self.text(name))
    }

    pub(crate) fn array<const N: usize>(&self, name: &str) -> [u8; N] {
        array(&self.bytes(name))
    }
}

/// The records of a file, each of which begins with a line that sets `first`.
pub(crate) fn parse(text: &str, first: &str) -> Vec<Record> {
    let mut standing = Record::default();
    let mut records: Vec<Record> = Vec::new();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(inner) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            set(&mut standing, inner);
        } else {
            if line.split([' ', '=']).next() == Some(first) {
                records.push(standing.clone());
            }
            // Lines before the first record hold for the whole file.
            set(records.last_mut().unwrap_or(&mut standing), line);
        }
    }
    records
}

/// Sets `name = value`, or notes a bare word such as `FAIL`.
fn set(record: &mut Record, line: &str) {
    let (name, value) = line.split_once('=').unwrap_or((line, ""));
    record
        .0
        .insert(name.trim().to_owned(), value.trim().to_owned());
}
