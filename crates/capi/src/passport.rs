//! Passports.
//!
//! ```
//! use sealstone_capi::passport::{sealstone_passport_free, sealstone_passport_generate};
//! use sealstone_capi::status::OK;
//!
//! let mut alice = std::ptr::null_mut();
//! // SAFETY: the label is a string, and the handle is given back.
//! unsafe {
//!     assert_eq!(sealstone_passport_generate(c"Alice".as_ptr(), &mut alice), OK);
//!     sealstone_passport_free(alice);
//! }
//! ```

use std::ffi::c_char;
use std::time::SystemTime;

use sealstone::passport::{self, NewSlot, SecretPassport, SlotKey};
use sealstone::{KdfLimits, KdfParams, NO_PROGRESS, Passphrase};

use crate::buffer::Buffer;
use crate::raw;
use crate::status::{FORKED, Failure, Status, guarded};

/// A secret identity, unlocked. It does not survive a fork: in the child its use returns
/// SEALSTONE_FORKED, and freeing it is fine.
pub struct Passport {
    passport: passport::Passport,
    /// Children of a fork do not have the pages of its secrets.
    home: u32,
}

/// The half of a passport that its owner hands out.
pub struct PublicPassport(pub(crate) passport::PublicPassport);

impl From<passport::Passport> for Passport {
    fn from(passport: passport::Passport) -> Self {
        let home = std::process::id();
        Self { passport, home }
    }
}

impl Passport {
    /// The secrets, unless this is a forked child.
    pub(crate) fn get(&self) -> Result<&passport::Passport, Failure> {
        if self.home == std::process::id() {
            return Ok(&self.passport);
        }
        let text = "the passport stayed in the process that forked this one: unlock it here";
        Err(Failure(FORKED, text.into()))
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// The cost of a passphrase; all zeros mean the strongest profile.
pub(crate) fn kdf(memory_kib: u32, passes: u32, lanes: u32) -> Result<KdfParams, Failure> {
    match (memory_kib, passes, lanes) {
        (0, 0, 0) => Ok(KdfParams::SENSITIVE),
        _ => Ok(KdfParams::new(memory_kib, passes, lanes)?),
    }
}

/// Makes a new identity. Only `sealstone_passport_lock` stores it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_passport_generate(
    label: *const c_char,
    passport: *mut *mut Passport,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let label = unsafe { raw::text(label, "label") };
        let make = || Ok(passport::Passport::generate(label?, now())?.into());
        // SAFETY: the caller's promise.
        unsafe { raw::give(passport, make) }
    })
}

/// Unlocks the text of a secret passport. SEALSTONE_WRONG_KEY says that the passphrase is wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_passport_unlock(
    text: *const u8,
    text_len: usize,
    passphrase: *const u8,
    passphrase_len: usize,
    passport: *mut *mut Passport,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let text = unsafe { raw::bytes(text, text_len, "text") };
        // SAFETY: as above.
        let passphrase = unsafe { raw::bytes(passphrase, passphrase_len, "passphrase") };
        let unlock = || {
            let locked = SecretPassport::from_armor(text?)?;
            let passphrase = Passphrase::new(passphrase?)?;
            let limits = KdfLimits::default();
            let unlocked = locked.unlock(&passphrase, None, &limits, NO_PROGRESS)?;
            Ok(unlocked.into_passport().into())
        };
        // SAFETY: the caller's promise.
        unsafe { raw::give(passport, unlock) }
    })
}

/// The text of the secret passport, under a passphrase. The cost is in KiB, passes and lanes; three
/// zeros mean the strongest profile (1 GiB).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_passport_lock(
    passport: *const Passport,
    passphrase: *const u8,
    passphrase_len: usize,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    text: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let passport = unsafe { raw::object(passport, "passport") };
        // SAFETY: as above.
        let passphrase = unsafe { raw::bytes(passphrase, passphrase_len, "passphrase") };
        let lock = || {
            let passphrase = Passphrase::new(passphrase?)?;
            let slot = NewSlot {
                key: SlotKey::Passphrase(&passphrase),
                name: "",
                created: now(),
                params: kdf(memory_kib, passes, lanes)?,
                on_progress: NO_PROGRESS,
            };
            let locked = SecretPassport::new(passport?.get()?, &slot)?;
            Ok(locked.to_armor().into_bytes().into())
        };
        // SAFETY: the caller's promise.
        unsafe { raw::give(text, lock) }
    })
}

/// The public half.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_passport_public(
    passport: *const Passport,
    public_half: *mut *mut PublicPassport,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let passport = unsafe { raw::object(passport, "passport") };
        let make = || Ok(PublicPassport(passport?.get()?.public()));
        // SAFETY: the caller's promise.
        unsafe { raw::give(public_half, make) }
    })
}

/// Wipes and frees a passport. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_passport_free(passport: *mut Passport) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(passport) }
}

/// Reads the text of a public passport, and checks both of its signatures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_public_passport_load(
    text: *const u8,
    text_len: usize,
    public_half: *mut *mut PublicPassport,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let text = unsafe { raw::bytes(text, text_len, "text") };
        let load = || Ok(PublicPassport(passport::PublicPassport::from_armor(text?)?));
        // SAFETY: the caller's promise.
        unsafe { raw::give(public_half, load) }
    })
}

/// The text to hand out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_public_passport_text(
    passport: *const PublicPassport,
    text: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let passport = unsafe { raw::object(passport, "passport") };
        // SAFETY: the caller's promise.
        unsafe { raw::give(text, || Ok(passport?.0.to_armor().into_bytes().into())) }
    })
}

/// Fills the 32 bytes of `fingerprint`, which name the passport.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_public_passport_fingerprint(
    passport: *const PublicPassport,
    fingerprint: *mut u8,
    fingerprint_len: usize,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let passport = unsafe { raw::object(passport, "passport") }?;
        let bytes = passport.0.contact().fingerprint();
        // SAFETY: the caller's promise.
        unsafe { raw::write(fingerprint, fingerprint_len, bytes.as_bytes()) }
    })
}

/// Frees a public passport. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_public_passport_free(passport: *mut PublicPassport) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(passport) }
}
