//! `passport show`, and the part that it shares with `inspect`.

use std::path::Path;

use sealstone::Kind;
use sealstone::passport::{MAX_LEN, PublicPassport, SecretPassport, Slot};
use sealstone_terminal::clock;
use serde_json::json;

use crate::args::ShowArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::identity::{Identity, default_passport_or_warning, or_default};
use crate::io::input;
use crate::named::Parse;
use crate::trust;

pub(super) fn run(args: &ShowArgs, context: &Context) -> Result<()> {
    let path = or_default(args.file.as_deref())?;
    let file = input::read(&path, "the passport", MAX_LEN)?;
    match Kind::of(&file) {
        Kind::SecretPassport => {
            let passport = file.parse(SecretPassport::from_armor)?;
            let is_usual = args.file.is_none();
            // Its warning covers more places, but not who can read the file.
            if !is_usual || default_passport_or_warning(context).is_some() {
                context.warn_if_exposed(&file);
            }
            secret(&passport, context)
        }
        Kind::PublicPassport => public(&file.parse(PublicPassport::from_armor)?, context),
        Kind::Other => Err(Failure::new(Exit::Format, "not a passport").about(file.name())),
        other @ (Kind::SealedFile | Kind::Package) => Err(Failure::new(
            Exit::Format,
            format!("not a passport: this is {}", other.name()),
        )
        .about(file.name())),
    }
}

/// Shows the fields of a locked passport.
pub(crate) fn secret(passport: &SecretPassport, context: &Context) -> Result<()> {
    let text = || {
        let head = format!(
            "secret passport (locked)\n  label        {}\n  fingerprint  {}\n  created      {}\n",
            passport.label(),
            passport.fingerprint(),
            clock::show(passport.created())
        );
        head + &slot_table(passport.slots())
    };
    context.print(text, || {
        json!({
            "type": "secret-passport",
            "label": passport.label(),
            "fingerprint": passport.fingerprint().to_string(),
            "created": passport.created(),
            "slots": passport.slots().iter().map(Slot::to_json).collect::<Vec<_>>(),
        })
    })
}

/// Shows a public passport and its status in the trust store.
pub(crate) fn public(passport: &PublicPassport, context: &Context) -> Result<()> {
    let contact = passport.contact();
    let standing = trust::standing(&contact.fingerprint(), context)?;
    let succession = passport.succession();
    let text = || {
        let mut text = format!(
            "public passport\n  label        {}\n  fingerprint  {}\n  created      {}\n",
            contact.label(),
            contact.fingerprint(),
            clock::show(contact.created())
        );
        if let Some(succession) = succession {
            text += &format!("  succeeds     {} (it says)\n", succession.predecessor());
        }
        text + &format!(
            "  trust        {}\n",
            standing.as_deref().unwrap_or("never seen")
        )
    };
    context.print(text, || {
        json!({
            "type": "public-passport",
            "label": contact.label(),
            "fingerprint": contact.fingerprint().to_string(),
            "created": contact.created(),
            "predecessor": succession.map(|succession| succession.predecessor().to_string()),
            "trust": standing,
        })
    })
}

/// `passport slot list`
pub(super) fn slots(file: Option<&Path>, context: &Context) -> Result<()> {
    let identity = Identity::load(&or_default(file)?)?;
    identity.warn_if_exposed(context);
    let slots = identity.locked.slots();
    context.print(
        || slot_table(slots),
        || json!({"slots": slots.iter().map(Slot::to_json).collect::<Vec<_>>()}),
    )
}

fn slot_table(slots: &[Slot]) -> String {
    let line = |slot: &Slot| {
        let name = if slot.name().is_empty() {
            String::new()
        } else {
            format!("  {}", slot.name())
        };
        format!(
            "  slot {:<3} {:<13} {:<12} {}{name}\n",
            slot.id(),
            slot.kind().name(),
            slot.params().to_string(),
            clock::show(slot.created())
        )
    };
    slots.iter().map(line).collect()
}
