//! Sealed files in memory.
//!
//! ```
//! use sealstone_capi::file::sealstone_open;
//! use sealstone_capi::status::INVALID;
//!
//! let mut content = std::ptr::null_mut();
//! // SAFETY: null options are refused.
//! let status = unsafe { sealstone_open(std::ptr::null(), b"x".as_ptr(), 1, &mut content) };
//! assert_eq!((status, content), (INVALID, std::ptr::null_mut()));
//! ```

use std::io::{BufRead, Read, Write};

use sealstone::file::{Dearmored, Keys, Prepared, Sealed, Sealer, Sender, Workers};
use sealstone::passport;
use sealstone::{KdfLimits, Passphrase};
use zeroize::Zeroizing;

use crate::buffer::Buffer;
use crate::passport::{Passport, PublicPassport, kdf};
use crate::raw::{self, fields};
use crate::status::{Failure, Status, WRONG_SENDER, guarded};

/// The file is text.
pub const SEAL_ARMOR: u32 = 1;
/// The file hides the length of its content.
pub const SEAL_HIDE_LENGTH: u32 = 2;
/// The file hides its recipients.
pub const SEAL_ANONYMOUS: u32 = 4;
/// Only a file that nobody signed opens.
pub const OPEN_UNSIGNED: u32 = 1;

/// The choices for a sealed file. All but `size` may be zero, but there has to be a recipient or a
/// passphrase.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SealOptions {
    /// `sizeof(sealstone_seal_options)`.
    pub size: usize,
    /// Flags that begin with `SEALSTONE_SEAL_`.
    pub flags: u32,
    /// The cost of the passphrase in KiB; if all three are zero, the strongest profile (1 GiB).
    pub memory_kib: u32,
    /// Its passes.
    pub passes: u32,
    /// Its lanes.
    pub lanes: u32,
    /// The recipients.
    pub recipients: *const *const PublicPassport,
    /// Their number.
    pub recipient_count: usize,
    /// A passphrase that opens it, or `NULL`.
    pub passphrase: *const u8,
    /// Its length in bytes.
    pub passphrase_len: usize,
    /// The passport that signs it, or `NULL`.
    pub sender: *const Passport,
}
fields!(SealOptions {
    size,
    flags,
    memory_kib,
    passes,
    lanes,
    recipients,
    recipient_count,
    passphrase,
    passphrase_len,
    sender,
});

/// The keys for a sealed file, and whose files open.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct OpenOptions {
    /// `sizeof(sealstone_open_options)`.
    pub size: usize,
    /// Flags that begin with `SEALSTONE_OPEN_`.
    pub flags: u32,
    /// Keys.
    pub passports: *const *const Passport,
    /// Their number.
    pub passport_count: usize,
    /// A passphrase, or `NULL`.
    pub passphrase: *const u8,
    /// Its length in bytes.
    pub passphrase_len: usize,
    /// The passport that has to have signed the file; `NULL` with SEALSTONE_OPEN_UNSIGNED only.
    pub sender: *const PublicPassport,
}
fields!(OpenOptions {
    size,
    flags,
    passports,
    passport_count,
    passphrase,
    passphrase_len,
    sender,
});

