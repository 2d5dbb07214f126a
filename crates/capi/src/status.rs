//! How a call ended.
//!
//! ```
//! use sealstone_capi::status::{INVALID, sealstone_error_message};
//!
//! // SAFETY: a null pointer with a length is refused.
//! let status = unsafe {
//!     sealstone_capi::skein::sealstone_skein512(std::ptr::null(), 3, std::ptr::null_mut(), 64)
//! };
//! assert_eq!(status, INVALID);
//! // SAFETY: the message is a string until the next call of this thread.
//! let text = unsafe { std::ffi::CStr::from_ptr(sealstone_error_message()) };
//! assert_eq!(text.to_str(), Ok("data: a null pointer with a length"));
//! ```

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended: SEALSTONE_OK, or why there is no result.
pub type Status = c_int;

/// The call did what it says.
pub const OK: Status = 0;
/// An argument is out of range; the message says which one.
pub const INVALID: Status = 1;
/// The system has not enough memory.
pub const MEMORY: Status = 2;
/// The bytes break a rule of the format.
pub const MALFORMED: Status = 3;
/// The bytes follow a newer version of the format.
pub const UNSUPPORTED: Status = 4;
/// The password, the passphrase or the passport is not the right one.
pub const WRONG_KEY: Status = 5;
/// A part was altered, damaged or cut.
pub const ALTERED: Status = 6;
/// The file was signed by another passport than the caller names, or by none.
pub const WRONG_SENDER: Status = 7;
/// A key derivation asks for more than is allowed.
pub const LIMIT: Status = 8;
/// The process was forked after the secret was made, and does not have it.
pub const FORKED: Status = 9;
/// The system failed, or a kind of failure that this version of the header does not name.
pub const SYSTEM: Status = 10;
/// A defect of the library: please report it.
pub const PANIC: Status = 11;

/// A package failed its verification; the report says why.
pub const NOT_VERIFIED: Status = 12;
/// A callback of the caller failed.
pub const CALLBACK: Status = 13;
/// A token, a request for tokens or the answer to it is not right.
pub const REFUSED: Status = 14;

/// A callback has failed: its name.
#[derive(Debug)]
pub(crate) struct CallbackFailed(pub(crate) &'static str);

impl fmt::Display for CallbackFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the callback {} failed", self.0)
    }
}

impl std::error::Error for CallbackFailed {}

/// A status with its message.
pub(crate) struct Failure(pub(crate) Status, pub(crate) String);

impl Failure {
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self(INVALID, text.into())
    }

    pub(crate) fn system(text: impl Into<String>) -> Self {
        Self(SYSTEM, text.into())
    }
}

impl From<sealstone::Error> for Failure {
    fn from(error: sealstone::Error) -> Self {
        use sealstone::Error;
        let status = match &error {
            Error::Invalid(_) | Error::UnknownWord(_) | Error::StoreFull => INVALID,
            Error::OutOfMemory(_) => MEMORY,
            Error::Malformed(_)
            | Error::OtherKind { .. }
            | Error::Armor(_)
            | Error::TooMuchAfterArmor => MALFORMED,
            Error::Unsupported(_) => UNSUPPORTED,
            Error::WrongPassphrase | Error::NotRecipient => WRONG_KEY,
            Error::Altered(_) => ALTERED,
            Error::WrongSender => WRONG_SENDER,
            Error::KdfLimit { .. } => LIMIT,
            Error::Io(error) if error.get_ref().is_some_and(|it| it.is::<CallbackFailed>()) => {
                CALLBACK
            }
            _ => SYSTEM,
        };
        Self(status, error.to_string())
    }
}

impl From<sealstone_argon2::Error> for Failure {
    fn from(error: sealstone_argon2::Error) -> Self {
        use sealstone_argon2::Error;
        let status = match error {
            Error::Parameter(_) | Error::TooLong(_) | Error::MemoryTooSmall(_) => INVALID,
            Error::OutOfMemory(_) => MEMORY,
            Error::Malformed(_) => MALFORMED,
            Error::Limit { .. } => LIMIT,
            Error::Mismatch => WRONG_KEY,
            _ => SYSTEM,
        };
        Self(status, error.to_string())
    }
}

