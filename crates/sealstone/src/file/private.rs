//! The private part of the header: what only recipients see beside the content.

use minicbor::{Decode, Encode};

use crate::passport::{Contact, Fingerprint};
use crate::wire::{cbor, pad, text};
use crate::{Error, Result};

/// Who a sealed file says sealed it. A claim until the signatures over the whole file have verified.
#[derive(Clone, Debug)]
pub enum Sender {
    /// Nobody says so: anybody can have sealed this file.
    Unsigned,
    /// A passport by its fingerprint only: its keys must be known already.
    Named(Fingerprint),
    /// A passport that travels in the file.
    Carried(Box<Contact>),
}

/// What a sealed file tells its recipients about its content. All of it is optional, encrypted, and signed if the file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The file's name without a directory, 1 to 255 bytes.
    pub name: Option<String>,
    /// Modification time, seconds since 1970.
    pub modified: Option<u64>,
    /// Free text, 1 to 4096 bytes.
    pub note: Option<String>,
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
}

/// The padded length is a multiple of this.
const STEP: usize = 64;
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
    /// Checks lengths, that nothing misleads on a screen, and that a name is a name and not a path. Sealing checks it as well.
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

/// The padded plaintext of the private part.
pub(crate) fn encode(sender: &Sender, metadata: &Metadata) -> Vec<u8> {
    let mut bytes = cbor::encode(&PrivateBody {
        sender: sender.encode(),
        name: metadata.name.clone(),
        modified: metadata.modified,
        note: metadata.note.clone(),
    });
    let padded = (bytes.len() + 1).next_multiple_of(STEP);
    pad::pad(&mut bytes, padded);
    bytes
}

/// The other way.
pub(crate) fn decode(padded: &[u8]) -> Result<(Sender, Metadata)> {
    if !padded.len().is_multiple_of(STEP) {
        return Err(Error::Malformed("private part"));
    }
    let content = &padded[..pad::content_len(padded)?];
    let body: PrivateBody = cbor::decode(content, "private part")?;
    let metadata = Metadata {
        name: body.name,
        modified: body.modified,
        note: body.note,
    };
    metadata.check()?;
    Ok((Sender::decode(body.sender)?, metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_comes_back() {
        let metadata = Metadata {
            name: Some("report.pdf".into()),
            modified: Some(1),
            note: Some("a\nb".into()),
        };
        let bytes = encode(&Sender::Unsigned, &metadata);
        assert_eq!(bytes.len() % STEP, 0);
        let (sender, read) = decode(&bytes).unwrap();
        assert_eq!(read, metadata);
        assert!(!sender.is_signed());
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
            encode(
                &Sender::Unsigned,
                &Metadata {
                    name: Some(name.into()),
                    ..Metadata::default()
                },
            )
            .len()
        };
        assert_eq!(len("a"), len("a name of thirty-two bytes, odd"));
    }
}
