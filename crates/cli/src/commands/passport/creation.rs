//! The common part of `new`, `rotate`, `join` and `restore`: a passport gets its files.

use std::path::Path;

use sealstone::KdfParams;
use sealstone::passport::{NewSlot, Passport, PublicPassport, SecretPassport, SlotKey};
use sealstone_files::{PassportError, PassportFiles, directory_of, make_directory};
use sealstone_terminal::clock;
use sealstone_terminal::progress::Progress;
use sealstone_terminal::question;
use sealstone_terminal::text::shown;
use serde_json::{Value, json};

use crate::args::CreationArgs;
use crate::context::{Context, Report};
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::passphrase::{self, Chosen, Options, Source};
use crate::paths;

/// The two halves as they are written.
pub(super) struct Halves {
    pub(super) secret: String,
    pub(super) public: String,
    /// Whether the public half names a predecessor: then it cannot be made from the secret half.
    pub(super) succeeds: bool,
}

/// The first slot of a passport.
pub(super) struct FirstSlot<'a> {
    pub(super) source: Source,
    pub(super) generate: bool,
    pub(super) params: KdfParams,
    pub(super) context: &'a Context,
}

/// The label that the options give, else the user's answer: a backup does not hold the label.
pub(super) fn label_of_backup(asked: Option<&str>) -> Result<String> {
    if let Some(label) = asked {
        return Ok(label.to_owned());
    }
    if !question::is_there() {
        let what = "a backup does not hold the label, and there is no terminal to ask for it";
        return Err(
            Failure::usage(what).hint("choose --label NAME: a name for you, which everybody sees")
        );
    }
    let answer = question::ask("Label of the passport (a name for you): ").about("the terminal")?;
    match answer.trim() {
        "" => Err(Failure::usage("no label was given")),
        label => Ok(label.to_owned()),
    }
}

/// The label that the options give, else the user's name, else the name of the file.
pub(super) fn label(asked: Option<&str>, file: Option<&Path>) -> Result<String> {
    let stem = || Some(file?.file_stem()?.to_string_lossy().into_owned());
    let nobody = || {
        Failure::usage("the system does not know your user name")
            .hint("choose --label NAME: a name for you, which everybody sees")
    };
    asked
        .map(str::to_owned)
        .or_else(sealstone_terminal::user::name)
        .or_else(stem)
        .ok_or_else(nobody)
}

/// The place that the user names, else that of the default passport. It must be free.
pub(super) fn place_or_default(named: Option<&Path>) -> Result<PassportFiles> {
    if let Some(path) = named {
        return new_place(path);
    }
    let path = paths::found(sealstone_files::default_passport())?;
    if path.exists() {
        let what = format!("you have a default passport: {}", shown(&path));
        return Err(Failure::new(Exit::Io, what).hint(
            "make another one with -o FILE.passport, or replace it with: sealstone passport rotate",
        ));
    }
    let directory = directory_of(&path);
    make_directory(&directory).about(directory.display())?;
    new_place(&path)
}

/// At `path` and next to it, where nothing may be. It fails before a passphrase is generated and
/// shown.
pub(super) fn new_place(path: &Path) -> Result<PassportFiles> {
    if path.extension().is_some_and(|extension| extension == "pub") {
        let what = format!("{} is the name of a public half", shown(path));
        return Err(Failure::usage(what)
            .hint("choose -o FILE.passport for the secret half; FILE.pub goes next to it"));
    }
    let place = PassportFiles::at(path);
    place.must_be_free()?;
    Ok(place)
}

impl Halves {
    /// Writes both halves to a new place.
    pub(super) fn write(&self, place: &PassportFiles) -> Result<()> {
        let written = place.write(self.secret.as_bytes(), self.public.as_bytes());
        written.map_err(|error| self.incomplete(error))
    }

