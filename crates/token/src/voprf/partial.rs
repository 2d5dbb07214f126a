//! POPRF (RFC 9497 section 3.3.3): as VOPRF, with an input `info` that both sides know.
//!
//! ```
//! use sealstone_token::voprf::{Ristretto255Sha512, partial::{Client, Server}};
//!
//! let server = Server::<Ristretto255Sha512>::generate();
//! let client = Client::blind(server.key().public_key(), b"2026-11", &[b"input"])?;
//! let (evaluated, proof) = server.evaluate(client.blinded(), b"2026-11")?;
//! let outputs = client.finalize(&evaluated, &proof)?;
//! assert_eq!(outputs[0], server.evaluate_alone(b"input", b"2026-11")?);
//! # Ok::<(), sealstone_token::Error>(())
//! ```

use sealstone_primitives::curve::{Element, Scalar};

use super::blinds::{Blinds, evaluate_all, evaluate_alone};
use super::key::{PrivateKey, PublicKey};
use super::message::{Blinded, Evaluated};
use super::proof::{Proof, Statement};
use super::suite::{ElementOf, Mode, Output, ScalarOf, Suite, hash_to_scalar};
use crate::Error;

const MODE: Mode = Mode::PartiallyOblivious;

/// A client that waits for the evaluation of its blinded inputs.
pub struct Client<S: Suite> {
    blinds: Blinds<S>,
    info: Vec<u8>,
    tweaked: PublicKey<S>,
}

impl<S: Suite> Client<S> {
    /// Blinds `inputs`, each of at most 65,535 bytes, for the server whose key is `key`.
    ///
    /// # Errors
    /// If there are none or more than [`super::MAX_BATCH`], or an input or `info` is too long.
    pub fn blind(key: &PublicKey<S>, info: &[u8], inputs: &[&[u8]]) -> Result<Self, Error> {
        Self::waiting(key, info, Blinds::add(MODE, inputs)?)
    }

    /// As [`Client::blind`], with the scalar `blinds` of a test vector.
    ///
    /// # Errors
    /// As there, and if a scalar is not canonical.
    #[cfg(feature = "hazmat")]
    pub fn blind_with(
        key: &PublicKey<S>,
        info: &[u8],
        inputs: &[&[u8]],
        blinds: &[&[u8]],
    ) -> Result<Self, Error> {
        let blinds = Blinds::add_chosen(MODE, inputs, super::scalars::<S>(blinds)?)?;
        Self::waiting(key, info, blinds)
    }

    fn waiting(key: &PublicKey<S>, info: &[u8], blinds: Blinds<S>) -> Result<Self, Error> {
        let shift = ElementOf::<S>::mul_generator(&tweak::<S>(info)?);
        // The identity here would mean that the key is known to everybody (`InvalidInputError`).
        let tweaked = PublicKey::new(key.element().add(&shift)).map_err(|_| Error::InvalidInput)?;
        Ok(Self {
            blinds,
            info: info.to_vec(),
            tweaked,
        })
    }

    /// The messages to the server, one for each input.
    #[must_use]
    pub fn blinded(&self) -> &[Blinded<S>] {
        self.blinds.blinded()
    }

    /// Checks the server's proof; then the outputs in the order of the inputs.
    ///
    /// # Errors
    /// If there are not as many evaluations as inputs, or the proof is wrong: the server used
    /// another key or another `info`, or somebody changed or reordered its answer.
    pub fn finalize(
        self,
        evaluated: &[Evaluated<S>],
        proof: &Proof<S>,
    ) -> Result<Vec<Output>, Error> {
        if evaluated.len() != self.blinded().len() {
            return Err(Error::BatchLength(evaluated.len()));
        }
        statement(&self.tweaked, self.blinded(), evaluated).verify(proof)?;
        self.blinds.remove(evaluated, &[&self.info])
    }
}

/// A server with its key.
#[derive(Debug)]
pub struct Server<S: Suite>(PrivateKey<S>);

