//! Mutants of the rules for formulas: a campaign that anybody can run, with `cargo-mutants` 27.
//!
//! ```text
//! cargo mutants -p sealstone-prover -f 'crates/prover/src/term.rs' \
//!     -f 'crates/prover/src/term/*.rs' --timeout 60 --shard 0/20 -- --lib term::
//! SEALSTONE_MISSED=$PWD/mutants.out/missed.txt cargo test -p sealstone-prover --test rules \
//!     -- --ignored
//! ```
//!
//! A shard is a twentieth of the mutants; all of them take hours. The second command compares what
//! was missed with `rules/survivors.txt`. A mutant that takes too long counts as killed.

use std::collections::BTreeMap;

const SURVIVORS: &str = include_str!("rules/survivors.txt");

/// The survivors, and how many places have each name.
fn survivors() -> BTreeMap<&'static str, usize> {
    let lines = SURVIVORS.lines().filter(|line| !line.starts_with('#'));
    let survivors = lines.map(|line| {
        let parts: Vec<&str> = line.split(" ; ").collect();
        let [count, name, reason] = parts[..] else {
            panic!("a count, a name and a reason: {line}");
        };
        assert!(reason.len() > 10, "{line}");
        (name, count.parse().expect("a count"))
    });
    survivors.collect()
}

/// The mutants of a list of cargo-mutants that are not known to survive.
fn unknown(missed: &str) -> Vec<String> {
    let mut left = survivors();
    let lines = missed.lines().filter(|line| !line.is_empty());
    let unknown = lines.filter(|line| {
        // A path, a line and a column come before the name.
        let name = line.splitn(4, ':').nth(3).map_or(*line, str::trim);
        match left.get_mut(name) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        }
    });
    unknown.map(str::to_owned).collect()
}

#[test]
fn the_survivors_are_as_many_as_the_page_says() {
    assert_eq!(survivors().values().sum::<usize>(), 8);
    let page = include_str!("../../../ASSURANCE.md");
    let page: Vec<&str> = page.split_whitespace().collect();
    assert!(page.join(" ").contains("These 8 mean the same"));
}

#[test]
fn a_survivor_that_is_not_listed_is_noticed() {
    let known = "crates/prover/src/term.rs:265:26: replace || with && in Terms::and\n";
    assert_eq!(unknown(known), [""; 0]);
    let twice = [known, known].concat();
    assert_eq!(unknown(&twice).len(), 1, "one place has that name");
    let new = "crates/prover/src/term.rs:226:26: replace == with != in Terms::xor";
    assert_eq!(unknown(new), [new]);
}

#[test]
#[ignore = "compares what a campaign of cargo-mutants has missed"]
fn a_campaign_misses_known_survivors_only() {
    let file = std::env::var("SEALSTONE_MISSED").expect("SEALSTONE_MISSED names missed.txt");
    let missed = std::fs::read_to_string(&file).expect(&file);
    assert_eq!(unknown(&missed), [""; 0]);
}
