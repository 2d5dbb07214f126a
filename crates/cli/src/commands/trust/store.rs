//! `trust check` and `trust rekey`

use sealstone::passport::Fingerprint;
use sealstone::trust::Interrupted;
use serde_json::json;

use crate::args::{CheckArgs, RekeyArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::trust;

pub(super) fn check(args: &CheckArgs, context: &Context) -> Result<()> {
    let mut store = trust::open(context)?;
    let report = store.check()?;
    if let Some(expected) = args.expect
        && !store.extends(expected.count, &expected.link)
    {
        let failure = Failure::new(
            Exit::StoreAltered,
            "the trust store does not continue what that check saw",
        );
        return Err(
            failure.hint("an older copy was put back, or it is another store: do not rely on it")
        );
    }
    let checkpoint = format!("{}:{}", report.count, hex(&report.link));
    if let Some(what) = interruption(&report.interrupted) {
        context.say(what);
    }
    let text = || {
        let whole = format!(
            "whole: {}, {}\n",
            counted(store.iter().len() as u64, "record"),
            counted(report.count, "change")
        );
        // Alone it is what --expect takes.
        match context.quiet() {
            true => checkpoint.clone(),
            false => whole + &checkpoint,
        }
    };
    context.print(text, || json!({"records": store.iter().len(), "changes": report.count, "checkpoint": checkpoint}))?;
    context.say("keep that line elsewhere, and give it to --expect later: it shows if an older store is put back");
    Ok(())
}

/// What became of a change that was interrupted, and what to do.
fn interruption(found: &Interrupted) -> Option<&'static str> {
    if *found == Interrupted::default() {
        return None;
    }
    Some(match found.rekey {
        true => {
            "a rekey was interrupted; the next change completes it or takes it back: see sealstone trust log, and repeat it if it is missing there"
        }
        false => {
            "a change was interrupted; the next one keeps what is whole of it and drops the rest: see sealstone trust list, and repeat what is missing there"
        }
    })
}

pub(super) fn rekey(args: &RekeyArgs, context: &Context) -> Result<()> {
    let mut store = trust::open(context)?;
    let operator = trust::operator(args.change.operator.as_deref());
    store.rekey(&trust::change(&operator, args.change.note.as_deref()))?;
    context.result("the trust store has a new key", || json!({"rekeyed": true}))
}

fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// A link looks like a fingerprint without dashes.
fn hex(link: &[u8; 32]) -> String {
    Fingerprint::from_bytes(*link).to_string().replace('-', "")
}
