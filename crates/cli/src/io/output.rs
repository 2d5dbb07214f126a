//! Outputs: a file that appears whole or not at all, or a stream.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, IsTerminal, Stdout, Write, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use sealstone_files::{
    Existing, Input, NewFile, OutputError, Pipe, Refusal, Standard, Sync, Target, directory_of,
    named,
};
use sealstone_terminal::screen::Screen;
use sealstone_terminal::text::shown;

use super::DASH;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};

/// Where an output goes.
pub(crate) enum Destination {
    /// Standard output; `forced` if the user said `-o -`.
    Stdout { forced: bool },
    /// A file.
    File(PathBuf),
}

/// An output that is being written.
pub(crate) enum Output {
    /// A file that does not exist before [`Output::commit`].
    Whole(Box<NewFile>),
    /// Standard output, a pipe or a device, which cannot be taken back; and its name in messages.
    Stream(File, String),
    /// A terminal, which receives text only.
    Terminal(Screen),
    /// Another part of this process; closed once it is empty.
    Pipe(Pipe),
    /// A directory that exists, and that a sealed directory may replace.
    Directory(PathBuf),
}

/// The name of standard output in messages.
pub(crate) const STDOUT: &str = "standard output";

/// How an output is made.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) nature: Nature,
    /// Whether a file that exists is replaced.
    pub(crate) force: bool,
    pub(crate) sync: Sync,
}

/// The kind of the content.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Nature {
    /// Never shown on a terminal.
    Binary,
    /// Perhaps text, which is checked on a terminal.
    Content,
    /// Text.
    Text,
}

impl Destination {
    /// The destination that `-o` names, or `otherwise`.
    pub(crate) fn new(
        option: Option<&Path>,
        otherwise: impl FnOnce() -> Result<Self>,
    ) -> Result<Self> {
        match option {
            Some(path) if path == Path::new(DASH) => Ok(Self::Stdout { forced: true }),
            Some(path) => Ok(Self::File(path.to_owned())),
            None => otherwise(),
        }
    }
}

impl Output {
    /// Opens the destination. Fails before the work if it could not be completed.
    pub(crate) fn create(
        destination: &Destination,
        how: How,
        input: Option<&Input>,
    ) -> Result<Self> {
        match destination {
            Destination::Stdout { forced } => standard(*forced, how.nature),
            Destination::File(path) => at(path, how, input),
        }
    }

    /// Fails as [`Output::create`] would. It makes a temporary file in directories that are not yet
    /// known to be `usable`, once each: file systems slow down after many files were removed.
    pub(crate) fn check(
        destination: &Destination,
        how: How,
        input: Option<&Input>,
        usable: &mut HashSet<PathBuf>,
    ) -> Result<()> {
        let Destination::File(path) = destination else {
            return Self::create(destination, how, input).map(drop);
        };
        let directory = directory_of(path);
        match target(path, how, input)? {
            Target::File(existing) if !usable.contains(&directory) => {
                NewFile::new(path, existing, how.sync)?;
                usable.insert(directory);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// An output that takes the place of the input, once it is whole.
    pub(crate) fn in_place(path: &Path, sync: Sync) -> Result<Self> {
        let whole = NewFile::new(path, Existing::Replace, sync)?;
        Ok(Self::Whole(Box::new(whole)))
    }

    /// Tells the reader of a pipe that there is no more.
    pub(crate) fn close(&self) {
        if let Self::Pipe(pipe) = self {
            pipe.close();
        }
    }

    /// Whether its content cannot be taken back.
    pub(crate) fn is_stream(&self) -> bool {
        !matches!(self, Self::Whole(_) | Self::Directory(_))
    }

    /// The file that does not have its name yet, which may be written at any position.
    pub(crate) fn new_file(&self) -> Option<&File> {
        match self {
            Self::Whole(whole) => Some(whole.file()),
            _ => None,
        }
    }

    /// Gives a file its name, with everything that was written.
    pub(crate) fn commit(self) -> Result<()> {
        match self {
            Self::Whole(whole) => Ok(whole.commit()?),
            Self::Stream(..) | Self::Pipe(_) => Ok(()),
            Self::Terminal(screen) => screen.finish().about(STDOUT),
            Self::Directory(path) => Err(OutputError::new(&path, Refusal::Directory).into()),
        }
    }

    fn put(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Whole(whole) => whole.file().write(bytes),
            Self::Stream(file, _) => (&*file).write(bytes),
            Self::Terminal(screen) => (&*screen).write(bytes),
            Self::Pipe(pipe) => (&*pipe).write(bytes),
            Self::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Whole(whole) => shown(whole.path()),
            Self::Stream(_, name) => name.clone(),
            Self::Terminal(_) => STDOUT.to_owned(),
            Self::Pipe(_) => "the pipe".to_owned(),
            Self::Directory(path) => shown(path),
        }
    }
}

impl Write for &Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes).map_err(|e| named(&self.name(), &e))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The failure of writing to a file that exists.
pub(crate) fn exists(path: &Path) -> Failure {
    Failure::new(Exit::Io, format!("{} exists", shown(path)))
}

/// Standard output, unless the caller had closed it.
pub(crate) fn standard_output() -> Result<Stdout> {
    must_be_open(Standard::Output)?;
    Ok(stdout())
}

/// Writes to standard output without a buffer: a reader gets it at once, and an error is noticed.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut stdout = standard_output()?.lock();
    let written = stdout.write_all(bytes);
    written.and_then(|()| stdout.flush()).about(STDOUT)
}

