//! The record of one member, and the order of members.

use std::cmp::Ordering;

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::{Error, Result};

/// The longest path, in bytes.
pub const MAX_PATH: usize = 4095;
/// The most components of a path.
pub const MAX_DEPTH: usize = 255;

/// A member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Components joined by `/`, below the directory that was sealed. Any bytes but NUL.
    pub path: Vec<u8>,
    /// Its kind.
    pub kind: EntryKind,
    /// Permission bits.
    pub mode: u32,
    /// Time of modification, seconds since 1970.
    pub modified: i64,
}

/// The kinds of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File {
        /// Bytes of content.
        size: u64,
    },
    /// A regular file with holes.
    Sparse {
        /// Bytes of content.
        size: u64,
        /// Bytes in the archive: the map and the fragments.
        stored: u64,
    },
    /// A symbolic link.
    Link {
        /// The path that it leads to. Any bytes but NUL.
        target: Vec<u8>,
    },
}

impl Entry {
    /// Bytes of content.
    pub fn size(&self) -> u64 {
        match self.kind {
            EntryKind::File { size } | EntryKind::Sparse { size, .. } => size,
            _ => 0,
        }
    }

    /// Bytes in the archive behind the header, without the zero bytes that follow.
    pub(super) fn stored(&self) -> u64 {
        match self.kind {
            EntryKind::File { size } => size,
            EntryKind::Sparse { stored, .. } => stored,
            _ => 0,
        }
    }

    /// The path that a symbolic link leads to.
    pub(super) fn target(&self) -> &[u8] {
        match &self.kind {
            EntryKind::Link { target } => target,
            _ => b"",
        }
    }

    pub(super) fn is_directory(&self) -> bool {
        self.kind == EntryKind::Directory
    }

    /// For machines. Paths that are not Unicode text are also there as they are, in base64.
    pub fn to_json(&self) -> Value {
        let kind = match self.kind {
            EntryKind::Directory => "directory",
            EntryKind::Link { .. } => "link",
            EntryKind::File { .. } => "file",
            EntryKind::Sparse { .. } => "sparse",
        };
        let target = matches!(self.kind, EntryKind::Link { .. }).then(|| self.target());
        let exact = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(_) => None,
            Err(_) => Some(BASE64.encode(bytes)),
        };
        json!({
            "path": String::from_utf8_lossy(&self.path),
            "path_base64": exact(&self.path),
            "kind": kind,
            "mode": format!("{:04o}", self.mode),
            "size": self.size(),
            "modified": self.modified,
            "target": target.map(String::from_utf8_lossy),
            "target_base64": target.and_then(exact),
        })
    }

    /// Checks the rules of the page. [`super::Writer`] checks the same.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn check(&self) -> Result<()> {
        let path = &self.path;
        let depth = path.split(|&byte| byte == b'/').count();
        let mut parts = path.split(|&byte| byte == b'/');
        let good = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
        if path.len() > MAX_PATH || depth > MAX_DEPTH || path.contains(&0) || !parts.all(good) {
            return Err(Error::Malformed("a path in the archive"));
        }
        let is_link = matches!(self.kind, EntryKind::Link { .. });
        if self.mode > 0o777 || is_link && self.mode != 0o777 {
            return Err(Error::Malformed("a mode in the archive"));
        }
        let target = self.target();
        if is_link && (target.is_empty() || target.len() > MAX_PATH || target.contains(&0)) {
            return Err(Error::Malformed("the target of a link in the archive"));
        }
        match self.size().max(self.stored()) {
            large if large > i64::MAX as u64 => Err(Error::Malformed("a size in the archive")),
            _ => Ok(()),
        }
    }
}

/// Compares component by component: `/` is before every other byte, and NUL is in no path.
fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    a.iter().map(rank).cmp(b.iter().map(rank))
}

/// Checks that members come in order, and each after the directory that it is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    last: Vec<u8>,
    last_is_directory: bool,
}

impl Sequence {
    /// Takes the next member, whose own rules have been checked.
    pub(super) fn take(&mut self, entry: &Entry) -> Result<()> {
        if compare(&entry.path, &self.last) != Ordering::Greater {
            return Err(Error::Malformed("the order of the archive"));
        }
        if !self.has_parent(&entry.path) {
            return Err(Error::Malformed(
                "a directory that is missing in the archive",
            ));
        }
        self.last.clone_from(&entry.path);
        self.last_is_directory = entry.is_directory();
        Ok(())
    }

    /// The members in a directory follow it. So the directory of the next member is the last
    /// member, or above it; and all that is above the last member is a directory.
    fn has_parent(&self, path: &[u8]) -> bool {
        let Some(end) = path.iter().rposition(|&byte| byte == b'/') else {
            return true;
        };
        let parent = &path[..end];
        match self.last.strip_prefix(parent) {
            Some(b"") => self.last_is_directory,
            Some([b'/', ..]) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str) -> Entry {
        let (path, kind) = match path.strip_suffix('/') {
            Some(path) => (path, EntryKind::Directory),
            None => (path, EntryKind::File { size: 0 }),
        };
        Entry {
            path: path.into(),
            kind,
            mode: 0o755,
            modified: 0,
        }
    }

    fn is_ordered(paths: &[&str]) -> bool {
        let mut sequence = Sequence::default();
        let take = |path: &&str| sequence.take(&entry(path)).is_ok();
        paths.iter().all(take)
    }

    #[test]
    fn a_directory_is_followed_by_what_is_in_it() {
        assert!(is_ordered(&[
            "a/", "a/b/", "a/b/c", "a/c", "a b", "a!", "b/", "b/a"
        ]));
        for bad in [
            &["b", "a"][..],
            &["a", "a"],
            &["a/", "a/"],
            &["a/b"],
            &["a", "a/b"],
            &["a/", "a!", "a/b"],
            &["a/", "ab/c"],
            &["a/", "a/b", "a/b/c"],
            &["a/", "b/", "a/c"],
            &["a/", "a/b/", "a/bc/d"],
        ] {
            assert!(!is_ordered(bad), "{bad:?}");
        }
    }

    #[test]
    fn paths_stay_below_the_directory() {
        let deep = ["d"; MAX_DEPTH].join("/");
        for good in ["a", "...", "a/.b", "\u{e4}", "a\nb", "-rf", &deep] {
            assert!(entry(good).check().is_ok(), "{good}");
        }
        let deeper = format!("{deep}/d");
        let long = "n".repeat(MAX_PATH + 1);
        for bad in [
            "", "/a", "a//b", ".", "..", "a/../b", "a/.", "./a", "a\0", "a//", &deeper, &long,
        ] {
            assert!(entry(bad).check().is_err(), "{bad}");
        }
    }
}
