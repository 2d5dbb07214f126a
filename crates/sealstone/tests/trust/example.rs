//! The worked example of `spec/trust.md`: read from the page, written again by two implementations.

use std::collections::HashMap;

use data_encoding::HEXLOWER;
use sealstone::trust::{Standing, Status, TrustStore};

use super::fixture::{Files, START, at, name, noted};
use super::mini::{self, Entry, SPECIFIED};

const PAGE: &str = include_str!("../../../../spec/trust.md");

/// The values of the example: lines `name  hex`, and lines that begin with a space and continue the
/// value above.
fn values() -> HashMap<String, Vec<u8>> {
    let section = PAGE.split_once("## Worked example").unwrap().1;
    let block = section.split("```").nth(1).unwrap();
    let mut values: Vec<(String, String)> = Vec::new();
    for line in block.lines().filter(|line| !line.is_empty()) {
        let hex = line.split_whitespace().last().unwrap().to_owned();
        match line.starts_with(' ') {
            true => values.last_mut().unwrap().1.push_str(&hex),
            false => values.push((line.split_once("  ").unwrap().0.to_owned(), hex)),
        }
    }
    values
        .into_iter()
        .map(|(name, hex)| (name, HEXLOWER.decode(hex.as_bytes()).unwrap()))
        .collect()
}

fn files() -> Files {
    let mut values = values();
    Files {
        key: values.remove("key"),
        log: values.remove("log"),
        head: values.remove("head"),
    }
}

fn secret() -> [u8; 32] {
    values()["secret"].as_slice().try_into().unwrap()
}

#[test]
fn the_example_opens_and_says_what_the_page_says() {
    let store = TrustStore::open(files().to_memory()).unwrap();
    let record = store.find("Alice").unwrap();
    assert_eq!(
        (
            record.fingerprint(),
            record.status(),
            record.operator(),
            record.note()
        ),
        (name(0xa1), Status::Compromised, "bob", "laptop stolen")
    );
    assert_eq!((record.first_seen(), record.changed()), (START, START + 90));
    let since = START + 80;
    assert_eq!(record.standing(Some(since - 1)), Standing::Approved);
    let compromised = Standing::Compromised { since: Some(since) };
    assert_eq!(record.standing(Some(since)), compromised);
    assert_eq!(record.standing(None), compromised);
    assert_eq!((store.iter().len(), store.log().len()), (1, 3));
}

#[test]
fn the_store_writes_the_example() {
    let memory = mini::write(&secret(), &[], SPECIFIED).to_memory();
    let mut store = TrustStore::open(memory.clone()).unwrap();
    store
        .set_status(&name(0xa1), Status::Approved, &noted(0, "by phone"))
        .unwrap();
    store.relabel(&name(0xa1), "Alice", &at(60)).unwrap();
    let stolen = noted(90, "laptop stolen");
    store
        .set_status_since(&name(0xa1), Status::Compromised, START + 80, &stolen)
        .unwrap();
    assert_eq!(Files::of(&memory), files());
    let report = store.check().unwrap();
    assert_eq!(
        (report.count, &report.link[..]),
        (3, &values()["link(2)"][..])
    );
}

#[test]
fn the_second_implementation_writes_the_example() {
    let entry = |time, status, label, note, since| Entry {
        time,
        status,
        fingerprint: [0xa1; 32],
        label,
        operator: "bob",
        note,
        since,
        more: &[],
    };
    let entries = [
        entry(START, 1, "", "by phone", None),
        entry(START + 60, 1, "Alice", "by phone", None),
        entry(START + 90, 6, "Alice", "laptop stolen", Some(START + 80)),
    ];
    assert_eq!(mini::write(&secret(), &entries, SPECIFIED), files());
    assert!(mini::verify(&files(), SPECIFIED));
}
