//! The common part of `new`, `rotate`, `join` and `restore`: a passport gets its files.

use std::path::{Path, PathBuf};

use sealstone::KdfParams;
use sealstone::passport::{NewSlot, Passport, PublicPassport, SecretPassport, SlotKey};
use sealstone_files::{directory_of, keep, make_directory};
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

/// Where the two halves of a new passport go.
pub(super) struct Place {
    pub(super) secret: PathBuf,
    pub(super) public: PathBuf,
}

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
        return Err(Failure::usage(what)
            .hint("choose --label NAME: what you call yourself, which everybody sees"));
    }
    let answer =
        question::ask("Label of the passport (what you call yourself): ").about("the terminal")?;
    match answer.trim() {
        "" => Err(Failure::usage("no label was given")),
        label => Ok(label.to_owned()),
    }
}

/// The label that the options give, else the user's name, else the name of the file.
pub(super) fn label(asked: Option<&str>, file: Option<&Path>) -> Result<String> {
    let stem = || Some(file?.file_stem()?.to_string_lossy().into_owned());
    let nobody = || {
        Failure::usage("the system does not tell your name")
            .hint("choose --label NAME: what you call yourself, which everybody sees")
    };
    asked
        .map(str::to_owned)
        .or_else(sealstone_terminal::user::name)
        .or_else(stem)
        .ok_or_else(nobody)
}

impl Place {
    /// The place that the user names, else that of the default passport. It must be free.
    pub(super) fn or_default(named: Option<&Path>) -> Result<Self> {
        if let Some(path) = named {
            return Self::new(path);
        }
        let path = paths::default_passport()?;
        if path.exists() {
            let what = format!("you have a default passport: {}", shown(&path));
            return Err(Failure::new(Exit::Io, what).hint(
                "make another one with -o FILE.passport, or replace it with: sealstone passport rotate",
            ));
        }
        let directory = directory_of(&path);
        make_directory(&directory).about(directory.display())?;
        Self::new(&path)
    }

    /// At `path` and next to it, where nothing may be. Fails early with what would fail once a
    /// passphrase was made up and shown.
    pub(super) fn new(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Err(
                Failure::usage("a passport is not written to standard output")
                    .hint("choose -o FILE.passport"),
            );
        }
        if path.extension().is_some_and(|extension| extension == "pub") {
            let what = format!("{} is the name of a public half", shown(path));
            return Err(Failure::usage(what)
                .hint("choose -o FILE.passport for the secret half; FILE.pub goes next to it"));
        }
        let place = Self::at(path);
        keep::must_be_new([place.secret.as_path(), &place.public])?;
        keep::must_be_makeable(&place.secret)?;
        Ok(place)
    }

    /// At `path` and next to it, even if files are there.
    pub(super) fn at(path: &Path) -> Self {
        Self {
            secret: path.to_owned(),
            public: sealstone_files::public_half(path),
        }
    }

    /// Writes both halves. First the secret one: a public half alone would invite files that nobody
    /// can open.
    pub(super) fn put(&self, halves: &Halves) -> Result<()> {
        keep::write_new(&self.secret, halves.secret.as_bytes(), keep::PRIVATE)?;
        let written = keep::write_new(&self.public, halves.public.as_bytes(), keep::PUBLIC);
        written.map_err(|e| {
            let failure = Failure::from(e);
            let secret = shown(&self.secret);
            let hint = match halves.succeeds {
                false => format!("{secret} is complete; write its public half with: sealstone passport export"),
                true => format!("{secret} lacks its public half, which names its predecessor: remove it, and rotate again"),
            };
            Failure::new(Exit::Io, failure.text().unwrap_or_default()).hint(hint)
        })
    }
}

impl<'a> FirstSlot<'a> {
    /// As the options say. A slot that the same options could not unlock is refused.
    pub(super) fn new(args: &CreationArgs, context: &'a Context) -> Result<Self> {
        let params = args.profile.0;
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
        place: &Place,
    ) -> Result<()> {
        let chosen = self.choose(place)?;
        self.write_by(passport, public, place, chosen, |halves| place.put(halves))
    }

    /// Asks for the passphrase of the passport that goes to `place`.
    pub(super) fn choose(&self, place: &Place) -> Result<Chosen> {
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
        place: &Place,
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
        let progress = Progress::derivation(self.context.progress);
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

fn report(passport: &Passport, place: &Place, chosen: &Chosen) -> Report {
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

fn value(passport: &Passport, place: &Place, chosen: &Chosen) -> Value {
    json!({
        "passport": place.secret.display().to_string(),
        "public": place.public.display().to_string(),
        "label": passport.contact().label(),
        "created": passport.contact().created(),
        "fingerprint": passport.fingerprint().to_string(),
        "generated_passphrase": chosen.generated(),
    })
}
