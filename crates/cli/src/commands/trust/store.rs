//! `trust check`, `trust sign`, `trust prune` and `trust rekey`

use sealstone::trust::{Interrupted, Report};
use sealstone_terminal::clock;
use sealstone_terminal::question;
use serde_json::json;

use crate::args::{CheckArgs, PolicyArgs, PruneArgs, RekeyArgs, SignArgs, SignedPolicy};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::identity::{Identity, load_public, or_default};
use crate::passphrase::Passphrases;
use crate::trust::{self, Store};

pub(super) fn check(args: &CheckArgs, context: &Context) -> Result<()> {
    let mut store = trust::open(context)?;
    let report = store.check()?;
    if let Some(expected) = args.expect
        && !store.extends(expected.count, &expected.link)
    {
        let failure = Failure::new(
            Exit::StoreAltered,
            "the trust store does not continue the one of that checkpoint",
        );
        return Err(
            failure.hint("an older copy was put back, or it is another store: do not rely on it")
        );
    }
    let signed = args
        .signed
        .then(|| check_signed(args, &store))
        .transpose()?;
    if let Some(what) = interruption(&report.interrupted) {
        context.say(what);
    }
    let checkpoint = report.checkpoint().to_string();
    let text = || match context.quiet() {
        // Only the value that --expect takes.
        true => checkpoint.clone(),
        false => format!(
            "{}{}{checkpoint}",
            summary(&store, &report),
            signed.as_deref().unwrap_or_default()
        ),
    };
    context.print(text, || {
        json!({
            "records": store.iter().len(),
            "changes": report.count,
            "pruned": report.pruned,
            "countersigned": store.signature().map(|signed| signed.count()),
            "checkpoint": checkpoint,
        })
    })?;
    context.say(
        "keep that line elsewhere, and give it to --expect later: then `trust check` notices an \
         older store",
    );
    Ok(())
}

fn summary(store: &Store, report: &Report) -> String {
    let records = counted(store.iter().len() as u64, "record");
    let pruned = match report.pruned {
        0 => String::new(),
        pruned => format!(", of which {pruned} pruned"),
    };
    format!(
        "whole: {records}, {}{pruned}\n",
        counted(report.count, "change")
    )
}

/// Fails unless the passport countersigned all decisions. Returns a line about it.
fn check_signed(args: &CheckArgs, store: &Store) -> Result<String> {
    let Some(signature) = store.signature() else {
        let what = "the trust store is not countersigned";
        return Err(Failure::new(Exit::StoreAltered, what).hint(
            "if you have never countersigned it: sealstone trust sign; else somebody removed it",
        ));
    };
    let public = match &args.by {
        Some(path) => load_public(path)?,
        None => Identity::load(&or_default(None)?)?.public()?,
    };
    let unsigned = store.verify_signed(public.contact())?;
    if unsigned.is_empty() {
        let time = clock::show(signature.time());
        return Ok(format!("countersigned: all decisions, on {time}\n"));
    }
    let what = format!(
        "{} after the countersignature",
        counted(unsigned.len() as u64, "decision")
    );
    Err(Failure::new(Exit::StoreAltered, what).hint(format!(
        "if all are yours: sealstone trust sign{}",
        trust::decisions(&unsigned)
    )))
}

pub(super) fn sign(args: &SignArgs, context: &Context) -> Result<()> {
    let mut store = trust::open(context)?;
    let identity = Identity::load(&or_default(args.by.as_deref())?)?;
    let signer = identity.public().ok();
    let signed = signer.and_then(|public| store.verify_signed(public.contact()).ok());
    let all = || {
        store
            .log()
            .filter(|entry| entry.status().is_some() && !entry.is_introduction())
    };
    let unsigned = signed.unwrap_or_else(|| all().collect());
    if !unsigned.is_empty() {
        let list = trust::decisions(&unsigned);
        context.say(&format!("to be countersigned:{list}"));
        if !args.yes && question::is_there() && !question::confirm("Are all of them yours?")? {
            return Err(Failure::usage("not countersigned").hint(
                "another program may have changed the store: see sealstone trust log, deny or \
                 revoke the passports that you did not approve, then: sealstone trust rekey",
            ));
        }
    }
    let passport = identity.unlock(&Passphrases::from(&args.unlock), context)?;
    store.sign(passport.passport(), clock::now())?;
    let count = store.signature().map(|signed| signed.count());
    context.result(
        "the trust store is countersigned",
        || json!({"countersigned": count}),
    )
}

pub(super) fn prune(args: &PruneArgs, context: &Context) -> Result<()> {
    let mut store = trust::open(context)?;
    let operator = trust::operator(args.change.operator.as_deref());
    let before = clock::now().saturating_sub(u64::from(args.older_than) * SECONDS_A_DAY);
    let change = trust::change(&operator, args.change.note.as_deref());
    let pruned = store.prune(before, &change).map_err(trust::unsure)?;
    let text = format!("removed {}", counted(pruned as u64, "stranger"));
    context.result(&text, || json!({"pruned": pruned}))
}

const SECONDS_A_DAY: u64 = 86_400;

/// The state of a change that was interrupted, and what to do.
fn interruption(found: &Interrupted) -> Option<&'static str> {
    if *found == Interrupted::default() {
        return None;
    }
    Some(match found.rekey {
        true => {
            "a rekey was interrupted; the next change completes it or takes it back\n  if it is missing \
             in sealstone trust log, repeat it"
        }
        false => {
            "a change was interrupted; the next one keeps the complete entries and removes the \
             incomplete one\n  if it is missing in sealstone trust list, repeat it"
        }
    })
}

pub(super) fn rekey(args: &RekeyArgs, context: &Context) -> Result<()> {
    let mut store = trust::open(context)?;
    let operator = trust::operator(args.change.operator.as_deref());
    store.rekey(&trust::change(&operator, args.change.note.as_deref()))?;
    context.result("the trust store has a new key", || json!({"rekeyed": true}))
}

pub(super) fn policy(args: &PolicyArgs, context: &Context) -> Result<()> {
    let mut store = trust::open(context)?;
    if let Some(policy) = args.policy {
        let operator = trust::operator(args.change.operator.as_deref());
        let change = trust::change(&operator, args.change.note.as_deref());
        let set = store.set_signed_only(policy == SignedPolicy::SignedOnly, &change);
        set.map_err(trust::unsure)?;
    }
    let (name, text) = match store.is_signed_only() {
        true => ("signed-only", "unsigned files are refused"),
        false => ("any", "unsigned files open with a warning"),
    };
    context.print(|| format!("{name}: {text}"), || json!({"policy": name}))
}

fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
