//! The recipients of a file.

use std::path::{Path, PathBuf};

use sealstone::passport::{Contact, Fingerprint, Listed, PublicPassport};
use sealstone::trust::Status;
use sealstone_files::directory_of;
use sealstone_terminal::text::{quoted, quoted_short};

use crate::args::SealArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::identity::{self, Identity};
use crate::io::{DASH, input};
use crate::named::Parse;
use crate::paths;
use crate::trust::{self, Store};

/// The passports that a file is sealed to, each once.
pub(super) struct Recipients {
    all: Vec<Recipient>,
    /// Warnings before the file is sealed.
    warnings: Vec<String>,
}

/// One of them.
pub(super) struct Recipient {
    pub(super) contact: Contact,
    /// The user's name for it in the trust store, else its own label.
    pub(super) label: String,
}

/// 1024 public passports are shorter.
const MAX_LIST: usize = 32 << 20;
const BEGIN: &str = "-----BEGIN ";

impl Recipients {
    /// The recipients that are `kept` and all that the options name; the user alone if there are
    /// none. `sender` signs.
    pub(super) fn gather(
        args: &SealArgs,
        kept: Vec<Contact>,
        sender: Option<&Identity>,
        context: &Context,
    ) -> Result<Self> {
        let mut recipients = Self {
            all: Vec::new(),
            warnings: Vec::new(),
        };
        kept.into_iter().for_each(|contact| recipients.add(contact));
        for named in &args.recipients.recipient {
            recipients.add(public(named)?.contact().clone());
        }
        for path in &args.recipients.recipients_file {
            let list = list(path)?;
            list.into_iter().for_each(|contact| recipients.add(contact));
        }
        if !args.recipients.to.is_empty() {
            let store = trust::open(context)?;
            for name in &args.recipients.to {
                recipients.add(approved(&store, name)?);
            }
        }
        if recipients.all.is_empty() && !args.recipients.passphrase_recipient {
            let sender = sender.filter(|_| args.sender.from.is_none());
            recipients.add(oneself(sender)?);
        }
        recipients.look_up(sender, context)?;
        Ok(recipients)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Recipient> {
        self.all.iter()
    }

    fn add(&mut self, contact: Contact) {
        if self
            .all
            .iter()
            .all(|other| other.contact.fingerprint() != contact.fingerprint())
        {
            let label = contact.label().to_owned();
            self.all.push(Recipient { contact, label });
        }
    }

    /// Warns of recipients that are not approved.
    pub(super) fn warn(&self, context: &Context) {
        self.warnings.iter().for_each(|text| context.warn(text));
    }

    /// Takes the labels from the trust store. Finds recipients that are neither approved nor the
    /// user, who may be the `sender`. Refuses recipients that are denied or revoked.
    fn look_up(&mut self, sender: Option<&Identity>, context: &Context) -> Result<()> {
        if self.all.is_empty() {
            return Ok(());
        }
        let store = trust::open(context)?;
        for Recipient { contact, label } in &mut self.all {
            let fingerprint = contact.fingerprint();
            let record = store.get(&fingerprint);
            if let Some(record) = record.filter(|record| !record.label().is_empty()) {
                record.label().clone_into(label);
            }
            let status = record.map(|record| record.status());
            if let Some(status) = status.filter(|status| status.is_barred()) {
                return Err(barred(label, &fingerprint, status));
            }
            if status != Some(Status::Approved) && !is_own(&fingerprint, sender)? {
                self.warnings.extend(stranger(label, &fingerprint, &store));
            }
        }
        Ok(())
    }
}

/// Anybody can make a public passport with any label.
fn stranger(label: &str, fingerprint: &Fingerprint, store: &Store) -> Vec<String> {
    let name = quoted_short(label);
    let unknown = format!(
        "{name} is not approved: compare the fingerprint with its owner\n  {fingerprint}\n  \
         then: sealstone trust approve FILE.pub"
    );
    let namesakes = store.namesakes(label, fingerprint);
    let namesakes = namesakes.iter().map(|namesake| {
        let known = namesake.fingerprint();
        format!("this is NOT the {name} that you approved: {known}")
    });
    std::iter::once(unknown).chain(namesakes).collect()
}

/// Whether the passport that signs has this fingerprint, or the default passport claims it.
/// Unlocking the former verifies its fingerprint. A claim of the latter must be the user's, but a
/// file to somebody else needs none.
fn is_own(fingerprint: &Fingerprint, sender: Option<&Identity>) -> Result<bool> {
    let has_it = |identity: &Identity| identity.locked.fingerprint() == *fingerprint;
    if sender.is_some_and(has_it) {
        return Ok(true);
    }
    let claims = |path: &PathBuf| Identity::load(path).is_ok_and(|identity| has_it(&identity));
    let claiming = paths::existing_default_passport().filter(claims);
    Ok(claiming.map(paths::trusted).transpose()?.is_some())
}

/// The public passport that `-r` names: a file, `-` for standard input, or the armored text itself.
pub(in crate::commands) fn public(named: &Path) -> Result<PublicPassport> {
    let text = named.to_str().map(str::trim_start).unwrap_or_default();
    if text.starts_with(BEGIN) {
        return PublicPassport::from_armor(text.as_bytes()).about("the text after -r");
    }
    if text.starts_with('-') && text != DASH {
        let what = format!(
            "-r needs a public passport, and {} is an option",
            quoted(text)
        );
        return Err(Failure::usage(what).hint("a file of that name is ./-NAME"));
    }
    identity::load_public(named)
}

/// The passports in a list: paths relative to it, or public passports themselves.
pub(in crate::commands) fn list(path: &Path) -> Result<Vec<Contact>> {
    let file = input::read(path, "the list of recipients", MAX_LIST)?;
    let base = if path == Path::new(DASH) {
        PathBuf::from(".")
    } else {
        directory_of(path)
    };
    let contact = |listed| {
        let passport = match listed {
            Listed::Passport(passport) => *passport,
            Listed::Path(path) => identity::load_public(&base.join(path))?,
        };
        Ok(passport.contact().clone())
    };
    file.parse(|bytes| -> Result<_> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Failure::new(Exit::Format, "not a list of recipients"))?;
        PublicPassport::list(text)?
            .into_iter()
            .map(contact)
            .collect()
    })
}

