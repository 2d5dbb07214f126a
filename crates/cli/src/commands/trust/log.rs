//! `trust log`

use sealstone::trust::Entry;
use sealstone_terminal::clock;
use sealstone_terminal::text::one_line;
use serde_json::json;

use crate::context::Context;
use crate::failure::Result;
use crate::trust;

pub(super) fn run(context: &Context) -> Result<()> {
    let store = trust::open(context)?;
    context.print(
        || {
            store
                .log()
                .map(|entry| format!("{}{}{}", line(entry), whose(entry), note(entry, "      ")))
                .collect()
        },
        || json!({"entries": store.log().map(Entry::to_json).collect::<Vec<_>>()}),
    )
}

/// The change, its time and its author.
pub(in crate::commands) fn line(entry: &Entry) -> String {
    let event = entry.event();
    let by = if entry.operator().is_empty() {
        String::new()
    } else {
        format!(" by {}", entry.operator())
    };
    let keys = if entry.brings_keys() {
        ", keys stored"
    } else {
        ""
    };
    // The usual case needs no second date.
    let since = entry.since().filter(|since| *since != entry.time());
    let since = since.map_or(String::new(), |since| {
        format!(" since {}", clock::show(since))
    });
    let lifecycle = lifecycle(entry);
    format!(
        "#{:<4} {} {event}{lifecycle}{since}{by}{keys}\n",
        entry.sequence(),
        clock::show(entry.time())
    )
}

/// The stage after an entry about the lifecycle of a key, or the number of uses.
fn lifecycle(entry: &Entry) -> String {
    let stage = entry.lifecycle().map(|(stage, ..)| format!(": {stage}"));
    let uses = entry.uses().map(|uses| format!(": {uses}"));
    stage.or(uses).unwrap_or_default()
}

/// Its note, on a line that begins with `indent`.
pub(in crate::commands) fn note(entry: &Entry, indent: &str) -> String {
    match entry.note() {
        "" => String::new(),
        note => format!("{indent}note: {}\n", one_line(note)),
    }
}

fn whose(entry: &Entry) -> String {
    entry.fingerprint().map_or(String::new(), |fingerprint| {
        format!("      {fingerprint}  {}\n", entry.label())
    })
}
