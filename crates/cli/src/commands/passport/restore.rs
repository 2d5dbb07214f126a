//! `passport restore`

use std::path::Path;

use sealstone::passport::{Passport, Words};
use sealstone_terminal::clock;
use sealstone_terminal::question;

use super::birth::{FirstSlot, Place, label_of_backup};
use crate::args::RestoreArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::io::input;

/// 24 words are shorter.
const MAX_LEN: usize = 4096;

pub(super) fn run(args: &RestoreArgs, context: &Context) -> Result<()> {
    let place = Place::or_default(args.output.as_deref())?;
    let slot = FirstSlot::new(&args.birth, context)?;
    let words = match &args.words_file {
        Some(path) => read(path)?,
        None => ask(context)?,
    };
    let label = label_of_backup(args.birth.label.as_deref())?;
    let passport = Passport::from_words(&words, &label, clock::now())?;
    slot.write(&passport, &passport.public(), &place)
}

fn read(path: &Path) -> Result<Words> {
    let file = input::read(path, "the words", MAX_LEN)?;
    let words = std::str::from_utf8(&file).ok().map(Words::parse);
    match words {
        Some(Ok(words)) => Ok(words),
        Some(Err(e)) => Err(Failure::new(Exit::Format, e.to_string()).about(file.name())),
        None => Err(Failure::new(Exit::Format, "not text").about(file.name())),
    }
}

/// Asks until the words fit together: the last word holds a checksum.
fn ask(context: &Context) -> Result<Words> {
    if !question::is_there() {
        let failure = Failure::usage("the words are needed, and there is no terminal to ask on");
        return Err(failure.hint("use --words-file FILE, or --words-file - for standard input"));
    }
    loop {
        let typed = question::ask("The 24 words, separated by spaces: ").about("the terminal")?;
        if typed.trim().is_empty() {
            return Err(Failure::usage("no words were given"));
        }
        match Words::parse(&typed) {
            Ok(words) => return Ok(words),
            Err(e) => context.warn(&format!("{e}; once more")),
        }
    }
}
