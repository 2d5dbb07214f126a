//! A token (RFC 9577 section 2.2).

use std::fmt;

use sealstone_primitives::{ct, hash};
use zeroize::Zeroizing;

use super::wire::Reader;
use super::{TokenChallenge, TokenType};
use crate::Error;

/// Hashed before a token's authenticator input, so that marks collide with no other digest.
const NULLIFIER_DOMAIN: &[u8] = b"sealstone.token.nullifier.v1\0";

/// The proof that a client shows to an origin. Its `Debug` form leaves the authenticator out, so
/// that nobody can spend a token from a log.
#[derive(Clone)]
pub struct Token {
    token_type: TokenType,
    nonce: [u8; 32],
    challenge_digest: [u8; 32],
    key_id: [u8; 32],
    /// Anybody who has it can spend the token, so it is wiped.
    authenticator: Zeroizing<Vec<u8>>,
}

impl Token {
    /// The token that `bytes` encode.
    ///
    /// # Errors
    /// If they are anything else, or of a type that is unknown here.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes, "token");
        let token_type = TokenType::from_number(reader.u16()?)?;
        let token = Self {
            token_type,
            nonce: reader.array()?,
            challenge_digest: reader.array()?,
            key_id: reader.array()?,
            authenticator: reader.take(token_type.authenticator_len())?.to_vec().into(),
        };
        reader.finish()?;
        Ok(token)
    }

    /// A token without its authenticator yet, for `key_id`.
    pub(super) fn unsigned(
        token_type: TokenType,
        nonce: [u8; 32],
        challenge_digest: [u8; 32],
        key_id: [u8; 32],
    ) -> Self {
        Self {
            token_type,
            nonce,
            challenge_digest,
            key_id,
            authenticator: Zeroizing::default(),
        }
    }

    pub(super) fn with_authenticator(mut self, authenticator: &[u8]) -> Self {
        debug_assert_eq!(authenticator.len(), self.token_type.authenticator_len());
        self.authenticator = authenticator.to_vec().into();
        self
    }

    /// The encoding.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        [&self.authenticator_input()[..], &self.authenticator].concat()
    }

    /// The input of the authenticator: all fields before it.
    #[must_use]
    pub fn authenticator_input(&self) -> [u8; 98] {
        let mut input = [0; 98];
        input[..2].copy_from_slice(&self.token_type.to_bytes());
        input[2..34].copy_from_slice(&self.nonce);
        input[34..66].copy_from_slice(&self.challenge_digest);
        input[66..].copy_from_slice(&self.key_id);
        input
    }

    /// Whether the token answers `challenge`.
    ///
    /// # Errors
    /// If its type or its digest is another's.
    pub fn answers(&self, challenge: &TokenChallenge) -> Result<(), Error> {
        let (expected, found) = (challenge.token_type_number(), self.token_type.number());
        if expected != found {
            return Err(Error::WrongType { expected, found });
        }
        if challenge.digest() == self.challenge_digest {
            Ok(())
        } else {
            Err(Error::WrongChallenge)
        }
    }

    /// The mark under which a spent token is remembered. It tells nothing of the authenticator,
    /// and two tokens with one mark are the same token.
    #[must_use]
    pub fn nullifier(&self) -> [u8; 32] {
        let mut hash = hash::Sha3_256::new();
        hash.update(NULLIFIER_DOMAIN);
        hash.update(&self.authenticator_input());
        hash.finish()
    }

    /// The type.
    #[must_use]
    pub fn token_type(&self) -> TokenType {
        self.token_type
    }

    /// The client's random number.
    #[must_use]
    pub fn nonce(&self) -> &[u8; 32] {
        &self.nonce
    }

    /// The digest of the challenge that the token answers.
    #[must_use]
    pub fn challenge_digest(&self) -> &[u8; 32] {
        &self.challenge_digest
    }

    /// The identifier of the issuer's key.
    #[must_use]
    pub fn key_id(&self) -> &[u8; 32] {
        &self.key_id
    }

    /// The output of the VOPRF, or the signature.
    #[must_use]
    pub fn authenticator(&self) -> &[u8] {
        &self.authenticator
    }
}

impl PartialEq for Token {
    /// In constant time.
    fn eq(&self, other: &Self) -> bool {
        ct::eq(&self.authenticator_input(), &other.authenticator_input())
            && ct::eq(&self.authenticator, &other.authenticator)
    }
}

impl Eq for Token {}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}, nullifier ", self.token_type)?;
        let nullifier = self.nullifier();
        nullifier
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}
