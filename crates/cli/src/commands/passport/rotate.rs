//! `passport rotate`

use sealstone::KdfParams;
use sealstone::passport::{Passport, PublicPassport, Unlocked};
use sealstone::trust::Status;
use sealstone_files::{PassportFiles, keep};
use sealstone_terminal::clock;
use sealstone_terminal::question;
use sealstone_terminal::text::shown;

use super::creation::{FirstSlot, new_place};
use crate::args::RotateArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::identity::{Identity, or_default};
use crate::passphrase::{Passphrases, Source};
use crate::trust;

pub(super) fn run(args: &RotateArgs, context: &Context) -> Result<()> {
    let rotation = match (&args.old, &args.output) {
        (Some(_), None) => {
            let failure = Failure::usage("where does the new passport go?");
            return Err(failure.hint(
                "choose -o NEW.passport; without OLD.passport your default passport is replaced",
            ));
        }
        (_, Some(output)) => {
            let old = Identity::load(&or_default(args.old.as_deref())?)?;
            let place = new_place(output)?;
            Rotation {
                old,
                place,
                kept: None,
            }
        }
        (None, None) => Rotation::of_default()?,
    };
    rotation.run(args, context)
}

/// One passport takes the place of another.
struct Rotation {
    old: Identity,
    place: PassportFiles,
    /// Where the old one is kept, if the new one takes its name too.
    kept: Option<PassportFiles>,
}

impl Rotation {
    fn of_default() -> Result<Self> {
        let path = or_default(None)?;
        if path.is_symlink() {
            let failure = Failure::usage("your default passport is a link, and stays one");
            return Err(failure
                .hint("make the new passport with -o NEW.passport, and let the link lead to it")
                .about(path.display()));
        }
        let old = Identity::load(&path)?;
        let kept = kept_place(&old)?;
        Ok(Self {
            old,
            place: PassportFiles::at(&path),
            kept: Some(kept),
        })
    }

    fn run(self, args: &RotateArgs, context: &Context) -> Result<()> {
        let Self { old, place, kept } = &self;
        let revoke = asks_to_revoke(args, old)?;
        let passphrases = Passphrases::from(&args.unlock);
        let answer = old.ask(&passphrases, context)?;
        let mut slot = first_slot(args, context);
        let chosen = slot.choose(place)?;
        // Everything has been asked: now the slow part.
        let unlocked = old.unlock_with(&answer, context)?;
        if args.profile.is_none() {
            slot.params = unlocked.params();
        }
        args.unlock.kdf.must_allow(&[slot.params])?;
        let now = clock::now();
        let new = Passport::generate(args.label.as_deref().unwrap_or(old.locked.label()), now)?;
        let public = unlocked.passport().succeed(&new, now);
        slot.write_by(&new, &public, place, chosen, |halves| match kept {
            None => halves.write(place),
            Some(kept) => {
                let _lock = keep::lock_unchanged(&old.path, &old.file)?;
                self.keep_old(kept, &unlocked)?;
                // `Identity::public` finds the public half under both of its names.
                halves.replace(place, &new.fingerprint().short())
            }
        })?;
        let kept = kept.as_ref().map_or(&old.path, |kept| &kept.secret);
        let fingerprint = unlocked.passport().fingerprint();
        let status = retire(&unlocked, (&new, &public), revoke, context);
        let standing = match status {
            Some(Status::Revoked) => {
                "it is revoked: files that it signed never open; your contacts"
            }
            _ => {
                "files that it signed wait until you approve it\n  \
                  if somebody else may have it, you and your contacts"
            }
        };
        context.say(&format!(
            "{} says that it succeeds {fingerprint}\n  keep {}: it opens files that were sealed for \
             it\n  {standing} should run:\n  sealstone trust revoke {}",
            shown(&place.public),
            shown(kept),
            fingerprint.half()
        ));
        if is_reused(args) {
            context.warn(
                "the new passport has the passphrase of the old one\n  \
                 if somebody may know it: sealstone passport slot change",
            );
        }
        Ok(())
    }

    /// Copies both halves of the old passport; copies that an interrupted rotation has left are as
    /// good.
    fn keep_old(&self, kept: &PassportFiles, unlocked: &Unlocked) -> Result<()> {
        let public = || {
            let public = self.old.public();
            public
                .unwrap_or_else(|_| unlocked.passport().public())
                .to_armor()
        };
        Ok(kept.complete(&self.old.file, public)?)
    }
}

/// The place for the old passport: one that is free, or holds it already.
fn kept_place(old: &Identity) -> Result<PassportFiles> {
    let place = PassportFiles::to_keep(&old.path, &old.file, &old.locked.fingerprint());
    place
        .ok_or_else(|| Failure::new(Exit::Io, "no name is free to keep it under").about(old.name()))
}

/// Whether to revoke the old passport: as the options say, else as the user answers. Without a
/// terminal it is not revoked.
fn asks_to_revoke(args: &RotateArgs, old: &Identity) -> Result<bool> {
    if args.revoke || args.no_revoke || !question::is_there() {
        return Ok(args.revoke);
    }
    let question = format!(
        "The old passport is\n{}\nIf somebody else may have it, revoke it: files that it signed then \
         never open.\nRevoke it?",
        old.locked.fingerprint()
    );
    Ok(question::confirm(&question)?)
}

/// Records in the trust store that the old passport is no longer the user's. The new passport is
/// complete by then: a failure is a warning. Returns the new status.
fn retire(
    unlocked: &Unlocked,
    (new, public): (&Passport, &PublicPassport),
    revoke: bool,
    context: &Context,
) -> Option<Status> {
    let status = match revoke {
        true => Status::Revoked,
        false => Status::Pending,
    };
    let old = unlocked.passport();
    let note = format!("replaced by {}", new.fingerprint());
    let operator = trust::operator(None);
    let retired = trust::open(context).and_then(|mut store| {
        let change = trust::change(&operator, Some(&note));
        let retired = store.retire(old, new, public, status, &change);
        retired.map_err(trust::unsure)
    });
    match retired {
        Ok(status) => Some(status),
        Err(failure) => {
            context.warn(&format!(
                "the trust store did not take note that the passport was replaced: {}",
                failure.text().unwrap_or_default()
            ));
            None
        }
    }
}

/// Whether one passphrase serves both passports, as in a script that names only one.
fn is_reused(args: &RotateArgs) -> bool {
    let is_typed = |source| matches!(source, Source::Terminal);
    !args.generate.generate_passphrase
        && is_typed(Source::from(&args.new))
        && !is_typed(Source::from(&args.unlock.passphrase))
}

/// As the options say; without a profile, the slot that opens the old passport sets the costs.
fn first_slot<'a>(args: &RotateArgs, context: &'a Context) -> FirstSlot<'a> {
    let source = match Source::from(&args.new) {
        Source::Terminal => Source::from(&args.unlock.passphrase),
        named => named,
    };
    FirstSlot {
        source,
        generate: args.generate.generate_passphrase,
        params: args.profile.unwrap_or(KdfParams::SENSITIVE),
        context,
    }
}
