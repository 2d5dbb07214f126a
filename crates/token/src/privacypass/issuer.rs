//! The issuer's keys, and its side of the issuance protocols (RFC 9578 sections 5.2 and 6.2).

use std::fmt;
use std::sync::Arc;

use sealstone_primitives::secret::SecretVec;
use sealstone_primitives::sign::blind_rsa;
use sealstone_primitives::{ct, hash};

use super::wire::{Reader, put_variable_vector};
use super::{Token, TokenType};
use crate::Error;
use crate::voprf::verifiable::Server;
use crate::voprf::{
    Blinded, P256Sha256, P384Sha384, PrivateKey, PublicKey, Ristretto255Sha512, Suite,
};

/// A secret key that issues tokens of one type.
pub struct IssuerKey {
    secret: SecretKey,
    public: IssuerPublicKey,
}

enum SecretKey {
    P384(Server<P384Sha384>),
    Rsa(blind_rsa::SigningKey),
    Ristretto255(Server<Ristretto255Sha512>),
    P256(Server<P256Sha256>),
}

/// Evaluates one expression for each kind of VOPRF key, another for RSA.
macro_rules! by_kind {
    ($kind:ident, $value:expr, $voprf:ident => $on_voprf:expr, $rsa:ident => $on_rsa:expr) => {
        match $value {
            $kind::P384($voprf) => $on_voprf,
            $kind::Ristretto255($voprf) => $on_voprf,
            $kind::P256($voprf) => $on_voprf,
            $kind::Rsa($rsa) => $on_rsa,
        }
    };
}
pub(super) use by_kind;

impl IssuerKey {
    /// A new random key. One for RSA takes a tenth of a second or more.
    ///
    /// # Errors
    /// Only without memory.
    pub fn generate(token_type: TokenType) -> Result<Self, Error> {
        Self::new(match token_type {
            TokenType::VoprfP384 => SecretKey::P384(Server::generate()),
            TokenType::VoprfRistretto255 => SecretKey::Ristretto255(Server::generate()),
            TokenType::VoprfP256 => SecretKey::P256(Server::generate()),
            TokenType::BlindRsa2048 => SecretKey::Rsa(
                blind_rsa::SigningKey::generate().map_err(|_| Error::Malformed("private key"))?,
            ),
        })
    }

    /// The key that `seed` and `info` determine (RFC 9497 section 3.2.1).
    ///
    /// # Errors
    /// For RSA, whose keys are not derived, and if `info` is longer than 65,535 bytes.
    pub fn derive(token_type: TokenType, seed: &[u8; 32], info: &[u8]) -> Result<Self, Error> {
        Self::new(match token_type {
            TokenType::VoprfP384 => SecretKey::P384(Server::derive(seed, info)?),
            TokenType::VoprfRistretto255 => SecretKey::Ristretto255(Server::derive(seed, info)?),
            TokenType::VoprfP256 => SecretKey::P256(Server::derive(seed, info)?),
            TokenType::BlindRsa2048 => return Err(Error::NotDerived),
        })
    }

    /// The key that `bytes` encode: a scalar (RFC 9497), for RSA a PKCS #8 structure.
    ///
    /// # Errors
    /// If they are anything else, or an RSA key not of 2048 bits with exponent 65,537.
    pub fn decode(token_type: TokenType, bytes: &[u8]) -> Result<Self, Error> {
        Self::new(match token_type {
            TokenType::VoprfP384 => SecretKey::P384(server(bytes)?),
            TokenType::VoprfRistretto255 => SecretKey::Ristretto255(server(bytes)?),
            TokenType::VoprfP256 => SecretKey::P256(server(bytes)?),
            TokenType::BlindRsa2048 => SecretKey::Rsa(
                blind_rsa::SigningKey::from_pkcs8(bytes)
                    .map_err(|_| Error::Malformed("private key"))?,
            ),
        })
    }

    /// The encoding that [`IssuerKey::decode`] reads.
    ///
    /// # Errors
    /// Only without memory.
    pub fn encode(&self) -> Result<SecretVec, Error> {
        by_kind!(SecretKey, &self.secret,
            server => Ok(server.key().encode()),
            rsa => rsa.to_pkcs8().map_err(|_| Error::Malformed("private key")))
    }

