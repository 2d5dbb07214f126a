//! Reading PHC strings.

use super::{Bytes, LANES, PhcString, SALT, TAG, base64};
use crate::Error;
use crate::params::{Params, Variant, Version};
use core::str::FromStr;
use zeroize::Zeroizing;

impl FromStr for PhcString {
    type Err = Error;

    /// Reads a string in its canonical form: with its version, the parameters in their order, no leading zeros, nothing that is
    /// empty, no bits left over.
    ///
    /// # Errors
    /// [`Error::Malformed`] for anything else.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut fields = text.split('$');
        let mut field = || fields.next().ok_or(Error::Malformed("a field is missing"));
        if !field()?.is_empty() {
            return Err(Error::Malformed("it does not begin with $"));
        }
        let variant = variant(field()?)?;
        let version = version(field()?)?;
        let (params, key_id, associated_data) = parameters(field()?)?;
        let salt: Bytes<48> = bytes(field()?, "the salt")?;
        let tag = Zeroizing::new(bytes(field()?, "the hash")?);
        if fields.next().is_some() {
            return Err(Error::Malformed("it has too many fields"));
        }
        if !SALT.contains(&salt.len) || !TAG.contains(&tag.len) {
            return Err(Error::Malformed("the length of the salt or of the hash"));
        }
        let params = params.with_variant(variant).with_version(version);
        Ok(Self {
            params,
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
    variant.ok_or(Error::Malformed("another algorithm"))
}

fn version(field: &str) -> Result<Version, Error> {
    let number = field.strip_prefix("v=").and_then(decimal);
    number
        .and_then(Version::of)
        .ok_or(Error::Malformed("the version"))
}

/// `m=…,t=…,p=…`, then perhaps `keyid=…` and `data=…`.
fn parameters(field: &str) -> Result<(Params, Bytes<8>, Bytes<32>), Error> {
    let mut items = field.split(',').peekable();
    let mut number = |name| {
        let value = items
            .next()
            .and_then(|item| item.strip_prefix(name)?.strip_prefix('='));
        value
            .and_then(decimal)
            .ok_or(Error::Malformed("the parameters m, t, p"))
    };
    let (memory, passes, lanes) = (number("m")?, number("t")?, number("p")?);
    if lanes > LANES {
        return Err(Error::Malformed("the number of lanes"));
    }
    let params = Params::new(memory, passes, lanes)
        .map_err(|_| Error::Malformed("the parameters m, t, p"))?;
    let mut optional = |name: &str| {
        items
            .next_if(|item| item.starts_with(name))
            .map(|item| &item[name.len()..])
    };
    let key_id =
        optional("keyid=").map_or(Ok(Bytes::EMPTY), |text| bytes(text, "the key identifier"))?;
    let data =
        optional("data=").map_or(Ok(Bytes::EMPTY), |text| bytes(text, "the associated data"))?;
    if items.next().is_some() {
        return Err(Error::Malformed("a parameter is unknown or out of order"));
    }
    Ok((params, key_id, data))
}

/// At least one byte.
fn bytes<const N: usize>(text: &str, what: &'static str) -> Result<Bytes<N>, Error> {
    let mut bytes = [0; N];
    let len = base64::read(text, &mut bytes).filter(|len| *len > 0);
    Ok(Bytes {
        bytes,
        len: len.ok_or(Error::Malformed(what))?,
    })
}

/// A number as it would be written: only digits, the first of which is not zero unless it is the only one.
fn decimal(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits && (text.len() == 1 || !text.starts_with('0'));
    if canonical { text.parse().ok() } else { None }
}
