//! `passport restore`

use std::path::Path;

use sealstone::passport::{Passport, Words};
use sealstone_terminal::{clock, words};

use super::creation::{FirstSlot, label_of_backup, place_or_default};
use crate::args::RestoreArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::input;
use crate::named::Parse;

/// 24 words are shorter.
const MAX_LEN: usize = 4096;

pub(super) fn run(args: &RestoreArgs, context: &Context) -> Result<()> {
    let place = place_or_default(args.output.as_deref())?;
    let slot = FirstSlot::new(&args.creation, context)?;
    let words = match &args.words_file {
        Some(path) => read(path)?,
        None => words::ask(context)?,
    };
    let label = label_of_backup(args.creation.label.as_deref())?;
    let passport = Passport::from_words(&words, &label, clock::now())?;
    slot.write(&passport, &passport.public(), &place)
}

fn read(path: &Path) -> Result<Words> {
    let file = input::read(path, "the words", MAX_LEN)?;
    file.parse(|bytes| {
        let malformed = |what: &str| Failure::new(Exit::Format, what);
        let text = std::str::from_utf8(bytes).map_err(|_| malformed("not text"))?;
        Words::parse(text).map_err(|error| malformed(&error.to_string()))
    })
}

impl From<words::Error> for Failure {
    fn from(error: words::Error) -> Self {
        let text = error.to_string();
        match error {
            words::Error::NoTerminal => Self::usage(text)
                .hint("use --words-file FILE, or --words-file - for standard input"),
            words::Error::Io(e) => e.into(),
            words::Error::NoWord | words::Error::TooFew(_) => Self::usage(text),
        }
    }
}
