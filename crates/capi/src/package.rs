//! Signed packages: files that nobody can alter or backdate.
//!
//! ```
//! use sealstone_capi::package::sealstone_package_load;
//! use sealstone_capi::status::MALFORMED;
//!
//! let mut package = std::ptr::null_mut();
//! // SAFETY: the bytes are valid for their length.
//! let status = unsafe { sealstone_package_load(b"x".as_ptr(), 1, &mut package) };
//! assert_eq!((status, package), (MALFORMED, std::ptr::null_mut()));
//! ```

use std::ffi::c_char;

use sealstone::package::{DigestKind, Draft, Json, Layer, MAX_PACKAGE};
use sealstone::timestamp::{Refusal, Response};
use serde_json::json;

use crate::buffer::Buffer;
use crate::content::{self, File, Given, failed_at};
use crate::passport::{Passport, PublicPassport, now};
use crate::raw::{self, fields};
use crate::status::{Failure, MALFORMED, Status, guarded};

/// A signed package. It never changes: functions that add something give another one.
pub struct Package(pub(crate) sealstone::package::Package);

/// Content is hashed as a Skein tree, which is faster for large files. Without it: SHA3-256.
pub const SIGN_SKEIN_TREE: u32 = 1;
/// The package records when the files of the directory were modified.
pub const SIGN_TIMES: u32 = 2;

/// Layer 1: every file is the one that the package names.
pub const LAYER_CONTENT: u32 = 1;
/// Layer 2: a holder of a shared key made the package.
pub const LAYER_HMAC: u32 = 2;
/// Layer 3: the classical signatures.
pub const LAYER_ED25519: u32 = 4;
/// Layer 4: the post-quantum signatures.
pub const LAYER_ML_DSA_65: u32 = 8;
/// Layer 5: the verifier holds the secret from which keys for this package are derived.
pub const LAYER_KEYS: u32 = 16;
/// Layer 6: a third party attests when the signatures existed.
pub const LAYER_TIMESTAMP: u32 = 32;

/// The choices for a new package. All but `size` may be zero, but there has to be a file.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SignOptions {
    /// `sizeof(sealstone_sign_options)`.
    pub size: usize,
    /// Flags that begin with `SEALSTONE_SIGN_`.
    pub flags: u32,
    /// Layers that verifiers have to require, besides those that every package has: HMAC, keys,
    /// timestamp.
    pub required: u32,
    /// How many of the signers have to sign; 0: all.
    pub threshold: u32,
    /// Files in memory.
    pub files: *const File,
    /// Their number.
    pub file_count: usize,
    /// The path of a directory, all files of which are signed and not embedded, or `NULL`. With a
    /// directory, all of `files` are embedded.
    pub directory: *const c_char,
    /// The author of the content, as free text, or `NULL`.
    pub author: *const c_char,
    /// A JSON object with free data, or `NULL`.
    pub metadata: *const c_char,
    /// A JSON value that is bound to the package, or `NULL`.
    pub policy: *const c_char,
    /// Further passports that are to sign.
    pub cosigners: *const *const PublicPassport,
    /// Their number.
    pub cosigner_count: usize,
    /// A shared key of 32 to 1024 bytes for the layer HMAC, or `NULL`.
    pub hmac_key: *const u8,
    /// Its length in bytes.
    pub hmac_key_len: usize,
    /// A secret of at least 32 bytes from which keys for this package are derived, or `NULL`.
    pub secret: *const u8,
    /// Its length in bytes.
    pub secret_len: usize,
}
fields!(SignOptions {
    size,
    flags,
    required,
    threshold,
    files,
    file_count,
    directory,
    author,
    metadata,
    policy,
    cosigners,
    cosigner_count,
    hmac_key,
    hmac_key_len,
    secret,
    secret_len,
});

/// The layers of a set of bits.
pub(crate) fn layers(bits: u32) -> Result<Vec<Layer>, Failure> {
    if bits >> Layer::ALL.len() != 0 {
        return Err(Failure::invalid(
            "required: a bit that names no SEALSTONE_LAYER_",
        ));
    }
    let layers = Layer::ALL.into_iter().enumerate();
    let named = layers.filter(|(n, _)| bits >> n & 1 == 1);
    Ok(named.map(|(_, layer)| layer).collect())
}

