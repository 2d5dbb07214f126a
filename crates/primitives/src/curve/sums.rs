//! Sums of products on P-256 and P-384, in variable time: for public points and scalars only.

use super::field::{Field, Prime, limbs_from_be_bytes};
use crate::Error;

/// A curve y² = x³ - 3x + b.
pub trait ShortCurve<const N: usize>: Prime<N> {
    /// b, big-endian.
    const B: &'static [u8];
}

/// A point that is not the one at infinity.
pub(super) struct Affine<P: Prime<N>, const N: usize> {
    x: Field<P, N>,
    y: Field<P, N>,
}

impl<P: Prime<N>, const N: usize> Clone for Affine<P, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Prime<N>, const N: usize> Copy for Affine<P, N> {}

impl<P: ShortCurve<N>, const N: usize> Affine<P, N> {
    /// A point of the curve from its coordinates, big-endian.
    pub(super) fn from_coordinates(x: &[u8], y: &[u8]) -> Result<Self, Error> {
        Ok(Self {
            x: Field::from_be_bytes(x)?,
            y: Field::from_be_bytes(y)?,
        })
    }

    /// A point from SEC 1's compressed form (section 2.3.4).
    pub(super) fn from_compressed(bytes: &[u8]) -> Result<Self, Error> {
        let (prefix, x) = match bytes {
            [prefix @ (2 | 3), x @ ..] if x.len() == 8 * N => (prefix, Field::from_be_bytes(x)?),
            _ => return Err(Error),
        };
        let b = Field::from_be_bytes(P::B)?;
        let three_x = x.double() + x;
        let y = (x.square() * x - three_x + b).square_root().ok_or(Error)?;
        // Neither curve has a point with y = 0, so y and -y differ.
        Ok(Self {
            x,
            y: if y.is_odd() == (*prefix == 3) { y } else { -y },
        })
    }

    /// The coordinates, big-endian.
    pub(super) fn write_coordinates(&self, x: &mut [u8], y: &mut [u8]) {
        self.x.write_be_bytes(x);
        self.y.write_be_bytes(y);
    }

    fn negate_if(self, negate: bool) -> Self {
        if negate {
            Self {
                x: self.x,
                y: -self.y,
            }
        } else {
            self
        }
    }
}

/// A point as (X / Z², Y / Z³); Z is zero at infinity.
struct Jacobian<P: Prime<N>, const N: usize> {
    x: Field<P, N>,
    y: Field<P, N>,
    z: Field<P, N>,
}

impl<P: Prime<N>, const N: usize> Clone for Jacobian<P, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Prime<N>, const N: usize> Copy for Jacobian<P, N> {}

impl<P: ShortCurve<N>, const N: usize> Jacobian<P, N> {
    const INFINITY: Self = Self {
        x: Field::ONE,
        y: Field::ONE,
        z: Field::ZERO,
    };

    fn from_affine(point: &Affine<P, N>) -> Self {
        Self {
            x: point.x,
            y: point.y,
            z: Field::ONE,
        }
    }

    /// Doubling for a = -3 with eight products: squares cost as much as products here, so of the
    /// forms with as many the one with the fewest sums.
    fn double(&self) -> Self {
        let zz = self.z.square();
        let twice_y = self.y.double();
        let four_yy = twice_y.square();
        let s = self.x * four_yy;
        let slope = (self.x - zz) * (self.x + zz);
        let m = slope.double() + slope;
        let x = m.square() - s.double();
        let y = m * (s - x) - four_yy.square().half();
        let z = twice_y * self.z;
        Self { x, y, z }
    }

    /// The sum with a point whose Z is one, and what the formula leaves out.
    fn add_affine(&self, other: &Affine<P, N>) -> Self {
        if self.z.is_zero() {
            return Self::from_affine(other);
        }
        let zz = self.z.square();
        let h = other.x * zz - self.x;
        let r = other.y * self.z * zz - self.y;
        self.third_point((self.x, self.y), h, r, self.z)
    }

    /// The sum ("add-1998-cmo-2" of the Explicit-Formulas Database), and what it leaves out.
    fn add(&self, other: &Self) -> Self {
        if self.z.is_zero() {
            return *other;
        }
        if other.z.is_zero() {
            return *self;
        }
        let (zz1, zz2) = (self.z.square(), other.z.square());
        let (u, s) = (self.x * zz2, self.y * other.z * zz2);
        let h = other.x * zz1 - u;
        let r = other.y * self.z * zz1 - s;
        self.third_point((u, s), h, r, self.z * other.z)
    }

    /// The end of both sums: `first` is this point for the common denominator `z`, and the other
    /// differs from it by `h` and `r`.
    #[inline(always)]
    fn third_point(
        &self,
        first: (Field<P, N>, Field<P, N>),
        h: Field<P, N>,
        r: Field<P, N>,
        z: Field<P, N>,
    ) -> Self {
        if h.is_zero() {
            return if r.is_zero() {
                self.double()
            } else {
                Self::INFINITY
            };
        }
        let hh = h.square();
        let hhh = h * hh;
        let v = first.0 * hh;
        let x = r.square() - hhh - v.double();
        let y = r * (v - x) - first.1 * hhh;
        Self { x, y, z: z * h }
    }

    fn to_affine(self) -> Option<Affine<P, N>> {
        if self.z.is_zero() {
            return None;
        }
        let inverse = self.z.invert();
        let square = inverse.square();
        Some(Affine {
            x: self.x * square,
            y: self.y * square * inverse,
        })
    }
}

/// A point with its factor, a number of big-endian bytes below 2^(64 N).
pub(super) type Term<'a, P, const N: usize> = (Affine<P, N>, &'a [u8]);

