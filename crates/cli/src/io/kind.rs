//! What a file is, by its first bytes.

/// One of the things that sealstone writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    SealedFile,
    SecretPassport,
    PublicPassport,
    Other,
}

/// How many bytes tell, after white space.
const ENOUGH: usize = 64;

impl Kind {
    /// Looks at the beginning.
    pub(crate) fn of(start: &[u8]) -> Self {
        if start.starts_with(b"\x89SEAL") {
            return Self::SealedFile;
        }
        let text = start.trim_ascii_start();
        let line = text[..text.len().min(ENOUGH)]
            .split(|&b| b == b'\n' || b == b'\r')
            .next()
            .unwrap_or_default();
        match line.trim_ascii_end() {
            b"-----BEGIN SEALSTONE FILE-----" => Self::SealedFile,
            b"-----BEGIN SEALSTONE SECRET PASSPORT-----" => Self::SecretPassport,
            b"-----BEGIN SEALSTONE PUBLIC PASSPORT-----" => Self::PublicPassport,
            _ => Self::Other,
        }
    }

    /// What messages call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SealedFile => "a sealed file",
            Self::SecretPassport => "a secret passport",
            Self::PublicPassport => "a public passport",
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
        assert_eq!(Kind::of(b"age-encryption.org/v1\n"), Kind::Other);
        assert_eq!(Kind::of(b""), Kind::Other);
    }
}
