//! Passphrases: from files, descriptors, the environment, a terminal, or generated.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sealstone::passport::RecoveryKey;
use sealstone::{KdfLimits, Passphrase};
use sealstone_files::{Input, named};
use sealstone_terminal::question;
use sealstone_terminal::text::shown;
use zeroize::Zeroizing;

use crate::args::{NewPassphraseArgs, PassphraseArgs, RecipientPassphraseArgs, UnlockArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::io::input;

/// Where a passphrase comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    File(PathBuf),
    Descriptor(u32),
    /// The output of a command of the user.
    Command(OsString),
    Environment,
    Terminal,
}

/// The passphrase of one source, read once, and the limits of its key derivation.
pub(crate) struct Passphrases {
    source: Source,
    pub(crate) limits: KdfLimits,
    read: OnceCell<Passphrase>,
}

/// A passphrase that has been read but not used. It may be mistyped.
pub(crate) struct Answer<'a> {
    passphrases: &'a Passphrases,
    what: String,
    typed: Option<Passphrase>,
}

/// A new passphrase, and its text if it was generated here.
pub(crate) struct Chosen {
    pub(crate) passphrase: Passphrase,
    pub(crate) generated: Option<Zeroizing<String>>,
}

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
pub(crate) const VARIABLE: &str = "SEALSTONE_PASSPHRASE";
/// The environment variable with a command that prints the passphrase.
const COMMAND_VARIABLE: &str = "SEALSTONE_PASSPHRASE_COMMAND";
/// A longer file is rejected: it is not a passphrase file.
const MAX_LEN: usize = 64 << 10;
/// A longer file is rejected: it is not a password.
const MAX_PASSWORD: usize = 16 << 20;
/// Passphrases with fewer characters are soon guessed at any cost of a guess.
const SHORT: usize = 8;
/// How often a mistyped passphrase is asked for.
const TRIES: usize = 3;

impl Source {
    /// The source that the options name, else the environment, else the terminal.
    pub(crate) fn of(args: &PassphraseArgs) -> Self {
        let environment = || {
            std::env::var_os(VARIABLE)
                .is_some()
                .then_some(Self::Environment)
        };
        let command = || {
            let command = std::env::var_os(COMMAND_VARIABLE).filter(|value| !value.is_empty());
            command.map(Self::Command)
        };
        option(args.passphrase_file.as_deref(), args.passphrase_fd)
            .or_else(|| args.passphrase_command.clone().map(Self::Command))
            .or_else(environment)
            .or_else(command)
            .unwrap_or(Self::Terminal)
    }

    /// The source that the options for a new passphrase name, else the terminal.
    pub(crate) fn of_new(args: &NewPassphraseArgs) -> Self {
        option(args.new_passphrase_file.as_deref(), args.new_passphrase_fd)
            .unwrap_or(Self::Terminal)
    }

    /// The source that the options for a recipient's passphrase name, else the terminal.
    pub(crate) fn of_recipient(args: &RecipientPassphraseArgs) -> Self {
        option(
            args.recipient_passphrase_file.as_deref(),
            args.recipient_passphrase_fd,
        )
        .unwrap_or(Self::Terminal)
    }

    /// Reads it; `None` for the terminal.
    fn read(&self, context: &Context) -> Result<Option<Passphrase>> {
        let Some(line) = self.bytes(MAX_LEN, context)? else {
            return Ok(None);
        };
        Passphrase::from_line(&line).about(self.name()).map(Some)
    }

    /// Reads up to `limit` bytes as they are; `None` for the terminal.
    fn bytes(&self, limit: usize, context: &Context) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let bytes = match self {
            Self::Terminal => return Ok(None),
            Self::File(path) => {
                let file = File::open(path).map_err(|e| named(&self.name(), &e))?;
                let document = Input::new(file, self.name())?.document(limit)?;
                context.warn_if_exposed(&document);
                document.into_bytes()
            }
            Self::Descriptor(number) => {
                let input = input::descriptor(*number, "the passphrase")?;
                input.document(limit)?.into_bytes()
            }
            Self::Command(command) => run(command, limit)?,
            Self::Environment => {
                let value = std::env::var_os(VARIABLE).unwrap_or_default();
                Zeroizing::new(value.into_encoded_bytes())
            }
        };
        Ok(Some(bytes))
    }

    /// Its name in messages.
    fn name(&self) -> String {
        match self {
            Self::File(path) => shown(path),
            Self::Descriptor(number) => format!("file descriptor {number}"),
            Self::Command(_) => "the passphrase command".to_owned(),
            Self::Environment => VARIABLE.to_owned(),
            Self::Terminal => "the terminal".to_owned(),
        }
    }
}