/// `Σ factorᵢ · pointᵢ`; none at infinity.
///
/// Pippenger's method: the factors are cut into digits; for each place, points with one digit
/// are summed in one bucket. Few terms have no use for buckets: they share the doublings only.
pub(super) fn sum<P: ShortCurve<N>, const N: usize>(
    terms: &[Term<'_, P, N>],
) -> Option<Affine<P, N>> {
    let width = match terms.len() {
        0..8 => return sum_of_few(terms).to_affine(),
        8..32 => 4,
        32..100 => 5,
        100..300 => 6,
        300..1000 => 7,
        _ => 8,
    };
    let digits: Vec<Vec<i16>> = terms
        .iter()
        .map(|(_, factor)| digits::<N>(factor, width))
        .collect();
    let mut sum = Jacobian::INFINITY;
    for place in (0..digits[0].len()).rev() {
        (0..width).for_each(|_| sum = sum.double());
        let mut buckets = vec![Jacobian::INFINITY; 1 << (width - 1)];
        for ((point, _), digits) in terms.iter().zip(&digits) {
            let digit = digits[place];
            if digit != 0 {
                let bucket = &mut buckets[usize::from(digit.unsigned_abs()) - 1];
                *bucket = bucket.add_affine(&point.negate_if(digit < 0));
            }
        }
        sum = sum.add(&weighted(&buckets));
    }
    sum.to_affine()
}

/// `Σ (i + 1) · bucketᵢ`, by running sums.
fn weighted<P: ShortCurve<N>, const N: usize>(buckets: &[Jacobian<P, N>]) -> Jacobian<P, N> {
    let (mut running, mut sum) = (Jacobian::INFINITY, Jacobian::INFINITY);
    for bucket in buckets.iter().rev() {
        running = running.add(bucket);
        sum = sum.add(&running);
    }
    sum
}

/// The digits of a factor to the base 2^`width`, the lowest first, from -2^(width - 1) to
/// 2^(width - 1).
fn digits<const N: usize>(factor: &[u8], width: usize) -> Vec<i16> {
    let limbs: [u64; N] = limbs_from_be_bytes(factor);
    let mut carry = 0;
    let places = (64 * N + 1).div_ceil(width);
    let digit = |place: usize| {
        let (limb, shift) = (place * width / 64, place * width % 64);
        let low = limbs.get(limb).map_or(0, |limb| limb >> shift);
        // A digit may lie in two limbs.
        let high = match limbs.get(limb + 1) {
            Some(next) if shift > 0 => next << (64 - shift),
            _ => 0,
        };
        let digit = ((low | high) & ((1 << width) - 1)) as i16 + carry;
        carry = i16::from(digit > 1 << (width - 1));
        digit - (carry << width)
    };
    (0..places).map(digit).collect()
}

/// The width of the digits of [`sum_of_few`]: a table of eight odd multiples a point.
const FEW_WIDTH: usize = 5;
const TABLE_LEN: usize = 1 << (FEW_WIDTH - 2);

/// Straus's method: a table of odd multiples of each point, and doublings for all.
fn sum_of_few<P: ShortCurve<N>, const N: usize>(terms: &[Term<'_, P, N>]) -> Jacobian<P, N> {
    let tables: Vec<_> = terms
        .iter()
        .map(|(point, _)| odd_multiples(point))
        .collect();
    let digits: Vec<_> = terms
        .iter()
        .map(|(_, factor)| sparse_digits::<N>(factor))
        .collect();
    let mut sum = Jacobian::INFINITY;
    for place in (0..=64 * N).rev() {
        sum = sum.double();
        for (table, digits) in tables.iter().zip(&digits) {
            let digit = digits[place];
            if digit != 0 {
                let multiple = table[usize::from(digit.unsigned_abs()) / 2];
                let y = if digit < 0 { -multiple.y } else { multiple.y };
                sum = sum.add(&Jacobian { y, ..multiple });
            }
        }
    }
    sum
}

/// The digits of a factor to the base 2, the lowest first: zero, or odd and between
/// -2^([`FEW_WIDTH`] - 1) and 2^([`FEW_WIDTH`] - 1). At most one of [`FEW_WIDTH`] in a row is not
/// zero.
fn sparse_digits<const N: usize>(factor: &[u8]) -> Vec<i8> {
    const BASE: u64 = 1 << FEW_WIDTH;
    let limbs: [u64; N] = limbs_from_be_bytes(factor);
    let bits = |place: usize| {
        let (limb, shift) = (place / 64, place % 64);
        let low = limbs.get(limb).map_or(0, |limb| limb >> shift);
        // A digit may lie in two limbs.
        let high = match limbs.get(limb + 1) {
            Some(next) if shift > 0 => next << (64 - shift),
            _ => 0,
        };
        (low | high) % BASE
    };
    let mut digits = vec![0; 64 * N + 1];
    let (mut place, mut carry) = (0, 0);
    while place <= 64 * N {
        let digit = bits(place) + carry;
        if digit.is_multiple_of(2) {
            place += 1;
            continue;
        }
        carry = u64::from(digit > BASE / 2);
        digits[place] = (digit as i8) - (carry * BASE) as i8;
        place += FEW_WIDTH;
    }
    digits
}

/// The point times 1, 3 and so on to 15.
fn odd_multiples<P: ShortCurve<N>, const N: usize>(
    point: &Affine<P, N>,
) -> [Jacobian<P, N>; TABLE_LEN] {
    let mut multiples = [Jacobian::from_affine(point); TABLE_LEN];
    let double = multiples[0].double();
    for index in 1..TABLE_LEN {
        multiples[index] = multiples[index - 1].add(&double);
    }
    multiples
}
