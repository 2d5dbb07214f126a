//! VOPRF (RFC 9497 section 3.3.2): the server proves that it used the key that it published.
//!
//! ```
//! use sealstone_token::voprf::{P384Sha384, verifiable::{Client, Server}};
//!
//! let server = Server::<P384Sha384>::generate();
//! let client = Client::blind(server.key().public_key(), &[b"one", b"two"])?;
//! let (evaluated, proof) = server.evaluate(client.blinded())?;
//! let outputs = client.finalize(&evaluated, &proof)?;
//! assert_eq!(outputs[1], server.evaluate_alone(b"two")?);
//! # Ok::<(), sealstone_token::Error>(())
//! ```

use sealstone_primitives::secret::SecretVec;

use super::blinds::{Blinds, evaluate_all, evaluate_alone};
use super::key::{PrivateKey, PublicKey};
use super::message::{Blinded, Evaluated};
use super::proof::{Proof, Statement};
use super::suite::{Mode, Output, ScalarOf, Suite};
use crate::Error;

const MODE: Mode = Mode::Verifiable;

/// A client that waits for the evaluation of its blinded inputs.
pub struct Client<S: Suite> {
    blinds: Blinds<S>,
    key: PublicKey<S>,
}

impl<S: Suite> Client<S> {
    /// Blinds `inputs`, each of at most 65,535 bytes, for the server whose key is `key`.
    ///
    /// # Errors
    /// If there are none or more than [`super::MAX_BATCH`], or one is too long.
    pub fn blind(key: &PublicKey<S>, inputs: &[&[u8]]) -> Result<Self, Error> {
        Ok(Self {
            blinds: Blinds::add(MODE, inputs)?,
            key: key.clone(),
        })
    }

    /// As [`Client::blind`], with the scalars that [`Client::blinds`] gave for the same inputs:
    /// for a client that ends before the answer arrives. Two inputs with one blind can be linked.
    ///
    /// # Errors
    /// As there, and if there are not as many scalars as inputs or one is not canonical.
    pub fn blind_again(
        key: &PublicKey<S>,
        inputs: &[&[u8]],
        blinds: &[&[u8]],
    ) -> Result<Self, Error> {
        let blinds = Blinds::add_chosen(MODE, inputs, super::scalars::<S>(blinds)?)?;
        Ok(Self {
            blinds,
            key: key.clone(),
        })
    }

    /// The scalars that hide the inputs, in their order.
    #[must_use]
    pub fn blinds(&self) -> Vec<SecretVec> {
        self.blinds.encode()
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
    /// another key, or somebody changed or reordered its answer.
    pub fn finalize(
        self,
        evaluated: &[Evaluated<S>],
        proof: &Proof<S>,
    ) -> Result<Vec<Output>, Error> {
        self.open(evaluated, proof)
    }

    /// [`Client::finalize`]. The caller drops the client, unless that was cancelled.
    pub(crate) fn open(
        &self,
        evaluated: &[Evaluated<S>],
        proof: &Proof<S>,
    ) -> Result<Vec<Output>, Error> {
        if evaluated.len() != self.blinded().len() {
            return Err(Error::BatchLength(evaluated.len()));
        }
        statement(&self.key, self.blinded(), evaluated).verify(proof)?;
        self.blinds.remove(evaluated, &[])
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

    /// Evaluates `blinded` with one proof for all (`BlindEvaluate`).
    ///
    /// # Errors
    /// If there are none or more than [`super::MAX_BATCH`].
    pub fn evaluate(&self, blinded: &[Blinded<S>]) -> Result<(Vec<Evaluated<S>>, Proof<S>), Error> {
        self.evaluate_using(blinded, None)
    }

    /// As [`Server::evaluate`], with the proof's randomness of a test vector.
    ///
    /// # Errors
    /// As there, and if the scalar is not canonical.
    #[cfg(feature = "hazmat")]
    pub fn evaluate_with(
        &self,
        blinded: &[Blinded<S>],
        nonce: &[u8],
    ) -> Result<(Vec<Evaluated<S>>, Proof<S>), Error> {
        self.evaluate_using(blinded, Some(&super::scalars::<S>(&[nonce])?[0]))
    }

    fn evaluate_using(
        &self,
        blinded: &[Blinded<S>],
        nonce: Option<&ScalarOf<S>>,
    ) -> Result<(Vec<Evaluated<S>>, Proof<S>), Error> {
        let evaluated = evaluate_all(self.0.scalar(), blinded)?;
        let statement = statement(self.0.public_key(), blinded, &evaluated);
        let key = self.0.scalar();
        let proof = match nonce {
            Some(chosen) => statement.prove(key, chosen)?,
            None => statement.prove(key, &statement.nonce(key))?,
        };
        Ok((evaluated, proof))
    }

    /// The output for `input`, without a client (`Evaluate`).
    ///
    /// # Errors
    /// If `input` is longer than 65,535 bytes.
    pub fn evaluate_alone(&self, input: &[u8]) -> Result<Output, Error> {
        evaluate_alone::<S>(MODE, input, &[], self.0.scalar())
    }
}

/// The server's claim about its evaluations.
fn statement<'a, S: Suite>(
    key: &'a PublicKey<S>,
    blinded: &'a [Blinded<S>],
    evaluated: &'a [Evaluated<S>],
) -> Statement<'a, S> {
    Statement {
        mode: MODE,
        base: (key.element(), key.as_bytes()),
        before: blinded.iter().map(AsRef::as_ref).collect(),
        after: evaluated.iter().map(AsRef::as_ref).collect(),
    }
}
