//! Names of which each can be taken once.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Component, Path};

use crate::keep::Result;
use crate::output::{OutputError, Refusal};
use crate::{directory_of, make_directory, sync_directory};

/// Takes `name` of the group `group`, durably. Returns whether nobody has taken it before.
///
/// Each name is an empty file, `directory/group/name`. The system makes such a file for one caller
/// only, however many ask at once. If it cannot be made durable, it is removed again: no caller has
/// the result yet, so the name can still be taken.
///
/// # Errors
/// The system's error; [`ErrorKind::InvalidInput`] if `group` or `name` is not the plain name of a
/// file. The name was not taken.
pub fn take_once(directory: &Path, group: &str, name: &str) -> Result<bool> {
    let failed = |path: &Path, e: io::Error| OutputError::new(path, Refusal::Io(e));
    // A name that leads elsewhere could be taken a second time.
    if ![group, name].into_iter().all(is_plain) {
        return Err(failed(directory, ErrorKind::InvalidInput.into()));
    }
    let group = directory.join(group);
    make_directory(directory)
        .and_then(|()| make_directory(&group))
        .map_err(|e| failed(directory, e))?;
    let mark = group.join(name);
    let file = match File::create_new(&mark) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => return Ok(false),
        made => made.map_err(|e| failed(&mark, e))?,
    };
    // Directories too that another process made, and may not have synced yet.
    let directories = [group.as_path(), directory, &directory_of(directory)];
    let synced = file
        .sync_all()
        .and_then(|()| directories.into_iter().try_for_each(sync_directory));
    synced.map(|()| true).map_err(|e| {
        // If this fails as well, the name stays taken: lost, and never taken twice.
        let _ = fs::remove_file(&mark);
        failed(&mark, e)
    })
}

fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let first = parts.next();
    matches!(first, Some(Component::Normal(part)) if part == name) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_once_in_each_group() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("spent");
        let take = |group, name| take_once(&directory, group, name).unwrap();
        assert!(take("a", "1") && take("a", "2") && take("b", "1"));
        assert!(!take("a", "1") && !take("b", "1"));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["", ".", "..", "../a", "a/b", "/a", "a/", "./a"] {
            for (group, name) in [("a", name), (name, "a")] {
                let refused = take_once(parent.path(), group, name).unwrap_err();
                let Refusal::Io(reason) = refused.reason else {
                    panic!("{group} {name}: {refused:?}");
                };
                assert_eq!(reason.kind(), ErrorKind::InvalidInput, "{group} {name}");
            }
        }
        assert_eq!(parent.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn of_many_at_once_one_takes_it() {
        let parent = tempfile::tempdir().unwrap();
        let taken: usize = std::thread::scope(|scope| {
            let take = || take_once(parent.path(), "a", "1").unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
            let taken = threads.into_iter().map(|thread| thread.join().unwrap());
            taken.filter(|&taken| taken).count()
        });
        assert_eq!(taken, 1);
    }
}
