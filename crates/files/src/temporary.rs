//! Temporary files and directories that have names, so that a signal handler can remove them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A named temporary file or directory. Dropping the value removes it.
#[derive(Debug)]
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// Creates a file with `create` and registers it. A signal handler runs before both or
    /// after both.
    pub(crate) fn create<T>(
        path: PathBuf,
        create: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        let mut files = registry();
        let created = create(&path)?;
        files.push(path.clone());
        Ok((Self(path), created))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Keeps the file or directory, and returns its path.
    pub(crate) fn keep(mut self) -> PathBuf {
        let path = std::mem::take(&mut self.0);
        registry().retain(|known| *known != path);
        path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.0);
        registry().retain(|path| *path != self.0);
    }
}

/// Removes all named temporary files, for a process that is about to end.
///
/// After this call a thread that creates one waits for ever.
pub fn remove_temporaries() {
    let files = registry();
    files.iter().for_each(|path| remove(path));
    // The lock is never released.
    std::mem::forget(files);
}

/// Removes a file or directory, if it is still there: a commit has renamed it.
fn remove(path: &Path) {
    if std::fs::remove_file(path).is_err() {
        let _ = std::fs::remove_dir_all(path);
    }
}

pub(crate) fn registry() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}
