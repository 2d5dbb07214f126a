//! Backup shares: k of n restore the root seed, fewer reveal nothing about it (`spec/passport.md`,
//! "Backups").

use std::fmt;

use sealstone_primitives::hash::Sha3_256;
use sealstone_primitives::rng;
use sealstone_primitives::secret::Secret;
use zeroize::Zeroizing;

use super::{Fingerprint, shamir, spell};
use crate::{Error, Result};

/// One share of a root seed. It is wiped on drop and never printed by `Debug`.
pub struct Share {
    set: Set,
    x: u8,
    y: Secret<32>,
}

/// The fields that all shares of one split have in common.
#[derive(Clone, Copy, PartialEq)]
struct Set {
    threshold: u8,
    /// The first bytes of the passport's fingerprint.
    passport: [u8; 8],
    id: [u8; 4],
}

const VERSION: u8 = 1;
const MAX_SHARES: u8 = 16;
const PREFIX: &str = "SEALSTONE-SHARE-";
const DOMAIN: &[u8] = b"sealstone.share.v1\0";

/// Bytes before the checksum.
const CONTENT_LEN: usize = 47;
const LEN: usize = CONTENT_LEN + 4;

impl Share {
    /// Reads the text of a share. Case, dashes, white space and invisible characters do not matter.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a share or was mistyped; [`Error::Unsupported`] if it is of
    /// a newer version.
    pub fn parse(typed: &str) -> Result<Self> {
        let text = spell::compact(typed);
        let digits = text
            .strip_prefix("SEALSTONESHARE")
            .ok_or(Error::Invalid("a share begins with SEALSTONE-SHARE-"))?;
        let bytes = spell::decode::<LEN>(digits).ok_or(Error::Invalid(MISTYPED))?;
        let (content, sum) = bytes
            .split_first_chunk::<CONTENT_LEN>()
            .expect("it is longer");
        if checksum(content) != sum {
            return Err(Error::Invalid(MISTYPED));
        }
        Self::from_content(content)
    }

    /// Reads the shares in a text, one each line. Empty lines do not count.
    ///
    /// # Errors
    /// As [`Share::parse`].
    pub fn parse_all(typed: &str) -> Result<Vec<Self>> {
        let lines = typed.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty())
            .map(Self::parse)
            .collect()
    }

    /// The text to hand out.
    pub fn expose(&self) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new([0; LEN]);
        bytes[..3].copy_from_slice(&[VERSION, self.set.threshold, self.x]);
        bytes[3..11].copy_from_slice(&self.set.passport);
        bytes[11..15].copy_from_slice(&self.set.id);
        bytes[15..CONTENT_LEN].copy_from_slice(self.y.expose());
        let sum = checksum(&bytes[..CONTENT_LEN]);
        bytes[CONTENT_LEN..].copy_from_slice(&sum);
        spell::group(PREFIX, &spell::encode(&bytes[..]), 8)
    }

    /// The number of this share in its split.
    pub fn number(&self) -> u8 {
        self.x
    }

    /// How many shares restore the passport.
    pub fn threshold(&self) -> u8 {
        self.set.threshold
    }

    /// The first 8 bytes of the passport's fingerprint.
    pub fn passport(&self) -> [u8; 8] {
        self.set.passport
    }

    fn from_content(content: &[u8; CONTENT_LEN]) -> Result<Self> {
        let [version, threshold, x] = [content[0], content[1], content[2]];
        if version != VERSION {
            return Err(Error::Unsupported("share version"));
        }
        if !(2..=MAX_SHARES).contains(&threshold) || x == 0 {
            return Err(Error::Invalid(MISTYPED));
        }
        let set = Set {
            threshold,
            passport: array(&content[3..11]),
            id: array(&content[11..15]),
        };
        Ok(Self {
            set,
            x,
            y: Secret::with(|y| y.copy_from_slice(&content[15..])),
        })
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Share({} of a split that needs {}, ..)",
            self.x, self.set.threshold
        )
    }
}

