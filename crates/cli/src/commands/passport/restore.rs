//! `passport restore`

use std::path::Path;

use sealstone::Error;
use sealstone::passport::{Passport, Words};
use sealstone_terminal::clock;
use sealstone_terminal::question;
use zeroize::Zeroizing;

use super::creation::{FirstSlot, label_of_backup, place_or_default};
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
/// What people write behind a number.
const MARKS: [char; 3] = ['.', ')', ':'];

pub(super) fn run(args: &RestoreArgs, context: &Context) -> Result<()> {
    let place = place_or_default(args.output.as_deref())?;
    let slot = FirstSlot::new(&args.creation, context)?;
    let words = match &args.words_file {
        Some(path) => read(path)?,
        None => ask(context)?,
    };
    let label = label_of_backup(args.creation.label.as_deref())?;
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
    let mut typed = ask_all("")?;
    loop {
        match Words::parse(&typed) {
            Ok(words) => return Ok(words),
            Err(e) => {
                let (e, count) = (e.to_string(), Words::count(&typed));
                let more = (count != COUNT).then(|| format!("{e}, and these are {count}"));
                context.warn(&more.unwrap_or(e));
                typed = mend(&typed, context)?;
            }
        }
    }
}

/// Asks for lines until there are 24 words: a list that is pasted has many.
fn ask_all(begun: &str) -> Result<Zeroizing<String>> {
    let mut all = Zeroizing::new(String::with_capacity(MAX_LEN));
    all.push_str(begun);
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

/// Asks for one word, and which it is if that cannot be told. All may be typed again instead.
fn mend(typed: &str, context: &Context) -> Result<Zeroizing<String>> {
    if Words::count(typed) != COUNT {
        return ask_all("");
    }
    let suspects = Words::suspects(typed);
    for suspect in suspects.iter().take(SHOWN) {
        context.warn(&format!(
            "word {} may be {}",
            suspect.place, suspect.instead
        ));
    }
    let unknown = match Words::parse(typed) {
        Err(Error::UnknownWord(place)) => Some(place),
        _ => None,
    };
    let place = unknown.or(suspects.first().map(|suspect| suspect.place));
    // A word of the list may be right, and another one wrong: what fits by chance makes another
    // passport. So it is compared with the paper, and never taken by Enter alone.
    let offered = match (unknown, &suspects[..]) {
        (Some(place), [suspect]) if suspect.place == place => Some(suspect),
        _ => None,
    };
    let offer = offered.map_or(String::new(), |suspect| format!(" [{}]", suspect.instead));
    let question = match place {
        Some(place) => format!("Word {place}{offer}, or a number and a word for another place: "),
        None => "A number and the word of that place, or all 24 words again: ".to_owned(),
    };
    let answer = question::ask(&question).about("the terminal")?;
    let parts: Vec<&str> = answer.split_whitespace().collect();
    match (&parts[..], offered, place) {
        ([], Some(suspect), _) if !answer.is_empty() => {
            Ok(Words::with_word(typed, suspect.place, suspect.instead))
        }
        // The end of the input, which Enter is not.
        ([], ..) if answer.is_empty() => Err(Failure::usage("no word was given")),
        ([], ..) => Ok(Zeroizing::new(typed.to_owned())),
        ([word], _, Some(place)) => Ok(Words::with_word(typed, place, word)),
        ([number, word], ..) if is_number(number) => {
            let place = number.trim_end_matches(MARKS).parse().unwrap_or_default();
            Ok(Words::with_word(typed, place, word))
        }
        _ => ask_all(&answer),
    }
}

fn is_number(text: &str) -> bool {
    let number = text.trim_end_matches(MARKS);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
