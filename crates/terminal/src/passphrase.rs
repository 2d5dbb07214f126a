//! Passphrases: from files, descriptors, commands, the environment, a terminal, or generated.
//!
//! A [`Program`] words the messages and has its own errors. [`Passphrases`] unlock with an existing
//! passphrase. [`choose`] gets a new one. [`password`] reads bytes for a password hash.

mod source;

pub use source::{MAX_PASSPHRASE, MAX_PASSWORD, Source};

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::sync::OnceLock;

use sealstone::passport::RecoveryKey;
use sealstone::{KdfLimits, Passphrase};
use sealstone_files::Document;
use zeroize::Zeroizing;

use crate::{input, question};

/// Passphrases with fewer characters are soon guessed at any cost of a guess.
pub const SHORT: usize = 8;
/// How often a mistyped passphrase is asked for.
const TRIES: usize = 3;

/// The program that needs a passphrase.
pub trait Program {
    /// Its errors.
    type Error: From<Error>;

    /// Whether an error of unlocking says that another passphrase may help.
    fn is_wrong_passphrase(error: &Self::Error) -> bool;

    /// Tells the user.
    fn tell(&self, notice: &Notice<'_>);
}

/// A warning to the user about a passphrase.
#[derive(Debug)]
pub enum Notice<'a> {
    /// Other users can read the file that it is in.
    Exposed(&'a Document),
    /// A password comes from this environment variable, which may be meant for something else.
    Variable(&'a str),
    /// A password is empty.
    Empty,
    /// A password ends with a line ending, which is part of it.
    LineEnding,
    /// A new one has fewer than [`SHORT`] characters.
    Short,
    /// It was typed in two ways, and is asked for again.
    Differs,
    /// It is wrong, and is asked for again.
    Wrong,
}

/// Why there is no passphrase.
#[derive(Debug)]
pub enum Error {
    /// Reading failed. The message begins with the name of the source.
    Io(io::Error),
    /// There is no such input.
    Input(input::Error),
    /// The text of the named source, or the text that was typed, is no passphrase.
    Invalid(Option<String>, sealstone::Error),
    /// The command of the user ended with this status.
    Failed(ExitStatus),
    /// The command of the user printed more than a passphrase.
    TooMuch,
    /// There is no terminal to ask on.
    NoTerminal,
}

/// The passphrase of one source, read once, and the limits of its key derivation.
pub struct Passphrases {
    source: Source,
    /// The limits of the key derivation.
    pub limits: KdfLimits,
    read: OnceLock<Passphrase>,
}

/// A passphrase that has been read but not used. It may be mistyped.
pub struct Answer<'a> {
    passphrases: &'a Passphrases,
    what: String,
    typed: Option<Passphrase>,
}

/// A new passphrase.
pub struct Chosen {
    /// The passphrase.
    pub passphrase: Passphrase,
    is_generated: bool,
}

/// How often a password is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// It can be tried again.
    Once,
    /// A typing mistake would be stored.
    Twice,
}

impl Passphrases {
    /// From `source`, for key derivation within `limits`.
    pub fn new(source: Source, limits: KdfLimits) -> Self {
        Self {
            source,
            limits,
            read: OnceLock::new(),
        }
    }

    /// Whether it is typed, and may be mistyped.
    pub fn is_typed(&self) -> bool {
        self.source == Source::Terminal
    }

    /// Whether a person may be asked: by the terminal, or by the command.
    pub fn asks_somebody(&self) -> bool {
        matches!(self.source, Source::Terminal | Source::Command(_))
    }

    /// Asks for the passphrase for `what`, or reads the one that there is for everything. Programs
    /// ask all their questions before they use the first answer: deriving a key takes seconds.
    ///
    /// # Errors
    /// The program's error for an [`Error`].
    pub fn ask<P: Program>(&self, what: &str, program: &P) -> Result<Answer<'_>, P::Error> {
        let typed = match self.is_typed() {
            true => Some(typed(what)?),
            false => None,
        };
        if typed.is_none()
            && self.read.get().is_none()
            && let Some(passphrase) = self.source.read(program)?
        {
            let _ = self.read.set(passphrase);
        }
        Ok(Answer {
            passphrases: self,
            what: what.to_owned(),
            typed,
        })
    }

    /// Asks and uses the answer.
    ///
    /// # Errors
    /// As [`Passphrases::ask`] and [`Answer::with`].
    pub fn with<T, P: Program>(
        &self,
        what: &str,
        program: &P,
        use_it: impl Fn(&Passphrase) -> Result<T, P::Error>,
    ) -> Result<T, P::Error> {
        self.ask(what, program)?.with(program, use_it)
    }
}

impl Answer<'_> {
    /// Uses the passphrase. If it was mistyped, asks again, at most three times in all.
    ///
    /// # Errors
    /// The error of `use_it`; the program's error for an [`Error`].
    pub fn with<T, P: Program>(
        &self,
        program: &P,
        use_it: impl Fn(&Passphrase) -> Result<T, P::Error>,
    ) -> Result<T, P::Error> {
        let again = || Ok(typed(&self.what)?);
        let result = use_it(self.passphrase());
        match self.typed {
            Some(_) => retry(result, program, again, use_it),
            None => result,
        }
    }

    /// The limits of its key derivation.
    pub fn limits(&self) -> &KdfLimits {
        &self.passphrases.limits
    }

    /// Whether it is a recovery key.
    pub fn is_recovery_key(&self) -> bool {
        let text = str::from_utf8(self.passphrase().expose());
        text.is_ok_and(|text| RecoveryKey::parse(text).is_ok())
    }

    fn passphrase(&self) -> &Passphrase {
        self.typed
            .as_ref()
            .or_else(|| self.passphrases.read.get())
            .expect("a source other than the terminal gives a passphrase or an error")
    }
}

