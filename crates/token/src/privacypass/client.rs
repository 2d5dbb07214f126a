//! The client's side of the issuance protocols (RFC 9578 sections 5.1, 5.3, 6.1 and 6.3).

use std::fmt;

use sealstone_primitives::rng;
use sealstone_primitives::secret::SecretVec;
use sealstone_primitives::sign::blind_rsa::{self, Blind, BlindedMessage};

use super::issuer::{IssuerPublicKey, PublicHalf, by_kind};
use super::wire::{Reader, put_variable_vector};
use super::{Token, TokenChallenge, TokenType};
use crate::Error;
use crate::voprf::verifiable::Client;
use crate::voprf::{
    Evaluated, P256Sha256, P384Sha384, Proof, PublicKey, Ristretto255Sha512, Suite,
};

/// Tokens that were asked for and not yet received. [`Pending::finalize`] consumes it.
///
/// It holds secrets: with them, the issuer could recognise the tokens.
pub struct Pending {
    key: IssuerPublicKey,
    form: Form,
    tokens: Vec<Token>,
    blinds: Blinds,
}

/// How many tokens a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    One = 1,
    Batch = 2,
}

enum Blinds {
    P384(Client<P384Sha384>),
    Rsa(Vec<(BlindedMessage, Blind)>),
    Ristretto255(Client<Ristretto255Sha512>),
    P256(Client<P256Sha256>),
}

/// Where the blinds come from.
enum Source<'a> {
    Random,
    /// As they were written: a scalar, or the inverse of RSA's factor.
    Saved(&'a [&'a [u8]]),
    /// RSA's factor and salt, which only test vectors choose.
    #[cfg(feature = "hazmat")]
    Factor(&'a [u8], &'a [u8; blind_rsa::SALT_LEN]),
}

impl Pending {
    /// Asks for one token that answers `challenge`. Also returns the request to send.
    ///
    /// # Errors
    /// If the challenge is for another type of token than the key issues.
    pub fn one(
        key: &IssuerPublicKey,
        challenge: &TokenChallenge,
    ) -> Result<(Self, Vec<u8>), Error> {
        let tokens = unsigned(key, challenge, &[rng::array()])?;
        Self::new(key, Form::One, tokens, &Source::Random)
    }

    /// Asks for `count` tokens that answer `challenge`, with one proof for all
    /// (draft-ietf-privacypass-batched-tokens section 5). Also returns the request to send.
    ///
    /// # Errors
    /// As [`Pending::one`]; if `count` is 0 or above 65,535; and for RSA, which has no such
    /// requests.
    pub fn batch(
        key: &IssuerPublicKey,
        challenge: &TokenChallenge,
        count: usize,
    ) -> Result<(Self, Vec<u8>), Error> {
        if count > crate::voprf::MAX_BATCH {
            return Err(Error::BatchLength(count));
        }
        let nonces: Vec<[u8; 32]> = (0..count).map(|_| rng::array()).collect();
        let tokens = unsigned(key, challenge, &nonces)?;
        Self::new(key, Form::Batch, tokens, &Source::Random)
    }

    /// As [`Pending::one`], with the nonce and the blind of a test vector, and for RSA its salt.
    ///
    /// # Errors
    /// As there, and if the blind is not canonical.
    #[cfg(feature = "hazmat")]
    pub fn one_with(
        key: &IssuerPublicKey,
        challenge: &TokenChallenge,
        nonce: [u8; 32],
        blind: &[u8],
        salt: Option<&[u8; blind_rsa::SALT_LEN]>,
    ) -> Result<(Self, Vec<u8>), Error> {
        let tokens = unsigned(key, challenge, &[nonce])?;
        let blinds = [blind];
        let source = match salt {
            Some(salt) => Source::Factor(blind, salt),
            None => Source::Saved(&blinds),
        };
        Self::new(key, Form::One, tokens, &source)
    }

