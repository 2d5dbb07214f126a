//! Storing and verifying passwords.

use crate::Error;
use crate::arena::Arena;
use crate::argon2::Argon2;
use crate::params::Params;
use crate::phc::PhcString;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Hashes a password with a fresh random salt, to store it.
///
/// ```
/// use sealstone_argon2::{Error, Params, hash_password, verify_password};
///
/// # let params = Params::new(1024, 1, 1)?;
/// let stored = hash_password(b"correct horse", &params)?;
/// assert!(stored.starts_with("$argon2id$v=19$m="));
/// assert!(!verify_password(b"correct horse", &stored, &params)?.needs_rehash);
/// assert_eq!(verify_password(b"battery staple", &stored, &params), Err(Error::Mismatch));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`PasswordHasher::hash`].
pub fn hash_password(password: &[u8], params: &Params) -> Result<String, Error> {
    PasswordHasher::new(*params).hash(password, &mut Arena::new())
}

/// Verifies a password against a stored string, whose parameters are within [`Limits::default`].
/// The result says whether the password should be hashed again, because the string has other
/// parameters than `params`.
///
/// # Errors
/// As [`PasswordHasher::verify`].
pub fn verify_password(password: &[u8], stored: &str, params: &Params) -> Result<Verified, Error> {
    PasswordHasher::new(*params).verify(password, stored, &mut Arena::new())
}

/// Stores passwords: with these parameters for new strings, and limits for stored ones.
///
/// ```
/// use sealstone_argon2::{Arena, Argon2, Params, PasswordHasher};
///
/// # let (weak, strong) = (Params::new(512, 1, 1)?, Params::new(1024, 2, 1)?);
/// let mut arena = Arena::new();
/// let old = PasswordHasher::new(weak).hash(b"password", &mut arena)?;
/// let hasher = PasswordHasher::with(Argon2::new(strong).threads(2));
/// if hasher.verify(b"password", &old, &mut arena)?.needs_rehash {
///     let new = hasher.hash(b"password", &mut arena)?;
///     assert!(!hasher.verify(b"password", &new, &mut arena)?.needs_rehash);
/// }
/// # Ok::<(), sealstone_argon2::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PasswordHasher<'a> {
    argon2: Argon2<'a>,
    limits: Limits,
    salt_len: usize,
    tag_len: usize,
}

/// The most that verifying may cost, because strings may come from others. More expensive strings
/// are not made either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory in KiB.
    pub memory_kib: u64,
    /// Memory in KiB times passes, as [`Params::work_kib`] counts it.
    pub work_kib: u64,
}

/// The outcome for a password that is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "if it needs a rehash, now is the time"]
pub struct Verified {
    /// Whether the stored string differs from those that [`PasswordHasher::hash`] makes now: other
    /// parameters, no version, a shorter salt, or a shorter hash.
    pub needs_rehash: bool,
}

/// The fields of a PHC string.
const PHC_RULE: &str =
    "a PHC string has 8 to 48 bytes of salt, 12 to 64 of hash, up to 32 of data, 255 lanes";

impl Default for Limits {
    /// 2 GiB of memory; 64 GiB of memory times passes.
    fn default() -> Self {
        Self {
            memory_kib: 2 << 20,
            work_kib: 64 << 20,
        }
    }
}

impl Limits {
    /// Checks that verifying with `params` is within the limits, before any memory is taken.
    ///
    /// # Errors
    /// [`Error::Limit`].
    pub fn check(&self, params: &Params) -> Result<(), Error> {
        let limits = [
            ("KiB of memory", params.memory_kib().into(), self.memory_kib),
            ("KiB times passes", params.work_kib(), self.work_kib),
        ];
        for (what, wanted, allowed) in limits {
            if wanted > allowed {
                return Err(Error::Limit {
                    what,
                    wanted,
                    allowed,
                });
            }
        }
        Ok(())
    }
}

impl<'a> PasswordHasher<'a> {
    /// Salts of 16 bytes, hashes of 32.
    pub fn new(params: Params) -> Self {
        Self::with(Argon2::new(params))
    }

