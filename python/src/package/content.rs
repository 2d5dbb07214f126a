//! The files of a package: a directory, or objects of Python under names.

use crate::errors::{about, attached};
use crate::process::processors;
use crate::stream::Source;
use crate::watch::Watch;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sealstone::Error;
use sealstone::package::{Listed, Object, RelativePath, Work};
use sealstone_files::{Found, Tree};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// A directory with a file in it that is left out, or names with sources.
#[derive(FromPyObject)]
pub(crate) enum Content {
    Directory(PathBuf, Option<PathBuf>),
    Named(Vec<(String, Py<PyAny>)>),
}

/// Files that are read once.
pub(crate) enum Given {
    Directory(Tree),
    Named(BTreeMap<String, Mutex<Option<Source>>>),
}

impl Content {
    pub(crate) fn open(&self, py: Python<'_>) -> PyResult<Given> {
        match self {
            Self::Directory(path, except) => {
                let opened = py.detach(|| {
                    let tree = Tree::open(path)?;
                    let except = except.as_ref().and_then(|it| it.metadata().ok());
                    Ok(match except {
                        Some(except) => tree.except(&except),
                        None => tree,
                    })
                });
                let opened = opened.map_err(|error| about(path, error))?;
                Ok(Given::Directory(opened))
            }
            Self::Named(named) => {
                let mut files = BTreeMap::new();
                for (name, source) in named {
                    let source = Source::of(source.bind(py)).map_err(|error| match error
                        .is_instance_of::<PyTypeError>(py)
                    {
                        true => PyTypeError::new_err(format!("{name}: {}", error.value(py))),
                        false => error,
                    })?;
                    if files
                        .insert(name.clone(), Mutex::new(Some(source)))
                        .is_some()
                    {
                        return Err(PyValueError::new_err(format!("{name}: named twice")));
                    }
                }
                Ok(Given::Named(files))
            }
        }
    }
}

impl Given {
    pub(crate) fn is_directory(&self) -> bool {
        matches!(self, Self::Directory(_))
    }

    /// All files, to be signed. Progress has their bytes so far as its total.
    pub(crate) fn listed(
        &self,
        times: bool,
        watch: &Watch,
    ) -> Result<Vec<Listed>, (Option<String>, Error)> {
        match self {
            Self::Directory(tree) => {
                let (mut found, mut total) = (Vec::new(), 0_u64);
                let scanned = tree.scan_until(&mut |it| {
                    total = total.saturating_add(it.size);
                    found.push(it);
                    going(watch.passed(0, total))
                });
                scanned
                    .and_then(|()| watch.stopped())
                    .map_err(|error| (None, error.into()))?;
                found.into_iter().map(|it| listed(it, times)).collect()
            }
            Self::Named(files) => files.iter().map(|(name, it)| named(name, it)).collect(),
        }
    }

    /// How many threads may read. A pipe may keep its reader waiting: that has to be the thread of
    /// the call, which handles signals.
    fn workers(&self) -> usize {
        let Self::Named(files) = self else {
            return processors();
        };
        let is_pipe = |it: &Mutex<Option<Source>>| {
            let source = it.lock().unwrap_or_else(PoisonError::into_inner);
            matches!(&*source, Some(Source::Path(file)) if file.is_pipe())
        };
        if files.values().any(is_pipe) {
            1
        } else {
            processors()
        }
    }

    /// Reports what is read, and stops when the caller's progress function raises.
    pub(crate) fn watched<'a>(&'a self, watch: &'a Watch, total: u64) -> Watched<'a> {
        Watched {
            given: self,
            watch,
            done: AtomicU64::new(0),
            total,
        }
    }
}

/// Whether a walk goes on.
fn going(passed: io::Result<()>) -> ControlFlow<()> {
    match passed {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

fn listed(found: Found, times: bool) -> Result<Listed, (Option<String>, Error)> {
    let shown = found.path.to_string_lossy().into_owned();
    let at = |what| (Some(shown.clone()), Error::Invalid(what));
    if !found.is_content {
        return Err(at("neither a file nor a link: move it elsewhere"));
    }
    let path = found.path.to_str();
    let path = path.ok_or_else(|| at("its name is not UTF-8: rename it"))?;
    Ok(Listed {
        path: RelativePath::new(path).map_err(|error| (Some(shown.clone()), error))?,
        size: found.size,
        modified: times.then_some(found.modified),
    })
}

fn named(name: &str, source: &Mutex<Option<Source>>) -> Result<Listed, (Option<String>, Error)> {
    let path = RelativePath::new(name).map_err(|error| (Some(name.to_owned()), error))?;
    let source = source.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Listed {
        path,
        size: source.as_ref().map_or(0, Source::length),
        modified: None,
    })
}

/// Files under the eyes of a long call.
pub(crate) struct Watched<'a> {
    given: &'a Given,
    watch: &'a Watch,
    done: AtomicU64,
    total: u64,
}

impl Watched<'_> {
    /// Calls `run` with all threads and the progress of this call.
    pub(crate) fn work<T>(&self, run: impl FnOnce(Work<'_>) -> T) -> T {
        let progress = |bytes| {
            let done = self.done.fetch_add(bytes, Relaxed) + bytes;
            self.watch.at(done, self.total.max(done));
        };
        run(Work {
            workers: self.given.workers(),
            progress: &progress,
        })
    }

    fn object<'a>(&'a self, reader: impl Read + Send + 'a) -> Object<'a> {
        let watch = self.watch;
        Object::File(Box::new(Stoppable { reader, watch }))
    }
}

impl sealstone::package::Source for Watched<'_> {
    fn open(&self, path: &RelativePath) -> io::Result<Object<'_>> {
        self.watch.stopped()?;
        match self.given {
            Given::Directory(tree) => Ok(match tree.open(path)? {
                Object::File(reader) => self.object(reader),
                other => other,
            }),
            Given::Named(files) => {
                let Some(file) = files.get(path.as_str()) else {
                    return Ok(Object::Missing);
                };
                let source = file.lock().unwrap_or_else(PoisonError::into_inner).take();
                let source = source.ok_or_else(|| io::Error::other("read already"))?;
                Ok(match source {
                    // Its errors are findings, so they stay the system's.
                    Source::Path(named) => self.object(named.file),
                    other => self.object(other),
                })
            }
        }
    }

    fn list(&self, found: &mut dyn FnMut(&str)) -> io::Result<()> {
        match self.given {
            Given::Directory(tree) => {
                tree.list_until(&mut |path| {
                    found(path);
                    let done = self.done.load(Relaxed);
                    going(self.watch.passed(done, self.total))
                })?;
                self.watch.stopped()
            }
            Given::Named(files) => {
                files.keys().for_each(|name| found(name));
                Ok(())
            }
        }
    }
}

/// Ends when the call is cancelled, and hands exceptions of Python to it.
struct Stoppable<'a, R> {
    reader: R,
    watch: &'a Watch,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.watch.stopped()?;
        let read = self.reader.read(bytes);
        let read = read.or_else(|error| match error.kind() {
            // The caller tries again, unless a handler of a signal raised.
            io::ErrorKind::Interrupted => attached(|py| py.check_signals()).and(Err(error)),
            _ => Err(error),
        });
        read.map_err(|error| match error.downcast::<PyErr>() {
            Ok(raised) => {
                self.watch.fail(raised);
                io::Error::other("cancelled")
            }
            Err(error) => error,
        })
    }
}
