//! Loading passports, and unlocking the secret ones.

use std::path::{Path, PathBuf};

use sealstone::passport::{PublicPassport, SecretPassport, Unlocked};
use sealstone::{KdfLimits, Passphrase};
use zeroize::Zeroizing;

use crate::context::Context;
use crate::exit::Exit;
use crate::io::input::{name_of, read_small};
use crate::io::kind::Kind;
use crate::message::{About, Failure, Result};
use crate::passphrase::Passphrases;
use crate::paths::public_half;
use crate::progress::Progress;

/// A secret passport in its file, locked.
pub(crate) struct Identity {
    pub(crate) path: PathBuf,
    /// The file as it was read.
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    pub(crate) locked: SecretPassport,
}

/// Passports of either kind are shorter.
pub(crate) const MAX_LEN: usize = 65_536;
/// How often somebody may mistype.
const TRIES: usize = 3;

impl Identity {
    /// Reads a secret passport.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let bytes = read_small(path, "the passport", MAX_LEN)?;
        if Kind::of(&bytes) == Kind::PublicPassport {
            let failure = Failure::new(
                Exit::Format,
                "this is a public passport; a secret one is needed",
            );
            return Err(failure
                .hint("the secret half ends in .passport")
                .about(name_of(path)));
        }
        let locked = SecretPassport::from_armor(&bytes)
            .map_err(|e| explain(e, &bytes, Kind::SecretPassport))
            .about(name_of(path))?;
        Ok(Self {
            path: path.to_owned(),
            bytes,
            locked,
        })
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        name_of(&self.path)
    }

    /// Unlocks it; who types the passphrase may mistype it.
    pub(crate) fn unlock(&self, passphrases: &Passphrases, context: &Context) -> Result<Unlocked> {
        let mut tries = if passphrases.is_typed() { TRIES } else { 1 };
        loop {
            let unlocked = passphrases.with(&self.name(), context, |passphrase| {
                self.try_unlock(passphrase, &passphrases.limits, context)
            });
            tries -= 1;
            match unlocked {
                Err(failure) if tries > 0 && failure.is_wrong_passphrase() => {
                    context.warn("wrong passphrase; once more")
                }
                other => return other,
            }
        }
    }

    fn try_unlock(
        &self,
        passphrase: &Passphrase,
        limits: &KdfLimits,
        context: &Context,
    ) -> Result<Unlocked> {
        let _progress = Progress::derivation(context);
        self.locked
            .unlock(passphrase, None, limits)
            .about(self.name())
    }
}

/// Reads a public passport.
pub(crate) fn load_public(path: &Path) -> Result<PublicPassport> {
    let bytes = read_small(path, "the public passport", MAX_LEN)?;
    if Kind::of(&bytes) == Kind::SecretPassport {
        let failure = Failure::new(
            Exit::Format,
            "this is a secret passport; give its public half",
        );
        return Err(failure
            .hint(format!("it should be {}", public_half(path).display()))
            .about(name_of(path)));
    }
    parse_public(&bytes).about(name_of(path))
}

/// Reads a public passport from its text.
pub(crate) fn parse_public(bytes: &[u8]) -> Result<PublicPassport> {
    PublicPassport::from_armor(bytes).map_err(|e| explain(e, bytes, Kind::PublicPassport))
}

/// Says that a file is something else, rather than that it breaks a rule of what it is not.
fn explain(error: sealstone::Error, bytes: &[u8], wanted: Kind) -> Failure {
    let kind = Kind::of(bytes);
    if kind == wanted {
        return error.into();
    }
    let this = match kind {
        Kind::Other => String::new(),
        other => format!(": this is {}", other.name()),
    };
    Failure::new(Exit::Format, format!("not {}{this}", wanted.name()))
}