    /// Takes a secret, associated data, and the number of threads from `argon2`.
    pub fn with(argon2: Argon2<'a>) -> Self {
        Self {
            argon2,
            limits: Limits::default(),
            salt_len: 16,
            tag_len: 32,
        }
    }

    /// Sets other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the lengths: salts of 8 to 48 bytes and hashes of 12 to 64.
    #[must_use]
    pub fn lengths(self, salt_len: usize, tag_len: usize) -> Self {
        Self {
            salt_len,
            tag_len,
            ..self
        }
    }

    /// Hashes a password with a random salt. The result is a PHC string, to be stored.
    ///
    /// # Errors
    /// [`Error::Random`]; [`Error::Parameter`] for lengths and lanes that a PHC string cannot have;
    /// [`Error::Limit`] for parameters that [`PasswordHasher::verify`] would refuse; the errors of
    /// [`Argon2::hash`].
    pub fn hash(&self, password: &[u8], arena: &mut Arena) -> Result<String, Error> {
        let mut salt = [0; 48];
        let salt = salt
            .get_mut(..self.salt_len)
            .ok_or(Error::Parameter("a salt of 8 to 48 bytes"))?;
        getrandom::fill(salt).map_err(|_| Error::Random)?;
        self.hash_with_salt(password, salt, arena)
    }

    /// Hashes a password with this salt, which must never have been used before.
    ///
    /// # Errors
    /// As [`PasswordHasher::hash`].
    pub fn hash_with_salt(
        &self,
        password: &[u8],
        salt: &[u8],
        arena: &mut Arena,
    ) -> Result<String, Error> {
        let (params, data) = (self.argon2.params(), self.argon2.data());
        let mut tag = Zeroizing::new([0; 64]);
        let tag = tag
            .get_mut(..self.tag_len)
            .ok_or(Error::Parameter("a hash of 12 to 64 bytes"))?;
        // Before the work: whether the string could be verified, and can be written.
        self.limits.check(params)?;
        let phc = |tag: &[u8]| {
            let phc = PhcString::new(*params, salt, data, tag);
            phc.ok_or(Error::Parameter(PHC_RULE))
        };
        phc(tag)?;
        self.argon2.hash(password, salt, tag, arena)?;
        Ok(phc(tag)?.to_string())
    }

    /// Verifies a password against a PHC string, in a time that does not depend on how wrong the
    /// password is. Associated data comes from the string; if the hasher has some, it must be the
    /// same.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the password, the secret or the associated data is another one;
    /// [`Error::Malformed`]; [`Error::Limit`]; the errors of [`Argon2::hash`].
    pub fn verify(
        &self,
        password: &[u8],
        stored: &str,
        arena: &mut Arena,
    ) -> Result<Verified, Error> {
        let stored: PhcString = stored.parse()?;
        self.limits.check(stored.params())?;
        let data = stored.associated_data();
        let mut tag = Zeroizing::new([0; 64]);
        let tag = &mut tag[..stored.tag().len()];
        let argon2 = self
            .argon2
            .with_params(*stored.params())
            .associated_data(data);
        argon2.hash(password, stored.salt(), tag, arena)?;
        let expected = self.argon2.data();
        let other_data = !expected.is_empty() && data != expected;
        if other_data || !bool::from(tag.ct_eq(stored.tag())) {
            return Err(Error::Mismatch);
        }
        Ok(Verified {
            needs_rehash: self.is_outdated(&stored),
        })
    }

    /// Whether a string differs from those that [`PasswordHasher::hash`] makes now.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn needs_rehash(&self, stored: &str) -> Result<bool, Error> {
        Ok(self.is_outdated(&stored.parse()?))
    }

    fn is_outdated(&self, stored: &PhcString) -> bool {
        stored.params() != self.argon2.params()
            || !stored.has_version()
            || stored.salt().len() < self.salt_len
            || stored.tag().len() < self.tag_len
    }
}
