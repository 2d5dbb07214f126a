//! Verifying packages, and what was found.
//!
//! ```
//! use sealstone_capi::report::sealstone_package_verify;
//! use sealstone_capi::status::INVALID;
//! use std::ptr::{null, null_mut};
//!
//! // SAFETY: null pointers are refused.
//! assert_eq!(unsafe { sealstone_package_verify(null(), null(), null_mut()) }, INVALID);
//! ```

use std::ffi::c_char;

use sealstone::package::{Report as Found, Verdict, Verifier};
use sealstone::timestamp::Roots;

use crate::buffer::Buffer;
use crate::content::{self, File, Given};
use crate::package::{Package, layers};
use crate::passport::{Passport, PublicPassport, now};
use crate::raw::{self, fields};
use crate::status::{Failure, NOT_VERIFIED, Status, guarded};

/// The report of a verification.
pub struct Report(Found);

/// The layer was checked and holds.
pub const VERDICT_GOOD: u32 = 0;
/// The layer does not hold, or it is required and missing.
pub const VERDICT_BAD: u32 = 1;
/// The layer is there, and what its check needs was not given.
pub const VERDICT_UNCHECKED: u32 = 2;
/// The layer is not there, and nobody requires it.
pub const VERDICT_ABSENT: u32 = 3;

/// How a package is verified. All but `size` may be zero, but without `signers` no package is good.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct VerifyOptions {
    /// `sizeof(sealstone_verify_options)`.
    pub size: usize,
    /// No flags are known: 0.
    pub flags: u32,
    /// Layers that are required besides those that the package requires.
    pub required: u32,
    /// All of these have to have signed.
    pub signers: *const *const PublicPassport,
    /// Their number.
    pub signer_count: usize,
    /// The files beside the package, if they are in memory.
    pub files: *const File,
    /// Their number.
    pub file_count: usize,
    /// The path of the directory in which they are, or `NULL`.
    pub directory: *const c_char,
    /// The key of the layer HMAC, which is then required, or `NULL`.
    pub hmac_key: *const u8,
    /// Its length in bytes.
    pub hmac_key_len: usize,
    /// The secret of the layer of derived keys, which is then required, or `NULL`.
    pub secret: *const u8,
    /// Its length in bytes.
    pub secret_len: usize,
    /// Certificates of time-stamping authorities that the caller trusts (PEM or DER), or `NULL`.
    pub roots: *const u8,
    /// Their length in bytes.
    pub roots_len: usize,
    /// The time at which timestamps are judged, in seconds since 1970; 0: now.
    pub time: u64,
}
fields!(VerifyOptions {
    size,
    flags,
    required,
    signers,
    signer_count,
    files,
    file_count,
    directory,
    hmac_key,
    hmac_key_len,
    secret,
    secret_len,
    roots,
    roots_len,
    time,
});

impl VerifyOptions {
    /// # Safety
    /// The pointers are valid for their lengths, as the header says.
    unsafe fn verify(&self, package: &Package) -> Result<Report, Failure> {
        raw::flags(self.flags, 0)?;
        // SAFETY: the caller's promise.
        let signers = unsafe { raw::objects(self.signers, self.signer_count, "signers") }?;
        // SAFETY: as above.
        let given = unsafe { Given::new(self.files, self.file_count, self.directory) }?;
        // SAFETY: as above.
        let hmac_key = unsafe { raw::bytes(self.hmac_key, self.hmac_key_len, "hmac_key") }?;
        // SAFETY: as above.
        let secret = unsafe { raw::bytes(self.secret, self.secret_len, "secret") }?;
        // SAFETY: as above.
        let roots = unsafe { raw::bytes(self.roots, self.roots_len, "roots") }?;
        let invalid = |error| Failure::invalid(format!("roots: {error}"));
        let roots = match roots {
            [] => None,
            bytes => Some(Roots::parse(bytes).map_err(invalid)?),
        };
        let mut verifier = Verifier::new();
        for signer in signers {
            verifier = verifier.signer(signer.0.contact());
        }
        for layer in layers(self.required)? {
            verifier = verifier.require(layer);
        }
        if let Some(given) = &given {
            verifier = verifier.source_with(given, content::work());
        }
        if !hmac_key.is_empty() {
            verifier = verifier.hmac_key(hmac_key);
        }
        if !secret.is_empty() {
            verifier = verifier.secret(secret);
        }
        if let Some(roots) = &roots {
            let time = if self.time == 0 { now() } else { self.time };
            verifier = verifier.roots(roots, time);
        }
        Ok(Report(verifier.verify(&package.0)))
    }
}