impl SignOptions {
    /// # Safety
    /// The pointers are valid for their lengths, as the header says.
    unsafe fn sign(&self, passport: &Passport) -> Result<Package, Failure> {
        let known = SIGN_SKEIN_TREE | SIGN_TIMES;
        raw::flags(self.flags, known)?;
        // SAFETY: the caller's promise.
        let hmac_key = unsafe { raw::bytes(self.hmac_key, self.hmac_key_len, "hmac_key") }?;
        // SAFETY: as above.
        let secret = unsafe { raw::bytes(self.secret, self.secret_len, "secret") }?;
        let mut draft = Draft::new();
        if self.flags & SIGN_SKEIN_TREE != 0 {
            draft.digest(DigestKind::SkeinTree);
        }
        // SAFETY: as above.
        unsafe { self.describe(&mut draft) }?;
        if !hmac_key.is_empty() {
            draft.hmac(hmac_key)?;
        }
        if !secret.is_empty() {
            draft.derive_keys(secret)?;
        }
        for layer in layers(self.required)? {
            draft.require(layer)?;
        }
        // SAFETY: as above.
        unsafe { self.add_files(&mut draft) }?;
        Ok(Package(draft.sign(passport.get()?, now())?))
    }

    /// # Safety
    /// As for `sign`.
    unsafe fn describe(&self, draft: &mut Draft<'_>) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        if let Some(author) = unsafe { raw::optional_text(self.author, "author") }? {
            draft.author(author)?;
        }
        // SAFETY: as above.
        if let Some(metadata) = unsafe { raw::optional_text(self.metadata, "metadata") }? {
            draft.metadata(Json::parse(metadata.as_bytes())?)?;
        }
        // SAFETY: as above.
        if let Some(policy) = unsafe { raw::optional_text(self.policy, "policy") }? {
            draft.policy(Json::parse(policy.as_bytes())?);
        }
        // SAFETY: as above.
        let cosigners = unsafe { raw::objects(self.cosigners, self.cosigner_count, "cosigners") }?;
        for cosigner in cosigners {
            draft.cosigner(cosigner.0.contact());
        }
        if self.threshold != 0 {
            draft.threshold(self.threshold.into());
        }
        Ok(())
    }

    /// # Safety
    /// As for `sign`.
    unsafe fn add_files(&self, draft: &mut Draft<'_>) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        let files = unsafe { raw::values(self.files, self.file_count, "files") }?;
        // SAFETY: as above.
        let directory = unsafe { raw::optional_text(self.directory, "directory") }?;
        for file in files {
            // SAFETY: as above.
            let (path, mut bytes) = unsafe { file.get() }?;
            if file.embed || directory.is_some() {
                draft.embed(path, bytes).map_err(|e| failed_at(path, e))?;
            } else {
                let added = draft.file(path, &mut bytes);
                added.map_err(|e| failed_at(path, e))?;
            }
        }
        if let Some(directory) = directory {
            let given = Given::directory(directory)?;
            let listed = given.listed(self.flags & SIGN_TIMES != 0)?;
            let added = draft.files(&given, &listed, content::work());
            added.map_err(|(path, error)| failed_at(path.as_str(), error))?;
            draft.complete();
        }
        Ok(())
    }
}

/// Signs a new package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_sign(
    options: *const SignOptions,
    passport: *const Passport,
    package: *mut *mut Package,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let options = unsafe { raw::choices(options, "options") };
        // SAFETY: as above.
        let passport = unsafe { raw::object(passport, "passport") };
        // SAFETY: as above.
        unsafe { raw::give(package, || options?.sign(passport?)) }
    })
}

/// Reads a package of up to 1 GiB. Nothing of it is verified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_load(
    bytes: *const u8,
    len: usize,
    package: *mut *mut Package,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { raw::bytes(bytes, len, "bytes") };
        let load = || {
            if len as u64 > MAX_PACKAGE {
                let text = "a package has up to 1 GiB";
                return Err(Failure(MALFORMED, text.into()));
            }
            Ok(Package(sealstone::package::Package::decode(bytes?)?))
        };
        // SAFETY: as above.
        unsafe { raw::give(package, load) }
    })
}

/// The bytes to store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_bytes(
    package: *const Package,
    bytes: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let package = unsafe { raw::object(package, "package") };
        // SAFETY: as above.
        unsafe { raw::give(bytes, || Ok(package?.0.encode().into())) }
    })
}

/// The content of the embedded file at a path, which `sealstone_package_verify` has to accept
/// first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_embedded(
    package: *const Package,
    path: *const c_char,
    content: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let package = unsafe { raw::object(package, "package") };
        // SAFETY: as above.
        let path = unsafe { raw::text(path, "path") };
        let find = || {
            let path = path?;
            let found = package?.0.embedded(path);
            let found = found.ok_or_else(|| Failure::invalid(format!("{path}: not embedded")))?;
            Ok(found.to_vec().into())
        };
        // SAFETY: as above.
        unsafe { raw::give(content, find) }
    })
}

