//! A timestamp and its renewals (`spec/timestamp.md`, "Chain").

use std::fmt;

use sealstone_primitives::hash::{Sha2, Sha2Hasher};

use super::digests::{Digests, Imprint};
use super::refusal::Refusal;
use super::response::Response;
use super::roots::Roots;
use super::verify::{Options, Verified, verify};

/// The most responses of a chain.
pub const MAX_CHAIN: usize = 64;

const DOMAIN: &[u8] = b"sealstone.timestamp.renewal.v1\0";

/// A timestamp over data, and the renewals that cover it.
///
/// One response is a chain too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain(Vec<Response>);

/// Why a chain is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainRefusal {
    /// The place of the response that is not accepted, counted from 0.
    pub at: usize,
    /// Why.
    pub refusal: Refusal,
}

impl fmt::Display for ChainRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            0 => self.refusal.fmt(f),
            at => write!(f, "renewal {at}: {}", self.refusal),
        }
    }
}

impl std::error::Error for ChainRefusal {}

impl Chain {
    /// The first response covers the data, each later one everything before it.
    ///
    /// # Errors
    /// If there is no response, or more than [`MAX_CHAIN`].
    pub fn new(responses: Vec<Response>) -> Result<Self, Refusal> {
        match (1..=MAX_CHAIN).contains(&responses.len()) {
            true => Ok(Self(responses)),
            false => Err(Refusal::ChainLength),
        }
    }

    /// The responses, the first one first.
    #[must_use]
    pub fn responses(&self) -> &[Response] {
        &self.0
    }

    /// The hash functions by which the data has to be known.
    ///
    /// # Errors
    /// If a response is not granted, or its hash is weak or unknown.
    pub fn hashes(&self) -> Result<Vec<Sha2>, ChainRefusal> {
        let mut hashes = Vec::new();
        for (at, response) in self.0.iter().enumerate() {
            let hash = response
                .hash()
                .map_err(|refusal| ChainRefusal { at, refusal })?;
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
        Ok(hashes)
    }

    /// The data that the next renewal covers: send it to a TSA, then [`Chain::push`] its response.
    ///
    /// # Errors
    /// If the digest of the data by `hash` is not known.
    pub fn renewal(&self, data: &Digests, hash: Sha2) -> Result<Imprint, Refusal> {
        covered(&self.0, data, hash)
    }

    /// Appends a renewal. [`Chain::verify`] then checks all.
    ///
    /// # Errors
    /// If the chain would have more than [`MAX_CHAIN`] responses.
    pub fn push(&mut self, renewal: Response) -> Result<(), Refusal> {
        if self.0.len() == MAX_CHAIN {
            return Err(Refusal::ChainLength);
        }
        self.0.push(renewal);
        Ok(())
    }

    /// Verifies every response. The proven time is that of the first result.
    ///
    /// Nonce, policy and `also_valid_at` of `options` are asked of the last response; the clock
    /// and the rule for SHA-1 hold for all.
    ///
    /// # Errors
    /// The first response that is not accepted, and why.
    pub fn verify(
        &self,
        data: &Digests,
        roots: &Roots,
        options: &Options,
    ) -> Result<Vec<Verified>, ChainRefusal> {
        let mut later: Option<&Verified> = None;
        let mut all = Vec::with_capacity(self.0.len());
        for at in (0..self.0.len()).rev() {
            let verified = self
                .verify_one(at, later, data, roots, options)
                .map_err(|refusal| ChainRefusal { at, refusal })?;
            all.push(verified);
            later = all.last();
        }
        all.reverse();
        Ok(all)
    }

    /// Verifies the response at a place. All but the last have to be valid when they were renewed.
    fn verify_one(
        &self,
        at: usize,
        later: Option<&Verified>,
        data: &Digests,
        roots: &Roots,
        options: &Options,
    ) -> Result<Verified, Refusal> {
        let response = &self.0[at];
        let options = match later {
            None => options.clone(),
            Some(later) => Options {
                nonce: None,
                policy: None,
                also_valid_at: Some(later.time.as_secs()),
                ..options.clone()
            },
        };
        let verified = if at == 0 {
            verify(response, data, roots, &options)?
        } else {
            let imprint = covered(&self.0[..at], data, response.hash()?)?;
            verify(response, &Digests::from_imprint(imprint), roots, &options)?
        };
        if later.is_some_and(|later| later.time < verified.time) {
            return Err(Refusal::RenewalOrder);
        }
        Ok(verified)
    }
}

/// The imprint of a renewal of `earlier`.
fn covered(earlier: &[Response], data: &Digests, hash: Sha2) -> Result<Imprint, Refusal> {
    let number = u32::try_from(earlier.len()).map_err(|_| Refusal::ChainLength)?;
    let mut hasher = Sha2Hasher::new(hash);
    hasher.update(DOMAIN);
    hasher.update(&number.to_be_bytes());
    hasher.update(data.need(hash)?);
    for response in earlier {
        let bytes = response.as_bytes();
        hasher.update(&(bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    }
    Imprint::from_digest(hash, &hasher.finish())
}
