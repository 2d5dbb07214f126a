//! Passphrases: the options that say where they come from, and the messages about them.

use std::path::Path;

pub(crate) use sealstone_terminal::passphrase::{
    Answer, Asking, Chosen, Passphrases, Source, password,
};
use sealstone_terminal::passphrase::{Error, Notice, Program, SHORT};
use sealstone_terminal::question;

use crate::args::{NewPassphraseArgs, PassphraseArgs, RecipientPassphraseArgs, UnlockArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

/// The options that give a passphrase without a terminal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Options {
    /// For unlocking a passport, or for the only passphrase of a command.
    Passphrase,
    /// For the new passphrase of a command that also unlocks.
    New,
    /// For the passphrase of a sealed file.
    Recipient,
}

/// The environment variable.
const VARIABLE: &str = "SEALSTONE_PASSPHRASE";
/// The environment variable with a command that prints the passphrase.
const COMMAND_VARIABLE: &str = "SEALSTONE_PASSPHRASE_COMMAND";
/// The option that needs no passphrase.
const MAKE_UP: &str = "--generate-passphrase";

impl From<&PassphraseArgs> for Source {
    /// The source that the options name, else the environment, else the terminal.
    fn from(args: &PassphraseArgs) -> Self {
        let variable = || std::env::var_os(VARIABLE).map(|_| Self::Variable(VARIABLE));
        let command = || {
            let command = std::env::var_os(COMMAND_VARIABLE).filter(|value| !value.is_empty());
            command.map(Self::Command)
        };
        option(args.passphrase_file.as_deref(), args.passphrase_fd)
            .or_else(|| args.passphrase_command.clone().map(Self::Command))
            .or_else(variable)
            .or_else(command)
            .unwrap_or(Self::Terminal)
    }
}

impl From<&NewPassphraseArgs> for Source {
    /// The source that the options for a new passphrase name, else the terminal.
    fn from(args: &NewPassphraseArgs) -> Self {
        let named = option(args.new_passphrase_file.as_deref(), args.new_passphrase_fd);
        named.unwrap_or(Self::Terminal)
    }
}

impl From<&RecipientPassphraseArgs> for Source {
    /// The source that the options for a recipient's passphrase name, else the terminal.
    fn from(args: &RecipientPassphraseArgs) -> Self {
        let file = args.recipient_passphrase_file.as_deref();
        option(file, args.recipient_passphrase_fd).unwrap_or(Self::Terminal)
    }
}

fn option(file: Option<&Path>, descriptor: Option<u32>) -> Option<Source> {
    file.map(|path| Source::File(path.to_owned()))
        .or(descriptor.map(Source::Descriptor))
}

impl From<&UnlockArgs> for Passphrases {
    fn from(args: &UnlockArgs) -> Self {
        Self::new((&args.passphrase).into(), args.kdf.limits())
    }
}

/// A new passphrase for `what`: generated if asked for, else from its source; typed twice, or
/// generated on an empty answer. The caller shows a generated one with [`show`].
pub(crate) fn choose(
    what: &str,
    source: &Source,
    options: Options,
    generate: bool,
    context: &Context,
) -> Result<Chosen> {
    if !generate && *source == Source::Terminal && !question::is_there() {
        return Err(no_terminal(options));
    }
    sealstone_terminal::passphrase::choose(what, source, generate, context)
}

/// Shows a generated passphrase for `what`, this once, before anything comes to depend on it.
pub(crate) fn show(chosen: &Chosen, what: &str, context: &Context) -> Result<()> {
    let heading = format!("The passphrase for {what}, generated and shown this once:");
    let shown = chosen.generated();
    shown.map_or(Ok(()), |text| context.show_secret(&heading, text))
}

impl Program for Context {
    type Error = Failure;

    fn is_wrong_passphrase(failure: &Failure) -> bool {
        failure.is_wrong_passphrase()
    }

    fn tell(&self, notice: &Notice<'_>) {
        match notice {
            Notice::Exposed(document) => self.warn_if_exposed(document),
            Notice::Variable(name) => self.say(&format!("the password comes from {name}")),
            Notice::Empty => self.warn("the password is empty"),
            Notice::LineEnding => {
                self.warn("the password ends with a line ending, which is part of it");
            }
            Notice::Short => self.warn(&format!(
                "the new passphrase is shorter than {SHORT} characters, so it is soon guessed; \
                 for a generated one, answer with an empty line or use {MAKE_UP}"
            )),
            Notice::Differs => self.warn("the two are not the same; try again"),
            Notice::Wrong => self.warn("wrong passphrase; try again"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(e) => e.into(),
            Error::Input(e) => e.into(),
            Error::Invalid(None, e) => e.into(),
            Error::Invalid(Some(name), e) => Self::from(e).about(name),
            Error::NoTerminal => no_terminal(Options::Passphrase),
            Error::Failed(_) | Error::TooMuch => Self::new(Exit::Io, error.to_string())
                .hint("try the command by itself; it must print the passphrase on its first line")
                .about("the passphrase command"),
        }
    }
}

fn no_terminal(options: Options) -> Failure {
    let environment = format!("the environment variable {VARIABLE}");
    let (what, prefix, otherwise) = match options {
        Options::Passphrase => ("a passphrase", "", &*environment),
        Options::New => ("a new passphrase", "new-", MAKE_UP),
        Options::Recipient => ("a passphrase for the file", "recipient-", MAKE_UP),
    };
    let what = format!("{what} is needed, and there is no terminal to ask on");
    Failure::usage(what).hint(format!(
        "use --{prefix}passphrase-file FILE, --{prefix}passphrase-fd N, or {otherwise}"
    ))
}
