//! The files of `token …`: secrets as one line of text, messages as the bytes of the wire
//! (`spec/token.md`, "Text forms of the command").

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;
use sealstone_files::{Document, PRIVATE, keep};
use sealstone_primitives::secret::{Secret, SecretVec};
use sealstone_token::epoch::Root;
use sealstone_token::privacypass::directory::Directory;
use sealstone_token::privacypass::header::{self, Offer};
use sealstone_token::privacypass::{
    IssuerKey, IssuerPublicKey, Pending, Token, TokenChallenge, TokenType,
};
use zeroize::Zeroizing;

pub(super) use crate::commands::message::{Form, done, write};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::input;
use crate::named::{Named, Parse};

/// The longest file that is read: a request for 65,535 tokens of P-384.
const MAX_LEN: usize = 4 << 20;

/// A secret of one line.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Secrecy {
    Key,
    Root,
    State,
}

impl Secrecy {
    pub(super) const ALL: [Self; 3] = [Self::Key, Self::Root, Self::State];

    fn name(self) -> &'static str {
        match self {
            Self::Key => "sealstone-token-key-v1",
            Self::Root => "sealstone-token-root-v1",
            Self::State => "sealstone-token-state-v1",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Key => "an issuer's secret key, as `sealstone token keygen` makes it",
            Self::Root => "a root, as `sealstone token keygen --root` makes it",
            Self::State => "a saved request, as `sealstone token request --state` makes it",
        }
    }

    /// The bytes behind this name in a line; nothing if the line has another name.
    pub(super) fn parse(self, line: &[u8]) -> Result<Option<SecretVec>> {
        let Some(rest) = line.strip_prefix(self.name().as_bytes()) else {
            return Ok(None);
        };
        let text = rest.trim_ascii();
        let mut bytes = SecretVec::zeroed(base64::decoded_len_estimate(text.len()));
        let decoded = URL_SAFE_NO_PAD.decode_slice(text, bytes.expose_mut());
        let len = decoded
            .map_err(|_| Failure::new(Exit::Format, format!("malformed {}", self.name())))?;
        bytes.truncate(len);
        Ok(Some(bytes))
    }
}

/// Writes a new secret file, readable by its owner alone.
pub(super) fn write_secret(path: &Path, secrecy: Secrecy, bytes: &[u8]) -> Result<()> {
    let name = secrecy.name();
    // The capacity is enough, so that no copy of a secret stays behind.
    let mut line = Zeroizing::new(String::with_capacity(name.len() + bytes.len() * 4 / 3 + 8));
    line.push_str(name);
    line.push(' ');
    URL_SAFE_NO_PAD.encode_string(bytes, &mut line);
    line.push('\n');
    Ok(keep::write_new(path, line.as_bytes(), PRIVATE)?)
}

/// Reads a secret file of one kind.
fn read_secret<T, E: Into<Failure>>(
    path: &Path,
    secrecy: Secrecy,
    context: &Context,
    parse: impl FnOnce(&[u8]) -> Result<T, E>,
) -> Result<T> {
    let file = read(path, secrecy.meaning())?;
    context.warn_if_exposed(&file);
    let other = || Failure::new(Exit::Format, format!("is not {}", secrecy.meaning()));
    file.parse(|line| {
        let bytes = secrecy.parse(line)?.ok_or_else(other)?;
        parse(bytes.expose()).map_err(Into::into)
    })
}

/// Reads a whole message.
pub(super) fn read(path: &Path, what: &str) -> Result<Document> {
    Ok(input::read(path, what, MAX_LEN)?)
}

/// An issuer's secret key: `u16(type) ‖ private key`.
pub(super) fn read_key(path: &Path, context: &Context) -> Result<IssuerKey> {
    read_secret(path, Secrecy::Key, context, parse_key)
}

pub(super) fn parse_key(bytes: &[u8]) -> Result<IssuerKey> {
    let (number, key) = bytes
        .split_first_chunk()
        .ok_or(sealstone_token::Error::Malformed("private key"))?;
    let token_type = TokenType::from_number(u16::from_be_bytes(*number))?;
    Ok(IssuerKey::decode(token_type, key)?)
}

