//! Where content goes: a file that appears whole or not at all, or a stream.

use std::fs::File;
use std::io::{self, IsTerminal, Stdout, Write, stdout};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sealstone_files::{AtomicFile, Existing, PUBLIC, Sync, directory_of, umask};

use super::closed::Standard;
use super::input::{DASH, Input};
use super::kind::Kind;
use super::terminal::check_text;
use crate::exit::Exit;
use crate::failure::{self, About, Failure, Result};
use crate::text::shown;

/// Where content goes.
pub(crate) enum Destination {
    /// Standard output; `forced` if the user said `-o -`.
    Stdout { forced: bool },
    /// A file.
    File(PathBuf),
}

/// An output that is being written.
pub(crate) enum Output {
    /// Nobody sees anything of it before [`Output::commit`].
    Whole(Box<Whole>),
    /// Standard output, a pipe, a device: what is written is gone. And what messages call it.
    Stream(File, String),
    /// A terminal, which gets text only.
    Terminal(Terminal),
}

/// A terminal, and the bytes of a character or line ending that was cut in two.
pub(crate) struct Terminal {
    file: File,
    rest: Mutex<Vec<u8>>,
}

/// A file that is not there yet.
pub(crate) struct Whole {
    temp: AtomicFile,
    target: PathBuf,
    shown: PathBuf,
    existing: Existing,
    mode: u32,
    sync: Sync,
}

/// What messages call standard output.
pub(crate) const STDOUT: &str = "standard output";

/// How an output is made.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) nature: Nature,
    /// Whether a file that exists is replaced.
    pub(crate) force: bool,
    pub(crate) sync: Sync,
}

/// What is written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Nature {
    /// Never shown on a terminal.
    Binary,
    /// Text as far as anybody knows.
    Content,
    /// Text for sure.
    Text,
}

impl Destination {
    /// What `-o` asks for; `otherwise` if it is not given.
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
    /// Opens the destination. Fails early with everything that would fail later.
    pub(crate) fn create(destination: &Destination, how: How, input: &Input) -> Result<Self> {
        match destination {
            Destination::Stdout { forced } => standard(*forced, how.nature),
            Destination::File(path) => named(path, how, input),
        }
    }

    /// Whether what is written can be taken back.
    pub(crate) fn is_stream(&self) -> bool {
        !matches!(self, Self::Whole(_))
    }

    /// Makes everything visible that was written.
    pub(crate) fn commit(self) -> Result<()> {
        match self {
            Self::Whole(whole) => whole.commit(),
            Self::Stream(..) | Self::Terminal(_) => Ok(()),
        }
    }

    fn put(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Whole(whole) => whole.temp.file().write(bytes),
            Self::Stream(file, _) => (&*file).write(bytes),
            Self::Terminal(terminal) => terminal.put(bytes).map(|()| bytes.len()),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Whole(whole) => shown(&whole.shown),
            Self::Stream(_, name) => name.clone(),
            Self::Terminal(_) => STDOUT.to_owned(),
        }
    }
}

impl Write for &Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)
            .map_err(|e| failure::of_file(&self.name(), &e))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Terminal {
    /// Shows what is text, as soon as it is known to be.
    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        rest.extend_from_slice(bytes);
        let shown = check_text(&rest)?;
        (&self.file).write_all(&rest[..shown])?;
        rest.drain(..shown);
        Ok(())
    }
}

impl Whole {
    fn new(path: &Path, existing: Existing, sync: Sync) -> io::Result<Self> {
        // Behind a link, the file that it leads to is replaced, and keeps who may read it.
        let (target, mode) = match path.canonicalize() {
            Ok(target) => {
                let mode = target.metadata()?.permissions().mode() & 0o777;
                (target, mode)
            }
            Err(_) => (path.to_owned(), PUBLIC & !umask()),
        };
        Ok(Self {
            temp: AtomicFile::new(&directory_of(&target))?,
            target,
            shown: path.to_owned(),
            existing,
            mode,
            sync,
        })
    }

    fn commit(self) -> Result<()> {
        let done = self
            .temp
            .commit(&self.target, self.existing, self.mode, self.sync);
        done.map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => replaceable(&self.shown),
            _ => Failure::from(e).about(self.shown.display()),
        })
    }
}

/// Says that a file exists.
pub(crate) fn exists(path: &Path) -> Failure {
    Failure::new(Exit::Io, format!("{} exists", shown(path)))
}

/// A key that is gone is gone for good: not even `--force` replaces one.
fn refuse_secret_passport(path: &Path) -> Result<()> {
    let mut start = [0; 512];
    let len = File::open(path)
        .and_then(|file| file.read_at(&mut start, 0))
        .about(path.display())?;
    if Kind::of(&start[..len]) != Kind::SecretPassport {
        return Ok(());
    }
    let failure = Failure::new(Exit::Io, "is a secret passport, and is never replaced");
    Err(failure
        .hint("use another -o, or move it away")
        .about(path.display()))
}

fn replaceable(path: &Path) -> Failure {
    exists(path).hint("use another -o, or --force to replace it")
}

/// Standard output, unless the caller had closed it.
pub(crate) fn standard_output() -> Result<Stdout> {
    Standard::Output.must_be_open()?;
    Ok(stdout())
}

/// Writes to standard output at once, so that whoever waits for it has it, and whoever writes knows whether it arrived.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut stdout = standard_output()?.lock();
    let written = stdout.write_all(bytes);
    written.and_then(|()| stdout.flush()).about(STDOUT)
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
        _ => Ok(Output::Terminal(Terminal {
            file,
            rest: Mutex::default(),
        })),
    }
}

fn named(path: &Path, how: How, input: &Input) -> Result<Output> {
    let Ok(metadata) = path.metadata() else {
        let whole = Whole::new(path, Existing::Keep, how.sync).about(path.display())?;
        return Ok(Output::Whole(Box::new(whole)));
    };
    if (metadata.dev(), metadata.ino()) == (input.metadata().dev(), input.metadata().ino())
        && metadata.is_file()
    {
        return Err(Failure::usage(format!("{} is the input", shown(path))).hint("use another -o"));
    }
    if metadata.is_dir() {
        return Err(Failure::new(Exit::Io, "is a directory").about(path.display()));
    }
    if !metadata.is_file() {
        // A pipe or a device cannot be replaced; it takes what is written.
        let file = File::options()
            .write(true)
            .open(path)
            .about(path.display())?;
        return Ok(Output::Stream(file, shown(path)));
    }
    if !how.force {
        return Err(replaceable(path));
    }
    refuse_secret_passport(path)?;
    let whole = Whole::new(path, Existing::Replace, how.sync).about(path.display())?;
    Ok(Output::Whole(Box::new(whole)))
}
