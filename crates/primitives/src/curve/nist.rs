//! P-256 and P-384: points by aws-lc, scalars by crypto-bigint.

use std::fmt;

use aws_lc_rs::digest::{Algorithm, SHA256, SHA384};
use crypto_bigint::modular::{ConstMontyForm, ConstMontyParams};
use crypto_bigint::{U256, U384, Uint, const_monty_params};
use zeroize::{Zeroize, Zeroizing};

use super::expand::expand_message_xmd;
use super::field::Prime;
use super::sums::{self, Affine, ShortCurve};
use super::{Element, Encoding, Group, Scalar};
use crate::ffi::bn::Number;
use crate::ffi::ec::{Curve, P256, P384, Point};
use crate::{Error, ct, rng};

const_monty_params!(
    P256Order,
    U256,
    "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    "The order of P-256 (SP 800-186 section 3.2.1.3)."
);

const_monty_params!(
    P384Order,
    U384,
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
    "The order of P-384 (SP 800-186 section 3.2.1.4)."
);

impl Prime<4> for P256 {
    const PRIME: [u64; 4] = [
        0xffff_ffff_ffff_ffff,
        0x0000_0000_ffff_ffff,
        0,
        0xffff_ffff_0000_0001,
    ];
}

impl ShortCurve<4> for P256 {
    const B: &'static [u8] = &[
        0x5a, 0xc6, 0x35, 0xd8, 0xaa, 0x3a, 0x93, 0xe7, 0xb3, 0xeb, 0xbd, 0x55, 0x76, 0x98, 0x86,
        0xbc, 0x65, 0x1d, 0x06, 0xb0, 0xcc, 0x53, 0xb0, 0xf6, 0x3b, 0xce, 0x3c, 0x3e, 0x27, 0xd2,
        0x60, 0x4b,
    ];
}

impl Prime<6> for P384 {
    const PRIME: [u64; 6] = [
        0x0000_0000_ffff_ffff,
        0xffff_ffff_0000_0000,
        0xffff_ffff_ffff_fffe,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
    ];
}

impl ShortCurve<6> for P384 {
    const B: &'static [u8] = &[
        0xb3, 0x31, 0x2f, 0xa7, 0xe2, 0x3e, 0xe7, 0xe4, 0x98, 0x8e, 0x05, 0x6b, 0xe3, 0xf8, 0x2d,
        0x19, 0x18, 0x1d, 0x9c, 0x6e, 0xfe, 0x81, 0x41, 0x12, 0x03, 0x14, 0x08, 0x8f, 0x50, 0x13,
        0x87, 0x5a, 0xc6, 0x56, 0x39, 0x8d, 0x8a, 0x2e, 0xd1, 0x9d, 0x2a, 0x85, 0xc8, 0xed, 0xd3,
        0xec, 0x2a, 0xef,
    ];
}

impl Group for P256 {
    type Scalar = OrderScalar<P256Order, { U256::LIMBS }>;
    type Element = NistElement<P256, 4>;

    fn hash_to_element(message: &[u8], dst: &[u8]) -> Result<Self::Element, Error> {
        NistElement::hash(message, dst)
    }

    fn hash_to_scalar(message: &[&[u8]], dst: &[u8]) -> Self::Scalar {
        // RFC 9497 section 4.3: L = 48.
        OrderScalar::hash::<48>(&SHA256, message, dst)
    }
}

impl Group for P384 {
    type Scalar = OrderScalar<P384Order, { U384::LIMBS }>;
    type Element = NistElement<P384, 6>;

    fn hash_to_element(message: &[u8], dst: &[u8]) -> Result<Self::Element, Error> {
        NistElement::hash(message, dst)
    }

    fn hash_to_scalar(message: &[&[u8]], dst: &[u8]) -> Self::Scalar {
        // RFC 9497 section 4.4: L = 72.
        OrderScalar::hash::<72>(&SHA384, message, dst)
    }
}

/// A point of P-256 or P-384, whose coordinates have `N` limbs of 64 bits.
pub struct NistElement<C: Curve, const N: usize>(Point<C>);

impl<C: Curve, const N: usize> NistElement<C, N> {
    fn hash(message: &[u8], dst: &[u8]) -> Result<Self, Error> {
        assert!(
            dst.len() <= 255,
            "a domain separation tag of at most 255 bytes"
        );
        let point = Point::hash(message, dst)?;
        if point.is_infinity() {
            Err(Error)
        } else {
            Ok(Self(point))
        }
    }

