//! Asking for the 24 words of a passport, until they fit together.

use std::fmt;
use std::io;

use sealstone::passport::Words;
use sealstone_files::named;
use zeroize::Zeroizing;

use crate::console::Console;
use crate::question;

/// 24 words are shorter.
const MAX_LEN: usize = 4096;
/// The words of a passport.
const COUNT: usize = 24;
/// More candidates than anybody compares.
const SHOWN: usize = 5;
/// Marks that people write behind a number.
const MARKS: [char; 3] = ['.', ')', ':'];

/// Why there are no words.
#[derive(Debug)]
pub enum Error {
    /// There is no terminal to ask on.
    NoTerminal,
    /// The answers ended after this number of words.
    TooFew(usize),
    /// The answers ended while a wrong word was asked for.
    NoWord,
    /// The system's error.
    Io(io::Error),
}

/// Asks until the words fit together: the last word holds a checksum.
///
/// # Errors
/// [`Error`].
pub fn ask(console: &Console) -> Result<Words, Error> {
    if !question::is_there() {
        return Err(Error::NoTerminal);
    }
    let mut typed = ask_all("")?;
    loop {
        match Words::parse(&typed) {
            Ok(words) => return Ok(words),
            Err(e) => {
                let (e, count) = (e.to_string(), Words::count(&typed));
                let more = (count != COUNT).then(|| format!("{e}, and these are {count}"));
                console.warn(&more.unwrap_or(e));
                typed = correct(&typed, console)?;
            }
        }
    }
}

/// Asks for lines until there are 24 words: a list that is pasted has many.
fn ask_all(begun: &str) -> Result<Zeroizing<String>, Error> {
    let mut all = Zeroizing::new(String::with_capacity(MAX_LEN));
    all.push_str(begun);
    let Some(first) = question_after(&all) else {
        return Ok(all);
    };
    let asked = question::ask_lines(&first, |line| {
        all.push(' ');
        all.push_str(line);
        // An empty line is the end.
        question_after(&all).filter(|_| !line.trim().is_empty())
    });
    asked.map_err(terminal)?;
    match Words::count(&all) {
        count if count < COUNT => Err(Error::TooFew(count)),
        _ => Ok(all),
    }
}

/// The question for the words that are missing; `None` if there are enough.
fn question_after(words: &str) -> Option<String> {
    match Words::count(words) {
        0 => Some("The 24 words, in one line or in several: ".to_owned()),
        n if n < COUNT => Some(format!("Word {} and on: ", n + 1)),
        _ => None,
    }
}

/// Asks for one word, and which it is if that cannot be told. All may be typed again instead.
fn correct(typed: &str, console: &Console) -> Result<Zeroizing<String>, Error> {
    if Words::count(typed) != COUNT {
        return ask_all("");
    }
    let suspects = Words::suspects(typed);
    for suspect in suspects.iter().take(SHOWN) {
        console.warn(&format!(
            "word {} may be {}",
            suspect.place, suspect.instead
        ));
    }
    let unknown = match Words::parse(typed) {
        Err(sealstone::Error::UnknownWord(place)) => Some(place),
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
    let answer = ask_line(&question)?;
    let parts: Vec<&str> = answer.split_whitespace().collect();
    match (&parts[..], offered, place) {
        ([], Some(suspect), _) if !answer.is_empty() => {
            Ok(Words::with_word(typed, suspect.place, suspect.instead))
        }
        // The end of the input, which Enter is not.
        ([], ..) if answer.is_empty() => Err(Error::NoWord),
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

fn ask_line(question: &str) -> Result<Zeroizing<String>, Error> {
    question::ask(question).map_err(terminal)
}

fn terminal(error: io::Error) -> Error {
    Error::Io(named("the terminal", &error))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTerminal => {
                write!(
                    f,
                    "the words are needed, and there is no terminal to ask on"
                )
            }
            Self::TooFew(0) => write!(f, "no words were given"),
            Self::TooFew(count) => write!(f, "only {count} of {COUNT} words were given"),
            Self::NoWord => write!(f, "no word was given"),
            Self::Io(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_have_a_mark() {
        for number in ["7", "12.", "3)", "24:"] {
            assert!(is_number(number), "{number}");
        }
        for word in ["", ".", "abandon", "7th"] {
            assert!(!is_number(word), "{word}");
        }
    }
}