/// The keys of an approved record.
fn approved(store: &Store, name: &str) -> Result<Contact> {
    let approved = store.find_approved(name);
    let record = approved.map_or_else(|| trust::find(store, name), Ok)?;
    if record.status().is_barred() {
        return Err(barred(name, &record.fingerprint(), record.status()));
    }
    if record.status() != Status::Approved {
        let fingerprint = record.fingerprint();
        let hint = format!(
            "fingerprint {fingerprint}\ncompare it with its owner, then:\n  \
             sealstone trust approve {}",
            fingerprint.half()
        );
        return Err(
            Failure::new(Exit::Pending, format!("{} is not approved", quoted(name))).hint(hint),
        );
    }
    let keys = record.contact()?;
    let none = || {
        let hint = "get the public passport, then: sealstone trust approve FILE.pub\nor seal with -r FILE.pub";
        Failure::usage(format!("the trust store has no keys of {}", quoted(name))).hint(hint)
    };
    keys.ok_or_else(none)
}

fn barred(name: &str, fingerprint: &Fingerprint, status: Status) -> Failure {
    Failure::new(
        Exit::Denied,
        format!("{} is {status} in your trust store", quoted_short(name)),
    )
    .hint(format!("see: sealstone trust show {}", fingerprint.half()))
}

/// The owner of the default passport: its public half, which must have the fingerprint that is
/// pinned in the secret half. If the default passport is the `sender`, unlocking it verifies that
/// fingerprint. If not, the fingerprint is only a claim.
fn oneself(sender: Option<&Identity>) -> Result<Contact> {
    if let Some(identity) = sender {
        return Ok(identity.public()?.contact().clone());
    }
    let nobody = || {
        Failure::usage("no recipient").hint("choose -r FILE.pub, --to NAME or -p for a passphrase")
    };
    let secret = paths::trusted_default_passport()?.ok_or_else(nobody)?;
    Ok(Identity::load(&secret)?.public()?.contact().clone())
}