impl<S: Suite> Server<S> {
    /// With a new random key.
    #[must_use]
    pub fn generate() -> Self {
        Self(PrivateKey::generate())
    }

    /// With the key that `seed` and `info` determine (RFC 9497 section 3.2.1).
    ///
    /// # Errors
    /// If `info` is longer than 65,535 bytes.
    pub fn derive(seed: &[u8; 32], info: &[u8]) -> Result<Self, Error> {
        PrivateKey::derive(MODE, seed, info).map(Self)
    }

    /// With a key that was stored.
    #[must_use]
    pub fn new(key: PrivateKey<S>) -> Self {
        Self(key)
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &PrivateKey<S> {
        &self.0
    }

    /// Evaluates `blinded` under `info` with one proof for all (`BlindEvaluate`).
    ///
    /// # Errors
    /// If there are none or more than [`super::MAX_BATCH`], or `info` is too long.
    pub fn evaluate(
        &self,
        blinded: &[Blinded<S>],
        info: &[u8],
    ) -> Result<(Vec<Evaluated<S>>, Proof<S>), Error> {
        self.evaluate_using(blinded, info, None)
    }

    /// As [`Server::evaluate`], with the proof's randomness of a test vector.
    ///
    /// # Errors
    /// As there, and if the scalar is not canonical.
    #[cfg(feature = "hazmat")]
    pub fn evaluate_with(
        &self,
        blinded: &[Blinded<S>],
        info: &[u8],
        nonce: &[u8],
    ) -> Result<(Vec<Evaluated<S>>, Proof<S>), Error> {
        self.evaluate_using(blinded, info, Some(&super::scalars::<S>(&[nonce])?[0]))
    }

    fn evaluate_using(
        &self,
        blinded: &[Blinded<S>],
        info: &[u8],
        nonce: Option<&ScalarOf<S>>,
    ) -> Result<(Vec<Evaluated<S>>, Proof<S>), Error> {
        let key = self.tweaked(info)?;
        let evaluated = evaluate_all(&key.scalar().invert()?, blinded)?;
        let statement = statement(key.public_key(), blinded, &evaluated);
        let proof = match nonce {
            Some(chosen) => statement.prove(key.scalar(), chosen)?,
            None => statement.prove(key.scalar(), &statement.nonce(key.scalar()))?,
        };
        Ok((evaluated, proof))
    }

    /// The output for `input` under `info`, without a client (`Evaluate`).
    ///
    /// # Errors
    /// If `input` or `info` is longer than 65,535 bytes.
    pub fn evaluate_alone(&self, input: &[u8], info: &[u8]) -> Result<Output, Error> {
        let key = self.tweaked(info)?.scalar().invert()?;
        evaluate_alone::<S>(MODE, input, &[info], &key)
    }

    /// The key shifted by `info`.
    fn tweaked(&self, info: &[u8]) -> Result<PrivateKey<S>, Error> {
        let scalar = self.0.scalar().add(&tweak::<S>(info)?);
        // Zero would make the key known to everybody (`InverseError`).
        if scalar.is_zero() {
            Err(Error::InvalidInput)
        } else {
            PrivateKey::new(scalar)
        }
    }
}

/// The scalar that `info` adds to the key.
fn tweak<S: Suite>(info: &[u8]) -> Result<ScalarOf<S>, Error> {
    let len = u16::try_from(info.len()).map_err(|_| Error::TooLong("info"))?;
    Ok(hash_to_scalar::<S>(
        MODE,
        &[b"Info", &len.to_be_bytes(), info],
    ))
}

/// The server's claim: the key turns evaluations back into blinded elements.
fn statement<'a, S: Suite>(
    tweaked: &'a PublicKey<S>,
    blinded: &'a [Blinded<S>],
    evaluated: &'a [Evaluated<S>],
) -> Statement<'a, S> {
    Statement {
        mode: MODE,
        base: (tweaked.element(), tweaked.as_bytes()),
        before: evaluated.iter().map(AsRef::as_ref).collect(),
        after: blinded.iter().map(AsRef::as_ref).collect(),
    }
}
