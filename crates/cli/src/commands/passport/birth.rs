//! What `new`, `rotate`, `join` and `restore` have in common: a passport gets its files.

use std::path::{Path, PathBuf};

use sealstone::KdfParams;
use sealstone::passport::{NewSlot, Passport, PublicPassport, SecretPassport, SlotKey};
use serde_json::{Value, json};

use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::io::keep;
use crate::message::{Failure, Result};
use crate::passphrase::{self, Chosen, Source};
use crate::paths;
use crate::progress::Progress;

/// Where the two halves of a new passport go; both are free.
pub(super) struct Place {
    secret: PathBuf,
    public: PathBuf,
}

/// How the first slot opens.
pub(super) struct FirstSlot<'a> {
    pub(super) source: Source,
    pub(super) generate: bool,
    pub(super) params: KdfParams,
    pub(super) context: &'a Context,
}

/// The label that was asked for, else the user's name.
pub(super) fn label(asked: Option<&str>, place: &Place) -> String {
    let stem = || {
        place
            .secret
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    asked
        .map(str::to_owned)
        .or_else(paths::user_name)
        .or_else(stem)
        .unwrap_or_default()
}

impl Place {
    /// At `path` and next to it.
    pub(super) fn new(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Err(
                Failure::usage("a passport is not written to standard output")
                    .hint("choose -o FILE.passport"),
            );
        }
        let place = Self {
            secret: path.to_owned(),
            public: paths::public_half(path),
        };
        keep::must_be_new([place.secret.as_path(), &place.public])?;
        Ok(place)
    }

    pub(super) fn public(&self) -> &Path {
        &self.public
    }
}

impl FirstSlot<'_> {
    /// Asks for the passphrase and writes both halves of `passport` to their place.
    pub(super) fn write(
        self,
        passport: &Passport,
        public: &PublicPassport,
        place: &Place,
    ) -> Result<()> {
        let chosen = passphrase::choose(
            &place.secret.display().to_string(),
            &self.source,
            self.generate,
            self.context,
        )?;
        self.write_with(passport, public, place, &chosen)
    }

    fn write_with(
        self,
        passport: &Passport,
        public: &PublicPassport,
        place: &Place,
        chosen: &Chosen,
    ) -> Result<()> {
        let key = SlotKey::Passphrase(&chosen.passphrase);
        let slot = NewSlot {
            key,
            name: "",
            created: clock::now(),
            params: self.params,
        };
        let progress = Progress::derivation(self.context);
        let secret = SecretPassport::new(passport, &slot)?;
        drop(progress);
        // First the secret half: a public half alone would invite files that nobody can open.
        keep::write_new(&place.secret, secret.to_armor().as_bytes(), keep::SECRET)?;
        let written = keep::write_new(&place.public, public.to_armor().as_bytes(), keep::PUBLIC);
        written.map_err(|failure| {
            let export = format!(
                "{} is complete; write its public half with: sealstone passport export",
                place.secret.display()
            );
            Failure::new(Exit::Io, failure.text().unwrap_or_default()).hint(export)
        })?;
        let text = format!(
            "made {} (keep it, and its passphrase)\nand  {} (hand it out)\nfingerprint {}",
            place.secret.display(),
            place.public.display(),
            passport.fingerprint()
        );
        self.context
            .result(false, &text, || result(passport, place, chosen))
    }
}

fn result(passport: &Passport, place: &Place, chosen: &Chosen) -> Value {
    json!({
        "passport": place.secret,
        "public": place.public,
        "label": passport.contact().label(),
        "created": passport.contact().created(),
        "fingerprint": passport.fingerprint().to_string(),
        "generated_passphrase": chosen.generated.as_deref(),
    })
}
