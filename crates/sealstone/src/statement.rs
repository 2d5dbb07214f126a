//! A short text or list that a passport signs for everybody (`spec/token.md`, "Signed directory").
//!
//! ```
//! use sealstone::passport::Passport;
//! use sealstone::statement::{Purpose, Statement};
//!
//! let issuer = Passport::generate("Issuer", 1_767_225_600)?;
//! let signed = Statement::sign(&issuer, Purpose::TokenDirectory, b"{}", 1_767_225_600)?;
//!
//! let received = Statement::decode(&signed.encode())?;
//! let content = received.verify(Purpose::TokenDirectory, issuer.contact())?;
//! assert_eq!(content, b"{}");
//! # Ok::<(), sealstone::Error>(())
//! ```

use minicbor::{Decode, Encode};

use crate::passport::{Contact, Fingerprint, Passport};
use crate::sign::{Domain, Signature};
use crate::wire::cbor;
use crate::{Error, Result};

const VERSION: u8 = 1;
const DOMAIN: Domain = Domain("sealstone.statement.v1");

/// The longest statement that is read, in bytes.
pub const MAX_LEN: usize = 1 << 20;

/// The purpose of a statement. A statement of one purpose never passes for another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// The directory of an issuer of tokens.
    TokenDirectory,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::TokenDirectory => "token directory",
        }
    }
}

/// Content with its signer's two signatures.
#[derive(Clone, Encode, Decode)]
#[cbor(map)]
pub struct Statement {
    #[n(0)]
    version: u8,
    #[n(1)]
    purpose: String,
    #[n(2)]
    signer: Fingerprint,
    #[n(3)]
    time: u64,
    #[cbor(n(4), with = "minicbor::bytes")]
    content: Vec<u8>,
    #[cbor(n(5), with = "minicbor::bytes")]
    ed25519: Vec<u8>,
    #[cbor(n(6), with = "minicbor::bytes")]
    ml_dsa_87: Vec<u8>,
}

/// The signed bytes: the statement without its signatures.
#[derive(Encode)]
#[cbor(map)]
struct Unsigned<'a> {
    #[n(0)]
    version: u8,
    #[n(1)]
    purpose: &'a str,
    #[n(2)]
    signer: Fingerprint,
    #[n(3)]
    time: u64,
    #[cbor(n(4), with = "minicbor::bytes")]
    content: &'a [u8],
}

impl Statement {
    /// Signs `content` with both keys of `passport`, which claims `time` (seconds since 1970).
    ///
    /// # Errors
    /// If the content is close to [`MAX_LEN`] or longer, or a signature is spoilt by a fault.
    pub fn sign(passport: &Passport, purpose: Purpose, content: &[u8], time: u64) -> Result<Self> {
        if content.len() > MAX_LEN - 8192 {
            return Err(Error::Invalid("statement is too long"));
        }
        let unsigned = Unsigned {
            version: VERSION,
            purpose: purpose.name(),
            signer: passport.fingerprint(),
            time,
            content,
        };
        let signature = passport.signing().sign(DOMAIN, &cbor::encode(&unsigned))?;
        Ok(Self {
            version: VERSION,
            purpose: purpose.name().to_owned(),
            signer: unsigned.signer,
            time,
            content: content.to_vec(),
            ed25519: signature.ed25519.to_vec(),
            ml_dsa_87: signature.ml_dsa_87.to_vec(),
        })
    }

    /// The encoding.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        cbor::encode(self)
    }

    /// A statement whose signatures are not checked yet: see [`Statement::verify`].
    ///
    /// # Errors
    /// If `bytes` are longer than [`MAX_LEN`], no statement, or of a newer version.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        if bytes.len() > MAX_LEN {
            return Err(Error::Malformed("statement"));
        }
        cbor::check_version(bytes, u64::from(VERSION), "statement")?;
        cbor::decode(bytes, "statement")
    }

    /// The claimed signer. Look the passport up by it, then call [`Statement::verify`].
    #[must_use]
    pub fn signer(&self) -> Fingerprint {
        self.signer
    }

    /// The time that the signer claims, in seconds since 1970.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The content, if `signer` made both signatures for this purpose.
    ///
    /// # Errors
    /// If another passport is named, the purpose is another, or a signature is wrong.
    pub fn verify(&self, purpose: Purpose, signer: &Contact) -> Result<&[u8]> {
        if signer.fingerprint() != self.signer {
            return Err(Error::WrongSender);
        }
        if self.purpose != purpose.name() {
            return Err(Error::Malformed("statement of another purpose"));
        }
        let unsigned = Unsigned {
            version: self.version,
            purpose: &self.purpose,
            signer: self.signer,
            time: self.time,
            content: &self.content,
        };
        let signature = Signature::from_parts(&self.ed25519, &self.ml_dsa_87)?;
        let message = cbor::encode(&unsigned);
        let keys = signer.verifying();
        keys.verify(DOMAIN, &message, &signature, "statement")?;
        Ok(&self.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passport(seed: u8) -> Passport {
        let seed = sealstone_primitives::secret::Secret::with(|bytes| bytes.fill(seed));
        Passport::from_seed(seed, "Issuer", 0).expect("a label")
    }

    fn statement() -> Statement {
        Statement::sign(&passport(1), Purpose::TokenDirectory, b"content", 5).expect("signatures")
    }

    #[test]
    fn every_field_is_signed() {
        let signer = passport(1);
        let verify = |statement: &Statement| {
            let content = statement.verify(Purpose::TokenDirectory, signer.contact());
            content.map(<[u8]>::to_vec)
        };
        assert_eq!(verify(&statement()).expect("both signatures"), b"content");
        let alterations: [fn(&mut Statement); 6] = [
            |s| s.purpose.push(' '),
            |s| s.signer = passport(2).fingerprint(),
            |s| s.time += 1,
            |s| s.content[0] ^= 1,
            |s| s.ed25519[0] ^= 1,
            |s| s.ml_dsa_87[0] ^= 1,
        ];
        for alter in alterations {
            let mut statement = statement();
            alter(&mut statement);
            assert!(verify(&statement).is_err());
        }
        let other = passport(2);
        assert!(matches!(
            statement().verify(Purpose::TokenDirectory, other.contact()),
            Err(Error::WrongSender)
        ));
    }

    #[test]
    fn one_encoding_is_read() {
        let bytes = statement().encode();
        let again = Statement::decode(&bytes).expect("a statement");
        assert_eq!(again.encode(), bytes);
        assert_eq!(
            (again.time(), again.signer()),
            (5, passport(1).fingerprint())
        );
        assert!(Statement::decode(&bytes[..bytes.len() - 1]).is_err());
        assert!(Statement::decode(&[&bytes[..], &[0]].concat()).is_err());
        assert!(Statement::decode(&vec![0; MAX_LEN + 1]).is_err());
        // The version is the second byte of the first pair.
        let mut newer = bytes.clone();
        newer[2] = 2;
        assert!(matches!(
            Statement::decode(&newer),
            Err(Error::Unsupported(_))
        ));
        let long = vec![0; MAX_LEN];
        assert!(Statement::sign(&passport(1), Purpose::TokenDirectory, &long, 5).is_err());
    }
}
