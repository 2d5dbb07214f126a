//! Pointers of C callers as references, and values of ours as pointers.
//!
//! The header makes the promises: a pointer is null or valid for its length, a handle is one that
//! the library gave and that was not freed, and outputs overlap no inputs.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::status::Failure;

/// The bytes at `data`; none if it is null and `len` is 0. `name` is for the message.
///
/// # Safety
/// `data` is null or valid for reads of `len` bytes, which nobody writes meanwhile.
pub(crate) unsafe fn bytes<'a>(
    data: *const u8,
    len: usize,
    name: &str,
) -> Result<&'a [u8], Failure> {
    check(data.is_null(), len, name)?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: `data` is not null, so the caller promises that it is valid for `len` bytes, and
    // `check` has seen that they are no more than a slice can have.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// Copies `bytes` to `out`. Fails unless `len` is `bytes.len()`.
///
/// # Safety
/// `out` is null or valid for writes of `len` bytes, and overlaps no input.
pub(crate) unsafe fn write(out: *mut u8, len: usize, bytes: &[u8]) -> Result<(), Failure> {
    if bytes.len() != len {
        return Err(Failure::invalid(format!(
            "the output has {} bytes, and there is room for {len}",
            bytes.len()
        )));
    }
    check(out.is_null(), len, "output")?;
    // SAFETY: the caller promises that `out` is valid for `len` bytes; `bytes` is our own memory.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), out, len) };
    Ok(())
}

/// Writes one value.
///
/// # Safety
/// `out` is null or valid for writing it.
pub(crate) unsafe fn set<T>(out: *mut T, value: T, name: &str) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::invalid(format!("{name}: a null pointer")));
    }
    // SAFETY: not null, so the caller promises that it can be written.
    unsafe { out.write(value) };
    Ok(())
}

/// Before the work: whether [`write()`] will accept this output.
pub(crate) fn check(is_null: bool, len: usize, name: &str) -> Result<(), Failure> {
    match (is_null, isize::try_from(len)) {
        (true, Ok(1..)) => Err(Failure::invalid(format!(
            "{name}: a null pointer with a length"
        ))),
        (_, Err(_)) => Err(Failure::invalid(format!("{name}: longer than memory"))),
        _ => Ok(()),
    }
}

/// The size and the flags of a structure of choices.
pub(crate) fn options(size: usize, own: usize, flags: u32, known: u32) -> Result<(), Failure> {
    if size != own {
        return Err(Failure::invalid(format!(
            "options.size is {size}, and this library has {own}: set it to sizeof, or compile \
             with the header of the library"
        )));
    }
    match flags & !known {
        0 => Ok(()),
        _ => Err(Failure::invalid(
            "options.flags has a flag that is not known",
        )),
    }
}

/// The text at `text`, without its end.
///
/// # Safety
/// `text` is null or a string that ends with a zero byte.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::invalid(format!("{name}: a null pointer")));
    }
    // SAFETY: not null, so the caller promises a string.
    let text = unsafe { CStr::from_ptr(text) };
    let invalid = |_| Failure::invalid(format!("{name}: not UTF-8"));
    text.to_str().map_err(invalid)
}

/// The text at `text`, if there is one.
///
/// # Safety
/// `text` is null or a string that ends with a zero byte.
pub(crate) unsafe fn optional_text<'a>(
    given: *const c_char,
    name: &str,
) -> Result<Option<&'a str>, Failure> {
    match given.is_null() {
        true => Ok(None),
        // SAFETY: the caller's promise.
        false => unsafe { text(given, name) }.map(Some),
    }
}

/// The values of an array.
///
/// # Safety
/// `values` is null or valid for reads of `count` values, which nobody writes meanwhile.
pub(crate) unsafe fn values<'a, T>(
    values: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T], Failure> {
    check(values.is_null(), count.saturating_mul(size_of::<T>()), name)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, so the caller promises this many; `check` has seen their number.
    Ok(unsafe { std::slice::from_raw_parts(values, count) })
}

/// The object behind a pointer.
///
/// # Safety
/// `object` is null or a valid object of this type that nobody changes meanwhile.
pub(crate) unsafe fn object<'a, T>(object: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller promises that it is valid, unless it is null.
    let object = unsafe { object.as_ref() };
    object.ok_or_else(|| Failure::invalid(format!("{name}: a null pointer")))
}

/// The object behind a pointer, to be changed.
///
/// # Safety
/// `object` is null or a valid object of this type that nobody else uses meanwhile.
pub(crate) unsafe fn object_mut<'a, T>(object: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller promises that it is valid and unshared, unless it is null.
    let object = unsafe { object.as_mut() };
    object.ok_or_else(|| Failure::invalid(format!("{name}: a null pointer")))
}

/// The objects of an array of handles.
///
/// # Safety
/// `objects` is null or valid for reads of `count` handles, each of them null or valid.
pub(crate) unsafe fn objects<'a, T>(
    objects: *const *const T,
    count: usize,
    name: &str,
) -> Result<Vec<&'a T>, Failure> {
    // SAFETY: the caller's promise.
    let handles = unsafe { values(objects, count, name) }?;
    // SAFETY: the caller promises that each handle is null or valid.
    let object = |handle: &*const T| unsafe { object(*handle, name) };
    handles.iter().map(object).collect()
}

/// Gives a new object to the caller, who has to free it.
///
/// # Safety
/// `out` is null or valid for writing a handle.
pub(crate) unsafe fn give<T>(
    out: *mut *mut T,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::invalid("output: a null pointer"));
    }
    // SAFETY: not null, so the caller promises that it can be written. A caller that does not look
    // at the status finds a null pointer.
    unsafe { out.write(ptr::null_mut()) };
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: as above.
    unsafe { out.write(made) };
    Ok(())
}

/// Takes an object back and drops it. Null is fine.
///
/// # Safety
/// `object` is null or came from [`give`], and nobody uses it any more.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller gives it up.
        crate::status::guarded_drop(|| drop(unsafe { Box::from_raw(object) }));
    }
}
