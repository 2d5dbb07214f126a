//! The lifecycle of the user's own keys, checked before every signature.

use sealstone::Error;
use sealstone::lifecycle::{KeyLifecycle, Refusal, Stage};
use sealstone::passport::Fingerprint;
use sealstone_terminal::clock;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::trust;

/// Fails early, before any question, if the key may not sign now. It reserves nothing: the caller
/// calls [`reserve`] too, once the passport is unlocked.
pub(crate) fn check(key: &Fingerprint, context: &Context) -> Result<()> {
    let lifecycle = trust::open(context)?.key_lifecycle(key);
    lifecycle
        .may_sign(clock::now(), 1)
        .map_err(|refusal| explain(&refusal, key))
}

/// Reserves `uses` signatures of the unlocked key. Call it once everything else has succeeded, and
/// sign only after it has returned: a crash in between loses the uses.
pub(crate) fn reserve(key: &Fingerprint, uses: u64, context: &Context) -> Result<()> {
    let operator = trust::operator(None);
    let reserved = trust::open(context)?.reserve(key, uses, &trust::change(&operator, None));
    let lifecycle = reserved.map_err(|e| failed(e, key))?.lifecycle;
    if lifecycle.stage == Stage::Rotating {
        context.say(&format!(
            "the key is rotating: sign with its successor once your contacts know it{}",
            successor(&lifecycle)
        ));
    }
    if let Some(left) = lifecycle.left() {
        let max = lifecycle.limits.max_uses.unwrap_or_default();
        context.say(&format!("{left} of {max} uses of the key are left"));
    }
    Ok(())
}

/// An error of the store about the lifecycle of `key`.
pub(crate) fn failed(error: Error, key: &Fingerprint) -> Failure {
    match error {
        Error::KeyLifecycle(refusal) => explain(&refusal, key),
        error => trust::unsure(error),
    }
}

/// The successor on a line of its own.
pub(crate) fn successor(lifecycle: &KeyLifecycle) -> String {
    let name = lifecycle.successor.map(Fingerprint::from_bytes);
    name.map_or(String::new(), |name| format!("\n  successor {name}"))
}

/// The failure, and the advice.
pub(crate) fn explain(refusal: &Refusal, key: &Fingerprint) -> Failure {
    let named = key.half();
    let set = |option: &str| format!("to change that:\n  sealstone keys set {named} {option}");
    let (what, hint) = match refusal {
        Refusal::Stage(_) => (
            refusal.to_string(),
            format!(
                "sign with its successor, or make one: sealstone passport rotate\n\
                 see: sealstone keys show {named}"
            ),
        ),
        Refusal::NotYet(time) => (
            format!("the key signs only from {} on", clock::show(*time)),
            set("--not-before TIME"),
        ),
        Refusal::Over(time) => (
            format!(
                "the key signed until {}, and signs no more",
                clock::show(*time)
            ),
            format!(
                "make a successor: sealstone passport rotate\n{}",
                set("--not-after TIME")
            ),
        ),
        Refusal::UsedUp { .. } => (refusal.to_string(), set("--max-uses N")),
        Refusal::ClockBack { now, latest } => (
            format!(
                "the clock says {}, but the key was used or changed at {}",
                clock::show(*now),
                clock::show(*latest)
            ),
            format!(
                "set the clock right; if that entry was made under a wrong clock, set the limits \
                 again:\n  sealstone keys set {named}"
            ),
        ),
        Refusal::Change(..) => (
            refusal.to_string(),
            format!("see: sealstone keys show {named}"),
        ),
    };
    let exit = match refusal {
        Refusal::Change(..) => Exit::Usage,
        _ => Exit::Denied,
    };
    Failure::new(exit, what).hint(hint)
}
