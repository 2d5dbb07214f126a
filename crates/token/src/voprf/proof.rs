//! The proof that two elements have the same discrete logarithm (RFC 9497 section 2.2), one for
//! a whole batch.

use std::fmt;

use sealstone_primitives::curve::{Element, Encoding, Group, Scalar};
use sealstone_primitives::secret::{Secret, SecretVec};
use zeroize::Zeroizing;

use super::message::Encoded;
use super::suite::{ElementOf, Mode, ScalarOf, Suite, hash_to_scalar, tag};
use crate::{Error, parallel};

/// `log_G(B) = log_Cᵢ(Dᵢ)` for all i: the challenge and the response.
#[derive(Clone, PartialEq, Eq)]
pub struct Proof<S: Suite> {
    challenge: ScalarOf<S>,
    response: ScalarOf<S>,
}

impl<S: Suite> Proof<S> {
    /// The length of an encoding in bytes: 64, for P-384 96.
    pub const LEN: usize = 2 * ScalarOf::<S>::LEN;

    /// The proof that `bytes` encode.
    ///
    /// # Errors
    /// If they are not two canonical scalars.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let decode = |bytes| ScalarOf::<S>::decode(bytes).map_err(|_| Error::Malformed("proof"));
        if bytes.len() != Self::LEN {
            return Err(Error::Malformed("proof"));
        }
        let (challenge, response) = bytes.split_at(ScalarOf::<S>::LEN);
        Ok(Self {
            challenge: decode(challenge)?,
            response: decode(response)?,
        })
    }

    /// The canonical encoding.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; Self::LEN];
        let (challenge, response) = bytes.split_at_mut(ScalarOf::<S>::LEN);
        self.challenge.encode_into(challenge);
        self.response.encode_into(response);
        bytes
    }
}

impl<S: Suite> fmt::Debug for Proof<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proof({})", S::IDENTIFIER)
    }
}

/// The statement to prove: `base` is the public key, `before` and `after` the batch's elements.
pub(crate) struct Statement<'a, S: Suite> {
    pub(crate) mode: Mode,
    pub(crate) base: (&'a ElementOf<S>, &'a [u8]),
    pub(crate) before: Vec<&'a Encoded<S>>,
    pub(crate) after: Vec<&'a Encoded<S>>,
}

impl<S: Suite> Statement<'_, S> {
    /// `GenerateProof` with the randomness `nonce`; `key` is the logarithm.
    pub(crate) fn prove(&self, key: &ScalarOf<S>, nonce: &ScalarOf<S>) -> Result<Proof<S>, Error> {
        let weights = self.weights()?;
        let before = sum(&weights, &self.before)?;
        let terms = [(&before, key), (&before, nonce)];
        // The server knows the logarithm, so it saves the second sum (`ComputeCompositesFast`).
        let [(_, after), (_, commitment)] = products(&terms)?;
        let generator = ElementOf::<S>::mul_generator(nonce).encode()?;
        let challenge = self.challenge(&[before.encode()?, after, generator, commitment]);
        let response = nonce.sub(&challenge.mul(key));
        Ok(Proof {
            challenge,
            response,
        })
    }

    /// Randomness for [`Statement::prove`]: fresh bytes, hashed with the key and the statement.
    ///
    /// Two proofs of different statements with one nonce reveal the key. A cloned machine may
    /// repeat its random bytes; with the statement hashed in, it does not repeat the nonce.
    pub(crate) fn nonce(&self, key: &ScalarOf<S>) -> ScalarOf<S> {
        self.nonce_from(&Secret::random(), key)
    }

    fn nonce_from(&self, fresh: &Secret<64>, key: &ScalarOf<S>) -> ScalarOf<S> {
        let mut key_bytes = SecretVec::zeroed(ScalarOf::<S>::LEN);
        key.encode_into(key_bytes.expose_mut());
        let pairs = self.before.iter().chain(&self.after);
        let mut parts = vec![fresh.expose().as_slice(), key_bytes.expose(), self.base.1];
        parts.extend(pairs.map(|encoded| encoded.encoding.as_bytes()));
        S::Group::hash_to_scalar(&parts, &tag::<S>("Sealstone-Nonce-", self.mode))
    }

    /// `VerifyProof`.
    ///
    /// # Errors
    /// If the proof is not one of this statement.
    pub(crate) fn verify(&self, proof: &Proof<S>) -> Result<(), Error> {
        let (s, c) = (&proof.response, &proof.challenge);
        let weights = self.weights()?;
        let (before, after) = parallel::join(
            weights.len(),
            || sum(&weights, &self.before),
            || sum(&weights, &self.after),
        );
        let (before, after) = (before?, after?);
        let generator = ElementOf::<S>::double_product_public(s, c, self.base.0);
        let terms = [(s.clone(), &before), (c.clone(), &after)];
        let commitment = ElementOf::<S>::sum_of_products_public(&terms);
        let encode = |element: &ElementOf<S>| element.encode().map_err(|_| Error::Proof);
        let points = [
            encode(&before)?,
            encode(&after)?,
            encode(&generator)?,
            encode(&commitment)?,
        ];
        if self.challenge(&points) == proof.challenge {
            Ok(())
        } else {
            Err(Error::Proof)
        }
    }

    /// A weight for each pair of the batch, so that one sum stands for all.
    fn weights(&self) -> Result<Vec<ScalarOf<S>>, Error> {
        debug_assert_eq!(self.before.len(), self.after.len());
        let seed_tag = tag::<S>("Seed-", self.mode);
        let mut seed = Zeroizing::new([0; 64]);
        let seed = &mut seed[..S::OUTPUT_LEN];
        let base = self.base.1;
        S::hash_into(&[&length(base), base, &length(&seed_tag), &seed_tag], seed);
        let seed = &*seed;
        let pairs: Vec<_> = self.before.iter().zip(&self.after).zip(0_u16..).collect();
        parallel::try_chunks(&pairs, |pairs| {
            let weight = |((before, after), index): &((&&Encoded<S>, &&Encoded<S>), u16)| {
                let (before, after) = (before.encoding.as_bytes(), after.encoding.as_bytes());
                let index = index.to_be_bytes();
                let parts: [&[u8]; 8] = [
                    &length(seed),
                    seed,
                    &index,
                    &length(before),
                    before,
                    &length(after),
                    after,
                    b"Composite",
                ];
                hash_to_scalar::<S>(self.mode, &parts)
            };
            Ok(pairs.iter().map(weight).collect())
        })
    }

    /// The challenge over the public key, both sums and both commitments.
    fn challenge(&self, points: &[Encoding; 4]) -> ScalarOf<S> {
        let mut transcript = Vec::with_capacity(300);
        for bytes in std::iter::once(self.base.1).chain(points.iter().map(Encoding::as_bytes)) {
            transcript.extend_from_slice(&length(bytes));
            transcript.extend_from_slice(bytes);
        }
        hash_to_scalar::<S>(self.mode, &[&transcript, b"Challenge"])
    }
}

