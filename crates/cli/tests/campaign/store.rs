//! `trust …`, stopped at any moment.

use std::ffi::OsString;
use std::fs;

use serde_json::Value;

use crate::scale::scaled;
use crate::victim::{End, Victim};
use crate::world::{Checked, World, sealstone};

/// A change of a store with some records.
pub(crate) struct Store {
    world: World,
    verb: Verb,
}

/// The change of the store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// All denied records are approved, one after the other.
    Approve,
    /// All approved ones are denied.
    Deny,
    /// Only the store's key changes.
    Rekey,
}

/// All files that may exist. Files that begin with a dot are not used.
const FILES: [&str; 7] = [
    "key",
    "log",
    "head",
    "lock",
    ".key.new",
    ".log.new",
    ".head.new",
];

impl Store {
    pub(crate) fn new(verb: Verb) -> Self {
        let store = Self {
            world: World::new(),
            verb,
        };
        store
            .world
            .run(&["trust", "approve", "--yes", "../keys/bob.pub"])
            .succeeded()
            .unwrap();
        let before = if verb == Verb::Deny {
            vec!["trust", "approve", "--yes"]
        } else {
            vec!["trust", "deny"]
        };
        let names = fingerprints();
        let words: Vec<&str> = before
            .into_iter()
            .chain(names.iter().map(String::as_str))
            .collect();
        store.world.run(&words).succeeded().unwrap();
        fs::rename(store.world.path("trust"), store.world.path("before")).unwrap();
        store.reset();
        store
    }

    /// The status of every record, in the order in which the command changes them.
    fn statuses(&self) -> Checked<Vec<String>> {
        let listed = self.world.run(&["trust", "list", "--json"]);
        listed.succeeded()?;
        let list: Value = serde_json::from_slice(&listed.stdout).map_err(|e| e.to_string())?;
        let records = list["records"].as_array().ok_or("no records are listed")?;
        if records.len() != fingerprints().len() + 1 {
            return Err(format!(
                "{} records, where there were {}",
                records.len(),
                fingerprints().len() + 1
            ));
        }
        let status = |fingerprint: &String| {
            let record = records
                .iter()
                .find(|record| digits(&record["fingerprint"]) == *fingerprint);
            let record = record.ok_or(format!("the record of {fingerprint} is lost"))?;
            Ok(record["status"].as_str().unwrap_or_default().to_owned())
        };
        fingerprints().iter().map(status).collect()
    }

    /// A record before and after.
    fn before_and_after(&self) -> (&'static str, &'static str) {
        match self.verb {
            Verb::Approve => ("denied", "approved"),
            Verb::Deny => ("approved", "denied"),
            Verb::Rekey => ("denied", "denied"),
        }
    }

    /// Checks that the first records have the state after the change, and the others the state
    /// before.
    fn check_records(&self, end: End) -> Checked {
        let (before, after) = self.before_and_after();
        let statuses = self.statuses()?;
        let changed = statuses
            .iter()
            .take_while(|status| *status == after)
            .count();
        if statuses[changed..].iter().any(|status| status != before)
            || (end == End::Done && changed < statuses.len())
        {
            return Err(format!("{before} should have become {after}: {statuses:?}"));
        }
        Ok(())
    }
}

impl Victim for Store {
    fn name(&self) -> &'static str {
        match self.verb {
            Verb::Approve => "trust approve",
            Verb::Deny => "trust deny",
            Verb::Rekey => "trust rekey",
        }
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn reset(&self) {
        let (from, to) = (self.world.path("before"), self.world.path("trust"));
        if to.exists() {
            fs::remove_dir_all(&to).unwrap();
        }
        fs::create_dir(&to).unwrap();
        fs::set_permissions(&to, fs::metadata(&from).unwrap().permissions()).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }

    fn argv(&self) -> Vec<OsString> {
        let names = fingerprints();
        let words: &[&str] = match self.verb {
            Verb::Approve => &["trust", "approve", "--yes"],
            Verb::Deny => &["trust", "deny"],
            Verb::Rekey => return sealstone(&["trust", "rekey"]),
        };
        sealstone(
            &words
                .iter()
                .copied()
                .chain(names.iter().map(String::as_str))
                .collect::<Vec<_>>(),
        )
    }

    fn check(&self, end: End) -> Checked {
        self.world.holds_only("trust", &FILES)?;
        self.world.run(&["trust", "check"]).succeeded()?;
        self.check_records(end)?;
        let again = self.world.command(&self.argv()).spawn().unwrap();
        crate::world::finish(again).succeeded()?;
        self.world.run(&["trust", "check"]).succeeded()?;
        self.check_records(End::Done)
    }
}

/// Complete fingerprints. A decision about them needs no passport.
fn fingerprints() -> Vec<String> {
    (0..scaled(2_u8, 12))
        .map(|i| format!("{:02x}", 0xa0 + i).repeat(32))
        .collect()
}

fn digits(fingerprint: &Value) -> String {
    fingerprint.as_str().unwrap_or_default().replace('-', "")
}
