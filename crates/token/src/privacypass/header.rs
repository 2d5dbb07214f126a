//! The headers of the `PrivateToken` authentication scheme (RFC 9577 section 2).
//!
//! ```
//! use sealstone_token::privacypass::{TokenChallenge, TokenType, header};
//!
//! let challenge = TokenChallenge::new(TokenType::VoprfP384, "issuer.example", None, &[])?;
//! let value = header::challenge(&header::Offer { challenge, token_key: None, max_age: Some(60) });
//! let offers = header::parse_challenges(&value)?;
//! assert_eq!(offers[0].max_age, Some(60));
//! # Ok::<(), sealstone_token::Error>(())
//! ```

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{Token, TokenChallenge};
use crate::Error;

/// The scheme's name.
pub const SCHEME: &str = "PrivateToken";

/// With padding when written, as RFC 9577 has it; with or without when read.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The longest header value that is read: eight challenges with an RSA key and long names.
pub const MAX_LEN: usize = 16 * 1024;

/// One challenge of a `WWW-Authenticate` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The challenge.
    pub challenge: TokenChallenge,
    /// The issuer's public key, if the origin tells it.
    pub token_key: Option<Vec<u8>>,
    /// For how many seconds the challenge is good, if the origin tells it.
    pub max_age: Option<u64>,
}

/// The value of a `WWW-Authenticate` header for one offer.
#[must_use]
pub fn challenge(offer: &Offer) -> String {
    let mut value = format!(
        "{SCHEME} challenge=\"{}\"",
        BASE64.encode(offer.challenge.encode())
    );
    if let Some(key) = &offer.token_key {
        value.push_str(&format!(", token-key=\"{}\"", BASE64.encode(key)));
    }
    if let Some(age) = offer.max_age {
        value.push_str(&format!(", max-age=\"{age}\""));
    }
    value
}

/// The offers of a `WWW-Authenticate` header, in order. Other schemes, parameters that are not
/// known, and challenges that cannot be read are passed over, as RFC 9577 section 2.1 asks: a
/// client answers one that it understands.
///
/// # Errors
/// If the value is not a list of challenges (RFC 9110 section 11.6.1) or longer than [`MAX_LEN`].
pub fn parse_challenges(value: &str) -> Result<Vec<Offer>, Error> {
    let schemes = parse(value)?;
    let ours = schemes
        .iter()
        .filter(|scheme| scheme.name.eq_ignore_ascii_case(SCHEME));
    Ok(ours.filter_map(offer).collect())
}

fn offer(scheme: &Scheme<'_>) -> Option<Offer> {
    let decoded = |text: &str| BASE64.decode(text).ok();
    let challenge = decoded(scheme.parameter("challenge").ok()??)?;
    let token_key = match scheme.parameter("token-key").ok()? {
        Some(key) => Some(decoded(key)?),
        None => None,
    };
    let max_age = match scheme.parameter("max-age").ok()? {
        Some(age) => Some(delta_seconds(age)?),
        None => None,
    };
    Some(Offer {
        challenge: TokenChallenge::decode(&challenge).ok()?,
        token_key,
        max_age,
    })
}

