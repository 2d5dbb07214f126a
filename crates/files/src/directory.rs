//! Directories, and the modes of new files.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Mode of a file that only its owner may read.
pub const PRIVATE: u32 = 0o600;
/// Mode of a file that everybody may read, where the [`umask`] allows it.
pub const PUBLIC: u32 = 0o666;
/// Permissions of the group and of everybody else to write.
pub const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The directory that a file is in.
pub fn directory_of(path: &Path) -> PathBuf {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// Makes the names in a directory durable.
///
/// # Errors
/// The system's error.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes `path` and what is missing above it, durably, for the owner only (0700). Existing
/// directories stay as they are.
///
/// # Errors
/// The system's error.
pub fn make_directory(path: &Path) -> io::Result<()> {
    let parent = directory_of(path);
    let make = || match DirBuilder::new().mode(0o700).create(path) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.and_then(|()| sync_directory(&parent)),
    };
    match make() {
        Err(e) if e.kind() == ErrorKind::NotFound && parent != path => {
            make_directory(&parent)?;
            // In /proc and its like nothing can be made: the directory is still not found.
            make()
        }
        made => made,
    }
}

/// A directory that belongs to the user, or that everybody may use, whose files are in memory only:
/// `$XDG_RUNTIME_DIR`, else `/dev/shm`. `None` if none of them is in memory.
pub fn directory_in_memory() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let places = runtime.into_iter().chain([PathBuf::from("/dev/shm")]);
    let mut places = places.filter(|place| place.is_absolute());
    places.find(|place| is_in_memory(place))
}

#[cfg(target_os = "linux")]
fn is_in_memory(path: &Path) -> bool {
    /// `TMPFS_MAGIC` and `RAMFS_MAGIC` of statfs(2).
    const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
    rustix::fs::statfs(path).is_ok_and(|found| IN_MEMORY.contains(&(found.f_type as u64)))
}

#[cfg(not(target_os = "linux"))]
fn is_in_memory(_: &Path) -> bool {
    false
}

/// The permissions that new files do not get. Reading it means setting it for a moment.
pub fn umask() -> u32 {
    use rustix::fs::Mode;
    use rustix::process::umask;
    let mask = umask(Mode::from_raw_mode(0o077));
    umask(mask);
    mask.as_raw_mode()
}
