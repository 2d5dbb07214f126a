//! `passport slot …`

use std::path::Path;

use sealstone::passport::{
    NewSlot, RecoveryKey, SecretPassport, Slot, SlotKey, SlotKind, Unlocked,
};
use sealstone::{KdfParams, OnProgress};
use sealstone_files::keep;
use sealstone_terminal::clock;
use sealstone_terminal::progress::Progress;
use serde_json::json;

use super::show;
use crate::args::{SlotAddArgs, SlotChangeArgs, SlotCommand, SlotKeyArgs, SlotRemoveArgs};
use crate::context::{Context, Report};
use crate::failure::{About, Failure, Result};
use crate::identity::{Identity, or_default};
use crate::passphrase::{self, Chosen, Options, Passphrases, Source};

pub(super) fn run(command: SlotCommand, context: &Context) -> Result<()> {
    match command {
        SlotCommand::List(args) => show::slots(args.file.as_deref(), context),
        SlotCommand::Add(args) => add(&args, context),
        SlotCommand::Remove(args) => remove(&args, context),
        SlotCommand::Change(args) => change(&args, context),
    }
}

const OLDER_COPIES: &str = "an older copy of the file still opens as before; if others may have one: sealstone passport rotate";

/// The secret that will open a slot.
enum Key {
    Passphrase(Chosen),
    Recovery(RecoveryKey),
}

fn add(args: &SlotAddArgs, context: &Context) -> Result<()> {
    let identity = load(args.file.as_deref())?;
    let passphrases = Passphrases::from(&args.unlock);
    let answer = identity.ask(&passphrases, context)?;
    let key = Key::choose(&args.key, args.key.recovery, context)?;
    // Everything has been asked: now the slow part.
    let mut unlocked = identity.unlock_with(&answer, context)?;
    let params = args.profile.unwrap_or_else(|| unlocked.params());
    let slots = unlocked.file().slots().iter().map(Slot::params);
    let all: Vec<KdfParams> = slots.chain([params]).collect();
    args.unlock.kdf.must_allow(&all)?;
    key.show(context)?;
    let progress = Progress::derivation(context.progress());
    let name = args.key.name.as_deref().unwrap_or("");
    let id = unlocked.add_slot(&key.slot(name, params, &progress.report()))?;
    drop(progress);
    context.save(key.report(format!("added slot {id}"), id), || {
        save(&identity, &unlocked)
    })
}

fn remove(args: &SlotRemoveArgs, context: &Context) -> Result<()> {
    let (file, id) = file_and_slot(args.file.as_deref(), args.id);
    let id = id.ok_or_else(|| {
        Failure::usage("which slot?").hint("`sealstone passport slot list` shows their numbers")
    })?;
    let identity = load(file)?;
    let mut unlocked = identity.unlock(&Passphrases::from(&args.unlock), context)?;
    unlocked.remove_slot(id).about(identity.name())?;
    warn_without_passphrase(unlocked.file(), context);
    save(&identity, &unlocked)?;
    let text = format!("removed slot {id}\n  {OLDER_COPIES}");
    context.result(&text, || json!({"removed": id}))
}

/// A recovery key is long and kept elsewhere: few people mean to depend on it alone.
fn warn_without_passphrase(passport: &SecretPassport, context: &Context) {
    let is_passphrase = |slot: &Slot| slot.kind() == SlotKind::Passphrase;
    if !passport.slots().iter().any(is_passphrase) {
        context.warn(
            "no passphrase is left: only a recovery key unlocks the passport\n  \
             a new passphrase: sealstone passport slot add",
        );
    }
}

