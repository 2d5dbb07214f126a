//! Loading passports, and unlocking the secret ones.

use std::path::{Path, PathBuf};

use sealstone::passport::{MAX_LEN, PublicPassport, SecretPassport, Unlocked};
use sealstone::{KdfLimits, Kind, Passphrase};
use sealstone_files::{Document, PassportFiles, public_half};
use sealstone_terminal::progress::Progress;
use sealstone_terminal::text::shown;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::io::input;
use crate::named::Parse;
use crate::passphrase::{Answer, Passphrases};
use crate::paths;

/// A secret passport in its file, locked.
pub(crate) struct Identity {
    pub(crate) path: PathBuf,
    /// The file as it was read.
    pub(crate) file: Document,
    pub(crate) locked: SecretPassport,
}

impl Identity {
    /// Reads a secret passport.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let file = input::read(path, "the passport", MAX_LEN)?;
        if Kind::of(&file) == Kind::PublicPassport {
            let failure = Failure::new(
                Exit::Format,
                "this is a public passport; a secret one is needed",
            );
            return Err(failure
                .hint("the secret half ends in .passport")
                .about(file.name()));
        }
        let locked = file.parse(SecretPassport::from_armor)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            locked,
        })
    }

    /// Warns if others can read or change the file.
    pub(crate) fn warn_if_exposed(&self, context: &Context) {
        context.warn_if_exposed(&self.file);
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> &str {
        self.file.name()
    }

    /// Asks for its passphrase and unlocks it.
    pub(crate) fn unlock(&self, passphrases: &Passphrases, context: &Context) -> Result<Unlocked> {
        self.unlock_with(&self.ask(passphrases, context)?, context)
    }

    /// Asks for its passphrase.
    pub(crate) fn ask<'p>(
        &self,
        passphrases: &'p Passphrases,
        context: &Context,
    ) -> Result<Answer<'p>> {
        self.warn_if_exposed(context);
        passphrases.ask(self.name(), context)
    }

    /// Unlocks it with what [`Identity::ask`] got.
    pub(crate) fn unlock_with(&self, answer: &Answer<'_>, context: &Context) -> Result<Unlocked> {
        answer.with(context, |passphrase| {
            self.try_unlock(passphrase, answer.limits(), context)
        })
    }

    fn try_unlock(
        &self,
        passphrase: &Passphrase,
        limits: &KdfLimits,
        context: &Context,
    ) -> Result<Unlocked> {
        let progress = Progress::derivation(context.progress());
        let report = progress.report();
        let unlocked = self.locked.unlock(passphrase, None, limits, &report);
        unlocked.map_err(|e| {
            let failure = Failure::from(e).about(self.name());
            match failure.is_wrong_passphrase() {
                true => failure.hint(HINT),
                false => failure,
            }
        })
    }

    /// The public half: next to it, or under the name with its fingerprint after an interrupted
    /// rotation.
    pub(crate) fn public(&self) -> Result<PublicPassport> {
        let files = PassportFiles::at(&self.path);
        let public = files.read_public(&self.locked.fingerprint());
        let another = || {
            let what = format!("not the public half of {}", self.name());
            Failure::new(Exit::Authentication, what)
        };
        let public = public.map_err(Failure::from);
        let public = public.and_then(|public| public.ok_or_else(another));
        public.about(files.public.display())
    }
}

/// Advice for a passport that does not unlock. The library cannot tell damage from a wrong
/// passphrase.
const HINT: &str = "if it is the right one, the file is damaged: put back a copy of it, or make it anew from its 24 words: sealstone passport restore";

/// The path of the named passport, else of the default one.
pub(crate) fn or_default(named: Option<&Path>) -> Result<PathBuf> {
    let none = || {
        Failure::usage("no passport is named, and there is no default one")
            .hint("make one with: sealstone passport new")
    };
    named
        .map(Path::to_owned)
        .or_else(paths::existing_default_passport)
        .ok_or_else(none)
}

/// [`paths::trusted_default_passport`] for verbs that take only a name from it: they warn, and go
/// without it.
pub(crate) fn default_passport_or_warning(context: &Context) -> Option<PathBuf> {
    paths::trusted_default_passport().unwrap_or_else(|failure| {
        context.warn(&failure.text().unwrap_or_default());
        None
    })
}

/// Reads a public passport.
pub(crate) fn load_public(path: &Path) -> Result<PublicPassport> {
    let file = input::read(path, "the public passport", MAX_LEN)?;
    if Kind::of(&file) == Kind::SecretPassport {
        let failure = Failure::new(
            Exit::Format,
            "this is a secret passport; give its public half",
        );
        return Err(failure
            .hint(format!("it should be {}", shown(&public_half(path))))
            .about(file.name()));
    }
    file.parse(PublicPassport::from_armor)
}