/// `delta-seconds` of RFC 9111 section 1.2.2: digits only, and what is too large is the largest.
fn delta_seconds(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

/// The value of an `Authorization` header that shows `token`.
#[must_use]
pub fn authorization(token: &Token) -> String {
    format!("{SCHEME} token=\"{}\"", BASE64.encode(token.encode()))
}

/// The token of an `Authorization` header.
///
/// # Errors
/// If the value is anything else, or the token cannot be read.
pub fn parse_authorization(value: &str) -> Result<Token, Error> {
    let malformed = Error::Malformed("authorization header");
    let schemes = parse(value)?;
    let [scheme] = schemes.as_slice() else {
        return Err(malformed);
    };
    if !scheme.name.eq_ignore_ascii_case(SCHEME) {
        return Err(malformed);
    }
    let token = scheme.parameter("token")?.ok_or(malformed)?;
    Token::decode(&BASE64.decode(token).map_err(|_| malformed)?)
}

/// A scheme with its parameters, in order.
struct Scheme<'a> {
    name: &'a str,
    parameters: Vec<(&'a str, String)>,
    /// Another scheme's credentials without a name, which stand instead of parameters.
    is_closed: bool,
}

impl Scheme<'_> {
    /// The value of a parameter, if it is given.
    ///
    /// # Errors
    /// If it is given twice (RFC 9110 section 11.2).
    fn parameter(&self, name: &str) -> Result<Option<&str>, Error> {
        let mut values = self
            .parameters
            .iter()
            .filter(|(other, _)| other.eq_ignore_ascii_case(name));
        match (values.next(), values.next()) {
            (first, None) => Ok(first.map(|(_, value)| value.as_str())),
            _ => Err(Error::Malformed("header")),
        }
    }
}

/// A list of challenges or one set of credentials (RFC 9110 sections 11.3, 11.4, 11.6.1).
///
/// The grammar's commas stand between parameters and between challenges: a name followed by `=`
/// is a parameter, another name begins a challenge.
fn parse(value: &str) -> Result<Vec<Scheme<'_>>, Error> {
    let malformed = Error::Malformed("header");
    if value.len() > MAX_LEN {
        return Err(Error::TooLong("header"));
    }
    let mut schemes: Vec<Scheme<'_>> = Vec::new();
    let mut rest = skip_separators(value);
    while !rest.is_empty() {
        rest = match parameter(rest) {
            Some((name, text, after)) => {
                let scheme = schemes.last_mut().filter(|scheme| !scheme.is_closed);
                let scheme = scheme.ok_or(malformed)?;
                scheme.parameters.push((name, text));
                end_of_item(after).ok_or(malformed)?
            }
            None => {
                let (name, after) = word(rest).ok_or(malformed)?;
                let credentials = token68(skip_space(after)).and_then(end_of_item);
                schemes.push(Scheme {
                    name,
                    parameters: Vec::new(),
                    is_closed: credentials.is_some(),
                });
                let first = || parameter(skip_space(after)).map(|_| skip_space(after));
                let next = credentials.or_else(|| end_of_item(after)).or_else(first);
                next.ok_or(malformed)?
            }
        };
    }
    Ok(schemes)
}

/// The end of an item of a list: nothing, or a comma.
fn end_of_item(text: &str) -> Option<&str> {
    let rest = skip_space(text);
    (rest.is_empty() || rest.starts_with(',')).then(|| skip_separators(rest))
}

/// Lists may have empty items (RFC 9110 section 5.6.1.2).
fn skip_separators(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', ','])
}

fn skip_space(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

/// A parameter's name and value, and what follows them.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let (name, after) = word(text)?;
    let after = skip_space(after).strip_prefix('=')?;
    let (value, after) = parameter_value(skip_space(after))?;
    Some((name, value, after))
}

/// A `token` of RFC 9110 section 5.6.2, and what follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The rest after a `token68` of RFC 9110 section 11.2: other schemes' credentials.
fn token68(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._~+/".contains(c);
    let after = text.trim_start_matches(is_part);
    (after.len() < text.len()).then(|| after.trim_start_matches('='))
}

/// A quoted string or a token, to which base64's padding is added, and what follows it.
fn parameter_value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (_, after) = word(text)?;
        let after = after.trim_start_matches('=');
        return Some((text[..text.len() - after.len()].to_owned(), after));
    };
    let (mut value, mut characters) = (String::new(), quoted.char_indices());
    while let Some((at, character)) = characters.next() {
        let character = match character {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => characters.next()?.1,
            other => other,
        };
        // A line feed here would be a second header for a program that copies the value.
        if character.is_ascii_control() && character != '\t' {
            return None;
        }
        value.push(character);
    }
    None
}
