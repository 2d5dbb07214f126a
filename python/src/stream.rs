//! Where content comes from and goes to: memory, paths, and file objects of Python.

use crate::data::Data;
use crate::errors::{about, attached};
use crate::named::{Named, carried};
use crate::output::Output;
use crate::place::Place;
use crate::view::{Buffer, View, ViewReader};
use crate::watch::Watch;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyBlockingIOError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealstone::file::Workers;
use sealstone_files::{AtomicFile, Sync, directory_of};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Content that is read: a path, also as `str`, bytes-like data, or a file object. A mapped file is
/// all of its bytes, wherever its position is.
pub(crate) enum Source {
    Memory(Cursor<Data>),
    View(ViewReader),
    Path(Named),
    Object(Py<PyAny>),
}

/// Where content is written: a path, also as `str`, a writable buffer, or a file object. A mapped
/// file is a buffer.
pub(crate) enum Target {
    Memory(Output),
    Buffer(Buffer),
    /// A file that appears whole or not at all.
    Path(AtomicFile, Place),
    Object(Py<PyAny>),
}

/// A reader that reports what was read, and ends when the caller's progress function raises.
pub(crate) struct Watched<'a, R> {
    reader: R,
    watch: &'a Watch,
    done: u64,
    total: u64,
}

fn path_of(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    let is_path =
        object.is_instance_of::<pyo3::types::PyString>() || object.hasattr("__fspath__")?;
    let path: Option<PathBuf> = is_path.then(|| object.extract()).transpose()?;
    let is_text = |path: &PathBuf| path.as_os_str().as_encoded_bytes().contains(&b'\n');
    if path.as_ref().is_some_and(is_text) {
        // The system's error would show the text, which may be a secret passport.
        let why = "this text is not a path: encode it, and give the bytes";
        return Err(PyValueError::new_err(why));
    }
    Ok(path)
}

impl Source {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // First, because asking an object for an attribute that it lacks makes an exception.
        if object.is_instance_of::<PyBytes>() {
            return Ok(Self::Memory(Cursor::new(object.extract()?)));
        }
        if let Some(path) = path_of(object)? {
            return Ok(Self::Path(Named::open(object.py(), path)?));
        }
        match View::of(object) {
            Ok(Some(view)) => Ok(Self::View(ViewReader::new(view))),
            Ok(None) => Ok(Self::Memory(Cursor::new(object.extract()?))),
            Err(_) if object.hasattr("read")? => Ok(Self::Object(object.clone().unbind())),
            Err(error) => Err(error),
        }
    }

    /// Bytes of content, if that is known; 0 if not.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.get_ref().len() as u64,
            Self::View(view) => view.len() as u64,
            Self::Path(file) => file.length(),
            Self::Object(_) => 0,
        }
    }

    /// Whether it may keep a thread waiting that handles no signals.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// How many threads may read it. A pipe may keep its reader waiting: that has to be the thread
    /// of the call, which handles signals.
    pub(crate) fn workers(&self) -> Workers {
        match self {
            Self::Path(file) if file.is_pipe() => Workers::new(1),
            _ => Workers::default(),
        }
    }
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Memory(source) => source.read(bytes),
            Self::View(source) => source.read(bytes),
            Self::Path(file) => file.read(bytes),
            Self::Object(object) => attached(|py| {
                let read = object.bind(py).call_method1("read", (bytes.len(),))?;
                let read: Data = read.extract()?;
                let too_long = || PyOSError::new_err("read() gave more bytes than were asked for");
                bytes
                    .get_mut(..read.len())
                    .ok_or_else(too_long)?
                    .copy_from_slice(&read);
                Ok(read.len())
            }),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Memory(source) => source.seek(to),
            Self::View(source) => source.seek(to),
            Self::Path(file) => file.seek(to),
            Self::Object(object) => attached(|py| {
                let (offset, whence) = match to {
                    SeekFrom::Start(at) => (i128::from(at), 0),
                    SeekFrom::Current(by) => (by.into(), 1),
                    SeekFrom::End(by) => (by.into(), 2),
                };
                object
                    .bind(py)
                    .call_method1("seek", (offset, whence))?
                    .extract()
            }),
        }
    }
}

