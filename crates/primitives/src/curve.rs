//! Groups of prime order for the token protocols: P-256, P-384 and ristretto255.
//!
//! | group | points | scalars | hashing (RFC 9380) |
//! |---|---|---|---|
//! | [`P256`] | aws-lc | crypto-bigint | `P256_XMD:SHA-256_SSWU_RO_` |
//! | [`P384`] | aws-lc | crypto-bigint | `P384_XMD:SHA-384_SSWU_RO_` |
//! | [`Ristretto255`] | curve25519-dalek | curve25519-dalek | `ristretto255_XMD:SHA-512_R255MAP_RO_` |
//!
//! Everything that takes a secret runs in constant time. Functions whose names end in `_public`
//! do not: they are for values that everyone may know.
//!
//! ```
//! use sealstone_primitives::curve::{Element, Group, P256, Scalar};
//!
//! let secret = <P256 as Group>::Scalar::random();
//! let point = P256::hash_to_element(b"input", b"a domain separation tag")?;
//! let blinded = point.mul(&secret);
//! assert!(blinded.mul(&secret.invert()?) == point);
//! # Ok::<(), sealstone_primitives::Error>(())
//! ```

mod expand;
mod field;
mod nist;
mod ristretto;
mod sums;
#[cfg(test)]
mod tests;

use std::fmt;

use zeroize::Zeroize;

use crate::Error;

pub use crate::ffi::ec::{P256, P384};
pub use nist::{NistElement, OrderScalar};
pub use ristretto::{Ristretto255, RistrettoElement, RistrettoScalar};

/// A group of prime order with the operations that RFC 9497 section 2.1 names.
pub trait Group: Copy + fmt::Debug + Send + Sync + 'static {
    /// Numbers modulo the order.
    type Scalar: Scalar;
    /// Elements.
    type Element: Element<Scalar = Self::Scalar>;

    /// Maps `message` to an element of unknown discrete logarithm, with the domain separation
    /// tag `dst` of at most 255 bytes (RFC 9497's `HashToGroup`).
    ///
    /// # Errors
    /// If the result is the identity, which happens for a negligible part of messages.
    fn hash_to_element(message: &[u8], dst: &[u8]) -> Result<Self::Element, Error>;

    /// Maps the concatenated parts of `message` to a scalar, uniformly (`HashToScalar`).
    fn hash_to_scalar(message: &[&[u8]], dst: &[u8]) -> Self::Scalar;
}

/// An element of a [`Group`]. It may be the identity, which has no encoding.
pub trait Element: Clone + PartialEq + Eq + fmt::Debug + Send + Sync {
    /// Numbers modulo the order.
    type Scalar: Scalar;
    /// The length of an encoding in bytes.
    const LEN: usize;

    /// The fixed generator.
    fn generator() -> Self;

    /// `scalar` times this element, in constant time.
    #[must_use]
    fn mul(&self, scalar: &Self::Scalar) -> Self;

    /// `scalar` times the generator, in constant time.
    #[must_use]
    fn mul_generator(scalar: &Self::Scalar) -> Self;

    /// The sum of two elements.
    #[must_use]
    fn add(&self, other: &Self) -> Self;

    /// `Σ scalarᵢ · elementᵢ`, in a time that depends on all of them: for public values only.
    #[must_use]
    fn sum_of_products_public(terms: &[(Self::Scalar, &Self)]) -> Self;

    /// `a · generator + b · element`, in variable time: for public values only.
    #[must_use]
    fn double_product_public(a: &Self::Scalar, b: &Self::Scalar, element: &Self) -> Self {
        Self::mul_generator(a).add(&element.mul(b))
    }

    /// Each element times its scalar, in constant time, with the product's encoding. For some
    /// groups this is faster than one by one.
    ///
    /// # Errors
    /// If a product is the identity.
    fn products(terms: &[(&Self, &Self::Scalar)]) -> Result<Vec<(Self, Encoding)>, Error> {
        let product = |(element, scalar): &(&Self, &Self::Scalar)| {
            let product = element.mul(scalar);
            let encoding = product.encode()?;
            Ok((product, encoding))
        };
        terms.iter().map(product).collect()
    }

