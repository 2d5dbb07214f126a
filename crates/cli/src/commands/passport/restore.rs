//! `passport restore`

use std::path::Path;

use sealstone::Error;
use sealstone::passport::{Passport, Words};
use sealstone_terminal::clock;
use sealstone_terminal::question;
use zeroize::Zeroizing;

use super::birth::{FirstSlot, Place, label_of_backup};
use crate::args::RestoreArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::io::input;

/// 24 words are shorter.
const MAX_LEN: usize = 4096;
/// The words of a passport.
const COUNT: usize = 24;
/// More candidates than anybody compares.
const SHOWN: usize = 5;

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
    let mut typed = ask_all()?;
    loop {
        match Words::parse(&typed) {
            Ok(words) => return Ok(words),
            Err(e) => {
                context.warn(&e.to_string());
                typed = mend(&typed, context)?;
            }
        }
    }
}

/// Asks for lines until there are 24 words: a list that is pasted has many.
fn ask_all() -> Result<Zeroizing<String>> {
    let mut all = Zeroizing::new(String::with_capacity(MAX_LEN));
    loop {
        let question = match Words::count(&all) {
            0 => "The 24 words, in one line or in several: ".to_owned(),
            n if n < COUNT => format!("Word {} and on: ", n + 1),
            _ => return Ok(all),
        };
        let line = question::ask(&question).about("the terminal")?;
        if line.trim().is_empty() {
            let what = match Words::count(&all) {
                0 => "no words were given".to_owned(),
                n => format!("only {n} of {COUNT} words were given"),
            };
            return Err(Failure::usage(what));
        }
        all.push(' ');
        all.push_str(&line);
    }
}

/// Asks for the one word that is wrong, if it can be told, else for all.
fn mend(typed: &str, context: &Context) -> Result<Zeroizing<String>> {
    let suspects = Words::suspects(typed);
    let unknown = match Words::parse(typed) {
        Err(Error::UnknownWord(place)) => Some(place),
        _ => None,
    };
    let place = match (unknown, &suspects[..]) {
        (Some(place), _) => place,
        (None, []) => return ask_all(),
        (None, [first, ..]) => first.place,
    };
    for suspect in suspects.iter().take(SHOWN) {
        context.warn(&format!(
            "word {} may be {}",
            suspect.place, suspect.instead
        ));
    }
    // Several words that fit are compared with the paper: none is taken unseen.
    let alone = suspects.len() == 1 || unknown.is_some();
    let default = suspects
        .first()
        .filter(|suspect| alone && suspect.place == place);
    let offer = default.map_or(String::new(), |suspect| format!(" [{}]", suspect.instead));
    let question = format!("Word {place}{offer}, or a number and a word for another place: ");
    let answer = question::ask(&question).about("the terminal")?;
    let mut parts = answer.split_whitespace();
    Ok(match (parts.next(), parts.next(), default) {
        (None, _, Some(suspect)) => Words::with_word(typed, suspect.place, suspect.instead),
        (None, _, None) => return Err(Failure::usage("no word was given")),
        (Some(word), None, _) => Words::with_word(typed, place, word),
        (Some(number), Some(word), _) => {
            let other = number
                .trim_end_matches(['.', ')', ':'])
                .parse()
                .unwrap_or(place);
            Words::with_word(typed, other, word)
        }
    })
}
