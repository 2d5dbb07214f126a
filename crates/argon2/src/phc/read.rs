//! Reading PHC strings.

use super::{Bytes, LANES, PhcString, SALT, TAG, base64};
use crate::Error;
use crate::params::{Params, Variant, Version};
use core::ops::RangeInclusive;
use core::str::FromStr;
use zeroize::Zeroizing;

impl FromStr for PhcString {
    type Err = Error;

    /// Reads a string in its canonical form: the parameters in their order, no leading zeros,
    /// nothing that is empty, no bits left over. Without a version, it is 16.
    ///
    /// # Errors
    /// [`Error::Malformed`] for anything else.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut fields = text.split('$');
        let mut field = || {
            fields.next().ok_or(Error::Malformed(
                "fewer fields than $ALGORITHM$VERSION$PARAMETERS$SALT$HASH",
            ))
        };
        if !field()?.is_empty() {
            return Err(Error::Malformed("it does not begin with $"));
        }
        let variant = variant(field()?)?;
        let mut next = field()?;
        let named = next.strip_prefix("v=").map(version).transpose()?;
        if named.is_some() {
            next = field()?;
        }
        let (params, key_id, associated_data) = parameters(next)?;
        let salt: Bytes<48> = bytes(
            field()?,
            SALT,
            "the salt is not 8 to 48 bytes in canonical base64 without padding",
        )?;
        let tag = Zeroizing::new(bytes(
            field()?,
            TAG,
            "the hash is not 12 to 64 bytes in canonical base64 without padding",
        )?);
        if fields.next().is_some() {
            return Err(Error::Malformed(
                "more fields than $ALGORITHM$VERSION$PARAMETERS$SALT$HASH",
            ));
        }
        // The strings of Argon2 1.0 name no version.
        let version = named.unwrap_or(Version::V0x10);
        let params = params.with_variant(variant).with_version(version);
        Ok(Self {
            params,
            has_version: named.is_some(),
            key_id,
            associated_data,
            salt,
            tag,
        })
    }
}

fn variant(field: &str) -> Result<Variant, Error> {
    let variant = Variant::ALL
        .into_iter()
        .find(|variant| variant.name() == field);
    variant.ok_or(Error::Malformed(
        "the algorithm is not argon2id, argon2i or argon2d",
    ))
}

fn version(number: &str) -> Result<Version, Error> {
    let version = decimal(number).and_then(Version::of);
    version.ok_or(Error::Malformed("the version is not v=16 or v=19"))
}

/// `m=…,t=…,p=…`, then perhaps `keyid=…` and `data=…`.
fn parameters(field: &str) -> Result<(Params, Bytes<8>, Bytes<32>), Error> {
    let mut items = field.split(',').peekable();
    let mut number = |name| {
        let value = items
            .next()
            .and_then(|item| item.strip_prefix(name)?.strip_prefix('='));
        value.and_then(decimal).ok_or(Error::Malformed(
            "the parameters are not m=…,t=…,p=… with numbers below 2^32 without leading zeros",
        ))
    };
    let (memory, passes, lanes) = (number("m")?, number("t")?, number("p")?);
    if !(1..=LANES).contains(&lanes) {
        return Err(Error::Malformed("p is not 1 to 255 lanes"));
    }
    let params = Params::new(memory, passes, lanes).map_err(|_| {
        Error::Malformed(match passes {
            0 => "t is not at least 1 pass",
            _ => "m is not at least 8 KiB for each of the p lanes",
        })
    })?;
    let mut optional = |name: &str| {
        items
            .next_if(|item| item.starts_with(name))
            .map(|item| &item[name.len()..])
    };
    let key_id = optional("keyid=").map_or(Ok(Bytes::EMPTY), |text| {
        let rule = "keyid is not 1 to 8 bytes in canonical base64 without padding";
        bytes(text, 1..=8, rule)
    })?;
    let data = optional("data=").map_or(Ok(Bytes::EMPTY), |text| {
        let rule = "data is not 1 to 32 bytes in canonical base64 without padding";
        bytes(text, 1..=32, rule)
    })?;
    if items.next().is_some() {
        return Err(Error::Malformed(
            "a parameter is unknown, twice or out of order: m, t, p, keyid, data",
        ));
    }
    Ok((params, key_id, data))
}

/// As many bytes as `lengths` allow.
fn bytes<const N: usize>(
    text: &str,
    lengths: RangeInclusive<usize>,
    rule: &'static str,
) -> Result<Bytes<N>, Error> {
    let mut bytes = [0; N];
    let len = base64::read(text, &mut bytes).filter(|len| lengths.contains(len));
    Ok(Bytes {
        bytes,
        len: len.ok_or(Error::Malformed(rule))?,
    })
}

/// A number as it would be written: only digits, the first of which is not zero unless it is the
/// only one.
fn decimal(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits && (text.len() == 1 || !text.starts_with('0'));
    if canonical { text.parse().ok() } else { None }
}
