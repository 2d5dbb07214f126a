//! `keys list` and `keys show`

use sealstone::lifecycle::KeyLifecycle;
use sealstone::passport::Fingerprint;
use sealstone::trust::Entry;
use sealstone_terminal::clock;
use serde_json::{Value, json};

use super::own::{Own, all};
use crate::args::KeyArgs;
use crate::commands::trust::log;
use crate::context::Context;
use crate::failure::Result;
use crate::key_lifecycle::explain;
use crate::trust::{self, Store};

pub(super) fn list(context: &Context) -> Result<()> {
    let store = trust::open(context)?;
    let keys = all(&store)?;
    if keys.is_empty() {
        context.say("you have no default passport, and no key with limits");
    }
    context.print(
        || keys.iter().map(|own| line(own, &store) + "\n").collect(),
        || json!({"keys": keys.iter().map(|own| key_json(own, &store)).collect::<Vec<_>>()}),
    )
}

/// One key after a change.
pub(super) fn report(own: &Own, store: &Store, context: &Context) -> Result<()> {
    let lifecycle = store.key_lifecycle(&own.fingerprint);
    let text = format!(
        "{} is {}{}",
        own.name(),
        lifecycle.stage,
        limits(&lifecycle)
    );
    context.result(&text, || key_json(own, store))
}

pub(super) fn one(args: &KeyArgs, context: &Context) -> Result<()> {
    let store = trust::open(context)?;
    let own = Own::find(args.key.as_deref(), &store)?;
    let history = || {
        let is_about_it = |entry: &&Entry| entry.fingerprint() == Some(own.fingerprint);
        store.log().filter(is_about_it)
    };
    let text = || {
        let lifecycle = store.key_lifecycle(&own.fingerprint);
        let lines = history()
            .map(|entry| format!("  {}{}", log::line(entry), log::note(entry, "        ")))
            .collect::<String>();
        format!(
            "{}\n  label        {}\n  fingerprint  {}\n{}{lines}",
            lifecycle.stage,
            own.label,
            own.fingerprint,
            details(&lifecycle, &own.fingerprint)
        )
    };
    context.print(text, || {
        let mut value = key_json(&own, &store);
        value["history"] = history().map(Entry::to_json).collect();
        value
    })
}

fn details(lifecycle: &KeyLifecycle, key: &Fingerprint) -> String {
    let mut text = String::new();
    let limits = &lifecycle.limits;
    for (name, time) in [
        ("not before", limits.not_before),
        ("not after", limits.not_after),
    ] {
        if let Some(time) = time {
            text += &format!("  {name:<12} {}\n", clock::show(time));
        }
    }
    if let Some(max) = limits.max_uses {
        text += &format!("  uses         {} of {max}\n", lifecycle.used);
    }
    if let Some(successor) = lifecycle.successor.map(Fingerprint::from_bytes) {
        text += &format!("  successor    {successor}\n");
    }
    let signs = match lifecycle.may_sign(clock::now(), 1) {
        Ok(()) => "yes".to_owned(),
        Err(refusal) => format!("no: {}", explain(&refusal, key).what()),
    };
    text + &format!("  signs now    {signs}\n")
}

/// `active      0211-6365-1d59-6306  Alice, until …`.
fn line(own: &Own, store: &Store) -> String {
    let lifecycle = store.key_lifecycle(&own.fingerprint);
    format!(
        "{:<11} {}  {}{}",
        lifecycle.stage,
        own.fingerprint.brief(),
        own.label,
        limits(&lifecycle)
    )
}

/// Its limits and its successor, each after a comma.
fn limits(lifecycle: &KeyLifecycle) -> String {
    let limits = &lifecycle.limits;
    let from = limits
        .not_before
        .map(|time| format!(", from {}", clock::show(time)));
    let until = limits
        .not_after
        .map(|time| format!(", until {}", clock::show(time)));
    let left = lifecycle.left().zip(limits.max_uses);
    let left = left.map(|(left, max)| format!(", {left} of {max} uses left"));
    let successor = lifecycle.successor.map(Fingerprint::from_bytes);
    let successor = successor.map(|name| format!(", successor {}", name.brief()));
    [from, until, left, successor]
        .into_iter()
        .flatten()
        .collect()
}

fn key_json(own: &Own, store: &Store) -> Value {
    let lifecycle = store.key_lifecycle(&own.fingerprint);
    let refusal = lifecycle.may_sign(clock::now(), 1).err();
    let record = store.get(&own.fingerprint);
    json!({
        "fingerprint": own.fingerprint.to_string(),
        "label": own.label,
        "stage": lifecycle.stage.name(),
        "since": record.and_then(|record| record.since()),
        "not_before": lifecycle.limits.not_before,
        "not_after": lifecycle.limits.not_after,
        "max_uses": lifecycle.limits.max_uses,
        "used": lifecycle.used,
        "left": lifecycle.left(),
        "successor": lifecycle.successor.map(|name| Fingerprint::from_bytes(name).to_string()),
        "may_sign": refusal.is_none(),
        "reason": refusal.map(|refusal| refusal.to_string()),
    })
}