    fn new(secret: SecretKey) -> Result<Self, Error> {
        let token_type = match &secret {
            SecretKey::P384(_) => TokenType::VoprfP384,
            SecretKey::Rsa(_) => TokenType::BlindRsa2048,
            SecretKey::Ristretto255(_) => TokenType::VoprfRistretto255,
            SecretKey::P256(_) => TokenType::VoprfP256,
        };
        let public = by_kind!(SecretKey, &secret,
            server => IssuerPublicKey::decode(token_type, server.key().public_key().as_bytes()),
            rsa => IssuerPublicKey::decode(token_type, rsa.verifying_key().as_spki()))?;
        Ok(Self { secret, public })
    }

    /// The public half.
    #[must_use]
    pub fn public_key(&self) -> IssuerPublicKey {
        self.public.clone()
    }

    /// The type of token that this key issues.
    #[must_use]
    pub fn token_type(&self) -> TokenType {
        self.public.token_type
    }

    /// Answers a request for one token.
    ///
    /// # Errors
    /// If the request is malformed, or for another type or key.
    pub fn issue(&self, request: &[u8]) -> Result<Vec<u8>, Error> {
        let mut reader = Reader::new(request, "token request");
        self.check_head(&RequestHead::read(&mut reader)?)?;
        let blinded = reader.take(self.token_type().blinded_len())?;
        reader.finish()?;
        self.issue_body(blinded)
    }

    /// The response to what stands behind a request's head.
    fn issue_body(&self, blinded: &[u8]) -> Result<Vec<u8>, Error> {
        by_kind!(SecretKey, &self.secret,
        server => {
            let (evaluated, proof) = evaluate(server, blinded)?;
            Ok([evaluated, proof].concat())
        },
        rsa => {
            let message = blinded.try_into().map_err(|_| Error::Malformed("token request"))?;
            let signature = rsa.sign(message).map_err(|_| Error::Malformed("token request"))?;
            Ok(signature.to_vec())
        })
    }

    /// Answers a request for many tokens with one proof
    /// (draft-ietf-privacypass-batched-tokens section 5). It has at most `limit` of them.
    ///
    /// # Errors
    /// As [`IssuerKey::issue`], if there are none or more than `limit`, and for RSA, which has
    /// no such requests.
    pub fn issue_batch(&self, request: &[u8], limit: usize) -> Result<Vec<u8>, Error> {
        let mut reader = Reader::new(request, "batched token request");
        self.check_head(&RequestHead::read(&mut reader)?)?;
        let blinded = reader.variable_vector()?;
        reader.finish()?;
        let len = blinded.len() / self.token_type().blinded_len();
        if len > limit {
            return Err(Error::BatchLength(len));
        }
        by_kind!(SecretKey, &self.secret,
            server => {
                let (evaluated, proof) = evaluate(server, blinded)?;
                let mut response = Vec::with_capacity(evaluated.len() + proof.len() + 8);
                put_variable_vector(&mut response, &evaluated);
                response.extend_from_slice(&proof);
                Ok(response)
            },
            _rsa => Err(Error::NoBatch))
    }

    fn check_head(&self, head: &RequestHead) -> Result<(), Error> {
        let (expected, found) = (self.token_type().number(), head.token_type.number());
        if expected != found {
            return Err(Error::WrongType { expected, found });
        }
        if head.truncated_key_id == self.public.truncated_key_id() {
            Ok(())
        } else {
            Err(Error::WrongKey)
        }
    }

    /// Verifies the authenticator of `token`. The caller also compares the challenge
    /// ([`Token::answers`]) and remembers the mark ([`Token::nullifier`]).
    ///
    /// # Errors
    /// If the token is of another type or key, or forged.
    pub fn verify(&self, token: &Token) -> Result<(), Error> {
        self.public.check_key(token)?;
        by_kind!(SecretKey, &self.secret,
            server => {
                let output = server.evaluate_alone(&token.authenticator_input())?;
                if ct::eq(output.as_bytes(), token.authenticator()) {
                    Ok(())
                } else {
                    Err(Error::Forged)
                }
            },
            _rsa => self.public.verify(token))
    }
}

impl fmt::Debug for IssuerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IssuerKey({:?})", self.public)
    }
}

fn server<S: Suite>(bytes: &[u8]) -> Result<Server<S>, Error> {
    PrivateKey::decode(bytes).map(Server::new)
}