/// The bytes that [`read_key`] reads.
pub(super) fn encode_key(key: &IssuerKey) -> Result<SecretVec> {
    let key_bytes = key.encode()?;
    let mut bytes = SecretVec::with_capacity(2 + key_bytes.len());
    for part in [&key.token_type().to_bytes()[..], key_bytes.expose()] {
        bytes.extend_from_slice(part).expect("room for both");
    }
    Ok(bytes)
}

pub(super) fn read_root(path: &Path, context: &Context) -> Result<Root> {
    read_secret(path, Secrecy::Root, context, parse_root)
}

pub(super) fn parse_root(bytes: &[u8]) -> Result<Root> {
    let array: &[u8; 32] = bytes
        .try_into()
        .map_err(|_| sealstone_token::Error::Malformed("root"))?;
    Ok(Root::new(Secret::with(|secret: &mut [u8; 32]| {
        secret.copy_from_slice(array)
    })))
}

pub(super) fn read_state(path: &Path, context: &Context) -> Result<Pending> {
    read_secret(path, Secrecy::State, context, Pending::decode)
}

/// A public key: the bytes of the wire, whose number tells the type.
pub(super) fn parse_public(bytes: &[u8]) -> Result<IssuerPublicKey> {
    let token_type = match bytes.len() {
        49 => TokenType::VoprfP384,
        32 => TokenType::VoprfRistretto255,
        33 => TokenType::VoprfP256,
        _ => TokenType::BlindRsa2048,
    };
    Ok(IssuerPublicKey::decode(token_type, bytes)?)
}

pub(super) fn read_public(path: &Path) -> Result<IssuerPublicKey> {
    let file = read(path, "the public key")?;
    file.parse(parse_public)
}

/// The challenges of a file, one or more, with the other fields that a header has for each.
pub(super) fn read_offers(path: &Path) -> Result<Named<Vec<Offer>>> {
    let file = read(path, "the challenge")?;
    let offers = file.parse(|bytes| match header_text(bytes) {
        Some(text) => known_offers(text),
        None => Ok(vec![Offer {
            challenge: TokenChallenge::decode(bytes)?,
            token_key: None,
            max_age: None,
        }]),
    })?;
    Ok(Named::new(file.name(), offers))
}

/// An origin may offer several types, of which some are known here: at least one.
fn known_offers(text: &str) -> Result<Vec<Offer>> {
    let mut offers = header::parse_challenges(text)?;
    offers.retain(|offer| offer.challenge.token_type().is_ok());
    if offers.is_empty() {
        let what = "it has no challenge of a known type";
        return Err(Failure::new(Exit::Format, what));
    }
    Ok(offers)
}

/// An issuer's directory, as `token directory` writes it.
pub(super) fn read_directory(path: &Path) -> Result<Directory> {
    let file = read(path, "the directory")?;
    file.parse(|bytes| {
        let text = std::str::from_utf8(bytes).ok();
        let directory = text.and_then(|text| Directory::from_json(text).ok());
        directory.ok_or_else(|| {
            Failure::new(Exit::Format, "is not a list of an issuer's keys").hint(
                "of a signed one, write the list: sealstone token directory --check FILE -o LIST",
            )
        })
    })
}

/// A token as bytes or in a header.
pub(super) fn parse_token(bytes: &[u8]) -> Result<Token, sealstone_token::Error> {
    match header_text(bytes) {
        Some(text) => header::parse_authorization(text),
        None => Token::decode(bytes),
    }
}

/// The value of a header of the scheme, if `bytes` are one. A header name before it is skipped.
pub(super) fn header_text(bytes: &[u8]) -> Option<&str> {
    // Every message of the wire has a zero byte, and may hold the scheme's name in an issuer's.
    let text = std::str::from_utf8(bytes).ok()?.trim();
    if text.contains('\0') {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let names = ["www-authenticate:", "authorization:"];
    let skipped = names
        .into_iter()
        .find(|name| lower.starts_with(name))
        .map_or(0, str::len);
    let value = text[skipped..].trim_start();
    let scheme = header::SCHEME.to_ascii_lowercase();
    value
        .to_ascii_lowercase()
        .contains(&scheme)
        .then_some(value)
}
