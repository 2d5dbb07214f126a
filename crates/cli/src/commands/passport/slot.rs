//! `passport slot …`

use std::path::Path;

use sealstone::KdfParams;
use sealstone::passport::{NewSlot, RecoveryKey, SlotKey, SlotKind, Unlocked};
use serde_json::json;
use zeroize::Zeroizing;

use super::show;
use crate::args::{
    SlotAddArgs, SlotChangeArgs, SlotCommand, SlotKeyArgs, SlotRemoveArgs, UnlockArgs,
};
use crate::clock;
use crate::context::Context;
use crate::identity::Identity;
use crate::io::keep;
use crate::message::{About, Failure, Result};
use crate::passphrase::{self, Chosen, Passphrases, Source};
use crate::progress::Progress;

pub(super) fn run(command: SlotCommand, context: &Context) -> Result<()> {
    match command {
        SlotCommand::List(args) => show::slots(&args.file, context),
        SlotCommand::Add(args) => add(&args, context),
        SlotCommand::Remove(args) => remove(&args, context),
        SlotCommand::Change(args) => change(&args, context),
    }
}

/// What will open a slot.
enum Key {
    Passphrase(Chosen),
    Recovery(RecoveryKey),
}

fn add(args: &SlotAddArgs, context: &Context) -> Result<()> {
    let (identity, mut unlocked) = unlock(&args.file, &args.unlock, context)?;
    let params = args
        .profile
        .map_or_else(|| opened_params(&unlocked), |profile| profile.0);
    let key = Key::choose(&args.key, args.key.recovery, context)?;
    let progress = Progress::derivation(context);
    let id = unlocked.add_slot(&key.slot(args.key.name.as_deref().unwrap_or(""), params))?;
    drop(progress);
    save(&identity, &unlocked)?;
    key.report(&format!("added slot {id}"), id, context)
}

fn remove(args: &SlotRemoveArgs, context: &Context) -> Result<()> {
    let (identity, mut unlocked) = unlock(&args.file, &args.unlock, context)?;
    unlocked.remove_slot(args.id).about(identity.name())?;
    save(&identity, &unlocked)?;
    let text = format!(
        "removed slot {}\n  an older copy of the file still opens with it; if others may have one: sealstone passport rotate",
        args.id
    );
    context.result(false, &text, || json!({"removed": args.id}))
}

fn change(args: &SlotChangeArgs, context: &Context) -> Result<()> {
    let (identity, mut unlocked) = unlock(&args.file, &args.unlock, context)?;
    let id = args.id.unwrap_or(unlocked.slot());
    let old = unlocked.file().slots().iter().find(|slot| slot.id() == id);
    let old =
        old.ok_or_else(|| Failure::usage(format!("there is no slot {id}")).about(identity.name()))?;
    let params = args.profile.map_or(old.params(), |profile| profile.0);
    let name = args
        .key
        .name
        .clone()
        .unwrap_or_else(|| old.name().to_owned());
    let recovery = args.key.recovery
        || (old.kind() == SlotKind::RecoveryKey && !asks_for_passphrase(&args.key));
    let key = Key::choose(&args.key, recovery, context)?;
    let progress = Progress::derivation(context);
    unlocked.change_slot(id, &key.slot(&name, params))?;
    drop(progress);
    save(&identity, &unlocked)?;
    key.report(&format!("changed slot {id}"), id, context)
}

fn asks_for_passphrase(args: &SlotKeyArgs) -> bool {
    args.generate.generate_passphrase || Source::of_new(&args.new) != Source::Terminal
}

fn unlock(path: &Path, unlock: &UnlockArgs, context: &Context) -> Result<(Identity, Unlocked)> {
    let identity = Identity::load(path)?;
    let unlocked = identity.unlock(&Passphrases::new(unlock), context)?;
    Ok((identity, unlocked))
}

/// What the slot that opened costs.
pub(super) fn opened_params(unlocked: &Unlocked) -> KdfParams {
    let slot = unlocked
        .file()
        .slots()
        .iter()
        .find(|slot| slot.id() == unlocked.slot());
    slot.map_or(KdfParams::SENSITIVE, |slot| slot.params())
}

fn save(identity: &Identity, unlocked: &Unlocked) -> Result<()> {
    keep::replace(
        &identity.path,
        &identity.bytes,
        unlocked.file().to_armor().as_bytes(),
    )
}

impl Key {
    fn choose(args: &SlotKeyArgs, recovery: bool, context: &Context) -> Result<Self> {
        if recovery {
            return Ok(Self::Recovery(RecoveryKey::generate()));
        }
        let source = Source::of_new(&args.new);
        passphrase::choose(
            "the slot",
            &source,
            args.generate.generate_passphrase,
            context,
        )
        .map(Self::Passphrase)
    }

    fn slot<'a>(&'a self, name: &'a str, params: KdfParams) -> NewSlot<'a> {
        let key = match self {
            Self::Passphrase(chosen) => SlotKey::Passphrase(&chosen.passphrase),
            Self::Recovery(key) => SlotKey::RecoveryKey(key),
        };
        NewSlot {
            key,
            name,
            created: clock::now(),
            params,
        }
    }

    /// Says what was done, and shows a recovery key now that it opens something.
    fn report(&self, text: &str, id: u32, context: &Context) -> Result<()> {
        let recovery: Option<Zeroizing<String>> = match self {
            Self::Recovery(key) => Some(key.expose()),
            Self::Passphrase(_) => None,
        };
        if let Some(key) = &recovery {
            context.show_secret("The recovery key, shown this once; write it down:", key)?;
        }
        let generated = match self {
            Self::Passphrase(chosen) => chosen.generated.as_deref(),
            Self::Recovery(_) => None,
        };
        context.result(false, text, || json!({"slot": id, "recovery_key": recovery.as_deref(), "generated_passphrase": generated}))
    }
}
