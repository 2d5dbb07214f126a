//! A view of the bytes of an object that is not `bytes`: read and written in place, in pieces.

use crate::errors::attached;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PySlice};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Bytes in each piece of data that is not `bytes`: they stay in the processor's cache.
pub(crate) const PIECE: usize = 256 << 10;

/// The bytes of an object, whose length cannot change as long as the view exists. Each access takes
/// Python's lock. Another thread may change the bytes between two.
pub(crate) struct View {
    bytes: Py<PyAny>,
    length: usize,
}

impl View {
    /// `None` if Python has no such view: the bytes are not one behind the other, or elements have
    /// fields.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let view = memoryview(object)?;
        let length = view.getattr("nbytes")?.extract()?;
        // A view of nothing has no cast.
        let bytes = match length {
            0 => Some(view),
            _ => view.call_method1("cast", ("B",)).ok(),
        };
        Ok(bytes.map(|bytes| Self {
            bytes: bytes.unbind(),
            length,
        }))
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// A copy of the bytes at `from..to`.
    pub(crate) fn piece<'py>(
        &self,
        py: Python<'py>,
        [from, to]: [usize; 2],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let piece = self.bytes.bind(py).get_item(slice(py, [from, to])?)?;
        Ok(piece.call_method0("tobytes")?.cast_into()?)
    }

    /// Whether both are views of one object.
    fn shares(&self, py: Python<'_>, other: &Self) -> bool {
        owner(self.bytes.bind(py)).is(owner(other.bytes.bind(py)))
    }

    /// Writes at `from`, where there is room for all of `bytes`.
    fn write(&self, py: Python<'_>, from: usize, bytes: &[u8]) -> PyResult<()> {
        let place = slice(py, [from, from + bytes.len()])?;
        self.bytes.bind(py).set_item(place, PyBytes::new(py, bytes))
    }
}

/// The object whose memory a view shows: views know it as `obj`, arrays of numpy as `base`.
fn owner<'py>(view: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let mut owner = view.clone();
    for _ in 0..LINKS {
        let is_view = owner.is_instance_of::<PyMemoryView>();
        match owner.getattr(if is_view { "obj" } else { "base" }) {
            Ok(next) if !next.is_none() => owner = next,
            _ => break,
        }
    }
    owner
}

/// More than any object has between a view and its memory.
const LINKS: usize = 64;

/// `PySlice::new` of pyo3 0.30 forgets to free the numbers.
fn slice(py: Python<'_>, ends: [usize; 2]) -> PyResult<Bound<'_, PyAny>> {
    py.get_type::<PySlice>().call1((ends[0], ends[1]))
}

/// Fills a `bytearray` with zeros, in place.
pub(crate) fn wipe(bytes: &Bound<'_, PyByteArray>) -> PyResult<()> {
    let (py, length) = (bytes.py(), bytes.len());
    for from in (0..length).step_by(PIECE) {
        let to = length.min(from + PIECE);
        let zeros = PyBytes::new_with(py, to - from, |_| Ok(()))?;
        bytes.set_item(slice(py, [from, to])?, zeros)?;
    }
    Ok(())
}

/// Python's own view of the object.
pub(crate) fn memoryview<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let view = object.py().import("builtins")?.getattr("memoryview")?;
    view.call1((object,)).map_err(|error| {
        // Other errors name the mistake in a bytes-like object.
        if !error.is_instance_of::<PyTypeError>(object.py()) {
            return error;
        }
        let name = object
            .get_type()
            .name()
            .map_or_else(|_| String::from("this object"), |name| name.to_string());
        PyTypeError::new_err(format!("a bytes-like object is required, not '{name}'"))
    })
}

/// The message where a view is needed and the object has none.
pub(crate) const NOT_BYTES: &str = "the buffer is not a contiguous run of plain elements";

/// Reads a view.
pub(crate) struct ViewReader {
    view: View,
    at: u64,
}

impl ViewReader {
    pub(crate) fn new(view: View) -> Self {
        Self { view, at: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.view.length
    }
}

impl Read for ViewReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let from = usize::try_from(self.at).map_or(self.len(), |at| at.min(self.len()));
        let to = self.len().min(from.saturating_add(bytes.len().min(PIECE)));
        if from < to {
            attached(|py| {
                let piece = self.view.piece(py, [from, to])?;
                bytes[..to - from].copy_from_slice(piece.as_bytes());
                Ok(())
            })?;
        }
        self.at += (to - from) as u64;
        Ok(to - from)
    }
}

impl Seek for ViewReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => i128::from(at),
            SeekFrom::Current(by) => i128::from(self.at) + i128::from(by),
            SeekFrom::End(by) => self.len() as i128 + i128::from(by),
        };
        self.at = u64::try_from(to).map_err(|_| io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// A buffer that the caller gave for output. The bytes written become zeros if the work fails.
pub(crate) struct Buffer {
    view: View,
    written: usize,
    is_whole: bool,
}

impl Buffer {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let view = View::of(object)?;
        let view = view.ok_or_else(|| PyTypeError::new_err(NOT_BYTES))?;
        if view
            .bytes
            .bind(object.py())
            .getattr("readonly")?
            .extract()?
        {
            return Err(PyTypeError::new_err("the buffer is read-only"));
        }
        Ok(Self {
            view,
            written: 0,
            is_whole: false,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.view.length
    }

    /// Refuses a source that is the same object: what is written would be read again. Two objects
    /// may still have memory in common.
    pub(crate) fn separate(&self, py: Python<'_>, source: &ViewReader) -> PyResult<()> {
        match self.view.shares(py, &source.view) {
            false => Ok(()),
            true => Err(PyValueError::new_err(
                "the source and the target are parts of the same object",
            )),
        }
    }

    /// Refuses if there is no room for this number of bytes in all.
    pub(crate) fn expect(&self, length: u64) -> io::Result<()> {
        let room = self.len();
        if length <= room as u64 {
            return Ok(());
        }
        let text = format!("{length} bytes are needed, and the buffer has room for {room}");
        Err(io::Error::other(PyValueError::new_err(text)))
    }

    /// Writes a secret, of which no other copy of Python's stays. After an error, the buffer is as
    /// it was, or has zeros where the secret was to go.
    pub(crate) fn fill(mut self, py: Python<'_>, secret: &[u8]) -> PyResult<()> {
        self.expect(secret.len() as u64)?;
        for piece in secret.chunks(PIECE) {
            let place = slice(py, [self.written, self.written + piece.len()])?;
            let copy = PyByteArray::new(py, piece);
            // Before it is: whatever fails from here on, this piece becomes zeros too.
            self.written += piece.len();
            let set = self.view.bytes.bind(py).set_item(place, &copy);
            let wiped = wipe(&copy);
            set.and(wiped)?;
        }
        self.finish();
        Ok(())
    }

    /// Keeps the written bytes, and returns their number.
    pub(crate) fn finish(mut self) -> usize {
        self.is_whole = true;
        self.written
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(PIECE)];
        self.expect(self.written as u64 + bytes.len() as u64)?;
        attached(|py| self.view.write(py, self.written, bytes))?;
        self.written += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.is_whole {
            return;
        }
        let zeros = vec![0; PIECE.min(self.written)];
        for from in (0..self.written).step_by(PIECE) {
            let piece = &zeros[..zeros.len().min(self.written - from)];
            // It fails only when Python has ended, and the buffer with it.
            let _ = attached(|py| self.view.write(py, from, piece));
        }
    }
}