    /// As [`Pending::batch`], with the nonces and the blinds of a test vector.
    ///
    /// # Errors
    /// As there, and if a blind is not canonical.
    #[cfg(feature = "hazmat")]
    pub fn batch_with(
        key: &IssuerPublicKey,
        challenge: &TokenChallenge,
        nonces: &[[u8; 32]],
        blinds: &[&[u8]],
    ) -> Result<(Self, Vec<u8>), Error> {
        let tokens = unsigned(key, challenge, nonces)?;
        Self::new(key, Form::Batch, tokens, &Source::Saved(blinds))
    }

    fn new(
        key: &IssuerPublicKey,
        form: Form,
        tokens: Vec<Token>,
        source: &Source<'_>,
    ) -> Result<(Self, Vec<u8>), Error> {
        let blinds = blind(key, form, &tokens, source)?;
        let pending = Self {
            key: key.clone(),
            form,
            tokens,
            blinds,
        };
        let request = pending.request();
        Ok((pending, request))
    }

    /// The request to send. It is always the same: to send it again is safe.
    #[must_use]
    pub fn request(&self) -> Vec<u8> {
        let mut request = self.key.token_type().to_bytes().to_vec();
        request.push(self.key.truncated_key_id());
        let row = by_kind!(Blinds, &self.blinds,
            client => client.blinded().iter().flat_map(|e| e.as_bytes().to_vec()).collect(),
            rsa => rsa.iter().flat_map(|(message, _)| message.as_bytes().to_vec()).collect::<Vec<_>>());
        match self.form {
            Form::One => request.extend_from_slice(&row),
            Form::Batch => put_variable_vector(&mut request, &row),
        }
        request
    }

    /// Checks the issuer's response, and makes the tokens.
    ///
    /// # Errors
    /// If the response is malformed, or its proof or signature is not one of the issuer's key.
    pub fn finalize(self, response: &[u8]) -> Result<Vec<Token>, Error> {
        self.finalize_or_keep(response).map_err(|(error, _)| error)
    }

    /// As [`Pending::finalize`]. With [`Error::Cancelled`] it gives itself back.
    ///
    /// # Errors
    /// As there; [`Error::Cancelled`].
    pub fn finalize_or_keep(
        self,
        response: &[u8],
    ) -> Result<Vec<Token>, (Error, Option<Box<Self>>)> {
        let (row, proof) = self.parts(response).map_err(|error| (error, None))?;
        let opened = by_kind!(Blinds, &self.blinds,
            client => unblind(client, &self.tokens, row, proof),
            _rsa => return self.finalize_rsa(row, proof).map_err(|error| (error, None)));
        opened.map_err(|error| {
            let keeps = error == Error::Cancelled;
            (error, keeps.then(|| Box::new(self)))
        })
    }

