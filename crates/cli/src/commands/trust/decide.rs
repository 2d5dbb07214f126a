//! `trust deny` and `trust revoke`, and what they share with `trust approve`.

use std::ffi::OsStr;
use std::path::Path;

use sealstone::passport::{Fingerprint, PublicPassport};
use sealstone::trust::{Decision, Record, Status};
use serde_json::json;

use crate::args::{DecideArgs, EndArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::identity::load_public;
use crate::trust::{self, Store};

/// The passport that a decision is about.
pub(super) struct Subject {
    pub(super) fingerprint: Fingerprint,
    /// Given if the user named a file.
    pub(super) public: Option<Box<PublicPassport>>,
    pub(super) label: String,
}

/// `trust revoke` and `trust compromised`
pub(super) fn end(args: &EndArgs, status: Status, context: &Context) -> Result<()> {
    run(&args.decide, status, args.since, context)
}

pub(super) fn run(
    args: &DecideArgs,
    status: Status,
    since: Option<u64>,
    context: &Context,
) -> Result<()> {
    trust::must_be_past(since)?;
    let mut store = trust::open(context)?;
    let subjects = subjects(args, &store)?;
    for subject in &subjects {
        subject.decide(args, status, since, &mut store)?;
    }
    report(&subjects, &store, context)
}

/// Finds all passports before anything is changed.
pub(super) fn subjects(args: &DecideArgs, store: &Store) -> Result<Vec<Subject>> {
    if args.label.is_some() && args.names.len() > 1 {
        return Err(Failure::usage("one label does not fit several passports"));
    }
    args.names
        .iter()
        .map(|name| Subject::find(name, store))
        .collect()
}

/// Prints the new state of the records.
pub(super) fn report(subjects: &[Subject], store: &Store, context: &Context) -> Result<()> {
    let records: Vec<_> = subjects
        .iter()
        .filter_map(|subject| store.get(&subject.fingerprint))
        .collect();
    let lines: Vec<String> = records
        .iter()
        .map(|record| format!("{} is {}", trust::name(record), trust::status(record)))
        .collect();
    context.result(
        &lines.join("\n"),
        || json!({"records": records.iter().map(Record::to_json).collect::<Vec<_>>()}),
    )
}

impl Subject {
    /// A whole fingerprint, a path that ends in `.pub` or has a `/`, or the label or the beginning
    /// of the fingerprint of a record. The files that exist do not change the meaning of a name.
    pub(super) fn find(name: &str, store: &Store) -> Result<Self> {
        if let Ok(fingerprint) = name.parse() {
            return Ok(Self::of_fingerprint(fingerprint, store));
        }
        let path = Path::new(name);
        let is_file = |extension: &OsStr| extension == "pub" || extension == "passport";
        if path.extension().is_some_and(is_file) || name.contains('/') {
            let public = load_public(path)?;
            let label = public.contact().label().to_owned();
            return Ok(Self {
                fingerprint: public.contact().fingerprint(),
                public: Some(Box::new(public)),
                label,
            });
        }
        let record = trust::find(store, name)?;
        Ok(Self::of_fingerprint(record.fingerprint(), store))
    }

    /// It needs no record: a passport may be denied before it is seen.
    fn of_fingerprint(fingerprint: Fingerprint, store: &Store) -> Self {
        let record = store.get(&fingerprint);
        let label = record.map_or("", |record| record.label());
        Self {
            fingerprint,
            public: None,
            label: label.to_owned(),
        }
    }

    /// The owner in messages.
    pub(super) fn name(&self) -> String {
        trust::name_of(&self.label, &self.fingerprint)
    }

    /// A final status changes only into a worse one.
    fn refuse_better(&self, before: Option<Status>, status: Status) -> Result<()> {
        let Some(before) = before.filter(|before| before.is_final()) else {
            return Ok(());
        };
        if before == status || status == Status::Compromised {
            return Ok(());
        }
        let failure = Failure::new(Exit::Denied, format!("{} is {before}", self.name()));
        Err(failure.hint("if its owner controls it again: sealstone trust approve --reinstate"))
    }

    /// Stores the keys in the file, the decision, and the label.
    pub(super) fn decide(
        &self,
        args: &DecideArgs,
        status: Status,
        since: Option<u64>,
        store: &mut Store,
    ) -> Result<()> {
        let before = store.get(&self.fingerprint).map(|record| record.status());
        self.refuse_better(before, status)?;
        let decision = Decision {
            fingerprint: self.fingerprint,
            contact: self.public.as_ref().map(|public| public.contact()),
            status,
            since,
            label: args.label.as_deref(),
        };
        let operator = trust::operator(args.change.operator.as_deref());
        let change = trust::change(&operator, args.change.note.as_deref());
        let decided = store.decide(&decision, &change);
        decided
            .map(drop)
            .map_err(|e| trust::unsure(e).about(self.name()))
    }
}
