//! OPRF (RFC 9497 section 3.3.1): no proof, so the client must trust the server to use one key
//! for all.
//!
//! ```
//! use sealstone_token::voprf::{P256Sha256, oblivious::{Client, Server}};
//!
//! let server = Server::<P256Sha256>::generate();
//! let client = Client::blind(&[b"input"])?;
//! let evaluated = server.evaluate(client.blinded())?;
//! let outputs = client.finalize(&evaluated)?;
//! assert_eq!(outputs[0], server.evaluate_alone(b"input")?);
//! # Ok::<(), sealstone_token::Error>(())
//! ```

use super::blinds::{Blinds, evaluate_all, evaluate_alone};
use super::key::PrivateKey;
use super::message::{Blinded, Evaluated};
use super::suite::{Mode, Output, Suite};
use crate::Error;

/// A client that waits for the evaluation of its blinded inputs.
pub struct Client<S: Suite>(Blinds<S>);

impl<S: Suite> Client<S> {
    /// Blinds `inputs`, each of at most 65,535 bytes.
    ///
    /// # Errors
    /// If there are none or more than [`super::MAX_BATCH`], or one is too long.
    pub fn blind(inputs: &[&[u8]]) -> Result<Self, Error> {
        Blinds::add(Mode::Oblivious, inputs).map(Self)
    }

    /// As [`Client::blind`], with the scalar `blinds` of a test vector.
    ///
    /// # Errors
    /// As there, and if a scalar is not canonical.
    #[cfg(feature = "hazmat")]
    pub fn blind_with(inputs: &[&[u8]], blinds: &[&[u8]]) -> Result<Self, Error> {
        let blinds = super::scalars::<S>(blinds)?;
        Blinds::add_chosen(Mode::Oblivious, inputs, blinds).map(Self)
    }

    /// The messages to the server, one for each input.
    #[must_use]
    pub fn blinded(&self) -> &[Blinded<S>] {
        self.0.blinded()
    }

    /// The outputs in the order of the inputs.
    ///
    /// # Errors
    /// If there are not as many evaluations as inputs.
    pub fn finalize(self, evaluated: &[Evaluated<S>]) -> Result<Vec<Output>, Error> {
        self.0.remove(evaluated, &[])
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
        PrivateKey::derive(Mode::Oblivious, seed, info).map(Self)
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

    /// Evaluates `blinded` (`BlindEvaluate`).
    ///
    /// # Errors
    /// If there are none or more than [`super::MAX_BATCH`].
    pub fn evaluate(&self, blinded: &[Blinded<S>]) -> Result<Vec<Evaluated<S>>, Error> {
        evaluate_all(self.0.scalar(), blinded)
    }

    /// The output for `input`, without a client (`Evaluate`).
    ///
    /// # Errors
    /// If `input` is longer than 65,535 bytes.
    pub fn evaluate_alone(&self, input: &[u8]) -> Result<Output, Error> {
        evaluate_alone::<S>(Mode::Oblivious, input, &[], self.0.scalar())
    }
}
