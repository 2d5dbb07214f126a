//! Points of NIST's curves: `EC_POINT`. Multiplication is in constant time, by aws-lc's own
//! assembly.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use aws_lc_sys as sys;
use sys::{EC_GROUP, EC_POINT};

use super::bn::Number;
use super::{check, check_ptr};
use crate::Error;

/// A curve that aws-lc has as a static table. Not nameable outside of this crate.
pub trait Curve: Copy + Send + Sync + 'static {
    /// The length of a coordinate in bytes.
    const FIELD_LEN: usize;

    /// aws-lc's table.
    fn group() -> *const EC_GROUP;

    /// RFC 9380's random-oracle suite of this curve, into `out`.
    fn hash(out: *mut EC_POINT, message: &[u8], dst: &[u8]) -> i32;
}

/// NIST P-256.
#[derive(Clone, Copy, Debug)]
pub struct P256;

/// NIST P-384.
#[derive(Clone, Copy, Debug)]
pub struct P384;

impl Curve for P256 {
    const FIELD_LEN: usize = 32;

    fn group() -> *const EC_GROUP {
        // SAFETY: returns a pointer to a static table.
        unsafe { sys::EC_group_p256() }
    }

    fn hash(out: *mut EC_POINT, message: &[u8], dst: &[u8]) -> i32 {
        let hash = sys::EC_hash_to_curve_p256_xmd_sha256_sswu;
        let (m, d) = (message, dst);
        // SAFETY: the caller passes a point of this curve; each pointer goes with its length.
        unsafe { hash(Self::group(), out, d.as_ptr(), d.len(), m.as_ptr(), m.len()) }
    }
}

impl Curve for P384 {
    const FIELD_LEN: usize = 48;

    fn group() -> *const EC_GROUP {
        // SAFETY: returns a pointer to a static table.
        unsafe { sys::EC_group_p384() }
    }

    fn hash(out: *mut EC_POINT, message: &[u8], dst: &[u8]) -> i32 {
        let hash = sys::EC_hash_to_curve_p384_xmd_sha384_sswu;
        let (m, d) = (message, dst);
        // SAFETY: the caller passes a point of this curve; each pointer goes with its length.
        unsafe { hash(Self::group(), out, d.as_ptr(), d.len(), m.as_ptr(), m.len()) }
    }
}

/// A point of the curve `C`, possibly the one at infinity. Its memory is wiped when it goes.
pub(crate) struct Point<C: Curve>(NonNull<EC_POINT>, PhantomData<C>);

// SAFETY: the object is owned, and functions that take `*const EC_POINT` do not change it.
unsafe impl<C: Curve> Send for Point<C> {}
// SAFETY: as above.
unsafe impl<C: Curve> Sync for Point<C> {}

impl<C: Curve> Point<C> {
    /// The point at infinity.
    pub(crate) fn infinity() -> Result<Self, Error> {
        Self::new()
    }

    fn new() -> Result<Self, Error> {
        // SAFETY: the group is static; the result is null or new, and the point at infinity.
        check_ptr(unsafe { sys::EC_POINT_new(C::group()) }).map(|point| Self(point, PhantomData))
    }

    /// The base point.
    pub(crate) fn generator() -> Result<Self, Error> {
        let point = Self::new()?;
        // SAFETY: the group is static and has a generator; both points are of this curve.
        let generator = unsafe { sys::EC_GROUP_get0_generator(C::group()) };
        // SAFETY: as above.
        check(unsafe { sys::EC_POINT_copy(point.as_ptr(), generator) })?;
        Ok(point)
    }

    /// A second copy.
    pub(crate) fn duplicate(&self) -> Result<Self, Error> {
        let point = Self::new()?;
        // SAFETY: both points are of this curve.
        check(unsafe { sys::EC_POINT_copy(point.as_ptr(), self.as_ptr()) })?;
        Ok(point)
    }

    /// Hashes `message` to the curve, with the domain separation tag `dst` (RFC 9380 section 8).
    pub(crate) fn hash(message: &[u8], dst: &[u8]) -> Result<Self, Error> {
        let point = Self::new()?;
        check(C::hash(point.as_ptr(), message, dst))?;
        Ok(point)
    }

