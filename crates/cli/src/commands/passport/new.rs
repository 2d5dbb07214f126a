//! `passport new`

use sealstone::passport::Passport;
use sealstone_terminal::clock;

use super::creation::{FirstSlot, label, place_or_default};
use crate::args::NewArgs;
use crate::context::Context;
use crate::failure::Result;

pub(super) fn run(args: &NewArgs, context: &Context) -> Result<()> {
    let place = place_or_default(args.output.as_deref())?;
    let slot = FirstSlot::new(&args.creation, context)?;
    let label = label(args.creation.label.as_deref(), args.output.as_deref())?;
    let passport = Passport::generate(&label, clock::now())?;
    slot.write(&passport, &passport.public(), &place)
}