/// The evaluations of a row of blinded elements, one after the other, and the proof.
fn evaluate<S: Suite>(server: &Server<S>, blinded: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let (evaluated, proof) = server.evaluate(&Blinded::decode_all(blinded)?)?;
    let row = evaluated
        .iter()
        .flat_map(|element| element.as_bytes().iter().copied());
    Ok((row.collect(), proof.encode()))
}

/// The beginning of every request: for which key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// The type of token.
    pub token_type: TokenType,
    /// The last byte of the identifier of the issuer's key.
    pub truncated_key_id: u8,
}

impl RequestHead {
    /// The head of a request for one token or a batch.
    ///
    /// # Errors
    /// If `request` is too short for it, or the type is unknown here.
    pub fn of(request: &[u8]) -> Result<Self, Error> {
        Self::read(&mut Reader::new(request, "token request"))
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let token_type = TokenType::from_number(reader.u16()?)?;
        Ok(Self {
            token_type,
            truncated_key_id: reader.u8()?,
        })
    }
}

/// The public half of an issuer's key.
#[derive(Clone)]
pub struct IssuerPublicKey {
    token_type: TokenType,
    pub(super) key: PublicHalf,
    encoding: Vec<u8>,
    id: [u8; 32],
}

#[derive(Clone)]
pub(super) enum PublicHalf {
    P384(PublicKey<P384Sha384>),
    Rsa(Arc<blind_rsa::VerifyingKey>),
    Ristretto255(PublicKey<Ristretto255Sha512>),
    P256(PublicKey<P256Sha256>),
}

impl IssuerPublicKey {
    /// The key that `bytes` encode: a compressed element, for RSA the SubjectPublicKeyInfo of
    /// RFC 9578 section 6.5.
    ///
    /// # Errors
    /// If they are anything else.
    pub fn decode(token_type: TokenType, bytes: &[u8]) -> Result<Self, Error> {
        let key = match token_type {
            TokenType::VoprfP384 => PublicHalf::P384(PublicKey::decode(bytes)?),
            TokenType::VoprfRistretto255 => PublicHalf::Ristretto255(PublicKey::decode(bytes)?),
            TokenType::VoprfP256 => PublicHalf::P256(PublicKey::decode(bytes)?),
            TokenType::BlindRsa2048 => PublicHalf::Rsa(Arc::new(
                blind_rsa::VerifyingKey::from_spki(bytes)
                    .map_err(|_| Error::Malformed("public key"))?,
            )),
        };
        Ok(Self {
            token_type,
            key,
            encoding: bytes.to_vec(),
            id: hash::sha256(&[bytes]),
        })
    }

    /// The encoding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.encoding
    }

    /// The type of token that the key issues.
    #[must_use]
    pub fn token_type(&self) -> TokenType {
        self.token_type
    }

    /// The identifier: the SHA-256 digest of the encoding.
    #[must_use]
    pub fn id(&self) -> &[u8; 32] {
        &self.id
    }

    /// The last byte of the identifier, which is all that a request tells.
    #[must_use]
    pub fn truncated_key_id(&self) -> u8 {
        self.id[31]
    }

    /// Verifies a token of the one type that everybody can verify. The caller also compares the
    /// challenge ([`Token::answers`]) and remembers the mark ([`Token::nullifier`]).
    ///
    /// # Errors
    /// If the token is of another type or key, or forged; and for a VOPRF, whose tokens only the
    /// issuer can verify.
    pub fn verify(&self, token: &Token) -> Result<(), Error> {
        self.check_key(token)?;
        match &self.key {
            PublicHalf::Rsa(key) => {
                let signature = token
                    .authenticator()
                    .try_into()
                    .map_err(|_| Error::Forged)?;
                key.verify(&token.authenticator_input(), signature)
                    .map_err(|_| Error::Forged)
            }
            _ => Err(Error::NotPublic),
        }
    }

    fn check_key(&self, token: &Token) -> Result<(), Error> {
        let (expected, found) = (self.token_type.number(), token.token_type().number());
        if expected != found {
            return Err(Error::WrongType { expected, found });
        }
        if *token.key_id() == self.id {
            Ok(())
        } else {
            Err(Error::WrongKey)
        }
    }
}

impl PartialEq for IssuerPublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.token_type == other.token_type && self.encoding == other.encoding
    }
}

impl Eq for IssuerPublicKey {}

impl fmt::Debug for IssuerPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.token_type)?;
        self.id.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