impl Target {
    /// Memory if `object` is `None`.
    pub(crate) fn of(object: Option<&Bound<'_, PyAny>>, overwrite: bool) -> PyResult<Self> {
        let Some(object) = object else {
            return Ok(Self::Memory(Output::default()));
        };
        let Some(path) = path_of(object)? else {
            return match Buffer::of(object) {
                Err(_) if object.hasattr("write")? => Ok(Self::Object(object.clone().unbind())),
                buffer => buffer.map(Self::Buffer),
            };
        };
        object.py().detach(|| {
            let place = Place::of(&path, overwrite)?;
            let file = AtomicFile::new(&directory_of(&place.path));
            Ok(Self::Path(file.map_err(|e| about(&path, e))?, place))
        })
    }

    /// Whether it may keep a thread waiting that handles no signals.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Refuses to write where the source is.
    pub(crate) fn separate(&self, py: Python<'_>, source: &Source) -> PyResult<()> {
        match (self, source) {
            (Self::Buffer(buffer), Source::View(source)) => buffer.separate(py, source),
            _ => Ok(()),
        }
    }

    /// Takes memory for this number of bytes, before the first is written. In the end, it may be
    /// another number.
    pub(crate) fn expect(&mut self, length: u64) -> io::Result<()> {
        match self {
            Self::Memory(output) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                *output = attached(|py| Output::new(py, length))?;
                Ok(())
            }
            Self::Buffer(buffer) => buffer.expect(length),
            _ => Ok(()),
        }
    }

    /// Discards the written bytes, without Python's lock: the system takes long to remove a long
    /// file.
    pub(crate) fn abandon(self, py: Python<'_>) {
        match self {
            Self::Path(file, place) => py.detach(|| drop((file, place))),
            other => drop(other),
        }
    }

    /// The content if it is in memory, the number of bytes in a buffer, else `None`.
    pub(crate) fn finish(self, py: Python<'_>, mode: u32) -> PyResult<Option<Bound<'_, PyAny>>> {
        match self {
            Self::Memory(output) => Ok(Some(output.finish(py)?.into_any())),
            Self::Buffer(buffer) => Ok(Some(buffer.finish().into_bound_py_any(py)?)),
            Self::Path(file, place) => {
                let commit =
                    || file.commit(&place.path, place.existing, place.mode(mode), Sync::Full);
                let done = py.detach(commit);
                done.map(|()| None).map_err(|e| about(&place.path, e))
            }
            Self::Object(_) => Ok(None),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Memory(target) => target.write(bytes),
            Self::Buffer(target) => target.write(bytes),
            Self::Path(file, place) => {
                let written = file.file().write(bytes);
                written.map_err(|error| carried(&place.path, error))
            }
            Self::Object(object) => attached(|py| {
                let bytes = PyBytes::new(py, bytes);
                let object = object.bind(py);
                let written: Option<usize> = object.call_method1("write", (&bytes,))?.extract()?;
                let all = bytes.as_bytes().len();
                // A raw file may write less, and returns `None` if it would have to wait. Other
                // objects write all and may return nothing.
                match written {
                    None if is_raw(object)? => Err(PyBlockingIOError::new_err(
                        "the target does not take more now: make it blocking",
                    )),
                    written => Ok(written.unwrap_or(all).min(all)),
                }
            }),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Object(object) => attached(|py| match object.bind(py).hasattr("flush")? {
                true => object.bind(py).call_method0("flush").map(drop),
                false => Ok(()),
            }),
            _ => Ok(()),
        }
    }
}

/// A writer that ends when the call has to stop.
pub(crate) struct Stoppable<'a, W> {
    writer: W,
    watch: &'a Watch,
}

impl<'a, W: Write> Stoppable<'a, W> {
    pub(crate) fn new(writer: W, watch: &'a Watch) -> Self {
        Self { writer, watch }
    }
}

impl<W: Write> Write for Stoppable<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.watch.stopped()?;
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn is_raw(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let raw = object.py().import("io")?.getattr("RawIOBase")?;
    object.is_instance(&raw)
}

impl<'a, R: Read> Watched<'a, R> {
    pub(crate) fn new(reader: R, watch: &'a Watch, total: u64) -> Self {
        Self {
            reader,
            watch,
            done: 0,
            total,
        }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(bytes)?;
        self.done += read as u64;
        self.watch.passed(self.done, self.total)?;
        Ok(read)
    }
}