/// `Σ weightᵢ · elementᵢ`: weights and elements are public.
fn sum<S: Suite>(weights: &[ScalarOf<S>], elements: &[&Encoded<S>]) -> Result<ElementOf<S>, Error> {
    let elements = elements.iter().map(|encoded| &encoded.element);
    let terms: Vec<_> = weights.iter().cloned().zip(elements).collect();
    let parts = parallel::try_chunks(&terms, |terms| {
        Ok(vec![ElementOf::<S>::sum_of_products_public(terms)])
    })?;
    let first = parts[0].clone();
    Ok(parts[1..].iter().fold(first, |sum, part| sum.add(part)))
}

/// `products` of a number of terms that is known.
fn products<E: Element, const N: usize>(
    terms: &[(&E, &E::Scalar); N],
) -> Result<[(E, Encoding); N], Error> {
    let products = E::products(terms)?;
    Ok(products
        .try_into()
        .unwrap_or_else(|_| unreachable!("as many products as terms")))
}

/// RFC 9497's `I2OSP(len(x), 2)`: all that is hashed here is short.
fn length(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len())
        .expect("an element, a tag or a digest")
        .to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voprf::P256Sha256;
    use crate::voprf::blinds::{Blinds, evaluate_all};
    use crate::voprf::key::PrivateKey;

    /// The generator of a cloned machine repeats: another statement still has another nonce.
    #[test]
    fn repeated_randomness_repeats_no_nonce() {
        let key = PrivateKey::<P256Sha256>::generate();
        let fresh = Secret::zeroed();
        let nonce = |input: &[u8]| {
            let blinds = Blinds::<P256Sha256>::add(Mode::Verifiable, &[input]).expect("an input");
            let evaluated = evaluate_all(key.scalar(), blinds.blinded()).expect("a batch");
            let statement = Statement {
                mode: Mode::Verifiable,
                base: (key.public_key().element(), key.public_key().as_bytes()),
                before: blinds.blinded().iter().map(AsRef::as_ref).collect(),
                after: evaluated.iter().map(AsRef::as_ref).collect(),
            };
            let nonce = statement.nonce_from(&fresh, key.scalar());
            assert!(
                nonce == statement.nonce_from(&fresh, key.scalar()),
                "the same statement's"
            );
            assert!(
                nonce != statement.nonce(key.scalar()),
                "fresh bytes count, too"
            );
            let other = PrivateKey::<P256Sha256>::generate();
            assert!(
                nonce != statement.nonce_from(&fresh, other.scalar()),
                "and so does the key"
            );
            nonce
        };
        // Each has a blind of its own, so the statements differ even for one input.
        assert!(nonce(b"input") != nonce(b"input"));
    }
}
