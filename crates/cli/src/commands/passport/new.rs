//! `passport new`

use sealstone::passport::Passport;

use super::birth::{FirstSlot, Place, label};
use crate::args::NewArgs;
use crate::context::Context;
use crate::io::{keep, temp};
use crate::message::{Failure, Result, shown};
use crate::{clock, paths};

pub(super) fn run(args: &NewArgs, context: &Context) -> Result<()> {
    let place = match &args.output {
        Some(path) => Place::new(path)?,
        None => default_place()?,
    };
    let slot = FirstSlot::new(&args.birth, context)?;
    let label = label(args.birth.label.as_deref(), args.output.as_deref())?;
    let passport = Passport::generate(&label, clock::now())?;
    slot.write(&passport, &passport.public(), &place)
}

fn default_place() -> Result<Place> {
    let path = paths::default_passport()?;
    if path.exists() {
        let failure = Failure::new(
            crate::exit::Exit::Io,
            format!("you have a default passport: {}", shown(&path)),
        );
        return Err(failure.hint(
            "make another one with -o FILE.passport, or replace it with: sealstone passport rotate",
        ));
    }
    keep::make_private_directory(&temp::directory_of(&path))?;
    Place::new(&path)
}