    /// Replaces another passport, whose secret half must have been copied.
    pub(super) fn replace(&self, place: &PassportFiles, tag: &str) -> Result<()> {
        let replaced = place.replace(tag, self.secret.as_bytes(), self.public.as_bytes());
        replaced.map_err(|error| self.incomplete(error))
    }

    fn incomplete(&self, error: PassportError) -> Failure {
        match error {
            PassportError::Secret(error) => error.into(),
            PassportError::Public { error, secret } => {
                let secret = shown(&secret);
                let hint = match self.succeeds {
                    false => format!("{secret} is complete; write its public half with: sealstone passport export"),
                    true => format!("{secret} lacks its public half, which names its predecessor: remove it, and rotate again"),
                };
                let text = Failure::from(error).text().unwrap_or_default();
                Failure::new(Exit::Io, text).hint(hint)
            }
            PassportError::PublicName { error, public } => Failure::from(error).hint(format!(
                "the new passport is in its place; its public half is {}, and has to be moved there by hand",
                shown(&public)
            )),
        }
    }
}

impl<'a> FirstSlot<'a> {
    /// As the options say. A slot that the same options could not unlock is refused.
    pub(super) fn new(args: &CreationArgs, context: &'a Context) -> Result<Self> {
        let params = args.profile;
        args.first.kdf.must_allow(&[params])?;
        Ok(Self {
            source: Source::from(&args.first.passphrase),
            generate: args.first.generate_passphrase,
            params,
            context,
        })
    }

    /// Asks for the passphrase and writes both halves of `passport` to their place.
    pub(super) fn write(
        self,
        passport: &Passport,
        public: &PublicPassport,
        place: &PassportFiles,
    ) -> Result<()> {
        let chosen = self.choose(place)?;
        self.write_by(passport, public, place, chosen, |halves| {
            halves.write(place)
        })
    }

    /// Asks for the passphrase of the passport that goes to `place`.
    pub(super) fn choose(&self, place: &PassportFiles) -> Result<Chosen> {
        passphrase::choose(
            &shown(&place.secret),
            &self.source,
            Options::Passphrase,
            self.generate,
            self.context,
        )
    }

    /// Has `put` write both halves of `passport` to their place, and shows a generated passphrase
    /// before that.
    pub(super) fn write_by(
        self,
        passport: &Passport,
        public: &PublicPassport,
        place: &PassportFiles,
        chosen: Chosen,
        put: impl FnOnce(&Halves) -> Result<()>,
    ) -> Result<()> {
        passphrase::show(&chosen, &shown(&place.secret), self.context)?;
        let halves = Halves {
            secret: self.wrap(passport, &chosen)?.to_armor(),
            public: public.to_armor(),
            succeeds: public.succession().is_some(),
        };
        let report = report(passport, place, &chosen);
        self.context.save(report, || put(&halves))
    }

    fn wrap(&self, passport: &Passport, chosen: &Chosen) -> Result<SecretPassport> {
        let progress = Progress::derivation(self.context.progress());
        let slot = NewSlot {
            key: SlotKey::Passphrase(&chosen.passphrase),
            name: "",
            created: clock::now(),
            params: self.params,
            on_progress: &progress.report(),
        };
        Ok(SecretPassport::new(passport, &slot)?)
    }
}

fn report(passport: &Passport, place: &PassportFiles, chosen: &Chosen) -> Report {
    let text = format!(
        "made {} (keep it, and its passphrase)\nand  {} (hand it out)\nfingerprint {}",
        shown(&place.secret),
        shown(&place.public),
        passport.fingerprint()
    );
    Report {
        text,
        value: value(passport, place, chosen),
        secret: chosen.generated().is_some(),
    }
}

fn value(passport: &Passport, place: &PassportFiles, chosen: &Chosen) -> Value {
    json!({
        "passport": place.secret.display().to_string(),
        "public": place.public.display().to_string(),
        "label": passport.contact().label(),
        "created": passport.contact().created(),
        "fingerprint": passport.fingerprint().to_string(),
        "generated_passphrase": chosen.generated(),
    })
}
