//! `trust list` and `trust show`

use sealstone::passport::Contact;
use sealstone::trust::{Entry, Record};
use sealstone_terminal::clock;
use sealstone_terminal::text::{columns, one_line, quoted_lines, quoted_short};
use serde_json::json;

use super::decide::Subject;
use super::log;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::trust;

/// The columns for a label behind the second half of a fingerprint.
const LAST_COLUMN: usize = 36;

pub(super) fn list(context: &Context) -> Result<()> {
    let store = trust::open(context)?;
    let line = |record: Record<'_>| {
        format!(
            "{:<11} {}  {}\n",
            record.status(),
            record.fingerprint(),
            match columns(record.label()) <= LAST_COLUMN {
                true => record.label().to_owned(),
                false => quoted_short(record.label()),
            }
        )
    };
    if store.iter().len() == 0 {
        context.say("the trust store is empty");
    }
    context.print(
        || store.iter().map(line).collect(),
        || json!({"records": store.iter().map(|record| record.to_json()).collect::<Vec<_>>()}),
    )
}

pub(super) fn one(name: &str, context: &Context) -> Result<()> {
    let store = trust::open(context)?;
    let fingerprint = Subject::find(name, &store)?.fingerprint;
    let none = || Failure::usage("the trust store has no record of it").about(name);
    let record = store.get(&fingerprint).ok_or_else(none)?;
    let contact = record.contact()?;
    let keys = match &contact {
        Some(contact) if contact.is_complete() => "all",
        Some(_) => "all that sealed files need",
        None => "none",
    };
    let history = || {
        store
            .log()
            .filter(|entry| entry.fingerprint() == Some(record.fingerprint()))
    };
    let text = || {
        let fields = fields(&record, contact.as_ref(), keys);
        let lines = history()
            .map(|entry| format!("  {}{}", log::line(entry), log::note(entry, "        ")));
        fields + &lines.collect::<String>()
    };
    context.print(text, || {
        let mut value = record.to_json();
        value["keys"] = keys.into();
        value["history"] = history().map(Entry::to_json).collect();
        value
    })
}

/// A label behind its heading; a long one on lines that a terminal does not break.
fn folded(label: &str) -> String {
    match columns(label) <= 60 {
        true => format!(" {label}"),
        false => quoted_lines(label),
    }
}

/// A record in lines, without its history.
fn fields(record: &Record<'_>, contact: Option<&Contact>, keys: &str) -> String {
    let mut text = format!(
        "{}\n  label       {}\n  fingerprint  {}\n",
        trust::status(record),
        folded(record.label()),
        record.fingerprint()
    );
    if let Some(contact) = contact.filter(|contact| contact.label() != record.label()) {
        text += &format!("  calls itself{}\n", folded(contact.label()));
    }
    text += &format!(
        "  first seen   {}\n  changed      {}",
        clock::show(record.first_seen()),
        clock::show(record.changed())
    );
    text += &match record.operator() {
        "" => "\n".to_owned(),
        operator => format!(" by {operator}\n"),
    };
    if !record.note().is_empty() {
        text += &format!("  note         {}\n", one_line(record.note()));
    }
    text + &format!("  keys         {keys}\n")
}
