//! Anonymous tokens (Privacy Pass, RFC 9577 and RFC 9578): what a client does.
//!
//! ```
//! use sealstone_capi::status::MALFORMED;
//! use sealstone_capi::token::sealstone_challenge_decode;
//!
//! let mut challenge = std::ptr::null_mut();
//! // SAFETY: the bytes are valid for their length.
//! let status = unsafe { sealstone_challenge_decode(b"x".as_ptr(), 1, &mut challenge) };
//! assert_eq!(status, MALFORMED);
//! ```

use std::ffi::c_char;

use sealstone_token::privacypass::{self, TokenChallenge, TokenType, header};

use crate::buffer::Buffer;
use crate::public_key::IssuerPublicKey;
use crate::raw;
use crate::status::{Failure, Status, guarded};

/// Only the issuer verifies these tokens (P-384, RFC 9578).
pub const TOKEN_P384: u16 = 0x0001;
/// Everybody verifies these tokens (RSA of 2048 bits, RFC 9578).
pub const TOKEN_RSA: u16 = 0x0002;
/// Only the issuer verifies these tokens (ristretto255).
pub const TOKEN_RISTRETTO255: u16 = 0x0005;
/// Only the issuer verifies these tokens (P-256, a type of this project's own).
pub const TOKEN_P256: u16 = 0xff01;

/// The verifier's demands.
pub struct Challenge(pub(crate) TokenChallenge);

/// Tokens that were asked for and not yet received, with the secrets that blind them.
pub struct Pending(privacypass::Pending);

/// Tokens that were received.
pub struct Tokens(Vec<privacypass::Token>);

/// Makes a challenge.
///
/// `context` is `NULL` or 32 bytes, which bind tokens to a session, for instance. `origins` is
/// `NULL` or the names of the servers that accept the tokens, with commas between them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_challenge_new(
    token_type: u16,
    issuer: *const c_char,
    context: *const u8,
    context_len: usize,
    origins: *const c_char,
    challenge: *mut *mut Challenge,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let issuer = unsafe { raw::text(issuer, "issuer") };
        // SAFETY: as above.
        let context = unsafe { raw::bytes(context, context_len, "context") };
        // SAFETY: as above.
        let origins = unsafe { raw::optional_text(origins, "origins") };
        let make = || {
            let context = match context? {
                [] => None,
                bytes => Some(bytes.try_into().map_err(|_| {
                    Failure::invalid(format!("context_len is {context_len}: a context has 32"))
                })?),
            };
            let origins: Vec<&str> = origins?.map_or(Vec::new(), |it| it.split(',').collect());
            let token_type = TokenType::from_number(token_type)?;
            Ok(Challenge(TokenChallenge::new(
                token_type, issuer?, context, &origins,
            )?))
        };
        // SAFETY: as above.
        unsafe { raw::give(challenge, make) }
    })
}

/// Reads the encoding of RFC 9577.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_challenge_decode(
    bytes: *const u8,
    len: usize,
    challenge: *mut *mut Challenge,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { raw::bytes(bytes, len, "bytes") };
        let decode = || Ok(Challenge(TokenChallenge::decode(bytes?)?));
        // SAFETY: as above.
        unsafe { raw::give(challenge, decode) }
    })
}

/// The encoding of RFC 9577.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_challenge_encode(
    challenge: *const Challenge,
    bytes: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let challenge = unsafe { raw::object(challenge, "challenge") };
        // SAFETY: as above.
        unsafe { raw::give(bytes, || Ok(challenge?.0.encode().into())) }
    })
}

/// The type of token that a challenge asks for; it may be one that this library does not know.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_challenge_type(
    challenge: *const Challenge,
    token_type: *mut u16,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let challenge = unsafe { raw::object(challenge, "challenge") }?;
        // SAFETY: as above.
        unsafe { raw::set(token_type, challenge.0.token_type_number(), "token_type") }
    })
}

/// The name of the issuer whose tokens the challenge asks for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_challenge_issuer(
    challenge: *const Challenge,
    name: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let challenge = unsafe { raw::object(challenge, "challenge") };
        let copy = || Ok(challenge?.0.issuer_name().as_bytes().to_vec().into());
        // SAFETY: as above.
        unsafe { raw::give(name, copy) }
    })
}

/// Whether `origin`, the name of the server that sent the challenge, accepts the tokens.
///
/// A client answers no challenge of another server: a server may have got it elsewhere (RFC 9577
/// section 2.1.3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_challenge_is_for(
    challenge: *const Challenge,
    origin: *const c_char,
    accepts: *mut bool,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let challenge = unsafe { raw::object(challenge, "challenge") }?;
        // SAFETY: as above.
        let origin = unsafe { raw::text(origin, "origin") }?;
        // SAFETY: as above.
        unsafe { raw::set(accepts, challenge.0.is_for(origin), "accepts") }
    })
}

/// The value of a `WWW-Authenticate` header with this challenge and the issuer's key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_challenge_header(
    challenge: *const Challenge,
    key: *const IssuerPublicKey,
    value: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let challenge = unsafe { raw::object(challenge, "challenge") };
        // SAFETY: as above.
        let key = unsafe { raw::object(key, "key") };
        let write = || {
            let offer = header::Offer {
                challenge: challenge?.0.clone(),
                token_key: Some(key?.0.as_bytes().to_vec()),
                max_age: None,
            };
            Ok(header::challenge(&offer).into_bytes().into())
        };
        // SAFETY: as above.
        unsafe { raw::give(value, write) }
    })
}