    /// `scalar`, which is below the order, times this point. In constant time.
    pub(crate) fn mul(&self, scalar: &Number) -> Result<Self, Error> {
        let product = Self::new()?;
        // SAFETY: the points are of this curve; null means "no multiple of the generator", and
        // "make a context if you need one".
        check(unsafe {
            sys::EC_POINT_mul(
                C::group(),
                product.as_ptr(),
                ptr::null(),
                self.as_ptr(),
                scalar.as_ptr(),
                ptr::null_mut(),
            )
        })?;
        Ok(product)
    }

    /// `scalar`, which is below the order, times the generator. In constant time.
    pub(crate) fn mul_generator(scalar: &Number) -> Result<Self, Error> {
        let product = Self::new()?;
        // SAFETY: the point is of this curve; null means "no multiple of another point".
        check(unsafe {
            sys::EC_POINT_mul(
                C::group(),
                product.as_ptr(),
                scalar.as_ptr(),
                ptr::null(),
                ptr::null(),
                ptr::null_mut(),
            )
        })?;
        Ok(product)
    }

    /// The sum of two points.
    pub(crate) fn add(&self, other: &Self) -> Result<Self, Error> {
        let sum = Self::new()?;
        let (a, b) = (self.as_ptr(), other.as_ptr());
        // SAFETY: all points are of this curve.
        check(unsafe { sys::EC_POINT_add(C::group(), sum.as_ptr(), a, b, ptr::null_mut()) })?;
        Ok(sum)
    }

    /// Whether this is the point at infinity.
    pub(crate) fn is_infinity(&self) -> bool {
        // SAFETY: the point is of this curve.
        unsafe { sys::EC_POINT_is_at_infinity(C::group(), self.as_ptr()) == 1 }
    }

    /// Whether two points are the same.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        let (a, b) = (self.as_ptr(), other.as_ptr());
        // SAFETY: both points are of this curve. The result is 0 for equal points.
        unsafe { sys::EC_POINT_cmp(C::group(), a, b, ptr::null_mut()) == 0 }
    }

    /// The affine coordinates, big-endian, in `FIELD_LEN` bytes each. Fails at infinity.
    pub(crate) fn write_coordinates(&self, x: &mut [u8], y: &mut [u8]) -> Result<(), Error> {
        let (mut x_number, mut y_number) = (Number::zero()?, Number::zero()?);
        // SAFETY: the point is of this curve; both numbers are alive.
        check(unsafe {
            sys::EC_POINT_get_affine_coordinates_GFp(
                C::group(),
                self.as_ptr(),
                x_number.as_mut_ptr(),
                y_number.as_mut_ptr(),
                ptr::null_mut(),
            )
        })?;
        x_number.write_be_bytes(x)?;
        y_number.write_be_bytes(y)
    }

    /// The point with these affine coordinates; fails if they are not below the field's modulus
    /// or not on the curve.
    pub(crate) fn from_coordinates(x: &[u8], y: &[u8]) -> Result<Self, Error> {
        let (x, y) = (Number::from_be_bytes(x)?, Number::from_be_bytes(y)?);
        let point = Self::new()?;
        // SAFETY: the point is of this curve; both numbers are alive.
        check(unsafe {
            sys::EC_POINT_set_affine_coordinates_GFp(
                C::group(),
                point.as_ptr(),
                x.as_ptr(),
                y.as_ptr(),
                ptr::null_mut(),
            )
        })?;
        Ok(point)
    }

    /// Writes SEC 1's compressed form, `1 + FIELD_LEN` bytes. Fails at infinity.
    pub(crate) fn write_compressed(&self, out: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the point is of this curve; the pointer goes with its length.
        let written = unsafe {
            sys::EC_POINT_point2oct(
                C::group(),
                self.as_ptr(),
                sys::point_conversion_form_t::POINT_CONVERSION_COMPRESSED,
                out.as_mut_ptr(),
                out.len(),
                ptr::null_mut(),
            )
        };
        // aws-lc writes the point at infinity as one zero byte.
        if written == 1 + C::FIELD_LEN && written == out.len() {
            Ok(())
        } else {
            Err(super::failure())
        }
    }

    fn as_ptr(&self) -> *mut EC_POINT {
        self.0.as_ptr()
    }
}

impl<C: Curve> Drop for Point<C> {
    fn drop(&mut self) {
        // SAFETY: allocated by aws-lc, freed once.
        unsafe { sys::EC_POINT_clear_free(self.as_ptr()) }
    }
}
