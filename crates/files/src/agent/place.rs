//! The socket of the agent, in a directory that nobody else can write to.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;

use crate::WRITABLE_BY_OTHERS;

/// Where the agent of this user is, if there is one.
#[derive(Clone, Debug)]
pub struct AgentPlace(PathBuf);

/// The environment variable that names the user's directory for sockets.
pub const RUNTIME_DIRECTORY: &str = "XDG_RUNTIME_DIR";

impl AgentPlace {
    /// The place that [`RUNTIME_DIRECTORY`] names; `None` if it is not set.
    pub fn find() -> Option<Self> {
        let runtime = std::env::var_os(RUNTIME_DIRECTORY).filter(|value| !value.is_empty());
        Some(Self(PathBuf::from(runtime?).join("sealstone")))
    }

    /// The path of the socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.0.join("agent")
    }

    /// Makes the directory, and checks that it is private.
    pub(super) fn make(&self) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(&self.0) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(named(&self.0, &e)),
            _ => {}
        }
        self.check()
    }

    /// The file whose lock the one agent has.
    pub(super) fn lock_file(&self) -> io::Result<File> {
        let path = self.0.join("agent.lock");
        let flags = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
        let file = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags)
            .open(&path);
        let file = file.map_err(|e| named(&path, &e))?;
        private(&path, &file.metadata()?)?;
        Ok(file)
    }

    /// A connection to the agent; `None` if there is none.
    ///
    /// # Errors
    /// The system's error; [`ErrorKind::PermissionDenied`] if the place belongs to somebody else.
    pub fn connect(&self, timeout: Duration) -> io::Result<Option<UnixStream>> {
        if self.0.symlink_metadata().is_err_and(is_missing) {
            return Ok(None);
        }
        self.check()?;
        let path = self.socket();
        match path.symlink_metadata() {
            Err(e) if is_missing_ref(&e) => return Ok(None),
            found => {
                let metadata = found.map_err(|e| named(&path, &e))?;
                private(&path, &metadata)?;
                if !metadata.file_type().is_socket() {
                    return Err(refuse(&path, "is not a socket"));
                }
            }
        }
        let stream = match UnixStream::connect(&path) {
            Err(e) if left_over(&e) => return Ok(None),
            connected => connected.map_err(|e| named(&path, &e))?,
        };
        if !is_own(&stream) {
            return Err(refuse(&path, "is served by another user"));
        }
        stream.set_read_timeout(Some(timeout))?;
        stream.set_write_timeout(Some(timeout))?;
        Ok(Some(stream))
    }

    /// The directory and the one above it are the user's, and only the user's.
    fn check(&self) -> io::Result<()> {
        for path in self.0.parent().into_iter().chain([&*self.0]) {
            let metadata = path.symlink_metadata().map_err(|e| named(path, &e))?;
            if !metadata.is_dir() {
                return Err(refuse(path, "is not a directory"));
            }
            private(path, &metadata)?;
        }
        Ok(())
    }
}

/// Whether the other end belongs to this user.
pub(super) fn is_own(stream: impl AsFd) -> bool {
    #[cfg(target_os = "linux")]
    let own = rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == geteuid());
    // Elsewhere only the permissions of the directory and of the socket keep others out.
    #[cfg(not(target_os = "linux"))]
    let own = stream.as_fd().try_clone_to_owned().is_ok();
    own
}

/// Whether two files are one.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

fn private(path: &Path, metadata: &Metadata) -> io::Result<()> {
    if metadata.uid() != geteuid().as_raw() {
        return Err(refuse(path, "belongs to another user"));
    }
    if !metadata.is_symlink() && metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(refuse(path, "can be changed by other users"));
    }
    Ok(())
}

fn refuse(path: &Path, why: &str) -> io::Error {
    let what = format!("{} {why}", path.display());
    io::Error::new(ErrorKind::PermissionDenied, what)
}

pub(super) fn named(path: &Path, error: &io::Error) -> io::Error {
    crate::named(&path.display().to_string(), error)
}

fn is_missing(error: io::Error) -> bool {
    is_missing_ref(&error)
}

fn is_missing_ref(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

/// The agent was killed, or ended in this moment.
fn left_over(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::NotFound | ErrorKind::ConnectionReset
    )
}
