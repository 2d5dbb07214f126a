//! `selftest`: checks that this program computes correctly on this machine.

use sealstone::file::{Keys, Sealed, Sealer, Sender, Suite, Workers};
use sealstone::passport::{NewSlot, Passport, SecretPassport, SlotKey};
use sealstone::{Error, KdfLimits, KdfParams, Passphrase, SILENT};
use serde_json::json;

use self::known::{ANSWERS, ROUND_TRIPS};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

mod known;

/// A check and its result.
struct Check {
    name: String,
    passed: bool,
}

/// More than two chunks.
const CONTENT_LEN: usize = (5 << 20) / 2;

pub(super) fn run(context: &Context) -> Result<()> {
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
    conclude(&checks, context)
}

/// Shows the checks, and fails if one of them failed.
fn conclude(checks: &[Check], context: &Context) -> Result<()> {
    let passed = checks.iter().all(|check| check.passed);
    let word = |check: &Check| if check.passed { "ok    " } else { "FAILED" };
    let text = || {
        let lines: String = checks
            .iter()
            .map(|check| format!("{} {}\n", word(check), check.name))
            .collect();
        format!("{lines}processor: {}\n", features().join(" "))
    };
    context.print(text, || {
        let checks: Vec<_> = checks
            .iter()
            .map(|check| json!({"name": check.name, "passed": check.passed}))
            .collect();
        json!({"passed": passed, "checks": checks, "features": features()})
    })?;
    if passed {
        Ok(())
    } else {
        Err(Failure::new(Exit::Internal, "selftest failed")
            .hint("do not use this program on this machine"))
    }
}

fn check(name: impl Into<String>, result: Result<bool, Error>) -> Check {
    Check {
        name: name.into(),
        passed: result.unwrap_or(false),
    }
}

fn passport_round_trip() -> Result<bool, Error> {
    let passport = Passport::generate("selftest", 0)?;
    let passphrase = Passphrase::generate();
    let slot = NewSlot {
        key: SlotKey::Passphrase(&passphrase),
        name: "",
        created: 0,
        params: KdfParams::new(7168, 5, 1)?,
        on_progress: SILENT,
    };
    let file = SecretPassport::new(&passport, &slot)?.to_armor();
    let locked = SecretPassport::from_armor(file.as_bytes())?;
    let limits = KdfLimits::default();
    let wrong = locked.unlock(&Passphrase::generate(), None, &limits, SILENT);
    let right = locked
        .unlock(&passphrase, None, &limits, SILENT)?
        .into_passport();
    Ok(right.fingerprint() == passport.fingerprint() && wrong.is_err())
}

fn file_round_trip(suite: Suite) -> Result<bool, Error> {
    let (alice, bob) = (
        Passport::generate("Alice", 0)?,
        Passport::generate("Bob", 0)?,
    );
    let content: Vec<u8> = (0..CONTENT_LEN).map(|i| (i % 251) as u8).collect();
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

fn open(file: &[u8], recipient: &Passport) -> Result<Vec<u8>, Error> {
    let opening = Sealed::read(file)?.unlock(&Keys::new(&[recipient], &[]))?;
    let Sender::Carried(sender) = opening.sender().clone() else {
        return Err(Error::WrongSender);
    };
    let mut content = Vec::new();
    opening.open_signed(&sender, &mut content, Workers::default())?;
    Ok(content)
}

/// The features of this processor that the ciphers and hashes can use.
fn features() -> Vec<&'static str> {
    let mut found = vec![std::env::consts::ARCH];
    #[cfg(target_arch = "x86_64")]
    {
        let known = [
            ("aes", std::is_x86_feature_detected!("aes")),
            ("pclmulqdq", std::is_x86_feature_detected!("pclmulqdq")),
            ("avx2", std::is_x86_feature_detected!("avx2")),
            ("avx512f", std::is_x86_feature_detected!("avx512f")),
            ("vaes", std::is_x86_feature_detected!("vaes")),
        ];
        found.extend(
            known
                .iter()
                .filter(|(_, there)| *there)
                .map(|(name, _)| *name),
        );
    }
    #[cfg(target_arch = "aarch64")]
    {
        let known = [
            ("neon", std::arch::is_aarch64_feature_detected!("neon")),
            ("aes", std::arch::is_aarch64_feature_detected!("aes")),
        ];
        found.extend(
            known
                .iter()
                .filter(|(_, there)| *there)
                .map(|(name, _)| *name),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser;

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
    fn one_failed_check_fails_all() {
        let cli = Cli::try_parse_from(["sealstone", "--json", "selftest"]).unwrap();
        let context = Context::new(&cli.global);
        let mut checks = [check("right", Ok(true)), check("also right", Ok(true))];
        assert!(conclude(&checks, &context).is_ok());
        for failed in [Ok(false), Err(Error::WrongPassphrase)] {
            checks[0] = check("wrong", failed);
            let failure = conclude(&checks, &context).unwrap_err();
            assert_eq!(failure.exit, Exit::Internal);
            assert!(failure.text().unwrap().contains("selftest failed"));
        }
    }
}
