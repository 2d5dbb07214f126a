//! `selftest`: does this program compute the right thing on this machine?

use sealstone::file::{Keys, Sealed, Sealer, Sender, Suite, Workers};
use sealstone::passport::{NewSlot, Passport, SecretPassport, SlotKey};
use sealstone::{Error, KdfLimits, KdfParams, Passphrase};
use serde_json::json;

use self::known::ANSWERS;
use crate::context::Context;
use crate::exit::Exit;
use crate::message::{Failure, Result};

mod known;

/// What was checked, and whether it is right.
struct Check {
    name: String,
    passed: bool,
}

/// More than two chunks.
const CONTENT_LEN: usize = (5 << 20) / 2;

pub(super) fn run(context: &Context) -> Result<()> {
    let mut checks: Vec<Check> = ANSWERS
        .iter()
        .map(|(name, right)| Check {
            name: (*name).to_owned(),
            passed: right(),
        })
        .collect();
    checks.push(check("passport: make, lock, unlock", passport_round_trip()));
    for suite in [Suite::XChaCha20Poly1305, Suite::Aes256Gcm] {
        checks.push(check(
            format!("sealed file: {suite}, seal, open, refuse if altered"),
            file_round_trip(suite),
        ));
    }
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
    };
    let file = SecretPassport::new(&passport, &slot)?.to_armor();
    let locked = SecretPassport::from_armor(file.as_bytes())?;
    let limits = KdfLimits::default();
    let wrong = locked.unlock(&Passphrase::generate(), None, &limits);
    let right = locked.unlock(&passphrase, None, &limits)?.into_passport();
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

/// What this processor has that the ciphers and hashes can use.
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