    /// The affine coordinates for public arithmetic; none at infinity.
    fn to_affine(&self) -> Option<Affine<C, N>>
    where
        C: ShortCurve<N>,
    {
        let (mut x, mut y) = ([0; 48], [0; 48]);
        let (x, y) = (&mut x[..C::FIELD_LEN], &mut y[..C::FIELD_LEN]);
        self.0.write_coordinates(x, y).ok()?;
        Some(Affine::from_coordinates(x, y).expect("aws-lc's coordinates are below the prime"))
    }

    /// Back from public arithmetic. aws-lc checks that the point is on the curve.
    fn from_affine(point: &Affine<C, N>) -> Result<Self, Error>
    where
        C: ShortCurve<N>,
    {
        let (mut x, mut y) = ([0; 48], [0; 48]);
        let (x, y) = (&mut x[..C::FIELD_LEN], &mut y[..C::FIELD_LEN]);
        point.write_coordinates(x, y);
        Point::from_coordinates(x, y).map(Self)
    }

    /// aws-lc's point operations fail only if there is no memory.
    fn infallible(result: Result<Point<C>, Error>) -> Self {
        Self(result.expect("point arithmetic fails only without memory"))
    }
}

impl<C: Curve + Group + ShortCurve<N>, const N: usize> Element for NistElement<C, N> {
    type Scalar = C::Scalar;
    const LEN: usize = 1 + C::FIELD_LEN;

    fn generator() -> Self {
        Self::infallible(Point::generator())
    }

    fn mul(&self, scalar: &C::Scalar) -> Self {
        Self::infallible(number(scalar).and_then(|scalar| self.0.mul(&scalar)))
    }

    fn mul_generator(scalar: &C::Scalar) -> Self {
        Self::infallible(number(scalar).and_then(|scalar| Point::mul_generator(&scalar)))
    }

    fn add(&self, other: &Self) -> Self {
        Self::infallible(self.0.add(&other.0))
    }

    fn sum_of_products_public(terms: &[(C::Scalar, &Self)]) -> Self {
        // A single product is as fast by aws-lc's assembly.
        if let [(scalar, element)] = terms {
            return element.mul(scalar);
        }
        let term = |(scalar, element): &(C::Scalar, &Self)| {
            let mut factor = [0; 48];
            scalar.encode_into(&mut factor[..C::FIELD_LEN]);
            Some((element.to_affine()?, factor))
        };
        let terms: Vec<_> = terms.iter().filter_map(term).collect();
        let terms: Vec<_> = terms
            .iter()
            .map(|(point, factor)| (*point, &factor[..C::FIELD_LEN]))
            .collect();
        match sums::sum(&terms) {
            Some(point) => Self::from_affine(&point).expect("a sum of points is a point"),
            None => Self::infallible(Point::infinity()),
        }
    }

    fn encode(&self) -> Result<Encoding, Error> {
        Encoding::build(Self::LEN, |out| self.0.write_compressed(out))
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_affine(&Affine::from_compressed(bytes)?)
    }
}

/// A scalar in aws-lc's form.
fn number<S: Scalar>(scalar: &S) -> Result<Number, Error> {
    let mut bytes = Zeroizing::new([0; 48]);
    let bytes = &mut bytes[..S::LEN];
    scalar.encode_into(bytes);
    Number::from_be_bytes(bytes)
}

impl<C: Curve, const N: usize> Clone for NistElement<C, N> {
    fn clone(&self) -> Self {
        Self::infallible(self.0.duplicate())
    }
}

impl<C: Curve, const N: usize> PartialEq for NistElement<C, N> {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&other.0)
    }
}

impl<C: Curve, const N: usize> Eq for NistElement<C, N> {}

impl<C: Curve, const N: usize> fmt::Debug for NistElement<C, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An element may be a secret: an unblinded evaluation is.
        f.write_str("NistElement(..)")
    }
}

/// A number modulo a curve's order, in `L` limbs.
#[derive(Clone)]
pub struct OrderScalar<M: ConstMontyParams<L>, const L: usize>(ConstMontyForm<M, L>);