/// Splits `seed` so that any `threshold` of `count` shares restore it.
pub(super) fn split(
    seed: &Secret<32>,
    fingerprint: Fingerprint,
    threshold: u8,
    count: u8,
) -> Result<Vec<Share>> {
    if threshold < 2 || threshold > count || count > MAX_SHARES {
        return Err(Error::Invalid(
            "a split has 2 to 16 shares, of which at least 2 and at most all are needed",
        ));
    }
    let random = (1..threshold).map(|_| Secret::random());
    let coefficients: Vec<Secret<32>> = std::iter::once(seed.duplicate()).chain(random).collect();
    let set = Set {
        threshold,
        passport: array(&fingerprint.as_bytes()[..8]),
        id: rng::array(),
    };
    Ok((1..=count)
        .map(|x| Share {
            set,
            x,
            y: shamir::evaluate(&coefficients, x),
        })
        .collect())
}

/// Restores the root seed. The caller compares its fingerprint with [`Share::passport`].
pub(super) fn join(shares: &[Share]) -> Result<Secret<32>> {
    let set = shares.first().ok_or(Error::Invalid(TOO_FEW))?.set;
    if shares.iter().any(|share| share.set != set) {
        return Err(Error::Invalid("the shares come from different splits"));
    }
    let repeated = |(i, share): (usize, &Share)| shares[..i].iter().any(|other| other.x == share.x);
    if shares.iter().enumerate().any(repeated) {
        return Err(Error::Invalid("one share was given twice"));
    }
    if shares.len() < usize::from(set.threshold) {
        return Err(Error::Invalid(TOO_FEW));
    }
    let points: Vec<(u8, &Secret<32>)> = shares.iter().map(|share| (share.x, &share.y)).collect();
    Ok(shamir::interpolate(&points))
}

const TOO_FEW: &str = "more shares are needed";
const MISTYPED: &str = "not a share, or mistyped: compare it with the original";

/// Catches typing errors; an attacker can compute it, too.
fn checksum(content: &[u8]) -> [u8; 4] {
    let mut hash = Sha3_256::new();
    hash.update(DOMAIN);
    hash.update(content);
    array(&hash.finish()[..4])
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the callers cut it to this length")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passport::Passport;

    fn alice() -> Passport {
        Passport::generate("Alice", 0).unwrap()
    }

    /// The text of a share with any content and the right checksum.
    fn forged(share: &Share, at: usize, byte: u8) -> String {
        let typed = spell::compact(&share.expose());
        let mut bytes = spell::decode::<LEN>(&typed["SEALSTONESHARE".len()..]).unwrap();
        bytes[at] = byte;
        let sum = checksum(&bytes[..CONTENT_LEN]);
        bytes[CONTENT_LEN..].copy_from_slice(&sum);
        spell::group(PREFIX, &spell::encode(&bytes[..]), 8).to_string()
    }

    #[test]
    fn shares_that_restore_another_seed_are_refused() {
        let mut shares = alice().split(2, 3).unwrap();
        let other = !shares[2].y.expose()[0];
        shares[2] = Share::parse(&forged(&shares[2], 15, other)).unwrap();
        for chosen in [&shares[1..], &shares] {
            assert!(matches!(
                Passport::from_shares(chosen, "Alice", 0),
                Err(Error::Altered("share"))
            ));
        }
        Passport::from_shares(&shares[..2], "Alice", 0).unwrap();
    }

    #[test]
    fn fields_out_of_bounds_are_refused() {
        let share = &alice().split(2, 2).unwrap()[0];
        for (at, byte) in [(1, 0), (1, 1), (1, 17), (1, 255), (2, 0)] {
            assert!(
                matches!(
                    Share::parse(&forged(share, at, byte)),
                    Err(Error::Invalid(_))
                ),
                "{at}: {byte}"
            );
        }
        assert!(matches!(
            Share::parse(&forged(share, 0, 2)),
            Err(Error::Unsupported(_))
        ));
    }

    #[test]
    fn every_split_draws_new_coefficients() {
        let alice = alice();
        let (a, b) = (alice.split(2, 2).unwrap(), alice.split(2, 2).unwrap());
        assert!(
            a.iter()
                .zip(&b)
                .all(|(a, b)| a.y != b.y && a.set.id != b.set.id)
        );
        assert!(a.iter().all(|share| share.y != *alice.seed()));
    }
}
