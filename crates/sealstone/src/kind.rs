//! The kinds of files, told by their first bytes.

use crate::Error;
use crate::wire::armor::Label;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sealed file, armored or not.
    SealedFile,
    /// An armored secret passport.
    SecretPassport,
    /// An armored public passport.
    PublicPassport,
    /// A signed package.
    Package,
    /// Anything else.
    Other,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Kind {
    /// Looks at the beginning of a file. Armor may stand behind other text and be quoted, as in a
    /// message: the first BEGIN line counts.
    pub fn of(start: &[u8]) -> Self {
        if start.starts_with(b"\x89SEAL") {
            return Self::SealedFile;
        }
        if start.starts_with(b"\x89PACK") {
            return Self::Package;
        }
        let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
        let mut kinds = text.split(|&b| b == b'\n').filter_map(Self::of_begin_line);
        kinds.next().unwrap_or(Self::Other)
    }

    fn of_begin_line(line: &[u8]) -> Option<Self> {
        let quotes = line.iter().take_while(|b| b"> \t".contains(b));
        let line = line[quotes.count()..].trim_ascii_end();
        let labels = [
            (Label::File, Self::SealedFile),
            (Label::SecretPassport, Self::SecretPassport),
            (Label::PublicPassport, Self::PublicPassport),
        ];
        let is_it = |(label, _): &(Label, Self)| label.begin().as_bytes() == line;
        labels.into_iter().find(is_it).map(|(_, kind)| kind)
    }

    /// The error for a file of another kind.
    pub(crate) fn missing(self, bytes: &[u8]) -> Error {
        let found = match Self::of(bytes) {
            same if same == self => Some("its beginning is damaged"),
            other => other.this_is(),
        };
        Error::OtherKind {
            wanted: self.name(),
            found,
        }
    }

    /// The error of a file that had to be of this kind: that it is of another one says more than
    /// the first rule that it breaks.
    pub(crate) fn explain(self, bytes: &[u8], error: Error) -> Error {
        match Self::of(bytes) == self {
            true => error,
            false => self.missing(bytes),
        }
    }

    fn this_is(self) -> Option<&'static str> {
        Some(match self {
            Self::SealedFile => "this is a sealed file",
            Self::SecretPassport => "this is a secret passport",
            Self::PublicPassport => "this is a public passport",
            Self::Package => "this is a package",
            Self::Other => return None,
        })
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::SealedFile => "a sealed file",
            Self::SecretPassport => "a secret passport",
            Self::PublicPassport => "a public passport",
            Self::Package => "a package",
            Self::Other => "nothing that sealstone made",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell() {
        assert_eq!(Kind::of(b"\x89SEAL\r\n\x1a\n\x01"), Kind::SealedFile);
        assert_eq!(
            Kind::of(b"\n -----BEGIN SEALSTONE FILE-----\r\nAA"),
            Kind::SealedFile
        );
        assert_eq!(
            Kind::of(b"-----BEGIN SEALSTONE SECRET PASSPORT-----\n"),
            Kind::SecretPassport
        );
        assert_eq!(
            Kind::of(b"-----BEGIN SEALSTONE PUBLIC PASSPORT-----\n"),
            Kind::PublicPassport
        );
        assert_eq!(
            Kind::of(b"\xef\xbb\xbfHello,\n\n> > -----BEGIN SEALSTONE FILE-----\r\n> > AA"),
            Kind::SealedFile
        );
        assert_eq!(Kind::of(b"\x89PACK\r\n\x1a\n\x02"), Kind::Package);
        assert_eq!(Kind::of(b"Hello,\n"), Kind::Other);
        assert_eq!(Kind::of(b"age-encryption.org/v1\n"), Kind::Other);
        assert_eq!(Kind::of(b""), Kind::Other);
    }

    #[test]
    fn the_error_says_what_it_is() {
        let said = |bytes: &[u8]| Kind::Package.missing(bytes).to_string();
        assert_eq!(said(b"\x89PACK"), "not a package: its beginning is damaged");
        assert_eq!(said(b"\x89SEAL"), "not a package: this is a sealed file");
        assert_eq!(said(b""), "not a package");
    }
}
