//! `passport rotate`

use sealstone::passport::Passport;

use super::birth::{FirstSlot, Place};
use super::slot::opened_params;
use crate::args::RotateArgs;
use crate::clock;
use crate::context::Context;
use crate::identity::Identity;
use crate::message::Result;
use crate::passphrase::{Passphrases, Source};

pub(super) fn run(args: &RotateArgs, context: &Context) -> Result<()> {
    let old = Identity::load(&args.old)?;
    let place = Place::new(&args.output)?;
    let unlocked = old.unlock(&Passphrases::new(&args.unlock), context)?;
    let now = clock::now();
    let new = Passport::generate(args.label.as_deref().unwrap_or(old.locked.label()), now)?;
    let public = unlocked.passport().succeed(&new, now);
    // A script that names one passphrase means it for both.
    let source = match Source::of_new(&args.new) {
        Source::Terminal => Source::of(&args.unlock.passphrase),
        named => named,
    };
    let slot = FirstSlot {
        source,
        generate: args.generate.generate_passphrase,
        params: args
            .profile
            .map_or_else(|| opened_params(&unlocked), |profile| profile.0),
        context,
    };
    slot.write(&new, &public, &place)?;
    context.say(&format!(
        "{} says that it succeeds {}\n  keep {}: it opens what was sealed for it",
        place.public().display(),
        unlocked.passport().fingerprint(),
        args.old.display()
    ));
    Ok(())
}
