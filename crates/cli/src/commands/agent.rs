//! `agent`, `passport unlock` and `passport lock`.

use std::path::Path;

use sealstone::agent::HeldPassport;
use sealstone_terminal::text::quoted;
use serde_json::json;

use sealstone_files::AgentPlace;

use crate::agent::{Reached, has_ended, place, serve};
use crate::args::{AgentArgs, AgentCommand, LockArgs, UnlockForArgs};
use crate::context::Context;
use crate::failure::{About, Result};
use crate::identity::{self, Identity};
use crate::passphrase::Passphrases;

pub(super) fn run(args: &AgentArgs, context: &Context) -> Result<()> {
    let place = place()?;
    match args.command {
        None => serve(&place, args.on_demand, context),
        Some(AgentCommand::Status) => status(&place, context),
        Some(AgentCommand::Stop) => stop(&place, context),
    }
}

/// `passport unlock`
pub(super) fn unlock(args: &UnlockForArgs, context: &Context) -> Result<()> {
    // Nothing is asked if no agent can hold the answer.
    let place = place()?;
    let identity = Identity::load(&identity::or_default(args.file.as_deref())?)?;
    Reached::find_or_start(&place)?;
    let unlocked = identity.unlock(&Passphrases::from(&args.unlock), context)?;
    let seconds = args.period.0;
    let passport = unlocked.passport();
    // It may have ended while somebody was typing.
    Reached::hold(&place, passport, seconds)?;
    let label = quoted(passport.contact().label());
    let fingerprint = passport.fingerprint();
    let text = format!(
        "unlocked {label} {} for {}; to lock it: sealstone passport lock",
        fingerprint.brief(),
        in_words(seconds)
    );
    context.result(&text, || {
        json!({"fingerprint": fingerprint.to_string(), "label": passport.contact().label(), "seconds": seconds})
    })
}

/// `passport lock`
pub(super) fn lock(args: &LockArgs, context: &Context) -> Result<()> {
    let which = args.file.as_deref().map(fingerprint_of).transpose()?;
    let Some(reached) = Reached::find(&place()?)? else {
        return context.result(
            "no agent runs, so nothing is unlocked",
            || json!({"locked": 0}),
        );
    };
    let held = reached.held();
    let locked = held
        .iter()
        .filter(|held| which.is_none_or(|name| name == **held))
        .count();
    unless_ended(reached.client.lock(which.as_ref()))?;
    let text = match locked {
        0 => "nothing was unlocked".to_owned(),
        1 => "locked 1 passport".to_owned(),
        n => format!("locked {n} passports"),
    };
    context.result(&text, || json!({"locked": locked}))
}

/// An agent that has ended holds nothing any more.
fn unless_ended(done: sealstone::Result<()>) -> Result<()> {
    match done {
        Err(error) if has_ended(&error) => Ok(()),
        done => done.about("the agent"),
    }
}

fn fingerprint_of(path: &Path) -> Result<sealstone::passport::Fingerprint> {
    Ok(Identity::load(path)?.locked.fingerprint())
}

fn status(place: &AgentPlace, context: &Context) -> Result<()> {
    let found = Reached::find(place)?;
    let status = found.map(|reached| reached.status);
    let line = |held: &HeldPassport| {
        format!(
            "{} {} for {} more\n",
            held.fingerprint.brief(),
            quoted(&held.label),
            in_words(held.seconds)
        )
    };
    let text = || match &status {
        None => "no agent runs".to_owned(),
        Some(status) if status.passports.is_empty() => "the agent holds nothing".to_owned(),
        Some(status) => status.passports.iter().map(line).collect(),
    };
    let entry = |held: &HeldPassport| json!({"fingerprint": held.fingerprint.to_string(), "label": held.label, "seconds": held.seconds});
    context.print(text, || {
        let passports = status.iter().flat_map(|status| &status.passports);
        json!({
            "running": status.is_some(),
            "process": status.as_ref().map(|status| status.process),
            "passports": passports.map(entry).collect::<Vec<_>>(),
        })
    })
}

fn stop(place: &AgentPlace, context: &Context) -> Result<()> {
    let found = Reached::find(place)?;
    if let Some(reached) = &found {
        unless_ended(reached.client.stop())?;
    }
    let text = match found {
        Some(_) => "the agent has ended, and every passport is locked",
        None => "no agent runs",
    };
    context.result(text, || json!({"stopped": found.is_some()}))
}

fn in_words(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}
