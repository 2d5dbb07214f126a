//! Sealed files from and to descriptors and callbacks, of any length in constant memory.
//!
//! ```
//! use sealstone_capi::status::INVALID;
//! use sealstone_capi::stream::sealstone_seal_fd;
//!
//! // SAFETY: null options are refused.
//! assert_eq!(unsafe { sealstone_seal_fd(std::ptr::null(), 0, 1) }, INVALID);
//! ```

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::BorrowedFd;

use crate::file::{OpenOptions, SealOptions};
use crate::raw::{self, Choices};
use crate::status::{CallbackFailed, Failure, Status, guarded};

/// Fills up to `len` bytes, and returns their number: 0 at the end, a negative number on failure.
///
/// The library may call it from other threads than the caller's, never twice at once. It has to
/// return: no longjmp, no exception.
pub type ReadCallback =
    Option<unsafe extern "C" fn(context: *mut c_void, bytes: *mut u8, len: usize) -> isize>;

/// Writes all of the bytes, and returns 0; another number on failure.
///
/// The library may call it from other threads than the caller's, also while it calls the other
/// callback, never twice at once. It has to return: no longjmp, no exception.
pub type WriteCallback =
    Option<unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, len: usize) -> c_int>;

/// The caller's argument for its callback.
struct Context(*mut c_void);

// SAFETY: the header tells the caller that other threads call its callbacks.
unsafe impl Send for Context {}

struct Reader {
    read: unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> isize,
    context: Context,
}

impl Reader {
    fn new(read: ReadCallback, context: *mut c_void) -> Result<BufReader<Self>, Failure> {
        let read = read.ok_or_else(|| Failure::invalid("read: a null pointer"))?;
        let context = Context(context);
        Ok(BufReader::new(Self { read, context }))
    }
}

impl Read for Reader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the caller promises a function that writes up to this many bytes there.
        let count = unsafe { (self.read)(self.context.0, bytes.as_mut_ptr(), bytes.len()) };
        let count = usize::try_from(count).ok().filter(|it| *it <= bytes.len());
        count.ok_or_else(|| io::Error::other(CallbackFailed("read")))
    }
}

struct Writer {
    write: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int,
    context: Context,
}

impl Writer {
    fn new(write: WriteCallback, context: *mut c_void) -> Result<Self, Failure> {
        let write = write.ok_or_else(|| Failure::invalid("write: a null pointer"))?;
        let context = Context(context);
        Ok(Self { write, context })
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the caller promises a function that reads this many bytes from there.
        match unsafe { (self.write)(self.context.0, bytes.as_ptr(), bytes.len()) } {
            0 => Ok(bytes.len()),
            _ => Err(io::Error::other(CallbackFailed("write"))),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The callbacks of one call.
struct Callbacks {
    read: ReadCallback,
    read_context: *mut c_void,
    write: WriteCallback,
    write_context: *mut c_void,
}

impl Callbacks {
    /// Does the work with the options that the caller gives.
    ///
    /// # Safety
    /// `options` is null or valid, and the callbacks keep the promises of the header.
    unsafe fn run<O: Choices>(
        self,
        options: *const O,
        work: impl FnOnce(&O, BufReader<Reader>, Writer) -> Result<(), Failure>,
    ) -> Status {
        guarded(|| {
            // SAFETY: the caller's promise.
            let options = unsafe { raw::choices(options, "options") }?;
            let from = Reader::new(self.read, self.read_context)?;
            let to = Writer::new(self.write, self.write_context)?;
            work(&options, from, to)
        })
    }
}

/// A duplicate of the caller's descriptor, with the same position.
fn duplicate(descriptor: c_int, name: &str) -> Result<File, Failure> {
    let wrong = |error| Failure::system(format!("{name}: {error}"));
    if descriptor < 0 {
        return Err(Failure::invalid(format!("{name}: a negative descriptor")));
    }
    // SAFETY: it is not negative, the caller promises that it stays open during the call, and one
    // that is not open is refused by the system.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    borrowed.try_clone_to_owned().map(File::from).map_err(wrong)
}

/// Seals everything that can be read from a descriptor, and writes the file to another one.
///
/// Both may be files, pipes or sockets that block; the library does not close them. After a
/// failure, discard what was written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_seal_fd(
    options: *const SealOptions,
    from: c_int,
    to: c_int,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let options = unsafe { raw::choices(options, "options") }?;
        let (from, to) = (duplicate(from, "from")?, duplicate(to, "to")?);
        // SAFETY: as above.
        unsafe { options.seal(from, to) }
    })
}

/// Opens the sealed file that can be read from a descriptor, and writes its content to another one.
///
/// Each piece is authenticated before it is written, but only SEALSTONE_OK says that the file is
/// whole and that its sender signed it: after a failure, discard what was written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_open_fd(
    options: *const OpenOptions,
    from: c_int,
    to: c_int,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let options = unsafe { raw::choices(options, "options") }?;
        let (from, to) = (duplicate(from, "from")?, duplicate(to, "to")?);
        // SAFETY: as above.
        unsafe { options.open(BufReader::new(from), to) }
    })
}

/// As `sealstone_seal_fd`, with callbacks. A callback that fails ends the call with
/// SEALSTONE_CALLBACK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_seal_stream(
    options: *const SealOptions,
    read: ReadCallback,
    read_context: *mut c_void,
    write: WriteCallback,
    write_context: *mut c_void,
) -> Status {
    let callbacks = Callbacks {
        read,
        read_context,
        write,
        write_context,
    };
    // SAFETY: the caller's promise.
    let work = |options: &SealOptions, from, to| unsafe { options.seal(from, to) };
    // SAFETY: as above.
    unsafe { callbacks.run(options, work) }
}

/// As `sealstone_open_fd`, with callbacks. A callback that fails ends the call with
/// SEALSTONE_CALLBACK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_open_stream(
    options: *const OpenOptions,
    read: ReadCallback,
    read_context: *mut c_void,
    write: WriteCallback,
    write_context: *mut c_void,
) -> Status {
    let callbacks = Callbacks {
        read,
        read_context,
        write,
        write_context,
    };
    // SAFETY: the caller's promise.
    let work = |options: &OpenOptions, from, to| unsafe { options.open(from, to) };
    // SAFETY: as above.
    unsafe { callbacks.run(options, work) }
}