impl From<sealstone_token::Error> for Failure {
    fn from(error: sealstone_token::Error) -> Self {
        use sealstone_token::Error;
        let status = match error {
            Error::Malformed(_) => MALFORMED,
            Error::UnknownType(_) => UNSUPPORTED,
            Error::Proof
            | Error::WrongType { .. }
            | Error::WrongKey
            | Error::WrongChallenge
            | Error::Forged
            | Error::Refused
            | Error::NoEpoch => REFUSED,
            // The request of the caller is not possible.
            _ => INVALID,
        };
        Self(status, error.to_string())
    }
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Runs the body of an exported function. No panic leaves it: C cannot unwind.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let ended = catch_unwind(AssertUnwindSafe(body));
    let ended = ended.unwrap_or_else(|_| Err(Failure(PANIC, "a defect of the library".into())));
    let Err(Failure(status, text)) = ended else {
        return OK;
    };
    let text: Vec<u8> = text
        .into_bytes()
        .into_iter()
        .filter(|it| *it != 0)
        .collect();
    let text = CString::new(text).unwrap_or_default();
    // A thread that is ending has no message any more.
    let _ = MESSAGE.try_with(|message| message.replace(text));
    status
}

/// Drops what C gives back. No panic leaves it.
pub(crate) fn guarded_drop(drop: impl FnOnce()) {
    // There is no one to tell: the function returns nothing.
    let _ = catch_unwind(AssertUnwindSafe(drop));
}

/// The last failure of this thread, and what the user can do. Never `NULL`; valid until this
/// thread's next failure.
#[unsafe(no_mangle)]
pub extern "C" fn sealstone_error_message() -> *const c_char {
    let message = MESSAGE.try_with(|message| message.borrow().as_ptr());
    message.unwrap_or(c"".as_ptr())
}

/// The version of the library, as in "1.2.3".
#[unsafe(no_mangle)]
pub extern "C" fn sealstone_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Exported functions that read a field or a constant, and call nothing that can panic.
    const TRIVIAL: [&str; 5] = [
        "sealstone_buffer_data",
        "sealstone_buffer_len",
        "sealstone_error_message",
        "sealstone_tokens_count",
        "sealstone_version",
    ];

    /// The calls that catch panics. The last three call `guarded` or `guarded_drop` themselves.
    const GUARDED: [&str; 4] = [
        "    guarded(|| {",
        "raw::free(",
        "parts.redeem(",
        "callbacks.run(",
    ];

    /// The exported functions of a source file, and those that a panic could leave.
    fn exported(source: &str) -> (usize, Vec<String>) {
        let functions = source.split("\n#[unsafe(no_mangle)]\n").skip(1);
        let name = |text: &str| {
            let rest = text.split("fn ").nth(1);
            let end = rest.and_then(|rest| rest.split('(').next());
            end.unwrap_or_default().to_owned()
        };
        let all: Vec<(String, &str)> = functions
            .map(|text| (name(text), text.split("\n}").next().unwrap_or_default()))
            .collect();
        let is_guarded = |body: &str| GUARDED.iter().any(|it| body.contains(it));
        let open = all
            .iter()
            .filter(|(name, body)| !is_guarded(body) && !TRIVIAL.contains(&&**name))
            .map(|(name, _)| name.clone());
        (all.len(), open.collect())
    }

    #[test]
    fn no_panic_leaves_an_exported_function() {
        let sources = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
        let mut count = 0;
        for source in sources {
            let path = source.unwrap().path();
            let (found, open) = exported(&std::fs::read_to_string(&path).unwrap());
            assert_eq!(open, Vec::<String>::new(), "{}", path.display());
            count += found;
        }
        assert!(count > 60, "{count}");
    }

    #[test]
    fn an_exported_function_that_does_not_catch_panics_is_noticed() {
        let planted = "\n#[unsafe(no_mangle)]\npub extern \"C\" fn sealstone_open_door() -> i32 {\n    \
            1\n}\n\nfn other() { guarded(|| {}) }\n";
        assert_eq!(exported(planted), (1, vec!["sealstone_open_door".into()]));
    }

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(guarded(|| panic!("a defect")), PANIC);
        guarded_drop(|| panic!("a defect"));
        assert_eq!(guarded(|| Ok(())), OK);
        assert_eq!(guarded(|| Err(Failure::invalid("a\0b"))), INVALID);
        // SAFETY: the message is a string until the next call.
        let text = unsafe { CStr::from_ptr(sealstone_error_message()) };
        assert_eq!(text, c"ab");
    }
}
