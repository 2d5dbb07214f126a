//! Requests for tokens of several keys or types at once
//! (draft-ietf-privacypass-batched-tokens section 6).

use super::issuer::RequestHead;
use super::wire::{Reader, put_variable_vector};
use super::{IssuerKey, IssuerPublicKey, Pending, Token, TokenChallenge, TokenType};
use crate::Error;

/// Tokens of several keys that were asked for together.
#[derive(Debug)]
pub struct GenericPending(Vec<Pending>);

impl GenericPending {
    /// Asks for one token of each key. Also returns the request to send.
    ///
    /// # Errors
    /// If `wanted` is empty, or as [`Pending::one`].
    pub fn new(wanted: &[(&IssuerPublicKey, &TokenChallenge)]) -> Result<(Self, Vec<u8>), Error> {
        let pending = wanted
            .iter()
            .map(|(key, challenge)| Ok(Pending::one(key, challenge)?.0));
        Self::together(pending.collect::<Result<_, Error>>()?)
    }

    /// Puts requests for one token each together. Also returns the request to send.
    ///
    /// # Errors
    /// If `pending` is empty.
    pub fn together(pending: Vec<Pending>) -> Result<(Self, Vec<u8>), Error> {
        if pending.is_empty() {
            return Err(Error::BatchLength(0));
        }
        let requests: Vec<u8> = pending.iter().flat_map(Pending::request).collect();
        let mut request = Vec::with_capacity(requests.len() + 8);
        put_variable_vector(&mut request, &requests);
        Ok((Self(pending), request))
    }

    /// The tokens in the order in which they were asked for. One that the issuer refused, or
    /// whose response is wrong, is an error of its own.
    ///
    /// # Errors
    /// If the response as a whole is malformed, or has another number of parts.
    pub fn finalize(self, response: &[u8]) -> Result<Vec<Result<Token, Error>>, Error> {
        let malformed = Error::Malformed("batched token response");
        let mut outer = Reader::new(response, "batched token response");
        let mut reader = Reader::new(outer.variable_vector()?, "batched token response");
        outer.finish()?;
        let mut tokens = Vec::with_capacity(self.0.len());
        for pending in self.0 {
            tokens.push(match reader.u8()? {
                0 => Err(Error::Refused),
                1 => {
                    let token_type = TokenType::from_number(reader.u16()?)?;
                    if token_type != pending.key().token_type() {
                        return Err(malformed);
                    }
                    let body = reader.take(token_type.response_len())?;
                    pending.finalize(body).map(|mut tokens| tokens.remove(0))
                }
                _ => return Err(malformed),
            });
        }
        reader.finish()?;
        Ok(tokens)
    }
}

/// Answers a request for at most `limit` tokens of several keys. `find` gives the key for a head,
/// or none; a part that cannot be answered is refused alone.
///
/// # Errors
/// If the request as a whole is malformed, empty or too long.
pub fn issue_generic<'k>(
    request: &[u8],
    limit: usize,
    find: impl Fn(&RequestHead) -> Option<&'k IssuerKey>,
) -> Result<Vec<u8>, Error> {
    let mut outer = Reader::new(request, "batched token request");
    let requests = outer.variable_vector()?;
    outer.finish()?;
    let parts = split(requests)?;
    if !(1..=limit).contains(&parts.len()) {
        return Err(Error::BatchLength(parts.len()));
    }
    let mut responses = Vec::new();
    for (head, part) in parts {
        match find(&head).map(|key| key.issue(part)) {
            Some(Ok(body)) => {
                responses.push(1);
                responses.extend_from_slice(&head.token_type.to_bytes());
                responses.extend_from_slice(&body);
            }
            _ => responses.push(0),
        }
    }
    let mut response = Vec::with_capacity(responses.len() + 8);
    put_variable_vector(&mut response, &responses);
    Ok(response)
}

/// The requests that stand one after the other, each with its head.
fn split(mut requests: &[u8]) -> Result<Vec<(RequestHead, &[u8])>, Error> {
    let mut parts = Vec::new();
    while !requests.is_empty() {
        let head = RequestHead::of(requests)?;
        let len = 3 + head.token_type.blinded_len();
        let (part, rest) = requests
            .split_at_checked(len)
            .ok_or(Error::Malformed("batched token request"))?;
        parts.push((head, part));
        requests = rest;
    }
    Ok(parts)
}
