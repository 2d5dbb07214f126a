//! Outputs that a person names: a file that appears whole or not at all, a stream, or the terminal.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Stdout, Write, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use sealstone_files::{
    Existing, Input, NewFile, OutputError, Pipe, Refusal, Standard, Sync, Target, directory_of,
    named,
};

use crate::input::DASH;
use crate::screen::Screen;
use crate::text::shown;

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout {
        /// Whether the user said so.
        forced: bool,
    },
    /// A file.
    File(PathBuf),
}

/// An output that is being written.
#[derive(Debug)]
pub enum Output {
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

/// How an output is made.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// The kind of the content.
    pub kind: ContentKind,
    /// Whether a file that exists is replaced.
    pub force: bool,
    /// Whether it waits for the disk.
    pub sync: Sync,
}

/// The kind of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// Never shown on a terminal.
    Binary,
    /// Perhaps text, which is checked on a terminal.
    Content,
    /// Text.
    Text,
}

/// Why there is no output.
#[derive(Debug)]
pub enum Error {
    /// A file is not written.
    Refused(OutputError),
    /// The caller had closed standard output: what is written there would be lost.
    Closed,
    /// Binary data would be written to the terminal, and the user did not insist on that.
    Binary,
    /// The system's error. The message begins with the name of the output.
    Io(io::Error),
}

impl Destination {
    /// The destination that the user names; [`DASH`] is standard output.
    pub fn named(path: &Path) -> Self {
        match path == Path::new(DASH) {
            true => Self::Stdout { forced: true },
            false => Self::File(path.to_owned()),
        }
    }

    /// The path of a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout { .. } => None,
            Self::File(path) => Some(path),
        }
    }
}

impl Output {
    /// Opens the destination. Fails before the work if it could not be completed.
    ///
    /// # Errors
    /// [`Error`].
    pub fn create(
        destination: &Destination,
        how: How,
        input: Option<&Input>,
    ) -> Result<Self, Error> {
        match destination {
            Destination::Stdout { forced } => standard(*forced, how.kind),
            Destination::File(path) => at(path, how, input),
        }
    }

    /// Fails as [`Output::create`] would. It makes a temporary file in directories that are not yet
    /// known to be `usable`, once each: file systems slow down after many files were removed.
    ///
    /// # Errors
    /// [`Error`].
    pub fn check(
        destination: &Destination,
        how: How,
        input: Option<&Input>,
        usable: &mut HashSet<PathBuf>,
    ) -> Result<(), Error> {
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
    ///
    /// # Errors
    /// The system's error.
    pub fn in_place(path: &Path, sync: Sync) -> Result<Self, Error> {
        let whole = NewFile::new(path, Existing::Replace, sync)?;
        Ok(Self::Whole(Box::new(whole)))
    }

    /// Tells the reader of a pipe that there is no more.
    pub fn close(&self) {
        if let Self::Pipe(pipe) = self {
            pipe.close();
        }
    }

    /// Whether its content cannot be taken back.
    pub fn is_stream(&self) -> bool {
        !matches!(self, Self::Whole(_) | Self::Directory(_))
    }

    /// The file that does not have its name yet, which may be written at any position.
    pub fn new_file(&self) -> Option<&File> {
        match self {
            Self::Whole(whole) => Some(whole.file()),
            _ => None,
        }
    }

    /// Gives a file its name, with everything that was written.
    ///
    /// # Errors
    /// [`Error::Refused`], and [`Error::Io`] of a terminal.
    pub fn commit(self) -> Result<(), Error> {
        match self {
            Self::Whole(whole) => Ok(whole.commit()?),
            Self::Stream(..) | Self::Pipe(_) => Ok(()),
            Self::Terminal(screen) => screen.finish().map_err(of_stdout),
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

    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Whole(whole) => shown(whole.path()),
            Self::Stream(_, name) => name.clone(),
            Self::Terminal(_) => Standard::Output.name().to_owned(),
            Self::Pipe(_) => "the pipe".to_owned(),
            Self::Directory(path) => shown(path),
        }
    }
}

/// Closes an output when it is dropped: the reader of a pipe would wait for ever.
#[derive(Debug)]
pub struct Closing<'o>(&'o Output);