/// The passphrase, if there is one.
///
/// # Safety
/// `passphrase` is null or valid for reads of `len` bytes.
unsafe fn passphrase(passphrase: *const u8, len: usize) -> Result<Option<Passphrase>, Failure> {
    if passphrase.is_null() && len == 0 {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { raw::bytes(passphrase, len, "passphrase") }?;
    Ok(Some(Passphrase::new(bytes)?))
}

impl SealOptions {
    /// # Safety
    /// The pointers are valid for their lengths, as the header says.
    pub(crate) unsafe fn seal(
        &self,
        content: impl Read + Send,
        sealed: impl Write + Send,
    ) -> Result<(), Failure> {
        let seal = |prepared: Prepared<'_, '_>| {
            prepared.seal(content, sealed, Workers::default())?;
            Ok(())
        };
        // SAFETY: the caller's promise.
        unsafe { self.prepare(seal) }
    }

    /// Prepares the sealed file, and calls `seal` with it.
    ///
    /// # Safety
    /// As for [`SealOptions::seal`].
    unsafe fn prepare(
        &self,
        seal: impl FnOnce(Prepared<'_, '_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let known = SEAL_ARMOR | SEAL_HIDE_LENGTH | SEAL_ANONYMOUS;
        raw::flags(self.flags, known)?;
        // SAFETY: the caller's promise.
        let recipients =
            unsafe { raw::objects(self.recipients, self.recipient_count, "recipients") }?;
        // SAFETY: as above.
        let passphrase = unsafe { passphrase(self.passphrase, self.passphrase_len) }?;
        // SAFETY: as above.
        let sender = unsafe { self.sender.as_ref() };
        let mut sealer = Sealer::new();
        for recipient in recipients {
            let contact = recipient.0.contact();
            match self.flags & SEAL_ANONYMOUS {
                0 => sealer.to_passport(contact),
                _ => sealer.to_anonymous(contact),
            };
        }
        if let Some(passphrase) = &passphrase {
            let params = kdf(self.memory_kib, self.passes, self.lanes)?;
            sealer.to_passphrase(passphrase, params);
        }
        if let Some(sender) = sender {
            sealer.signed_by(sender.get()?);
        }
        if self.flags & SEAL_ARMOR != 0 {
            sealer.armored();
        }
        if self.flags & SEAL_HIDE_LENGTH != 0 {
            sealer.hide_length();
        }
        seal(sealer.prepare()?)
    }
}

impl OpenOptions {
    /// # Safety
    /// The pointers are valid for their lengths, as the header says.
    pub(crate) unsafe fn open(
        &self,
        sealed: impl BufRead + Send,
        content: impl Write + Send,
    ) -> Result<(), Failure> {
        raw::flags(self.flags, OPEN_UNSIGNED)?;
        // SAFETY: the caller's promise.
        let passports = unsafe { raw::objects(self.passports, self.passport_count, "passports") }?;
        // SAFETY: as above.
        let passphrase = unsafe { passphrase(self.passphrase, self.passphrase_len) }?;
        // SAFETY: as above.
        let sender = unsafe { self.sender.as_ref() };
        let sender = match (sender, self.flags & OPEN_UNSIGNED) {
            (Some(sender), 0) => Some(sender.0.contact()),
            (None, OPEN_UNSIGNED) => None,
            _ => {
                let text = "name either a sender or SEALSTONE_OPEN_UNSIGNED";
                return Err(Failure::invalid(text));
            }
        };
        let passports: Result<Vec<&passport::Passport>, Failure> =
            passports.iter().map(|it| it.get()).collect();
        let passports = passports?;
        let passphrases: Vec<_> = passphrase.iter().collect();
        let keys = Keys {
            limits: KdfLimits::default(),
            ..Keys::new(&passports, &passphrases)
        };
        let sealed = Dearmored::detect(sealed).map_err(sealstone::Error::from)?;
        let opening = Sealed::read(sealed)?.unlock(&keys)?;
        match (sender, opening.sender()) {
            (Some(sender), _) => opening.open_signed(sender, content, Workers::default())?,
            (None, Sender::Unsigned) => opening.open_unsigned(content, Workers::default())?,
            (None, _) => {
                let text = "the file is signed: name its sender";
                return Err(Failure(WRONG_SENDER, text.into()));
            }
        };
        Ok(())
    }
}

/// Seals content in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_seal(
    options: *const SealOptions,
    content: *const u8,
    content_len: usize,
    sealed: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let options = unsafe { raw::choices(options, "options") };
        // SAFETY: as above.
        let content = unsafe { raw::bytes(content, content_len, "content") };
        // SAFETY: as above.
        unsafe {
            raw::give(sealed, || {
                let content = content?;
                let mut sealed = Vec::new();
                let seal = |prepared: Prepared<'_, '_>| {
                    // Memory that grows is twice as much, and all of it is wiped in the end.
                    let sealed_len = prepared.sealed_len(content.len() as u64);
                    sealed = raw::reserved(usize::try_from(sealed_len).unwrap_or(usize::MAX))?;
                    prepared.seal(content, &mut sealed, Workers::default())?;
                    Ok(())
                };
                // SAFETY: as above.
                options?.prepare(seal)?;
                Ok(sealed.into())
            })
        }
    })
}

/// Opens a sealed file in memory. Nothing is returned before all of it is verified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_open(
    options: *const OpenOptions,
    sealed: *const u8,
    sealed_len: usize,
    content: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let options = unsafe { raw::choices(options, "options") };
        // SAFETY: as above.
        let sealed = unsafe { raw::bytes(sealed, sealed_len, "sealed") };
        // SAFETY: as above.
        unsafe {
            raw::give(content, || {
                let sealed = sealed?;
                // Room for all from the start, as content is never longer than the file: a buffer
                // that grows leaves copies behind.
                let mut content = Zeroizing::new(raw::reserved(sealed.len())?);
                options?.open(sealed, &mut *content)?;
                Ok(Buffer(content))
            })
        }
    })
}