impl<M: ConstMontyParams<L>, const L: usize> OrderScalar<M, L> {
    /// `expand_message_xmd` to `N` bytes, reduced (RFC 9380 section 5.2).
    fn hash<const N: usize>(algorithm: &'static Algorithm, message: &[&[u8]], dst: &[u8]) -> Self {
        let mut wide = Zeroizing::new([0; N]);
        expand_message_xmd(algorithm, message, dst, &mut *wide);
        Self::reduce(&*wide)
    }

    /// Big-endian bytes, more than a scalar has and fewer than two, modulo the order.
    fn reduce(wide: &[u8]) -> Self {
        let (high, low) = wide.split_at(wide.len() - Uint::<L>::BYTES);
        let mut padded = Zeroizing::new([0; 48]);
        let padded = &mut padded[..Uint::<L>::BYTES];
        padded[Uint::<L>::BYTES - high.len()..].copy_from_slice(high);
        // 2^(bits of L limbs), modulo the order: one more than the largest number in L limbs.
        let shift = ConstMontyForm::new(&Uint::MAX).add(&ConstMontyForm::ONE);
        let high = Self(ConstMontyForm::new(&Uint::from_be_slice(padded)));
        let low = Self(ConstMontyForm::new(&Uint::from_be_slice(low)));
        high.mul(&Self(shift)).add(&low)
    }
}

impl<M: ConstMontyParams<L>, const L: usize> Scalar for OrderScalar<M, L> {
    const LEN: usize = Uint::<L>::BYTES;

    fn random() -> Self {
        let mut bytes = Zeroizing::new([0; 48]);
        let bytes = &mut bytes[..Self::LEN];
        loop {
            rng::fill(bytes);
            // The order of both curves is close to a power of two: a second round is very rare.
            match Self::decode(bytes) {
                Ok(scalar) if !scalar.is_zero() => return scalar,
                _ => {}
            }
        }
    }

    fn add(&self, other: &Self) -> Self {
        Self(self.0.add(&other.0))
    }

    fn sub(&self, other: &Self) -> Self {
        Self(self.0.sub(&other.0))
    }

    fn mul(&self, other: &Self) -> Self {
        Self(self.0.mul(&other.0))
    }

    fn invert(&self) -> Result<Self, Error> {
        // Only zero has no inverse.
        if self.is_zero() {
            return Err(Error);
        }
        Ok(Self(self.0.invert().unwrap_or(ConstMontyForm::ZERO)))
    }

    fn is_zero(&self) -> bool {
        *self == Self(ConstMontyForm::ZERO)
    }

    fn encode_into(&self, out: &mut [u8]) {
        assert_eq!(out.len(), Self::LEN, "the length of a scalar");
        let mut number = Zeroizing::new(self.0.retrieve());
        let limb_len = Self::LEN / L;
        for (limb, chunk) in number.as_words().iter().zip(out.rchunks_mut(limb_len)) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        number.zeroize();
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != Self::LEN {
            return Err(Error);
        }
        let number = Zeroizing::new(Uint::<L>::from_be_slice(bytes));
        // Whether a number is in range may be known; random ones are drawn again without harm.
        let modulus = M::PARAMS.modulus();
        if ct::declassified(crypto_bigint::CtLt::ct_lt(&*number, modulus.as_ref()).to_bool()) {
            Ok(Self(ConstMontyForm::new(&number)))
        } else {
            Err(Error)
        }
    }
}

impl<M: ConstMontyParams<L>, const L: usize> PartialEq for OrderScalar<M, L> {
    /// In constant time.
    fn eq(&self, other: &Self) -> bool {
        let bytes = |scalar: &Self| {
            let mut bytes = Zeroizing::new([0; 48]);
            scalar.encode_into(&mut bytes[..Self::LEN]);
            bytes
        };
        ct::eq(&*bytes(self), &*bytes(other))
    }
}

impl<M: ConstMontyParams<L>, const L: usize> Eq for OrderScalar<M, L> {}

impl<M: ConstMontyParams<L>, const L: usize> Drop for OrderScalar<M, L> {
    fn drop(&mut self) {
        self.0.as_montgomery_mut().zeroize();
    }
}

impl<M: ConstMontyParams<L>, const L: usize> fmt::Debug for OrderScalar<M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OrderScalar(..)")
    }
}