/// The statements of the package, as JSON without a zero byte at its end. None is verified.
///
/// The keys are `signers` (fingerprints), `threshold`, `required` (names of layers), `time`
/// (seconds since 1970), `author`, `digest`, `complete`, `metadata`, `policy`, `files` (each with
/// `path`, `size`, `embedded`, `target` of a link), `signatures` (each with `fingerprint`, `role`,
/// `time`) and `timestamps` (their number).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_json(
    package: *const Package,
    text: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let package = unsafe { raw::object(package, "package") };
        // SAFETY: as above.
        unsafe { raw::give(text, || Ok(package?.json()?.into_bytes().into())) }
    })
}

impl Package {
    fn json(&self) -> Result<String, Failure> {
        let package = &self.0;
        let manifest = package.manifest();
        let parsed = |text: Option<&[u8]>| -> Result<serde_json::Value, Failure> {
            let text = text.unwrap_or(b"null");
            serde_json::from_slice(text).map_err(|e| Failure(MALFORMED, e.to_string()))
        };
        let metadata = manifest.metadata.as_ref().map(|it| it.as_str().as_bytes());
        let signatures = package.signatures().map(|(signer, role, time)| {
            json!({"fingerprint": signer.to_string(), "role": role.name(), "time": time})
        });
        let value = json!({
            "signers": manifest.signers.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "threshold": manifest.threshold,
            "required": manifest.required.iter().map(|it| it.name()).collect::<Vec<_>>(),
            "time": manifest.time,
            "author": manifest.author,
            "digest": manifest.digest.name(),
            "complete": manifest.complete,
            "metadata": parsed(metadata)?,
            "policy": parsed(package.policy())?,
            "files": manifest.entries.iter().map(content::entry_json).collect::<Vec<_>>(),
            "signatures": signatures.collect::<Vec<_>>(),
            "timestamps": package.timestamps().len(),
        });
        Ok(value.to_string())
    }
}

/// Writes a key that is derived from `secret` and bound to the package, its policy and `label`,
/// which has 1 to 255 bytes. `key_len` is 32. `sealstone_package_verify` has to accept the package
/// first.
///
/// Fails with SEALSTONE_ALTERED if the secret is not the signer's, or the package has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_derived_key(
    package: *const Package,
    secret: *const u8,
    secret_len: usize,
    label: *const c_char,
    key: *mut u8,
    key_len: usize,
) -> Status {
    guarded(|| {
        if key_len != KEY_LEN {
            return Err(Failure::invalid("key_len is 32"));
        }
        // SAFETY: the caller's promise.
        let package = unsafe { raw::object(package, "package") }?;
        // SAFETY: as above.
        let secret = unsafe { raw::bytes(secret, secret_len, "secret") }?;
        // SAFETY: as above.
        let label = unsafe { raw::text(label, "label") }?;
        let derived = package.0.derived_keys(secret)?.key(label)?;
        // SAFETY: as above.
        unsafe { raw::write(key, key_len, derived.expose()) }
    })
}

/// Bytes of a derived key.
const KEY_LEN: usize = 32;

/// The bytes that a timestamp of RFC 3161 has to cover.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_to_stamp(
    package: *const Package,
    bytes: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let package = unsafe { raw::object(package, "package") };
        // SAFETY: as above.
        unsafe { raw::give(bytes, || Ok(package?.0.to_stamp().into())) }
    })
}

/// The package with the whole response of a time-stamping authority (DER).
///
/// Fails with SEALSTONE_MALFORMED if it is not a response, or the authority has granted nothing.
/// Whether it is right is found by `sealstone_package_verify` with `roots`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_with_timestamp(
    package: *const Package,
    response: *const u8,
    response_len: usize,
    result: *mut *mut Package,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let package = unsafe { raw::object(package, "package") };
        // SAFETY: as above.
        let response = unsafe { raw::bytes(response, response_len, "response") };
        let stamp = || {
            let (mut package, response) = (package?.0.clone(), response?);
            let refused = |refusal: Refusal| Failure(MALFORMED, format!("response: {refusal}"));
            let read = Response::parse(response).map_err(refused)?;
            read.granted().map_err(refused)?;
            package.attach_timestamp(response)?;
            Ok(Package(package))
        };
        // SAFETY: as above.
        unsafe { raw::give(result, stamp) }
    })
}

/// Frees a package. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_package_free(package: *mut Package) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(package) }
}
