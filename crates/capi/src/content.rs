//! The files of a package: in memory, or a directory.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::io;
use std::path::Path;
use std::thread::available_parallelism;

use sealstone::Error;
use sealstone::package::{Entry, EntryContent, Listed, Object, RelativePath, Source, Work};
use sealstone_files::Tree;
use serde_json::{Value, json};

use crate::raw;
use crate::status::Failure;

/// A file in memory.
#[repr(C)]
pub struct File {
    /// Its path in the package, with `/` between names.
    pub path: *const c_char,
    /// Its content.
    pub content: *const u8,
    /// Its length in bytes.
    pub content_len: usize,
    /// Whether the package contains the content; for signing.
    pub embed: bool,
}

impl File {
    /// Path and content.
    ///
    /// # Safety
    /// The pointers are valid for their lengths, as the header says.
    pub(crate) unsafe fn get<'a>(&self) -> Result<(&'a str, &'a [u8]), Failure> {
        // SAFETY: the caller's promise.
        let path = unsafe { raw::text(self.path, "file.path") }?;
        // SAFETY: as above.
        let content = unsafe { raw::bytes(self.content, self.content_len, "file.content") }?;
        Ok((path, content))
    }
}

/// Where the files beside a package are.
pub(crate) enum Given<'a> {
    Memory(BTreeMap<&'a str, &'a [u8]>),
    Directory(Tree),
}

impl<'a> Given<'a> {
    /// A directory or files, or none of both.
    ///
    /// # Safety
    /// The pointers are valid for their lengths, as the header says.
    pub(crate) unsafe fn new(
        files: *const File,
        count: usize,
        directory: *const c_char,
    ) -> Result<Option<Self>, Failure> {
        // SAFETY: the caller's promise.
        let files = unsafe { raw::values(files, count, "files") }?;
        // SAFETY: as above.
        match unsafe { raw::optional_text(directory, "directory") }? {
            Some(_) if count > 0 => Err(Failure::invalid(
                "give either files or a directory, not both",
            )),
            Some(directory) => Self::directory(directory).map(Some),
            None if count == 0 => Ok(None),
            // SAFETY: as above.
            None => unsafe { Self::memory(files) }.map(Some),
        }
    }

    /// # Safety
    /// As for `new`.
    unsafe fn memory(files: &[File]) -> Result<Self, Failure> {
        let mut named = BTreeMap::new();
        for file in files {
            // SAFETY: the caller's promise.
            let (path, content) = unsafe { file.get() }?;
            if named.insert(path, content).is_some() {
                return Err(Failure::invalid(format!("{path}: named twice")));
            }
        }
        Ok(Self::Memory(named))
    }

    pub(crate) fn directory(path: &str) -> Result<Self, Failure> {
        let tree = Tree::open(Path::new(path));
        let failed = |error| Failure::system(format!("{path}: {error}"));
        tree.map(Self::Directory).map_err(failed)
    }

    /// All files of a directory, to be signed.
    pub(crate) fn listed(&self, times: bool) -> Result<Vec<Listed>, Failure> {
        let Self::Directory(tree) = self else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        tree.scan(&mut |it| found.push(it)).map_err(Error::from)?;
        found.into_iter().map(|it| listed(it, times)).collect()
    }
}

fn listed(found: sealstone_files::Found, times: bool) -> Result<Listed, Failure> {
    let shown = found.path.to_string_lossy();
    let invalid = |what: &str| Failure::invalid(format!("{shown}: {what}"));
    if !found.is_content {
        return Err(invalid("neither a file nor a link: move it elsewhere"));
    }
    let path = found.path.to_str();
    let path = path.ok_or_else(|| invalid("its name is not UTF-8: rename it"))?;
    Ok(Listed {
        path: RelativePath::new(path).map_err(|error| failed_at(path, error))?,
        size: found.size,
        modified: times.then_some(found.modified),
    })
}

/// A failure with the path of the file that it is about.
pub(crate) fn failed_at(path: &str, error: Error) -> Failure {
    let Failure(status, text) = error.into();
    Failure(status, format!("{path}: {text}"))
}

/// All processors.
pub(crate) fn work() -> Work<'static> {
    Work {
        workers: available_parallelism().map_or(1, |count| count.get()),
        ..Work::default()
    }
}

impl Source for Given<'_> {
    fn open(&self, path: &RelativePath) -> io::Result<Object<'_>> {
        match self {
            Self::Directory(tree) => tree.open(path),
            Self::Memory(files) => {
                let file = files.get(path.as_str());
                Ok(file.map_or(Object::Missing, |bytes| Object::File(Box::new(*bytes))))
            }
        }
    }

    fn list(&self, found: &mut dyn FnMut(&str)) -> io::Result<()> {
        match self {
            Self::Directory(tree) => tree.list(found),
            Self::Memory(files) => {
                files.keys().for_each(|path| found(path));
                Ok(())
            }
        }
    }
}

/// One file of a package.
pub(crate) fn entry_json(entry: &Entry) -> Value {
    let (embedded, target) = match &entry.content {
        EntryContent::File { embedded, .. } => (*embedded, None),
        EntryContent::Link(target) => (false, Some(target.as_str())),
    };
    json!({
        "path": entry.path.as_str(),
        "size": entry.size(),
        "embedded": embedded,
        "target": target,
    })
}