impl Passphrases {
    /// From the options of a command that unlocks.
    pub(crate) fn new(args: &UnlockArgs) -> Self {
        Self {
            source: Source::of(&args.passphrase),
            limits: args.kdf.limits(),
            read: OnceCell::new(),
        }
    }

    /// Whether it is typed, and may be mistyped.
    pub(crate) fn is_typed(&self) -> bool {
        self.source == Source::Terminal
    }

    /// Whether a person may be asked: the agent is asked first.
    pub(crate) fn asks_somebody(&self) -> bool {
        matches!(self.source, Source::Terminal | Source::Command(_))
    }

    /// Asks for the passphrase for `what`, or reads the one that there is for everything. Commands
    /// ask all their questions before they use the first answer: deriving a key takes seconds.
    pub(crate) fn ask(&self, what: &str, context: &Context) -> Result<Answer<'_>> {
        let typed = match self.is_typed() {
            true => Some(typed(what)?),
            false => None,
        };
        if typed.is_none()
            && self.read.get().is_none()
            && let Some(passphrase) = self.source.read(context)?
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
    pub(crate) fn with<T>(
        &self,
        what: &str,
        context: &Context,
        use_it: impl Fn(&Passphrase) -> Result<T>,
    ) -> Result<T> {
        self.ask(what, context)?.with(context, use_it)
    }
}

impl Answer<'_> {
    /// Uses the passphrase. If it was mistyped, asks again.
    pub(crate) fn with<T>(
        &self,
        context: &Context,
        use_it: impl Fn(&Passphrase) -> Result<T>,
    ) -> Result<T> {
        let mut result = use_it(self.passphrase());
        for _ in 1..TRIES {
            match result {
                Err(failure) if self.typed.is_some() && failure.is_wrong_passphrase() => {
                    context.warn("wrong passphrase; once more");
                    result = use_it(&typed(&self.what)?);
                }
                other => return other,
            }
        }
        result
    }

    /// The limits of its key derivation.
    pub(crate) fn limits(&self) -> &KdfLimits {
        &self.passphrases.limits
    }

    /// Whether it is a recovery key.
    pub(crate) fn is_recovery_key(&self) -> bool {
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

impl Chosen {
    fn generate() -> Self {
        let passphrase = Passphrase::generate();
        let text = str::from_utf8(passphrase.expose()).expect("generated passphrases are words");
        let text = Zeroizing::new(text.to_owned());
        Self {
            passphrase,
            generated: Some(text),
        }
    }

    /// Shows a generated passphrase for `what`, this once, before anything comes to depend on it.
    pub(crate) fn show(&self, what: &str, context: &Context) -> Result<()> {
        let heading = format!("The passphrase for {what}, generated and shown this once:");
        let shown = self.generated.as_deref();
        shown.map_or(Ok(()), |text| context.show_secret(&heading, text))
    }
}

/// How often a password is typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asking {
    /// It can be tried again.
    Once,
    /// A typing mistake would be stored.
    Twice,
}

/// A password as bytes, which are not normalised and may be empty.
pub(crate) fn bytes(
    args: &PassphraseArgs,
    asking: Asking,
    context: &Context,
) -> Result<Zeroizing<Vec<u8>>> {
    let source = Source::of(args);
    if let Some(bytes) = source.bytes(MAX_PASSWORD, context)? {
        if source == Source::Environment {
            context.say(&format!("the password is what {VARIABLE} says"));
        }
        if bytes.is_empty() {
            context.warn("the password is empty");
        }
        if bytes.ends_with(b"\n") {
            context.warn("the password ends with a line ending, which is part of it");
        }
        return Ok(bytes);
    }
    need_terminal(Options::Passphrase)?;
    loop {
        let first = question::ask_secret("Password")?;
        if asking == Asking::Once || *question::ask_secret("The same again")? == *first {
            if first.is_empty() {
                context.warn("the password is empty");
            }
            return Ok(Zeroizing::new(first.as_bytes().to_vec()));
        }
        context.warn("the two are not the same; once more");
    }
}

