//! The private part of the header: sender and metadata, which only recipients see.

use minicbor::{Decode, Encode};

use crate::passport::{Contact, Fingerprint};
use crate::wire::{cbor, pad, text};
use crate::{Error, Result};

/// The sender that a sealed file names: a claim until the signatures over the whole file verify.
#[derive(Clone, Debug)]
pub enum Sender {
    /// Unsigned: anyone could have sealed this file.
    Unsigned,
    /// A passport by its fingerprint only: its keys must be known already.
    Named(Fingerprint),
    /// A passport that travels in the file.
    Carried(Box<Contact>),
}

/// Data about the content, for recipients.
///
/// All of it is optional, encrypted, and signed if the file is signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The file's name without a directory, 1 to 255 bytes.
    pub name: Option<String>,
    /// Modification time, seconds since 1970.
    pub modified: Option<u64>,
    /// Free text, 1 to 4096 bytes.
    pub note: Option<String>,
    /// Whether the content is an archive of a directory ([`crate::archive`]).
    pub directory: bool,
}

/// The private part, decrypted.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    pub(crate) sender: Sender,
    pub(crate) metadata: Metadata,
    /// Neither the private part nor the trailer tells the sender or the metadata by its length.
    pub(crate) uniform: bool,
}

/// CDDL `private`.
#[derive(Encode, Decode)]
#[cbor(map)]
struct PrivateBody {
    #[cbor(n(0), with = "minicbor::bytes")]
    sender: Option<Vec<u8>>,
    #[n(1)]
    name: Option<String>,
    #[n(2)]
    modified: Option<u64>,
    #[n(3)]
    note: Option<String>,
    #[n(4)]
    uniform: Option<u64>,
    #[n(5)]
    directory: Option<u64>,
}

/// The padded length is a multiple of this.
const STEP: usize = 64;
/// The padded length in uniform files, above that of any private part.
const UNIFORM_LEN: usize = 9216;
const MAX_NAME: usize = 255;
const MAX_NOTE: usize = 4096;

impl Sender {
    /// The passport that is said to have signed, if any.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        match self {
            Self::Unsigned => None,
            Self::Named(fingerprint) => Some(*fingerprint),
            Self::Carried(contact) => Some(contact.fingerprint()),
        }
    }

    /// Whether the file says that it is signed.
    pub fn is_signed(&self) -> bool {
        !matches!(self, Self::Unsigned)
    }

    fn encode(&self) -> Option<Vec<u8>> {
        match self {
            Self::Unsigned => None,
            Self::Named(fingerprint) => Some(fingerprint.as_bytes().to_vec()),
            Self::Carried(contact) => Some(contact.encoded_carried()),
        }
    }

    fn decode(encoded: Option<Vec<u8>>) -> Result<Self> {
        let Some(bytes) = encoded else {
            return Ok(Self::Unsigned);
        };
        match <[u8; 32]>::try_from(bytes.as_slice()) {
            Ok(fingerprint) => Ok(Self::Named(Fingerprint::from_bytes(fingerprint))),
            Err(_) => Ok(Self::Carried(Box::new(Contact::from_carried(&bytes)?))),
        }
    }
}

impl Metadata {
    /// Checks lengths, that no text misleads on a screen, and that a name is not a path.
    ///
    /// Sealing checks the same.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn check(&self) -> Result<()> {
        if let Some(name) = &self.name {
            text::check_line(name, 1, MAX_NAME, "file name")?;
            if name.contains('/') || name == "." || name == ".." {
                return Err(Error::Malformed("file name"));
            }
        }
        self.note
            .as_ref()
            .map_or(Ok(()), |note| text::check_lines(note, 1, MAX_NOTE, "note"))
    }
}

impl Private {
    /// The padded plaintext.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = cbor::encode(&PrivateBody {
            sender: self.sender.encode(),
            name: self.metadata.name.clone(),
            modified: self.metadata.modified,
            note: self.metadata.note.clone(),
            uniform: self.uniform.then_some(1),
            directory: self.metadata.directory.then_some(1),
        });
        let padded = match self.uniform {
            true => UNIFORM_LEN,
            false => (bytes.len() + 1).next_multiple_of(STEP),
        };
        pad::pad(&mut bytes, padded);
        bytes
    }

    pub(crate) fn decode(padded: &[u8]) -> Result<Self> {
        const BAD: Error = Error::Malformed("private part");
        if !padded.len().is_multiple_of(STEP) {
            return Err(BAD);
        }
        let content = &padded[..pad::content_len(padded)?];
        let body: PrivateBody = cbor::decode(content, "private part")?;
        let flags = [body.uniform, body.directory];
        if flags.into_iter().flatten().any(|flag| flag != 1) {
            return Err(BAD);
        }
        let metadata = Metadata {
            name: body.name,
            modified: body.modified,
            note: body.note,
            directory: body.directory.is_some(),
        };
        metadata.check()?;
        Ok(Self {
            sender: Sender::decode(body.sender)?,
            metadata,
            uniform: body.uniform.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passport::Passport;

    fn unsigned(metadata: Metadata) -> Private {
        Private {
            sender: Sender::Unsigned,
            metadata,
            uniform: false,
        }
    }

    #[test]
    fn metadata_comes_back() {
        let metadata = Metadata {
            name: Some("report.pdf".into()),
            modified: Some(1),
            note: Some("a\nb".into()),
            directory: true,
        };
        let bytes = unsigned(metadata.clone()).encode();
        assert_eq!(bytes.len() % STEP, 0);
        let read = Private::decode(&bytes).unwrap();
        assert_eq!(read.metadata, metadata);
        assert!(!read.sender.is_signed());
    }

    #[test]
    fn names_cannot_be_paths_or_mislead() {
        for name in [
            "",
            ".",
            "..",
            "a/b",
            "/etc/passwd",
            "a\0b",
            "a\nb",
            "a\u{202e}fdp.exe",
        ] {
            let metadata = Metadata {
                name: Some(name.into()),
                ..Metadata::default()
            };
            assert!(metadata.check().is_err(), "{name:?}");
        }
    }

    #[test]
    fn lengths_are_seen_in_steps_only() {
        let len = |name: &str| {
            let name = Some(name.into());
            let metadata = Metadata {
                name,
                ..Metadata::default()
            };
            unsigned(metadata).encode().len()
        };
        assert_eq!(len("a"), len("a name of thirty-two bytes, odd"));
    }

    #[test]
    fn every_private_part_fits_into_a_uniform_file() {
        let passport = Passport::generate(&"a".repeat(64), u64::MAX).unwrap();
        let largest = Private {
            sender: Sender::Carried(Box::new(passport.contact().clone())),
            metadata: Metadata {
                name: Some("n".repeat(MAX_NAME)),
                modified: Some(u64::MAX),
                note: Some("n".repeat(MAX_NOTE)),
                directory: true,
            },
            uniform: true,
        };
        let bytes = largest.encode();
        assert_eq!(bytes.len(), UNIFORM_LEN);
        let read = Private::decode(&bytes).unwrap();
        assert!(read.uniform);
        assert_eq!(read.metadata, largest.metadata);
    }
}