    /// The canonical encoding: SEC 1 compressed, or RFC 9496's.
    ///
    /// # Errors
    /// If this is the identity.
    fn encode(&self) -> Result<Encoding, Error>;

    /// The element that `bytes` encode, in variable time: encodings are public.
    ///
    /// # Errors
    /// If the encoding is not canonical, or is the identity's.
    fn decode(bytes: &[u8]) -> Result<Self, Error>;
}

/// A number modulo the order of a [`Group`]. It is wiped when it goes.
pub trait Scalar: Clone + PartialEq + Eq + fmt::Debug + Send + Sync {
    /// The length of an encoding in bytes.
    const LEN: usize;

    /// A uniformly distributed number other than zero.
    #[must_use]
    fn random() -> Self;

    /// The sum.
    #[must_use]
    fn add(&self, other: &Self) -> Self;

    /// The difference.
    #[must_use]
    fn sub(&self, other: &Self) -> Self;

    /// The product.
    #[must_use]
    fn mul(&self, other: &Self) -> Self;

    /// The inverse, in constant time.
    ///
    /// # Errors
    /// For zero.
    fn invert(&self) -> Result<Self, Error>;

    /// The inverses of many, in constant time, at the price of one and three products each.
    ///
    /// # Errors
    /// If one is zero.
    fn invert_all(scalars: &[Self]) -> Result<Vec<Self>, Error> {
        let Some((first, rest)) = scalars.split_first() else {
            return Ok(Vec::new());
        };
        // Montgomery's trick: the products of all that come before, then back from one inverse.
        let mut prefixes = vec![first.clone()];
        for scalar in rest {
            prefixes.push(prefixes[prefixes.len() - 1].mul(scalar));
        }
        let mut inverse = prefixes[prefixes.len() - 1].invert()?;
        for index in (1..scalars.len()).rev() {
            let next = inverse.mul(&scalars[index]);
            prefixes[index] = inverse.mul(&prefixes[index - 1]);
            inverse = next;
        }
        prefixes[0] = inverse;
        Ok(prefixes)
    }

    /// Whether this is zero.
    fn is_zero(&self) -> bool;

    /// Writes the canonical encoding into `out`.
    ///
    /// # Panics
    /// If `out` has not [`Scalar::LEN`] bytes.
    fn encode_into(&self, out: &mut [u8]);

    /// The number that `bytes` encode. Zero is a number.
    ///
    /// # Errors
    /// If there are not [`Scalar::LEN`] bytes, or they encode a number that is not below the order.
    fn decode(bytes: &[u8]) -> Result<Self, Error>;
}

/// The encoding of an element: up to 49 bytes, public.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoding {
    bytes: [u8; Self::MAX],
    len: u8,
}

impl Encoding {
    /// The longest: P-384's.
    const MAX: usize = 49;

    /// `len` bytes that `write` fills.
    fn build(
        len: usize,
        write: impl FnOnce(&mut [u8]) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut bytes = [0; Self::MAX];
        write(&mut bytes[..len])?;
        let len = u8::try_from(len).expect("at most 49");
        Ok(Self { bytes, len })
    }

    /// A copy of `bytes`, which are an encoding that was decoded.
    ///
    /// # Errors
    /// If they are longer than any encoding.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > Self::MAX {
            return Err(Error);
        }
        Self::build(bytes.len(), |out| {
            out.copy_from_slice(bytes);
            Ok(())
        })
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl Zeroize for Encoding {
    /// For encodings that are secret: of an evaluation without its blind.
    fn zeroize(&mut self) {
        self.bytes.zeroize();
    }
}

impl AsRef<[u8]> for Encoding {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.as_bytes() {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}
