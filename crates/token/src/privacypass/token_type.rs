//! The types of token.

use std::fmt;

use crate::Error;

/// The protocol and suite of a token. Its number stands at the beginning of every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum TokenType {
    /// VOPRF(P-384, SHA-384): only the issuer can verify (RFC 9578 section 8.1.1).
    VoprfP384 = 0x0001,
    /// Blind RSA of 2048 bits: everybody can verify (RFC 9578 section 8.1.2).
    BlindRsa2048 = 0x0002,
    /// VOPRF(ristretto255, SHA-512), only the issuer can verify
    /// (draft-ietf-privacypass-batched-tokens).
    VoprfRistretto255 = 0x0005,
    /// VOPRF(P-256, SHA-256), only the issuer can verify. Sealstone's own, under a number for
    /// private use: for those who want P-256, and both sides must be Sealstone's.
    VoprfP256 = 0xff01,
}

impl TokenType {
    /// All types that are known here.
    pub const ALL: [Self; 4] = [
        Self::VoprfP384,
        Self::BlindRsa2048,
        Self::VoprfRistretto255,
        Self::VoprfP256,
    ];

    /// The type with this number.
    ///
    /// # Errors
    /// If no type here has this number.
    pub fn from_number(number: u16) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|known| known.number() == number);
        found.ok_or(Error::UnknownType(number))
    }

    /// The number on the wire.
    #[must_use]
    pub fn number(self) -> u16 {
        self as u16
    }

    /// The two bytes on the wire.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 2] {
        self.number().to_be_bytes()
    }

    /// A name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::VoprfP384 => "VOPRF (P-384, SHA-384)",
            Self::BlindRsa2048 => "Blind RSA (2048 bits)",
            Self::VoprfRistretto255 => "VOPRF (ristretto255, SHA-512)",
            Self::VoprfP256 => "VOPRF (P-256, SHA-256)",
        }
    }

    /// The length of a token's authenticator in bytes.
    #[must_use]
    pub fn authenticator_len(self) -> usize {
        match self {
            Self::VoprfP384 => 48,
            Self::BlindRsa2048 => 256,
            Self::VoprfRistretto255 => 64,
            Self::VoprfP256 => 32,
        }
    }

    /// The length of what a request carries for one token: a blinded element or message.
    #[must_use]
    pub fn blinded_len(self) -> usize {
        match self {
            Self::VoprfP384 => 49,
            Self::BlindRsa2048 => 256,
            Self::VoprfRistretto255 => 32,
            Self::VoprfP256 => 33,
        }
    }

    /// The length of a response for one token.
    #[must_use]
    pub fn response_len(self) -> usize {
        match self {
            Self::VoprfP384 => 49 + 96,
            Self::BlindRsa2048 => 256,
            Self::VoprfRistretto255 => 32 + 64,
            Self::VoprfP256 => 33 + 64,
        }
    }

    /// Whether everybody who has the public key can verify a token.
    #[must_use]
    pub fn is_publicly_verifiable(self) -> bool {
        self == Self::BlindRsa2048
    }
}

impl fmt::Display for TokenType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:04x} {}", self.number(), self.name())
    }
}
