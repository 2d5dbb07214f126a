//! Exit codes: what a script can act on.

use std::fmt::Write;

use sealstone::Error;

/// Why the command ended, as a number. Success is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Internal = 1,
    Usage = 2,
    Io = 3,
    Format = 4,
    Authentication = 5,
    Pending = 6,
    Denied = 7,
    StoreAltered = 8,
    KeyDerivation = 9,
}

/// Code, name in JSON, meaning.
const TABLE: [(Exit, &str, &str); 9] = [
    (
        Exit::Internal,
        "internal",
        "a defect of this program, a failed selftest, or a file that `hash` found changed or could not read",
    ),
    (
        Exit::Usage,
        "usage",
        "the command line asks for something that is not possible",
    ),
    (
        Exit::Io,
        "io",
        "reading or writing failed, or the output exists",
    ),
    (
        Exit::Format,
        "format",
        "not a sealed file or passport, malformed, or of a newer version",
    ),
    (
        Exit::Authentication,
        "authentication",
        "wrong passphrase, not a recipient, altered, or another sender",
    ),
    (
        Exit::Pending,
        "trust-pending",
        "the sender is not approved, or nobody signed",
    ),
    (
        Exit::Denied,
        "trust-denied",
        "the sender or a recipient is denied or revoked",
    ),
    (
        Exit::StoreAltered,
        "store-altered",
        "the trust store was changed by something else than this program",
    ),
    (
        Exit::KeyDerivation,
        "key-derivation",
        "key derivation needs more memory than is allowed or there is",
    ),
];

impl Exit {
    /// What `hash` says of a file that it cannot read or that is not what its line says: the code of sha256sum.
    pub(crate) const DIFFERS: Self = Self::Internal;

    /// The number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The name in JSON.
    pub(crate) fn kind(self) -> &'static str {
        TABLE[usize::from(self.code()) - 1].1
    }

    /// Where an error of the library belongs.
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Io(_) => Self::Io,
            Error::Malformed(_) | Error::Unsupported(_) => Self::Format,
            Error::WrongPassphrase
            | Error::NotRecipient
            | Error::Altered(_)
            | Error::WrongSender => Self::Authentication,
            Error::KdfLimit { .. } | Error::OutOfMemory(_) => Self::KeyDerivation,
            Error::StoreAltered(_) => Self::StoreAltered,
            Error::Invalid(_) | Error::UnknownWord(_) => Self::Usage,
            _ => Self::Internal,
        }
    }
}

/// Examples and exit codes for `--help` and the manual page.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "Examples:
  sealstone passport new -o alice.passport      writes alice.passport and alice.pub
  sealstone trust approve bob.pub               once you have compared the fingerprint with Bob
  sealstone seal -r bob.pub --from alice.passport -o report.sealed report.pdf
  sealstone open -i bob.passport -o report.pdf report.sealed

Passphrases come from the terminal, --passphrase-file, --passphrase-fd or the environment variable SEALSTONE_PASSPHRASE; a new one beside it from --new-passphrase-file or -fd, that of seal -p from --recipient-passphrase-file or -fd.

Exit codes:
  0  done, and everything is whole",
    );
    for (exit, _, meaning) in TABLE {
        write!(text, "\n  {}  {meaning}", exit.code()).expect("a String takes every byte");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_codes() {
        for (i, (exit, ..)) in TABLE.iter().enumerate() {
            assert_eq!(usize::from(exit.code()), i + 1);
        }
    }
}