/// Reads the challenge at a position, from 0, of a `WWW-Authenticate` header.
///
/// `key` is set to the issuer's key beside it, or to `NULL` if there is none. Fails with
/// SEALSTONE_INVALID if the header has fewer challenges, or a key that does not fit its challenge.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_challenge_from_header(
    value: *const c_char,
    position: usize,
    challenge: *mut *mut Challenge,
    key: *mut *mut IssuerPublicKey,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let value = unsafe { raw::text(value, "value") };
        let mut found_key = None;
        let read = || {
            let offer = header::parse_challenges(value?)?.into_iter().nth(position);
            let offer = offer.ok_or_else(|| Failure::invalid("position: no such challenge"))?;
            if let Some(bytes) = &offer.token_key {
                let token_type = offer.challenge.token_type()?;
                let key = privacypass::IssuerPublicKey::decode(token_type, bytes)?;
                found_key = Some(IssuerPublicKey(key));
            }
            Ok(Challenge(offer.challenge))
        };
        raw::check(key.is_null(), 1, "key")?;
        // SAFETY: not null, so the caller promises that it can be written.
        unsafe { key.write(std::ptr::null_mut()) };
        // SAFETY: as above.
        unsafe { raw::give(challenge, read) }?;
        if let Some(found) = found_key {
            // SAFETY: as above.
            unsafe { raw::give(key, || Ok(found)) }?;
        }
        Ok(())
    })
}

/// Frees a challenge. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_challenge_free(challenge: *mut Challenge) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(challenge) }
}

/// Asks for tokens that answer a challenge: one, or several with a single proof if `count` is not
/// 0 (for all types but RSA).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_token_request(
    key: *const IssuerPublicKey,
    challenge: *const Challenge,
    count: usize,
    pending: *mut *mut Pending,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let key = unsafe { raw::object(key, "key") };
        // SAFETY: as above.
        let challenge = unsafe { raw::object(challenge, "challenge") };
        let ask = || {
            let (key, challenge) = (&key?.0, &challenge?.0);
            let (pending, _) = match count {
                0 => privacypass::Pending::one(key, challenge)?,
                count => privacypass::Pending::batch(key, challenge, count)?,
            };
            Ok(Pending(pending))
        };
        // SAFETY: as above.
        unsafe { raw::give(pending, ask) }
    })
}

/// The request to send to the issuer. It is always the same: to send it again is safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_pending_request(
    pending: *const Pending,
    request: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let pending = unsafe { raw::object(pending, "pending") };
        // SAFETY: as above.
        unsafe { raw::give(request, || Ok(pending?.0.request().into())) }
    })
}

/// Everything, to be stored in secret until the response arrives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_pending_save(
    pending: *const Pending,
    bytes: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let pending = unsafe { raw::object(pending, "pending") };
        let save = || Ok(pending?.0.encode().expose().to_vec().into());
        // SAFETY: as above.
        unsafe { raw::give(bytes, save) }
    })
}

/// Reads what `sealstone_pending_save` gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_pending_restore(
    bytes: *const u8,
    len: usize,
    pending: *mut *mut Pending,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { raw::bytes(bytes, len, "bytes") };
        let restore = || Ok(Pending(privacypass::Pending::decode(bytes?)?));
        // SAFETY: as above.
        unsafe { raw::give(pending, restore) }
    })
}

/// Checks the issuer's response, and makes the tokens. SEALSTONE_REFUSED says that the response is
/// not that of the issuer's key.
///
/// `pending` stays as it is, and a response that is right gives the same tokens again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_pending_finalize(
    pending: *const Pending,
    response: *const u8,
    response_len: usize,
    tokens: *mut *mut Tokens,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let pending = unsafe { raw::object(pending, "pending") };
        // SAFETY: as above.
        let response = unsafe { raw::bytes(response, response_len, "response") };
        let finalize = || {
            // Rust's `finalize` consumes the secrets; C's handle is freed by its owner only.
            let copy = privacypass::Pending::decode(pending?.0.encode().expose())?;
            Ok(Tokens(copy.finalize(response?)?))
        };
        // SAFETY: as above.
        unsafe { raw::give(tokens, finalize) }
    })
}

/// Wipes and frees what was asked for. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_pending_free(pending: *mut Pending) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(pending) }
}

/// The number of tokens; 0 for `NULL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_tokens_count(tokens: *const Tokens) -> usize {
    // SAFETY: the caller's promise.
    let tokens = unsafe { tokens.as_ref() };
    tokens.map_or(0, |tokens| tokens.0.len())
}

/// The encoding (RFC 9577) of the token at a position, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_tokens_get(
    tokens: *const Tokens,
    position: usize,
    token: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let tokens = unsafe { raw::object(tokens, "tokens") };
        let find = || {
            let token = tokens?.0.get(position);
            let token = token.ok_or_else(|| Failure::invalid("position: no such token"))?;
            Ok(token.encode().into())
        };
        // SAFETY: as above.
        unsafe { raw::give(token, find) }
    })
}

/// Frees tokens. `NULL` is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_tokens_free(tokens: *mut Tokens) {
    // SAFETY: the caller's promise.
    unsafe { raw::free(tokens) }
}

/// The value of an `Authorization` header that shows a token.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_token_header(
    token: *const u8,
    token_len: usize,
    value: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let token = unsafe { raw::bytes(token, token_len, "token") };
        let write = || {
            let token = privacypass::Token::decode(token?)?;
            Ok(header::authorization(&token).into_bytes().into())
        };
        // SAFETY: as above.
        unsafe { raw::give(value, write) }
    })
}

/// The encoding of the token in the value of an `Authorization` header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealstone_token_from_header(
    value: *const c_char,
    token: *mut *mut Buffer,
) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let value = unsafe { raw::text(value, "value") };
        let read = || Ok(header::parse_authorization(value?)?.encode().into());
        // SAFETY: as above.
        unsafe { raw::give(token, read) }
    })
}
