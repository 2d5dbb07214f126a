//! The origin's challenge (RFC 9577 section 2.1.1).

use sealstone_primitives::hash;

use super::TokenType;
use super::wire::Reader;
use crate::Error;

/// An origin's demand. A token answers exactly one challenge, or all that are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenChallenge {
    token_type: u16,
    issuer_name: String,
    redemption_context: Option<[u8; 32]>,
    origin_info: String,
}

impl TokenChallenge {
    /// A challenge for a token of `issuer`. With a `context`, 32 fresh random bytes, a token
    /// must be fetched for this very challenge; without, a client may show one that it has.
    /// `origins` are the hosts that accept the token; none means all.
    ///
    /// # Errors
    /// If the issuer's name is empty or a name is not printable ASCII, holds a comma or is too
    /// long.
    pub fn new(
        token_type: TokenType,
        issuer: &str,
        context: Option<[u8; 32]>,
        origins: &[&str],
    ) -> Result<Self, Error> {
        if origins
            .iter()
            .any(|name| !is_name(name) || name.contains(','))
        {
            return Err(Error::Malformed("origin name"));
        }
        let origin_info = origins.join(",");
        if !is_name(issuer) || u16::try_from(issuer.len()).is_err() {
            return Err(Error::Malformed("issuer name"));
        }
        if u16::try_from(origin_info.len()).is_err() {
            return Err(Error::TooLong("list of origins"));
        }
        Ok(Self {
            token_type: token_type.number(),
            issuer_name: issuer.to_owned(),
            redemption_context: context,
            origin_info,
        })
    }

    /// The challenge that `bytes` encode. Its type may be one that is unknown here.
    ///
    /// # Errors
    /// If they are anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes, "token challenge");
        let token_type = reader.u16()?;
        let issuer_name = text(reader.vector()?)?;
        let redemption_context = match reader.short_vector()? {
            [] => None,
            context => Some(
                context
                    .try_into()
                    .map_err(|_| Error::Malformed("redemption context"))?,
            ),
        };
        let origin_info = text(reader.vector()?)?;
        reader.finish()?;
        if issuer_name.is_empty() {
            return Err(Error::Malformed("issuer name"));
        }
        Ok(Self {
            token_type,
            issuer_name,
            redemption_context,
            origin_info,
        })
    }

    /// The encoding.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let len = |text: &str| {
            u16::try_from(text.len())
                .expect("checked before")
                .to_be_bytes()
        };
        let context = self
            .redemption_context
            .as_ref()
            .map_or(&[][..], |context| context);
        [
            &self.token_type.to_be_bytes(),
            &len(&self.issuer_name)[..],
            self.issuer_name.as_bytes(),
            &[context.len() as u8],
            context,
            &len(&self.origin_info),
            self.origin_info.as_bytes(),
        ]
        .concat()
    }

    /// The SHA-256 digest of the encoding, which a token carries.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        hash::sha256(&[&self.encode()])
    }

    /// The type that is asked for.
    ///
    /// # Errors
    /// If it is unknown here.
    pub fn token_type(&self) -> Result<TokenType, Error> {
        TokenType::from_number(self.token_type)
    }

    /// The number of the type that is asked for.
    #[must_use]
    pub fn token_type_number(&self) -> u16 {
        self.token_type
    }

    /// The host name of the issuer.
    #[must_use]
    pub fn issuer_name(&self) -> &str {
        &self.issuer_name
    }

    /// The 32 bytes that bind a token to this very challenge, if there are.
    #[must_use]
    pub fn redemption_context(&self) -> Option<&[u8; 32]> {
        self.redemption_context.as_ref()
    }

    /// The host names that accept the token; none means all.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.origin_info.split(',').filter(|name| !name.is_empty())
    }

    /// Whether `origin`, the host that sent the challenge, is among those that accept the token.
    /// A client answers no other challenge: it may be one that this host got from another (RFC 9577
    /// section 2.1.3).
    #[must_use]
    pub fn is_for(&self, origin: &str) -> bool {
        let mut names = self.origins();
        self.origin_info.is_empty() || names.any(|name| name.eq_ignore_ascii_case(origin))
    }
}

/// The printable ASCII text that `bytes` are: names are of hosts, and a person may read them.
fn text(bytes: &[u8]) -> Result<String, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::Malformed("name"))?;
    // Other implementations' names have spaces; ours have none, see `is_name`.
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        Ok(text.to_owned())
    } else {
        Err(Error::Malformed("name"))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}