    /// The evaluations and the proof of a response.
    fn parts<'r>(&self, response: &'r [u8]) -> Result<(&'r [u8], &'r [u8]), Error> {
        let element_len = self.key.token_type().blinded_len();
        let mut reader = Reader::new(response, "token response");
        let row = match self.form {
            Form::One => reader.take(element_len)?,
            Form::Batch => reader.variable_vector()?,
        };
        // Before elements are decoded, which takes time: an issuer may send as many as it likes.
        if row.len() != self.tokens.len() * element_len {
            return Err(Error::BatchLength(row.len() / element_len));
        }
        Ok((row, reader.rest()))
    }

    fn finalize_rsa(self, row: &[u8], proof: &[u8]) -> Result<Vec<Token>, Error> {
        Reader::new(proof, "token response").finish()?;
        match self.blinds {
            Blinds::Rsa(rsa) => unblind_rsa(&self.key, rsa, self.tokens, row),
            _ => Err(Error::Malformed("public key")),
        }
    }

    /// Everything, to be kept until the response arrives: spec/token.md gives the layout. Keep
    /// it secret.
    #[must_use]
    pub fn encode(&self) -> SecretVec {
        let blinds = by_kind!(Blinds, &self.blinds,
            client => client.blinds(),
            rsa => rsa.iter().map(|(_, blind)| SecretVec::from_slice(&*blind.to_bytes())).collect());
        let mut public = self.key.token_type().to_bytes().to_vec();
        public.push(self.form as u8);
        put_variable_vector(&mut public, self.key.as_bytes());
        public.extend_from_slice(self.tokens[0].challenge_digest());
        let each: usize = 32 + blinds.first().map_or(0, SecretVec::len) + self.saved_message_len();
        let mut state = SecretVec::with_capacity(public.len() + self.tokens.len() * each);
        let mut put = |bytes: &[u8]| state.extend_from_slice(bytes).expect("room for all");
        put(&public);
        for (index, (token, blind)) in self.tokens.iter().zip(&blinds).enumerate() {
            put(token.nonce());
            put(blind.expose());
            if let Blinds::Rsa(rsa) = &self.blinds {
                put(rsa[index].0.as_bytes());
            }
        }
        state
    }

    /// RSA's blinded message has a salt that is not kept, so the message is.
    fn saved_message_len(&self) -> usize {
        if matches!(self.blinds, Blinds::Rsa(_)) {
            blind_rsa::LEN
        } else {
            0
        }
    }

    /// The output of [`Pending::encode`].
    ///
    /// # Errors
    /// If `bytes` are anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        const WHAT: &str = "saved request";
        let mut reader = Reader::new(bytes, WHAT);
        let token_type = TokenType::from_number(reader.u16()?)?;
        let form = match reader.u8()? {
            1 => Form::One,
            2 => Form::Batch,
            _ => return Err(Error::Malformed(WHAT)),
        };
        let key = IssuerPublicKey::decode(token_type, reader.variable_vector()?)?;
        let digest = reader.array()?;
        let (mut tokens, mut blinds) = (Vec::new(), Vec::new());
        while !reader.is_empty() {
            tokens.push(Token::unsigned(
                token_type,
                reader.array()?,
                digest,
                *key.id(),
            ));
            blinds.push(reader.take(saved_blind_len(token_type))?);
        }
        if tokens.is_empty() || (form == Form::One && tokens.len() != 1) {
            return Err(Error::Malformed(WHAT));
        }
        Self::new(&key, form, tokens, &Source::Saved(&blinds)).map(|(pending, _)| pending)
    }

    /// The issuer's key.
    #[must_use]
    pub fn key(&self) -> &IssuerPublicKey {
        &self.key
    }

    /// The number of tokens asked for.
    #[must_use]
    pub fn count(&self) -> usize {
        self.tokens.len()
    }

    /// The digest of the challenge that the tokens will answer.
    #[must_use]
    pub fn challenge_digest(&self) -> &[u8; 32] {
        self.tokens[0].challenge_digest()
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pending({} of {:?})", self.tokens.len(), self.key)
    }
}

/// The length of what is saved of one token beside its nonce.
fn saved_blind_len(token_type: TokenType) -> usize {
    match token_type {
        TokenType::VoprfP384 => 48,
        TokenType::BlindRsa2048 => 2 * blind_rsa::LEN,
        TokenType::VoprfRistretto255 | TokenType::VoprfP256 => 32,
    }
}

/// Tokens with `nonces` that answer `challenge`, without authenticators.
fn unsigned(
    key: &IssuerPublicKey,
    challenge: &TokenChallenge,
    nonces: &[[u8; 32]],
) -> Result<Vec<Token>, Error> {
    let (expected, found) = (challenge.token_type_number(), key.token_type().number());
    if expected != found {
        return Err(Error::WrongType { expected, found });
    }
    let digest = challenge.digest();
    let token = |nonce: &[u8; 32]| Token::unsigned(key.token_type(), *nonce, digest, *key.id());
    Ok(nonces.iter().map(token).collect())
}