/// Verifies a package: SEALSTONE_OK if it is good, SEALSTONE_NOT_VERIFIED if it is not.
///
/// `report` may be `NULL`. In both cases it is set to what was found; after other failures it is
/// set to `NULL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_verify(
    options: *const VerifyOptions,
    package: *const Package,
    report: *mut *mut Report,
) -> Status {
    guarded(|| {
        if !report.is_null() {
            // SAFETY: not null, so the caller promises that it can be written.
            unsafe { report.write(std::ptr::null_mut()) };
        }
        // SAFETY: as above.
        let options = unsafe { raw::choices(options, "options") }?;
        // SAFETY: as above.
        let package = unsafe { raw::object(package, "package") }?;
        // SAFETY: as above.
        let found = unsafe { options.verify(package) }?;
        let verdict = match found.0.verdict {
            Verdict::Good => Ok(()),
            _ => Err(Failure(NOT_VERIFIED, found.0.reason.clone())),
        };
        if !report.is_null() {
            // SAFETY: as above.
            unsafe { raw::give(report, || Ok(found)) }?;
        }
        verdict
    })
}

/// The verdict on one layer, a number that begins with `SEALSTONE_VERDICT_`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_report_verdict(
    report: *const Report,
    layer: u32,
    verdict: *mut u32,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let report = unsafe { raw::object(report, "report") }?;
        let [layer] = layers(layer)?[..] else {
            return Err(Failure::invalid("layer: one SEALSTONE_LAYER_"));
        };
        let found = report.0.layers.iter().find(|it| it.layer == layer);
        let number = match found.map(|it| it.verdict) {
            Some(Verdict::Good) => VERDICT_GOOD,
            Some(Verdict::Unchecked) => VERDICT_UNCHECKED,
            Some(Verdict::Absent) => VERDICT_ABSENT,
            Some(Verdict::Bad) | None => VERDICT_BAD,
        };
        // SAFETY: as above.
        unsafe { raw::set(verdict, number, "verdict") }
    })
}

/// Everything that was found, as JSON without a zero byte at its end.
///
/// The keys are `verdict` (`good` or `bad`), `reason`, `layers` (by name, each with `verdict`,
/// `required` and `reason`), `signers` (each with `fingerprint`, `role`, `time`, `proved_time`,
/// `ed25519`, `ml_dsa_65`, `named`, `counts`) and `findings` (each with `path` and `kind`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_report_json(
    report: *const Report,
    text: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let report = unsafe { raw::object(report, "report") };
        let json = || Ok(report?.0.to_json().to_string().into_bytes().into());
        // SAFETY: as above.
        unsafe { raw::give(text, json) }
    })
}

/// Frees a report. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_report_free(report: *mut Report) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(report) }
}

/// The package with the signature of one more signer that it names.
///
/// A signer stands for the content, so the package is checked with `options` first; signers need
/// not be given. Fails with SEALSTONE_NOT_VERIFIED if a layer is bad or the content unchecked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_cosign(
    options: *const VerifyOptions,
    package: *const Package,
    passport: *const Passport,
    result: *mut *mut Package,
) -> Status {
    guarded(|| {
        let sign = sealstone::package::Package::cosign;
        // SAFETY: the caller's promise.
        unsafe { with_signature(options, package, passport, result, sign) }
    })
}

/// The package with the attestation of one more passport to have seen it, as
/// `sealstone_package_cosign`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_countersign(
    options: *const VerifyOptions,
    package: *const Package,
    passport: *const Passport,
    result: *mut *mut Package,
) -> Status {
    guarded(|| {
        let sign = sealstone::package::Package::countersign;
        // SAFETY: the caller's promise.
        unsafe { with_signature(options, package, passport, result, sign) }
    })
}

type Sign = fn(
    &mut sealstone::package::Package,
    &sealstone::passport::Passport,
    u64,
) -> sealstone::Result<()>;

/// # Safety
/// The pointers are valid, as the header says.
unsafe fn with_signature(
    options: *const VerifyOptions,
    package: *const Package,
    passport: *const Passport,
    result: *mut *mut Package,
    sign: Sign,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let options = unsafe { raw::choices(options, "options") };
    // SAFETY: as above.
    let package = unsafe { raw::object(package, "package") };
    // SAFETY: as above.
    let passport = unsafe { raw::object(passport, "passport") };
    let add = || {
        let (options, package, passport) = (options?, package?, passport?);
        // SAFETY: as above.
        let report = unsafe { options.verify(package) }?;
        if let Some(layer) = report.0.layers.iter().find(|it| it.prevents_signing()) {
            let text = format!("{}: {}; it was not signed", layer.layer, layer.reason);
            return Err(Failure(NOT_VERIFIED, text));
        }
        let mut package = package.0.clone();
        sign(&mut package, passport.get()?, now())?;
        Ok(Package(package))
    };
    // SAFETY: as above.
    unsafe { raw::give(result, add) }
}