/// Fails if the caller had closed it: output would be lost, and there is no input.
pub(crate) fn must_be_open(standard: Standard) -> Result<()> {
    if !standard.is_closed() {
        return Ok(());
    }
    let hint = match standard {
        Standard::Input => "name a file, or redirect it from one",
        _ => "redirect it to a file or a pipe, or to /dev/null to discard it",
    };
    Err(Failure::new(Exit::Io, format!("{} is closed", standard.name())).hint(hint))
}

fn standard(forced: bool, nature: Nature) -> Result<Output> {
    let file = File::from(standard_output()?.as_fd().try_clone_to_owned()?);
    if !file.is_terminal() || forced || nature == Nature::Text {
        return Ok(Output::Stream(file, STDOUT.to_owned()));
    }
    match nature {
        Nature::Binary => Err(
            Failure::usage("this would write binary data to the terminal")
                .hint("choose -o FILE, --armor for text, or -o - to insist"),
        ),
        _ => Ok(Output::Terminal(Screen::new(file))),
    }
}

/// The target of a path. Only a sealed directory takes the place of a directory.
fn target(path: &Path, how: How, input: Option<&Input>) -> Result<Target> {
    let target = Target::of(path, how.force, input.map(Input::metadata))?;
    match how.nature == Nature::Content && how.force {
        true => Ok(target),
        false => Ok(target.not_a_directory(path)?),
    }
}

fn at(path: &Path, how: How, input: Option<&Input>) -> Result<Output> {
    Ok(match target(path, how, input)? {
        Target::File(existing) => Output::Whole(Box::new(NewFile::new(path, existing, how.sync)?)),
        Target::Directory => Output::Directory(path.to_owned()),
        Target::Stream(file) => Output::Stream(file, shown(path)),
    })
}

impl From<OutputError> for Failure {
    fn from(OutputError { path, reason }: OutputError) -> Self {
        let (what, hint) =
            match reason {
                Refusal::Io(e) => return Self::from(e).about(path.display()),
                Refusal::Input => {
                    let what = format!("{} is the input", shown(&path));
                    return Self::usage(what).hint("use another -o");
                }
                Refusal::Exists => {
                    return exists(&path).hint("use another -o, or --force to replace it");
                }
                Refusal::Kept => return exists(&path).hint(
                    "passports and backups are never overwritten: use another -o, or move it away",
                ),
                Refusal::Changed => (
                    "another program changed it meanwhile",
                    "nothing was changed: try again",
                ),
                Refusal::Directory => (
                    "is a directory",
                    "use another -o; --force puts only a sealed directory into its place",
                ),
                Refusal::SecretPassport => (
                    "is a secret passport, and is never replaced",
                    "use another -o, or move it away",
                ),
            };
        Self::new(Exit::Io, what).hint(hint).about(path.display())
    }
}