fn blind(
    key: &IssuerPublicKey,
    form: Form,
    tokens: &[Token],
    source: &Source<'_>,
) -> Result<Blinds, Error> {
    Ok(match &key.key {
        PublicHalf::P384(key) => Blinds::P384(blind_voprf(key, tokens, source)?),
        PublicHalf::Ristretto255(key) => Blinds::Ristretto255(blind_voprf(key, tokens, source)?),
        PublicHalf::P256(key) => Blinds::P256(blind_voprf(key, tokens, source)?),
        PublicHalf::Rsa(_) if form == Form::Batch => return Err(Error::NoBatch),
        PublicHalf::Rsa(key) => Blinds::Rsa(blind_rsa(key, tokens, source)?),
    })
}

fn blind_voprf<S: Suite>(
    key: &PublicKey<S>,
    tokens: &[Token],
    source: &Source<'_>,
) -> Result<Client<S>, Error> {
    let inputs: Vec<[u8; 98]> = tokens.iter().map(Token::authenticator_input).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
    match source {
        Source::Random => Client::blind(key, &inputs),
        Source::Saved(blinds) => Client::blind_again(key, &inputs, blinds),
        #[cfg(feature = "hazmat")]
        Source::Factor(..) => Err(Error::Malformed("blind")),
    }
}

fn blind_rsa(
    key: &blind_rsa::VerifyingKey,
    tokens: &[Token],
    source: &Source<'_>,
) -> Result<Vec<(BlindedMessage, Blind)>, Error> {
    let malformed = |_| Error::Malformed("blind");
    let one = |(index, token): (usize, &Token)| match source {
        Source::Random => BlindedMessage::new(key, &token.authenticator_input()).map_err(malformed),
        Source::Saved(blinds) => {
            let (inverse, message) = blinds[index]
                .split_at_checked(blind_rsa::LEN)
                .ok_or(Error::Malformed("blind"))?;
            let array = |bytes: &[u8]| bytes.try_into().map_err(|_| Error::Malformed("blind"));
            let blind = Blind::from_bytes(key, &array(inverse)?).map_err(malformed)?;
            Ok((BlindedMessage::from_bytes(array(message)?), blind))
        }
        #[cfg(feature = "hazmat")]
        Source::Factor(factor, salt) => {
            let factor = (*factor)
                .try_into()
                .map_err(|_| Error::Malformed("blind"))?;
            BlindedMessage::new_with(key, &token.authenticator_input(), salt, factor)
                .map_err(malformed)
        }
    };
    tokens.iter().enumerate().map(one).collect()
}

fn unblind<S: Suite>(
    client: &Client<S>,
    tokens: &[Token],
    row: &[u8],
    proof: &[u8],
) -> Result<Vec<Token>, Error> {
    let outputs = client.open(&Evaluated::decode_all(row)?, &Proof::decode(proof)?)?;
    let tokens = tokens.iter().cloned().zip(&outputs);
    Ok(tokens
        .map(|(token, output)| token.with_authenticator(output.as_bytes()))
        .collect())
}

fn unblind_rsa(
    key: &IssuerPublicKey,
    blinds: Vec<(BlindedMessage, Blind)>,
    tokens: Vec<Token>,
    row: &[u8],
) -> Result<Vec<Token>, Error> {
    let PublicHalf::Rsa(key) = &key.key else {
        return Err(Error::Malformed("public key"));
    };
    let one = |((token, (_, blind)), signature): ((Token, (_, Blind)), &[u8])| {
        let signature = signature
            .try_into()
            .map_err(|_| Error::Malformed("token response"))?;
        let signature = blind
            .finalize(key, &token.authenticator_input(), signature)
            .map_err(|_| Error::Proof)?;
        Ok(token.with_authenticator(&signature))
    };
    tokens
        .into_iter()
        .zip(blinds)
        .zip(row.chunks(blind_rsa::LEN))
        .map(one)
        .collect()
}