/// Asks `again` as long as the passphrase is wrong.
fn retry<T, P: Program>(
    mut result: Result<T, P::Error>,
    program: &P,
    again: impl Fn() -> Result<Passphrase, P::Error>,
    use_it: impl Fn(&Passphrase) -> Result<T, P::Error>,
) -> Result<T, P::Error> {
    for _ in 1..TRIES {
        match result {
            Err(error) if P::is_wrong_passphrase(&error) => {
                program.tell(&Notice::Wrong);
                result = use_it(&again()?);
            }
            other => return other,
        }
    }
    result
}

impl Chosen {
    fn given(passphrase: Passphrase) -> Self {
        Self {
            passphrase,
            is_generated: false,
        }
    }

    fn generate() -> Self {
        Self {
            passphrase: Passphrase::generate(),
            is_generated: true,
        }
    }

    /// Its text if it was generated here. The user must see it before anything depends on it.
    pub fn generated(&self) -> Option<&str> {
        let text = || str::from_utf8(self.passphrase.expose()).expect("it is words");
        self.is_generated.then(text)
    }
}

/// A new passphrase for `what`: generated if asked for, else from its source; typed twice, or
/// generated on an empty answer.
///
/// # Errors
/// The program's error for an [`Error`].
pub fn choose<P: Program>(
    what: &str,
    source: &Source,
    generate: bool,
    program: &P,
) -> Result<Chosen, P::Error> {
    if generate {
        return Ok(Chosen::generate());
    }
    if let Some(passphrase) = source.read(program)? {
        tell_if_short(passphrase.expose(), program);
        return Ok(Chosen::given(passphrase));
    }
    let question = format!("New passphrase for {what} (empty: generate one)");
    let typed = typed_twice(secret, &question, str::is_empty, program)?;
    if typed.is_empty() {
        return Ok(Chosen::generate());
    }
    tell_if_short(typed.as_bytes(), program);
    Ok(Chosen::given(passphrase(&typed)?))
}

/// A password as bytes, which are not normalised and may be empty.
///
/// # Errors
/// The program's error for an [`Error`].
pub fn password<P: Program>(
    source: &Source,
    asking: Asking,
    program: &P,
) -> Result<Zeroizing<Vec<u8>>, P::Error> {
    if let Some(bytes) = source.bytes(MAX_PASSWORD, program)? {
        if let Source::Variable(name) = source {
            program.tell(&Notice::Variable(name));
        }
        if bytes.is_empty() {
            program.tell(&Notice::Empty);
        }
        if bytes.ends_with(b"\n") {
            program.tell(&Notice::LineEnding);
        }
        return Ok(bytes);
    }
    let is_final = |_: &str| asking == Asking::Once;
    let typed = typed_twice(secret, "Password", is_final, program)?;
    if typed.is_empty() {
        program.tell(&Notice::Empty);
    }
    Ok(Zeroizing::new(typed.as_bytes().to_vec()))
}

/// Asks until two answers are the same, or until the first of two `is_final`.
fn typed_twice<P: Program>(
    ask: impl Fn(&str) -> Result<Zeroizing<String>, Error>,
    question: &str,
    is_final: impl Fn(&str) -> bool,
    program: &P,
) -> Result<Zeroizing<String>, P::Error> {
    loop {
        let first = ask(question)?;
        if is_final(&first) || *ask("The same again")? == *first {
            return Ok(first);
        }
        program.tell(&Notice::Differs);
    }
}

/// Short passphrases are allowed: they may be for a test.
fn tell_if_short(passphrase: &[u8], program: &impl Program) {
    if String::from_utf8_lossy(passphrase).chars().count() < SHORT {
        program.tell(&Notice::Short);
    }
}

fn typed(what: &str) -> Result<Passphrase, Error> {
    passphrase(&secret(&format!("Passphrase for {what}"))?)
}

fn secret(question: &str) -> Result<Zeroizing<String>, Error> {
    match question::is_there() {
        true => Ok(question::ask_secret(question)?),
        false => Err(Error::NoTerminal),
    }
}

fn passphrase(typed: &str) -> Result<Passphrase, Error> {
    Passphrase::new(typed.as_bytes()).map_err(|e| Error::Invalid(None, e))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => write!(f, "{e}"),
            Self::Input(e) => write!(f, "{e}"),
            Self::Invalid(None, e) => write!(f, "{e}"),
            Self::Invalid(Some(name), e) => write!(f, "{name}: {e}"),
            Self::Failed(status) => write!(f, "it failed: {status}"),
            Self::TooMuch => write!(f, "it printed too much"),
            Self::NoTerminal => write!(f, "there is no terminal to ask on"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests;