fn change(args: &SlotChangeArgs, context: &Context) -> Result<()> {
    let (file, id) = file_and_slot(args.file.as_deref(), args.id);
    let identity = load(file)?;
    let named = id.map(|id| find(&identity, id)).transpose()?;
    let passphrases = Passphrases::from(&args.unlock);
    let answer = identity.ask(&passphrases, context)?;
    let was_recovery = match named {
        Some(slot) => slot.kind() == SlotKind::RecoveryKey,
        None => answer.is_recovery_key(),
    };
    let recovery = args.key.recovery || (was_recovery && !asks_for_passphrase(&args.key));
    let key = Key::choose(&args.key, recovery, context)?;
    // Everything has been asked: now the slow part.
    let mut unlocked = identity.unlock_with(&answer, context)?;
    let id = id.unwrap_or(unlocked.slot());
    let old = find(&identity, id)?;
    let params = args.profile.unwrap_or(old.params());
    let others = unlocked
        .file()
        .slots()
        .iter()
        .filter(|slot| slot.id() != id);
    let all: Vec<KdfParams> = others.map(Slot::params).chain([params]).collect();
    args.unlock.kdf.must_allow(&all)?;
    let name = args
        .key
        .name
        .clone()
        .unwrap_or_else(|| old.name().to_owned());
    key.show(context)?;
    let progress = Progress::derivation(context.progress());
    unlocked.change_slot(id, &key.slot(&name, params, &progress.report()))?;
    drop(progress);
    let text = format!("changed slot {id}\n  {OLDER_COPIES}");
    context.save(key.report(text, id), || save(&identity, &unlocked))
}

/// The meaning of `[FILE.passport] [ID]`: a number alone is that of a slot.
fn file_and_slot(file: Option<&Path>, id: Option<u32>) -> (Option<&Path>, Option<u32>) {
    let number = || file?.to_str()?.parse().ok();
    match id.is_none().then(number).flatten() {
        Some(id) => (None, Some(id)),
        None => (file, id),
    }
}

fn asks_for_passphrase(args: &SlotKeyArgs) -> bool {
    args.generate.generate_passphrase || Source::from(&args.new) != Source::Terminal
}

fn load(file: Option<&Path>) -> Result<Identity> {
    let identity = Identity::load(&or_default(file)?)?;
    keep::must_be_replaceable(&identity.path)?;
    Ok(identity)
}

fn find(identity: &Identity, id: u32) -> Result<&Slot> {
    let slot = identity.locked.slots().iter().find(|slot| slot.id() == id);
    slot.ok_or_else(|| Failure::usage(format!("there is no slot {id}")).about(identity.name()))
}

fn save(identity: &Identity, unlocked: &Unlocked) -> Result<()> {
    let new = unlocked.file().to_armor();
    Ok(keep::replace(
        &identity.path,
        &identity.file,
        new.as_bytes(),
    )?)
}

impl Key {
    /// Generated or asked for.
    fn choose(args: &SlotKeyArgs, recovery: bool, context: &Context) -> Result<Self> {
        if recovery {
            return Ok(Self::Recovery(RecoveryKey::generate()));
        }
        let source = Source::from(&args.new);
        passphrase::choose(
            "the slot",
            &source,
            Options::New,
            args.generate.generate_passphrase,
            context,
        )
        .map(Self::Passphrase)
    }

    /// Shows a generated secret, once.
    fn show(&self, context: &Context) -> Result<()> {
        match self {
            Self::Passphrase(chosen) => passphrase::show(chosen, "the slot", context),
            Self::Recovery(key) => context.show_secret(
                "The recovery key, shown this once; write it down:",
                &key.expose(),
            ),
        }
    }

    fn slot<'a>(
        &'a self,
        name: &'a str,
        params: KdfParams,
        on_progress: OnProgress<'a>,
    ) -> NewSlot<'a> {
        let key = match self {
            Self::Passphrase(chosen) => SlotKey::Passphrase(&chosen.passphrase),
            Self::Recovery(key) => SlotKey::RecoveryKey(key),
        };
        NewSlot {
            key,
            name,
            created: clock::now(),
            params,
            on_progress,
        }
    }

    fn report(&self, text: String, id: u32) -> Report {
        let (recovery, generated) = match self {
            Self::Recovery(key) => (Some(key.expose()), None),
            Self::Passphrase(chosen) => (None, chosen.generated()),
        };
        let recovery = recovery.as_deref();
        Report {
            text,
            value: json!({"slot": id, "recovery_key": recovery, "generated_passphrase": generated}),
            secret: recovery.is_some() || generated.is_some(),
        }
    }
}