impl<'o> Closing<'o> {
    /// Closes `output` then.
    #[must_use]
    pub fn at_the_end(output: &'o Output) -> Self {
        Self(output)
    }
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
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

/// Standard output, unless the caller had closed it.
///
/// # Errors
/// [`Error::Closed`].
pub fn standard_output() -> Result<Stdout, Error> {
    match Standard::Output.is_closed() {
        true => Err(Error::Closed),
        false => Ok(stdout()),
    }
}

/// Writes to standard output without a buffer: a reader gets it at once, and an error is noticed.
///
/// # Errors
/// [`Error::Closed`], and [`Error::Io`].
pub fn print(bytes: &[u8]) -> Result<(), Error> {
    let mut stdout = standard_output()?.lock();
    let written = stdout.write_all(bytes);
    written.and_then(|()| stdout.flush()).map_err(of_stdout)
}

fn of_stdout(error: io::Error) -> Error {
    Error::Io(named(Standard::Output.name(), &error))
}

fn standard(forced: bool, kind: ContentKind) -> Result<Output, Error> {
    let file = File::from(standard_output()?.as_fd().try_clone_to_owned()?);
    if !file.is_terminal() || forced || kind == ContentKind::Text {
        let name = Standard::Output.name().to_owned();
        return Ok(Output::Stream(file, name));
    }
    match kind {
        ContentKind::Binary => Err(Error::Binary),
        _ => Ok(Output::Terminal(Screen::new(file))),
    }
}

/// The target of a path. Only a sealed directory takes the place of a directory.
fn target(path: &Path, how: How, input: Option<&Input>) -> Result<Target, Error> {
    let target = Target::of(path, how.force, input.map(Input::metadata))?;
    match how.kind == ContentKind::Content && how.force {
        true => Ok(target),
        false => Ok(target.not_a_directory(path)?),
    }
}

fn at(path: &Path, how: How, input: Option<&Input>) -> Result<Output, Error> {
    Ok(match target(path, how, input)? {
        Target::File(existing) => Output::Whole(Box::new(NewFile::new(path, existing, how.sync)?)),
        Target::Directory => Output::Directory(path.to_owned()),
        Target::Stream(file) => Output::Stream(file, shown(path)),
    })
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(e) => write!(f, "{e}"),
            Self::Closed => write!(f, "standard output is closed"),
            Self::Binary => write!(f, "this would write binary data to the terminal"),
            Self::Io(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<OutputError> for Error {
    fn from(error: OutputError) -> Self {
        Self::Refused(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn how(kind: ContentKind, force: bool) -> How {
        let sync = Sync::None;
        How { kind, force, sync }
    }

    #[test]
    fn a_file_appears_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new");
        let destination = Destination::named(&path);
        assert_eq!(destination.path(), Some(&*path));
        assert_eq!(Destination::named(Path::new(DASH)).path(), None);
        let how = how(ContentKind::Binary, false);
        let output = Output::create(&destination, how, None).unwrap();
        (&output).write_all(b"all").unwrap();
        assert!(!path.exists() && !output.is_stream());
        output.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"all");
        let refused = Output::create(&destination, how, None).unwrap_err();
        let Error::Refused(refused) = refused else {
            panic!("{refused}");
        };
        assert!(matches!(refused.reason, Refusal::Exists));
    }

    #[test]
    fn only_content_may_take_the_place_of_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let destination = Destination::File(directory.path().to_owned());
        for (how, is_refused) in [
            (how(ContentKind::Content, true), false),
            (how(ContentKind::Content, false), true),
            (how(ContentKind::Text, true), true),
        ] {
            let created = Output::create(&destination, how, None);
            let checked = Output::check(&destination, how, None, &mut HashSet::new());
            assert_eq!(
                (created.is_err(), checked.is_err()),
                (is_refused, is_refused)
            );
        }
    }

    #[test]
    fn a_check_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let destination = Destination::File(directory.path().join("new"));
        let mut usable = HashSet::new();
        let how = how(ContentKind::Text, false);
        Output::check(&destination, how, None, &mut usable).unwrap();
        assert!(usable.contains(directory.path()));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