/// A new passphrase for `what`: generated if asked for, else from its source; typed twice, or
/// generated on an empty answer. The caller shows a generated one with [`Chosen::show`].
pub(crate) fn choose(
    what: &str,
    source: &Source,
    options: Options,
    generate: bool,
    context: &Context,
) -> Result<Chosen> {
    if generate {
        return Ok(Chosen::generate());
    }
    if let Some(passphrase) = source.read(context)? {
        warn_if_short(passphrase.expose(), context);
        return Ok(Chosen {
            passphrase,
            generated: None,
        });
    }
    need_terminal(options)?;
    loop {
        let first =
            question::ask_secret(&format!("New passphrase for {what} (empty: generate one)"))?;
        if first.is_empty() {
            return Ok(Chosen::generate());
        }
        if *question::ask_secret("The same again")? == *first {
            warn_if_short(first.as_bytes(), context);
            return Ok(Chosen {
                passphrase: Passphrase::new(first.as_bytes())?,
                generated: None,
            });
        }
        context.warn("the two are not the same; once more");
    }
}

/// Short passphrases are allowed: they may be for a test.
fn warn_if_short(passphrase: &[u8], context: &Context) {
    if String::from_utf8_lossy(passphrase).chars().count() < SHORT {
        context.warn(&format!(
            "the new passphrase is shorter than {SHORT} characters, so it is soon guessed; \
             for a generated one, answer with an empty line or use --generate-passphrase"
        ));
    }
}

fn typed(what: &str) -> Result<Passphrase> {
    need_terminal(Options::Passphrase)?;
    let line = question::ask_secret(&format!("Passphrase for {what}"))?;
    Ok(Passphrase::new(line.as_bytes())?)
}

fn need_terminal(options: Options) -> Result<()> {
    if question::is_there() {
        return Ok(());
    }
    let environment = format!("the environment variable {VARIABLE}");
    let (what, prefix, otherwise) = match options {
        Options::Passphrase => ("a passphrase", "", &*environment),
        Options::New => ("a new passphrase", "new-", MAKE_UP),
        Options::Recipient => ("a passphrase for the file", "recipient-", MAKE_UP),
    };
    let failure = Failure::usage(format!(
        "{what} is needed, and there is no terminal to ask on"
    ));
    Err(failure.hint(format!(
        "use --{prefix}passphrase-file FILE, --{prefix}passphrase-fd N, or {otherwise}"
    )))
}

/// The option that needs no passphrase.
const MAKE_UP: &str = "--generate-passphrase";

/// The first line that a command prints. Keyrings may print more, as `pass` does.
fn run(command: &OsStr, limit: usize) -> Result<Zeroizing<Vec<u8>>> {
    let subject = "the passphrase command";
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .about(subject)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit + 1));
    let stdout = child.stdout.take().expect("it is a pipe");
    stdout
        .take(limit as u64 + 1)
        .read_to_end(&mut bytes)
        .about(subject)?;
    let status = child.wait().about(subject)?;
    let what = match (status.success(), bytes.len() > limit) {
        // Nobody reads the rest, so that the command may end by a signal.
        (_, true) => "it printed too much".to_owned(),
        (false, false) => format!("it failed: {status}"),
        (true, false) => {
            let line = bytes.iter().position(|byte| *byte == b'\n');
            let len = line.unwrap_or(bytes.len());
            bytes.truncate(len);
            return Ok(bytes);
        }
    };
    let hint = "try the command by itself; it must print the passphrase on its first line";
    Err(Failure::new(Exit::Io, what).hint(hint).about(subject))
}

fn option(file: Option<&Path>, descriptor: Option<u32>) -> Option<Source> {
    file.map(|path| Source::File(path.to_owned()))
        .or(descriptor.map(Source::Descriptor))
}
