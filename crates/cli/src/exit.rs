//! Exit codes, for scripts.

use std::cmp::Ordering;

use sealstone::Error;
use sealstone::lifecycle::Refusal;

/// Why the command ended, as a number. Success is 0. The order is that of [`SEVERITY`].
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
    Signers = 10,
    Content = 11,
    Hmac = 12,
    Ed25519 = 13,
    MlDsa65 = 14,
    Keys = 15,
    Timestamp = 16,
}

/// Code, name in JSON, meaning.
const TABLE: [(Exit, &str, &str); 16] = [
    (
        Exit::Internal,
        "internal",
        "a defect of this program, a failed selftest, or `hash` found a changed or unreadable file",
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
        "the sender is not approved, or the file is unsigned",
    ),
    (
        Exit::Denied,
        "trust-denied",
        "the sender or a recipient is denied, revoked or compromised, or your key may not sign",
    ),
    (
        Exit::StoreAltered,
        "store-altered",
        "the trust store was changed by another program",
    ),
    (
        Exit::KeyDerivation,
        "key-derivation",
        "key derivation needs more memory than allowed or available",
    ),
    (
        Exit::Signers,
        "signers",
        "a package whose layers hold, but too few trusted signers have signed it",
    ),
    (
        Exit::Content,
        "layer-content",
        "layer 1 of a package: a file is missing, altered or additional",
    ),
    (
        Exit::Hmac,
        "layer-hmac",
        "layer 2 of a package: the HMAC is wrong, or required and not checked",
    ),
    (
        Exit::Ed25519,
        "layer-ed25519",
        "layer 3 of a package: a classical signature is wrong",
    ),
    (
        Exit::MlDsa65,
        "layer-ml-dsa-65",
        "layer 4 of a package: a post-quantum signature is wrong",
    ),
    (
        Exit::Keys,
        "layer-keys",
        "layer 5 of a package: wrong secret, or required and not given",
    ),
    (
        Exit::Timestamp,
        "layer-timestamp",
        "layer 6 of a package: a timestamp is wrong, or required and missing",
    ),
];

/// From the mildest to the worst: a command on many files ends with the status of the worst.
const SEVERITY: [Exit; 16] = [
    Exit::Usage,
    Exit::Io,
    Exit::Pending,
    Exit::Format,
    Exit::KeyDerivation,
    Exit::Timestamp,
    Exit::Signers,
    Exit::Keys,
    Exit::Hmac,
    Exit::Content,
    Exit::Ed25519,
    Exit::MlDsa65,
    Exit::Denied,
    Exit::Authentication,
    Exit::StoreAltered,
    Exit::Internal,
];

impl Ord for Exit {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |exit| SEVERITY.iter().position(|listed| listed == exit);
        place(self).cmp(&place(other))
    }
}

impl PartialOrd for Exit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Exit {
    /// A file that `hash` cannot read or whose hash differs. It is the code of sha256sum.
    pub(crate) const DIFFERS: Self = Self::Internal;

    /// The number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The name in JSON.
    pub(crate) fn kind(self) -> &'static str {
        TABLE[usize::from(self.code()) - 1].1
    }

    /// The code of an error of the library.
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Io(_) => Self::Io,
            Error::Malformed(_)
            | Error::OtherKind { .. }
            | Error::Armor(_)
            | Error::TooMuchAfterArmor
            | Error::Unsupported(_) => Self::Format,
            Error::WrongPassphrase
            | Error::NotRecipient
            | Error::Altered(_)
            | Error::WrongSender => Self::Authentication,
            Error::KdfLimit { .. } | Error::OutOfMemory(_) => Self::KeyDerivation,
            Error::StoreAltered(_) => Self::StoreAltered,
            Error::KeyLifecycle(Refusal::Change(..)) => Self::Usage,
            Error::KeyLifecycle(_) => Self::Denied,
            Error::Invalid(_) | Error::UnknownWord(_) | Error::StoreFull => Self::Usage,
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
  sealstone sign --from alice.passport -o report.package report.pdf
  sealstone verify --signer alice.pub report.package

Passphrases come from --passphrase-file, --passphrase-fd, the environment variable
SEALSTONE_PASSPHRASE, or the terminal. When a command needs an existing and a new passphrase, pass
the new one with --new-passphrase-file or -fd; for seal -p, --recipient-passphrase-file or -fd.

Exit codes:
",
    );
    text += codes().trim_end();
    text
}

/// A line for each code.
pub(crate) fn codes() -> String {
    let line = |(exit, _, meaning): &(Exit, &str, &str)| format!("{:>3}  {meaning}\n", exit.code());
    let failures: String = TABLE.iter().map(line).collect();
    format!("  0  done, and everything is whole\n{failures}")
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

    #[test]
    fn every_code_has_its_place_among_the_worse() {
        let mut codes = SEVERITY.map(Exit::code);
        codes.sort_unstable();
        assert!(codes.into_iter().eq(1..=16));
        assert!(Exit::Authentication > Exit::Io && Exit::Internal > Exit::Denied);
    }
}
