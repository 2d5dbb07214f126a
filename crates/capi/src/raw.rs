//! Pointers of C callers as references, and values of ours as pointers.
//!
//! The header makes the promises: a pointer is null or valid for its length, a handle is one that
//! the library gave and that was not freed, and outputs overlap no inputs.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr;

use crate::status::{Failure, MEMORY};

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

/// Memory for this many bytes, if the system has it.
pub(crate) fn reserved(len: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let missing = |_| Failure(MEMORY, format!("there is no memory for {len} bytes"));
    bytes.try_reserve_exact(len).map_err(missing)?;
    Ok(bytes)
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

/// A structure of choices of the header. It begins with its size, so that later versions may add
/// fields at its end. Zeros in all fields but the size are what it means to choose nothing.
///
/// # Safety
/// All fields are integers and pointers, the first one a `usize`, and `ENDS` are their ends.
pub(crate) unsafe trait Choices: Copy {
    /// Where each field ends.
    const ENDS: &'static [usize];
}

/// Whether some version of a structure, the first field alone excepted, has this size.
///
/// Not inlined: the compiler would make a table of the sizes and rotate the size for its index, and
/// `make prove` asks of each function with rotations which kernel it is.
#[inline(never)]
fn is_size(ends: &[usize], alignment: usize, size: usize) -> bool {
    let mut sizes = ends.iter().skip(1);
    sizes.any(|end| end.next_multiple_of(alignment) == size)
}

/// Implements [`Choices`] for a structure with these fields. It is refused if one is missing.
macro_rules! fields {
    ($structure:ident { $($field:ident),* $(,)? }) => {
        // SAFETY: the pattern has all fields, and `end` sees that they are integers or pointers.
        unsafe impl $crate::raw::Choices for $structure {
            const ENDS: &'static [usize] = {
                const fn all(it: &$structure) {
                    let $structure { $($field: _),* } = it;
                }
                _ = all;
                &[$($crate::raw::end(
                    std::mem::offset_of!($structure, $field),
                    |it: &$structure| it.$field,
                )),*]
            };
        }
    };
}
pub(crate) use fields;

/// The end of a field that begins at `offset`.
pub(crate) const fn end<T, F: Plain>(offset: usize, _field: fn(&T) -> F) -> usize {
    offset + size_of::<F>()
}

/// Types for which all bytes may be zero.
pub(crate) trait Plain {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for usize {}
impl<T> Plain for *const T {}

/// More bytes than any version's structures have.
const LONGEST: usize = 4096;

/// The choices at `given`, as far as its size says; zeros for the rest. Refuses a size that no
/// version has, and choices that are unknown here.
///
/// # Safety
/// `given` is null or valid for reads of its size, which nobody writes meanwhile.
pub(crate) unsafe fn choices<T: Choices>(given: *const T, name: &str) -> Result<T, Failure> {
    if given.is_null() {
        return Err(Failure::invalid(format!("{name}: a null pointer")));
    }
    // SAFETY: not null, so the caller promises that it is valid; it begins with its size.
    let size = unsafe { given.cast::<usize>().read() };
    let own = size_of::<T>();
    let is_longer = (own + 1..=LONGEST).contains(&size) && size.is_multiple_of(align_of::<T>());
    if !is_size(T::ENDS, align_of::<T>(), size) && !is_longer {
        return Err(Failure::invalid(format!(
            "{name}.size is {size}, and this library has {own}: set it to sizeof"
        )));
    }
    if is_longer {
        let rest = given.cast::<u8>().wrapping_add(own);
        // SAFETY: the caller promises that its size is valid.
        let rest = unsafe { std::slice::from_raw_parts(rest, size - own) };
        if rest.iter().any(|byte| *byte != 0) {
            return Err(Failure::invalid(format!(
                "{name} has a choice that this version of the library does not know"
            )));
        }
    }
    let mut choices = MaybeUninit::<T>::zeroed();
    let known = size.min(own);
    // SAFETY: valid for its size, as above; `choices` is memory of our own, and is not shorter.
    unsafe { ptr::copy_nonoverlapping(given.cast::<u8>(), choices.as_mut_ptr().cast(), known) };
    // SAFETY: zeros are valid in all fields, and what was copied ends where one ends.
    Ok(unsafe { choices.assume_init() })
}

/// The flags of a structure of choices.
pub(crate) fn flags(flags: u32, known: u32) -> Result<(), Failure> {
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

#[cfg(test)]
mod tests {
    use super::{Choices, choices};

    /// The fields of a library's version 0.1, then those that 0.2 and 0.3 add.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Third {
        size: usize,
        flags: u32,
        count: u32,
        key: *const u8,
        time: u64,
        late: u32,
    }
    fields!(Third {
        size,
        flags,
        count,
        key,
        time,
        late
    });

    /// It has this size in the program of the caller, and these words after the size.
    fn read(size: usize, words: [u64; 7]) -> Result<Third, i32> {
        let mut given = [size as u64, 0, 0, 0, 0, 0, 0, 0];
        given[1..].copy_from_slice(&words);
        // SAFETY: the words are longer than any size that is accepted here.
        unsafe { choices(given.as_ptr().cast::<Third>(), "options") }.map_err(|it| it.0)
    }

    #[test]
    fn what_an_older_structure_lacks_is_zero() {
        let all = [(7 << 32) | 5, 0x1000, 9, 3, 0, 0, 0];
        let third = |size| Third {
            size,
            flags: 5,
            count: 7,
            key: std::ptr::without_provenance(0x1000),
            time: 9,
            late: 3,
        };
        assert_eq!(Third::ENDS, [8, 12, 16, 24, 32, 36]);
        assert_eq!(read(40, all), Ok(third(40)));
        let second = Third {
            late: 0,
            ..third(32)
        };
        assert_eq!(read(32, all), Ok(second));
        let first = Third {
            time: 0,
            ..Third { size: 24, ..second }
        };
        assert_eq!(read(24, all), Ok(first));
    }

    #[test]
    fn a_newer_structure_may_choose_nothing_new() {
        let all = [0, 0, 0, 3, 0, 0, 0];
        for size in [48, 56, 64] {
            assert_eq!(read(size, all).map(|it| it.late), Ok(3));
        }
        for (size, place) in [(48, 4), (56, 5), (64, 6)] {
            let mut words = all;
            words[place] = 1 << 63;
            assert_eq!(read(size, words), Err(crate::status::INVALID), "{size}");
            assert!(read(size - 8, words).is_ok(), "behind its end");
        }
    }

    #[test]
    fn other_sizes_are_refused() {
        let refused = (0..64).filter(|size| read(*size, [0; 7]).is_err());
        let accepted = [16, 24, 32, 40, 48, 56];
        assert!(refused.eq((0..64).filter(|size| !accepted.contains(size))));
        for size in [4104, usize::MAX, usize::MAX - 7, 1 << 63] {
            assert!(read(size, [0; 7]).is_err(), "{size}");
        }
    }
}
