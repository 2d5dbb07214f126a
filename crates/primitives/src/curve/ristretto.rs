//! ristretto255 (RFC 9496), by curve25519-dalek.

use std::fmt;

use aws_lc_rs::digest::SHA512;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar as Number;
use curve25519_dalek::traits::{Identity, VartimeMultiscalarMul};
use zeroize::{Zeroize, Zeroizing};

use super::expand::expand_message_xmd;
use super::{Element, Encoding, Group, Scalar};
use crate::{Error, ct, rng};

/// The group of RFC 9496.
#[derive(Clone, Copy, Debug)]
pub struct Ristretto255;

impl Group for Ristretto255 {
    type Scalar = RistrettoScalar;
    type Element = RistrettoElement;

    fn hash_to_element(message: &[u8], dst: &[u8]) -> Result<RistrettoElement, Error> {
        let mut wide = Zeroizing::new([0; 64]);
        expand_message_xmd(&SHA512, &[message], dst, &mut *wide);
        let point = RistrettoPoint::from_uniform_bytes(&wide);
        if point == RistrettoPoint::identity() {
            Err(Error)
        } else {
            Ok(RistrettoElement(point))
        }
    }

    fn hash_to_scalar(message: &[&[u8]], dst: &[u8]) -> RistrettoScalar {
        let mut wide = Zeroizing::new([0; 64]);
        expand_message_xmd(&SHA512, message, dst, &mut *wide);
        RistrettoScalar(Number::from_bytes_mod_order_wide(&wide))
    }
}

/// An element of ristretto255.
#[derive(Clone, PartialEq, Eq)]
pub struct RistrettoElement(RistrettoPoint);

impl Element for RistrettoElement {
    type Scalar = RistrettoScalar;
    const LEN: usize = 32;

    fn generator() -> Self {
        Self(RISTRETTO_BASEPOINT_POINT)
    }

    fn mul(&self, scalar: &RistrettoScalar) -> Self {
        Self(self.0 * scalar.0)
    }

    fn mul_generator(scalar: &RistrettoScalar) -> Self {
        Self(RistrettoPoint::mul_base(&scalar.0))
    }

    fn add(&self, other: &Self) -> Self {
        Self(self.0 + other.0)
    }

    fn sum_of_products_public(terms: &[(RistrettoScalar, &Self)]) -> Self {
        let scalars = terms.iter().map(|(scalar, _)| scalar.0);
        Self(RistrettoPoint::vartime_multiscalar_mul(
            scalars,
            terms.iter().map(|(_, e)| e.0),
        ))
    }

    fn double_product_public(a: &RistrettoScalar, b: &RistrettoScalar, element: &Self) -> Self {
        Self(RistrettoPoint::vartime_double_scalar_mul_basepoint(
            &b.0, &element.0, &a.0,
        ))
    }

    fn products(terms: &[(&Self, &RistrettoScalar)]) -> Result<Vec<(Self, Encoding)>, Error> {
        // dalek encodes the doubles of a batch with one inversion: so make half of each product.
        let half = |(element, scalar): &(&Self, &RistrettoScalar)| {
            let scalar = RistrettoScalar(scalar.0.div_by_2());
            Self(element.0 * scalar.0)
        };
        let halves: Vec<Self> = terms.iter().map(half).collect();
        let encodings = RistrettoPoint::double_and_compress_batch(halves.iter().map(|h| &h.0));
        let both = |(half, compressed): (&Self, &CompressedRistretto)| {
            Ok((half.add(half), encoding(compressed)?))
        };
        halves.iter().zip(&encodings).map(both).collect()
    }

    fn encode(&self) -> Result<Encoding, Error> {
        encoding(&self.0.compress())
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let point = CompressedRistretto::from_slice(bytes)
            .ok()
            .and_then(|compressed| compressed.decompress())
            .ok_or(Error)?;
        if point == RistrettoPoint::identity() {
            Err(Error)
        } else {
            Ok(Self(point))
        }
    }
}

fn encoding(compressed: &CompressedRistretto) -> Result<Encoding, Error> {
    // Whether an element is the identity may be known: it is never one for honest parties.
    if ct::declassified(*compressed == CompressedRistretto::identity()) {
        return Err(Error);
    }
    Encoding::build(RistrettoElement::LEN, |out| {
        out.copy_from_slice(compressed.as_bytes());
        Ok(())
    })
}

impl Drop for RistrettoElement {
    fn drop(&mut self) {
        // An element may be a secret: an unblinded evaluation is.
        self.0.zeroize();
    }
}

impl fmt::Debug for RistrettoElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RistrettoElement(..)")
    }
}

/// A number modulo the order of ristretto255.
#[derive(Clone, PartialEq, Eq)]
pub struct RistrettoScalar(Number);

impl Scalar for RistrettoScalar {
    const LEN: usize = 32;

    fn random() -> Self {
        let mut wide = Zeroizing::new([0; 64]);
        loop {
            rng::fill(&mut *wide);
            let scalar = Self(Number::from_bytes_mod_order_wide(&wide));
            if !scalar.is_zero() {
                return scalar;
            }
        }
    }

    fn add(&self, other: &Self) -> Self {
        Self(self.0 + other.0)
    }

    fn sub(&self, other: &Self) -> Self {
        Self(self.0 - other.0)
    }

    fn mul(&self, other: &Self) -> Self {
        Self(self.0 * other.0)
    }

    fn invert(&self) -> Result<Self, Error> {
        if self.is_zero() {
            Err(Error)
        } else {
            Ok(Self(self.0.invert()))
        }
    }

    fn is_zero(&self) -> bool {
        // Whether a number is zero may be known: random ones never are, others are refused.
        ct::declassified(self.0 == Number::ZERO)
    }

    fn encode_into(&self, out: &mut [u8]) {
        out.copy_from_slice(self.0.as_bytes());
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = Zeroizing::new(<[u8; 32]>::try_from(bytes).map_err(|_| Error)?);
        let number = Number::from_canonical_bytes(*bytes);
        // Whether a number is in range may be known: others are refused.
        if ct::declassified(bool::from(number.is_some())) {
            Ok(Self(number.unwrap_or(Number::ZERO)))
        } else {
            Err(Error)
        }
    }
}

impl Drop for RistrettoScalar {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for RistrettoScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RistrettoScalar(..)")
    }
}
