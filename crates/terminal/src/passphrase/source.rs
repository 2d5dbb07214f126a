//! Where a passphrase comes from.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use sealstone::Passphrase;
use sealstone_files::{Input, named};
use zeroize::Zeroizing;

use super::{Error, Notice, Program};
use crate::input;
use crate::text::shown;

/// A longer file is rejected: it is not a passphrase file.
pub const MAX_PASSPHRASE: usize = 64 << 10;
/// A longer file is rejected: it is not a password.
pub const MAX_PASSWORD: usize = 16 << 20;

/// Where a passphrase comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// A descriptor that the program has inherited.
    Descriptor(u32),
    /// The first line that a command of the user prints. A shell runs it.
    Command(OsString),
    /// The environment variable of this name.
    Variable(&'static str),
    /// The person at the terminal.
    Terminal,
}

impl Source {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => shown(path),
            Self::Descriptor(number) => format!("file descriptor {number}"),
            Self::Command(_) => COMMAND.to_owned(),
            Self::Variable(name) => (*name).to_owned(),
            Self::Terminal => "the terminal".to_owned(),
        }
    }

    /// Reads a passphrase; `None` for the terminal.
    pub(super) fn read<P: Program>(&self, program: &P) -> Result<Option<Passphrase>, P::Error> {
        let Some(line) = self.bytes(MAX_PASSPHRASE, program)? else {
            return Ok(None);
        };
        let invalid = |e| Error::Invalid(Some(self.name()), e);
        Ok(Some(Passphrase::from_line(&line).map_err(invalid)?))
    }

    /// Reads up to `limit` bytes as they are; `None` for the terminal.
    pub(super) fn bytes<P: Program>(
        &self,
        limit: usize,
        program: &P,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, P::Error> {
        Ok(Some(match self {
            Self::Terminal => return Ok(None),
            Self::File(path) => {
                let document = open(path, &self.name())
                    .and_then(|input| input.document(limit))
                    .map_err(Error::Io)?;
                if document.is_exposed() {
                    program.tell(&Notice::Exposed(&document));
                }
                document.into_bytes()
            }
            Self::Descriptor(number) => {
                let input = input::descriptor(*number, "the passphrase");
                let document = input.map_err(Error::Input)?.document(limit);
                document.map_err(Error::Io)?.into_bytes()
            }
            Self::Command(command) => run(command, limit)?,
            Self::Variable(name) => {
                let value = std::env::var_os(name).unwrap_or_default();
                Zeroizing::new(value.into_encoded_bytes())
            }
        }))
    }
}

/// The name of a command in messages. Its text may be a secret.
const COMMAND: &str = "the passphrase command";

fn open(path: &Path, name: &str) -> io::Result<Input> {
    let file = File::open(path).map_err(|e| named(name, &e))?;
    Input::new(file, name)
}

/// The first line that a command prints. Keyrings may print more, as `pass` does.
fn run(command: &OsStr, limit: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
    let (mut bytes, status) = output(command, limit).map_err(|e| named(COMMAND, &e))?;
    if bytes.len() > limit {
        // Nobody reads the rest, so that the command may end by a signal.
        return Err(Error::TooMuch);
    }
    if !status.success() {
        return Err(Error::Failed(status));
    }
    let line = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(bytes.len());
    bytes.truncate(line);
    Ok(bytes)
}

/// The first `limit + 1` bytes that a command prints, and how it ended.
fn output(command: &OsStr, limit: usize) -> io::Result<(Zeroizing<Vec<u8>>, ExitStatus)> {
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit + 1));
    let stdout = child.stdout.take().expect("it is a pipe");
    stdout.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes, child.wait()?))
}
