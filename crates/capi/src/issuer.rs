//! Keys of issuers, and what a verifier of tokens does with them.
//!
//! ```
//! use sealstone_capi::issuer::{sealstone_issuer_key_free, sealstone_issuer_key_generate};
//! use sealstone_capi::status::OK;
//! use sealstone_capi::token::TOKEN_P384;
//!
//! let mut key = std::ptr::null_mut();
//! // SAFETY: the handle is given back.
//! unsafe {
//!     assert_eq!(sealstone_issuer_key_generate(TOKEN_P384, &mut key), OK);
//!     sealstone_issuer_key_free(key);
//! }
//! ```

use sealstone_token::privacypass::{self, Token, TokenType};

use crate::buffer::Buffer;
use crate::public_key::IssuerPublicKey;
use crate::raw;
use crate::status::{Failure, Status, guarded};
use crate::token::Challenge;

/// An issuer's secret key.
pub struct IssuerKey(privacypass::IssuerKey);

/// Makes a new key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_key_generate(
    token_type: u16,
    key: *mut *mut IssuerKey,
) -> Status {
    guarded(|| {
        let make = || {
            let token_type = TokenType::from_number(token_type)?;
            Ok(IssuerKey(privacypass::IssuerKey::generate(token_type)?))
        };
        // SAFETY: the caller's promise.
        unsafe { raw::give(key, make) }
    })
}

/// Reads what `sealstone_issuer_key_encode` gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_key_decode(
    token_type: u16,
    bytes: *const u8,
    len: usize,
    key: *mut *mut IssuerKey,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { raw::bytes(bytes, len, "bytes") };
        let decode = || {
            let token_type = TokenType::from_number(token_type)?;
            Ok(IssuerKey(privacypass::IssuerKey::decode(
                token_type, bytes?,
            )?))
        };
        // SAFETY: as above.
        unsafe { raw::give(key, decode) }
    })
}

/// The secret key, to be stored where nobody else reads it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_key_encode(
    key: *const IssuerKey,
    bytes: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let key = unsafe { raw::object(key, "key") };
        let encode = || Ok(key?.0.encode()?.expose().to_vec().into());
        // SAFETY: as above.
        unsafe { raw::give(bytes, encode) }
    })
}

/// The public half.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_key_public(
    key: *const IssuerKey,
    public_half: *mut *mut IssuerPublicKey,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let key = unsafe { raw::object(key, "key") };
        let public = || Ok(IssuerPublicKey(key?.0.public_key()));
        // SAFETY: as above.
        unsafe { raw::give(public_half, public) }
    })
}

/// Answers a request for one token, or for up to `limit` tokens with a single proof if `limit` is
/// not 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_key_issue(
    key: *const IssuerKey,
    request: *const u8,
    request_len: usize,
    limit: usize,
    response: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let key = unsafe { raw::object(key, "key") };
        // SAFETY: as above.
        let request = unsafe { raw::bytes(request, request_len, "request") };
        let issue = || {
            let response = match limit {
                0 => key?.0.issue(request?)?,
                limit => key?.0.issue_batch(request?, limit)?,
            };
            Ok(response.into())
        };
        // SAFETY: as above.
        unsafe { raw::give(response, issue) }
    })
}

/// Verifies a token of this key that answers a challenge: SEALSTONE_OK if it is right,
/// SEALSTONE_REFUSED if it is not.
///
/// Fills `nullifier` with 32 bytes, the mark of a token that is spent. A token verifies each time:
/// the caller has to remember the marks, durably and before it acts, and to refuse one that it has
/// seen.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_key_redeem(
    key: *const IssuerKey,
    challenge: *const Challenge,
    token: *const u8,
    token_len: usize,
    nullifier: *mut u8,
    nullifier_len: usize,
) -> Status {
    let parts = Redemption {
        challenge,
        token: (token, token_len),
        nullifier: (nullifier, nullifier_len),
    };
    // SAFETY: the caller's promise.
    unsafe { parts.redeem(key, |key, token| key.0.verify(token)) }
}

/// Wipes and frees a key. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_key_free(key: *mut IssuerKey) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(key) }
}

/// Reads the encoding of RFC 9578.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_public_key_decode(
    token_type: u16,
    bytes: *const u8,
    len: usize,
    key: *mut *mut IssuerPublicKey,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { raw::bytes(bytes, len, "bytes") };
        let decode = || {
            let token_type = TokenType::from_number(token_type)?;
            Ok(IssuerPublicKey(privacypass::IssuerPublicKey::decode(
                token_type, bytes?,
            )?))
        };
        // SAFETY: as above.
        unsafe { raw::give(key, decode) }
    })
}

/// The encoding of RFC 9578.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_public_key_encode(
    key: *const IssuerPublicKey,
    bytes: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let key = unsafe { raw::object(key, "key") };
        // SAFETY: as above.
        unsafe { raw::give(bytes, || Ok(key?.0.as_bytes().to_vec().into())) }
    })
}

/// Verifies a token that everybody can verify (RSA), as `sealstone_issuer_key_redeem`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_public_key_redeem(
    key: *const IssuerPublicKey,
    challenge: *const Challenge,
    token: *const u8,
    token_len: usize,
    nullifier: *mut u8,
    nullifier_len: usize,
) -> Status {
    let parts = Redemption {
        challenge,
        token: (token, token_len),
        nullifier: (nullifier, nullifier_len),
    };
    // SAFETY: the caller's promise.
    unsafe { parts.redeem(key, |key, token| key.0.verify(token)) }
}

/// Frees a public key. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_issuer_public_key_free(key: *mut IssuerPublicKey) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(key) }
}

/// The caller's inputs for redeeming a token.
struct Redemption {
    challenge: *const Challenge,
    token: (*const u8, usize),
    nullifier: (*mut u8, usize),
}

impl Redemption {
    /// # Safety
    /// The pointers are valid for their lengths, as the header says.
    unsafe fn redeem<K>(
        self,
        key: *const K,
        verify: impl FnOnce(&K, &Token) -> Result<(), sealstone_token::Error>,
    ) -> Status {
        guarded(|| {
            // SAFETY: the caller's promise.
            let key = unsafe { raw::object(key, "key") }?;
            let (nullifier, nullifier_len) = self.nullifier;
            raw::check(nullifier.is_null(), nullifier_len, "nullifier")?;
            if nullifier_len != 32 {
                return Err(Failure::invalid("nullifier_len is 32"));
            }
            // SAFETY: as above.
            let challenge = unsafe { raw::object(self.challenge, "challenge") }?;
            let (token, token_len) = self.token;
            // SAFETY: as above.
            let token = Token::decode(unsafe { raw::bytes(token, token_len, "token") }?)?;
            token.answers(&challenge.0)?;
            verify(key, &token)?;
            // SAFETY: as above.
            unsafe { raw::write(nullifier, nullifier_len, &token.nullifier()) }
        })
    }
}
