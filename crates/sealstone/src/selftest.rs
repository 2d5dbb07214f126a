//! Whether this build computes correctly on this machine.
//!
//! ```
//! let checks = sealstone::selftest::run();
//! assert!(checks.iter().all(|check| check.passed));
//! ```

use self::known::{ANSWERS, ROUND_TRIPS};
use crate::file::{Keys, Sealed, Sealer, Sender, Suite, Workers};
use crate::passport::{NewSlot, Passport, SecretPassport, SlotKey};
use crate::{Error, KdfLimits, KdfParams, NO_PROGRESS, Passphrase, Result};

mod known;

/// A check and its result.
#[derive(Clone, Debug)]
pub struct Check {
    /// The computation, and the source of the expected result.
    pub name: String,
    /// Whether the result is the expected one.
    pub passed: bool,
}

/// More than two chunks.
const CONTENT_LEN: usize = (5 << 20) / 2;

/// Compares each primitive with its standard's known answer, on every instruction set of this
/// processor, and makes and opens passports and sealed files.
pub fn run() -> Vec<Check> {
    let answers = ANSWERS.map(|(name, expected, right)| check(name, Ok(right(expected))));
    let round_trips = ROUND_TRIPS.map(|(name, right)| check(name, Ok(right())));
    let mut checks: Vec<Check> = answers.into_iter().chain(round_trips).collect();
    checks.push(check("passport: make, lock, unlock", passport_round_trip()));
    for suite in [Suite::XChaCha20Poly1305, Suite::Aes256Gcm] {
        checks.push(check(
            format!("sealed file: {suite}, seal, open, refuse if altered"),
            file_round_trip(suite),
        ));
    }
    checks
}

fn check(name: impl Into<String>, result: Result<bool>) -> Check {
    Check {
        name: name.into(),
        passed: result.unwrap_or(false),
    }
}

fn passport_round_trip() -> Result<bool> {
    let passport = Passport::generate("selftest", 0)?;
    let passphrase = Passphrase::generate();
    let slot = NewSlot {
        key: SlotKey::Passphrase(&passphrase),
        name: "",
        created: 0,
        params: KdfParams::new(7168, 5, 1)?,
        on_progress: NO_PROGRESS,
    };
    let file = SecretPassport::new(&passport, &slot)?.to_armor();
    let locked = SecretPassport::from_armor(file.as_bytes())?;
    let limits = KdfLimits::default();
    let wrong = locked.unlock(&Passphrase::generate(), None, &limits, NO_PROGRESS);
    let right = locked
        .unlock(&passphrase, None, &limits, NO_PROGRESS)?
        .into_passport();
    Ok(right.fingerprint() == passport.fingerprint() && wrong.is_err())
}

fn file_round_trip(suite: Suite) -> Result<bool> {
    let (alice, bob) = (
        Passport::generate("Alice", 0)?,
        Passport::generate("Bob", 0)?,
    );
    let content: Vec<u8> = (0..=250).cycle().take(CONTENT_LEN).collect();
    let mut file = Vec::new();
    Sealer::new()
        .suite(suite)
        .to_passport(bob.contact())
        .signed_by(&alice)
        .seal(&content[..], &mut file, Workers::default())?;
    let right = open(&file, &bob)? == content;
    let middle = file.len() / 2;
    file[middle] ^= 1;
    Ok(right && open(&file, &bob).is_err())
}

fn open(file: &[u8], recipient: &Passport) -> Result<Vec<u8>> {
    let opening = Sealed::read(file)?.unlock(&Keys::new(&[recipient], &[]))?;
    let Sender::Carried(sender) = opening.sender().clone() else {
        return Err(Error::WrongSender);
    };
    let mut content = Vec::new();
    opening.open_signed(&sender, &mut content, Workers::default())?;
    Ok(content)
}

/// The architecture of this processor, and its features that the ciphers and hashes can use.
pub fn processor() -> Vec<&'static str> {
    let mut found = vec![std::env::consts::ARCH];
    #[cfg(target_arch = "x86_64")]
    let known = [
        ("aes", std::is_x86_feature_detected!("aes")),
        ("pclmulqdq", std::is_x86_feature_detected!("pclmulqdq")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("vaes", std::is_x86_feature_detected!("vaes")),
    ];
    #[cfg(target_arch = "aarch64")]
    let known = [
        ("neon", std::arch::is_aarch64_feature_detected!("neon")),
        ("aes", std::arch::is_aarch64_feature_detected!("aes")),
    ];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let known = [];
    let there = known.iter().filter(|(_, there)| *there);
    found.extend(there.map(|(name, _): &(&str, bool)| *name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_answers_pass_and_one_wrong_digit_anywhere_does_not() {
        for (name, expected, right) in ANSWERS {
            assert!(right(expected), "{name}");
            for at in 0..expected.len() {
                let digit = if expected.as_bytes()[at] == b'0' {
                    "1"
                } else {
                    "0"
                };
                let mut wrong = expected.to_owned();
                wrong.replace_range(at..=at, digit);
                assert!(!right(&wrong), "{name}: digit {at}");
            }
        }
    }

    #[test]
    fn an_error_is_a_failed_check() {
        assert!(!check("", Err(Error::WrongPassphrase)).passed);
        assert!(!check("", Ok(false)).passed && check("", Ok(true)).passed);
    }
}
