//! `BIGNUM`: the form in which aws-lc's curves and RSA take numbers.

use std::ptr::{self, NonNull};

use aws_lc_sys as sys;
use sys::BIGNUM;

use super::{check, check_ptr};
use crate::{Error, ct};

/// A number that is not negative. Its memory is wiped when it goes.
pub(crate) struct Number(NonNull<BIGNUM>);

// SAFETY: the object is owned, and functions that take `*const BIGNUM` do not change it.
unsafe impl Send for Number {}
// SAFETY: as above.
unsafe impl Sync for Number {}

impl Number {
    /// Zero.
    pub(crate) fn zero() -> Result<Self, Error> {
        // SAFETY: allocates; the result is null or new.
        check_ptr(unsafe { sys::BN_new() }).map(Self)
    }

    /// A number from big-endian bytes. The time depends on their count only.
    pub(crate) fn from_be_bytes(bytes: &[u8]) -> Result<Self, Error> {
        // SAFETY: the pointer goes with its length; a null third argument asks for a new number.
        check_ptr(unsafe { sys::BN_bin2bn(bytes.as_ptr(), bytes.len(), ptr::null_mut()) }).map(Self)
    }

    /// Writes the number as `out.len()` big-endian bytes; fails if it does not fit.
    pub(crate) fn write_be_bytes(&self, out: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the number is alive; the pointer goes with its length.
        check(unsafe { sys::BN_bn2bin_padded(out.as_mut_ptr(), out.len(), self.as_ptr()) })
    }

    pub(crate) fn as_ptr(&self) -> *const BIGNUM {
        self.0.as_ptr()
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut BIGNUM {
        self.0.as_ptr()
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: allocated by aws-lc, freed once.
        unsafe { sys::BN_clear_free(self.0.as_ptr()) }
    }
}

/// Scratch space for functions that need it.
struct Scratch(NonNull<sys::BN_CTX>);

impl Scratch {
    fn new() -> Result<Self, Error> {
        // SAFETY: allocates; the result is null or new.
        check_ptr(unsafe { sys::BN_CTX_new() }).map(Self)
    }

    fn as_ptr(&self) -> *mut sys::BN_CTX {
        self.0.as_ptr()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: allocated by aws-lc, freed once. aws-lc wipes what it frees.
        unsafe { sys::BN_CTX_free(self.0.as_ptr()) }
    }
}

/// An odd public modulus, with what Montgomery multiplication needs. All functions take reduced
/// numbers and run in constant time.
pub(crate) struct Modulus {
    number: Number,
    montgomery: NonNull<sys::BN_MONT_CTX>,
}

// SAFETY: the object is owned and never changed after it was made.
unsafe impl Send for Modulus {}
// SAFETY: as above.
unsafe impl Sync for Modulus {}

impl Modulus {
    /// A modulus from big-endian bytes.
    pub(crate) fn from_be_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (number, scratch) = (Number::from_be_bytes(bytes)?, Scratch::new()?);
        // SAFETY: the number and the scratch space are alive; the result is null or new.
        let montgomery =
            unsafe { sys::BN_MONT_CTX_new_for_modulus(number.as_ptr(), scratch.as_ptr()) };
        Ok(Self {
            montgomery: check_ptr(montgomery)?,
            number,
        })
    }

    /// A random number from 1 to the modulus less 1.
    pub(crate) fn random(&self) -> Result<Number, Error> {
        let mut number = Number::zero()?;
        // SAFETY: both numbers are alive.
        check(unsafe { sys::BN_rand_range_ex(number.as_mut_ptr(), 1, self.number.as_ptr()) })?;
        Ok(number)
    }

    /// The number of these big-endian bytes; fails if it is not below the modulus.
    pub(crate) fn reduced(&self, bytes: &[u8]) -> Result<Number, Error> {
        let number = Number::from_be_bytes(bytes)?;
        // SAFETY: both numbers are alive.
        let below = unsafe { sys::BN_cmp(number.as_ptr(), self.number.as_ptr()) } < 0;
        // Whether a number is in range may be known: others are refused.
        if ct::declassified(below) {
            Ok(number)
        } else {
            Err(Error)
        }
    }

    /// The product.
    pub(crate) fn mul(&self, a: &Number, b: &Number) -> Result<Number, Error> {
        let (mut converted, mut product) = (Number::zero()?, Number::zero()?);
        let (scratch, montgomery) = (Scratch::new()?, self.montgomery.as_ptr());
        // SAFETY: all objects are alive, and the numbers reduced.
        check(unsafe {
            sys::BN_to_montgomery(
                converted.as_mut_ptr(),
                a.as_ptr(),
                montgomery,
                scratch.as_ptr(),
            )
        })?;
        // SAFETY: as above. One factor is in Montgomery form, so the product is not.
        check(unsafe {
            sys::BN_mod_mul_montgomery(
                product.as_mut_ptr(),
                converted.as_ptr(),
                b.as_ptr(),
                montgomery,
                scratch.as_ptr(),
            )
        })?;
        Ok(product)
    }

    /// `base` to the power of `exponent`.
    pub(crate) fn power(&self, base: &Number, exponent: &Number) -> Result<Number, Error> {
        let (mut power, scratch) = (Number::zero()?, Scratch::new()?);
        // SAFETY: all objects are alive, and the base is reduced.
        check(unsafe {
            sys::BN_mod_exp_mont_consttime(
                power.as_mut_ptr(),
                base.as_ptr(),
                exponent.as_ptr(),
                self.number.as_ptr(),
                scratch.as_ptr(),
                self.montgomery.as_ptr(),
            )
        })?;
        Ok(power)
    }

    /// The inverse, computed on a number that a random factor blinds. Fails if there is none.
    pub(crate) fn invert(&self, number: &Number) -> Result<Number, Error> {
        let (mut inverse, scratch, mut none) = (Number::zero()?, Scratch::new()?, 0);
        // SAFETY: all objects are alive, and the number is reduced.
        check(unsafe {
            sys::BN_mod_inverse_blinded(
                inverse.as_mut_ptr(),
                &mut none,
                number.as_ptr(),
                self.montgomery.as_ptr(),
                scratch.as_ptr(),
            )
        })?;
        Ok(inverse)
    }
}

impl Drop for Modulus {
    fn drop(&mut self) {
        // SAFETY: allocated by aws-lc, freed once.
        unsafe { sys::BN_MONT_CTX_free(self.montgomery.as_ptr()) }
    }
}
