//! The scenarios of these tests can fail: each notices its planted mistake.

use sealstone::trust::{File, Storage, TrustStore, WriteSession};

use super::alterations::{self, Kind};
use super::faulty::{Faulty, interrupt_everywhere};
use super::fixture::{Files, START, history};
use super::mini::{self, Entry, Rules, SPECIFIED};

const SECRET: [u8; 32] = [0x42; 32];
const OTHER_SECRET: [u8; 32] = [0x43; 32];

fn entries() -> [Entry; 4] {
    let entry = |fingerprint, status, label| Entry {
        time: START,
        status,
        fingerprint: [fingerprint; 32],
        label,
        operator: "bob",
        note: "",
        since: None,
        more: &[],
    };
    [
        entry(0xa1, 0, "Alice"),
        entry(0xa1, 1, "Alice"),
        entry(0xbb, 0, "Mallory"),
        entry(0xcc, 2, "Carol"),
    ]
}

/// The alterations that a verifier with these `rules` does not notice.
fn unnoticed(rules: Rules) -> Vec<(Kind, String)> {
    let good = mini::write(&SECRET, &entries(), rules);
    let other = mini::write(&OTHER_SECRET, &entries(), rules);
    assert!(mini::verify(&good, rules));
    let unnoticed =
        alterations::all(&good, &other).filter(|(.., altered)| mini::verify(altered, rules));
    unnoticed.map(|(kind, what, _)| (kind, what)).collect()
}

#[test]
fn with_all_rules_nothing_goes_unnoticed() {
    assert_eq!(unnoticed(SPECIFIED), []);
    let files = mini::write(&SECRET, &entries(), SPECIFIED);
    assert_eq!(TrustStore::open(files.to_memory()).unwrap().iter().len(), 3);
}

#[test]
fn without_the_fingerprint_in_the_mac_copies_go_unnoticed() {
    let unnoticed = unnoticed(Rules {
        bind_fingerprint: false,
        ..SPECIFIED
    });
    assert!(
        unnoticed.contains(&(Kind::Copy, "entry 1 with the fingerprint of 2".into())),
        "{unnoticed:?}"
    );
}

#[test]
fn without_the_head_cuts_go_unnoticed() {
    let unnoticed = unnoticed(Rules {
        head: false,
        ..SPECIFIED
    });
    assert!(
        unnoticed.contains(&(Kind::Order, "entry 3 left out".into())),
        "{unnoticed:?}"
    );
    assert!(
        unnoticed
            .iter()
            .any(|(kind, what)| *kind == Kind::Cut && what.starts_with("Log")),
        "{unnoticed:?}"
    );
}

/// Replaces the files by those of a rekeyed store in this order. The key file has only the new
/// secret.
fn rekey_in_order(order: [File; 3], storage: &Faulty) -> sealstone::Result<()> {
    let rekeyed = mini::write(&OTHER_SECRET, &entries(), SPECIFIED);
    let mut session = storage.write()?;
    for file in order {
        let bytes = match file {
            File::Key => &rekeyed.key,
            File::Log => &rekeyed.log,
            File::Head => &rekeyed.head,
            File::Signature => continue,
        };
        session.replace(file, bytes.as_ref().unwrap())?;
    }
    Ok(())
}

#[test]
fn a_rekey_that_does_not_keep_the_old_key_loses_the_store_when_it_is_stopped() {
    let start = mini::write(&SECRET, &entries(), SPECIFIED);
    for order in [
        [File::Key, File::Log, File::Head],
        [File::Log, File::Head, File::Key],
        [File::Log, File::Key, File::Head],
    ] {
        let harm = interrupt_everywhere(&start, &|storage| rekey_in_order(order, &storage), 0)
            .unwrap_err();
        assert!(harm.contains("altered"), "{order:?}: {harm}");
    }
}

#[test]
fn a_writer_that_counts_before_it_appends_is_caught() {
    let start = Files::of(&history());
    let counts_first = |storage: Faulty| -> sealstone::Result<()> {
        let scratch = start.to_memory();
        TrustStore::open(scratch.clone())?.set_status(
            &super::fixture::name(1),
            sealstone::trust::Status::Denied,
            &super::fixture::at(9),
        )?;
        let (old, new) = (start.log.as_ref().unwrap(), Files::of(&scratch));
        let mut session = storage.write()?;
        session.replace(File::Head, &new.head.unwrap())?;
        session.append(File::Log, &new.log.unwrap()[old.len()..])?;
        Ok(())
    };
    let harm = interrupt_everywhere(&start, &counts_first, 0).unwrap_err();
    assert!(harm.contains("altered"), "{harm}");
}
