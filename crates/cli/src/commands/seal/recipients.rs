//! For whom a file is sealed.

use std::path::{Path, PathBuf};

use sealstone::passport::{Contact, Fingerprint};
use sealstone::trust::{Record, Status};
use sealstone_files::directory_of;

use crate::args::SealArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::identity::{self, Identity};
use crate::io::input::{DASH, name_of, read_small};
use crate::paths;
use crate::trust::{self, Store};

/// The passports that a file is sealed to, each once.
pub(super) struct Recipients(Vec<Recipient>);

/// One of them.
pub(super) struct Recipient {
    pub(super) contact: Contact,
    /// What the user calls it, if the trust store says that, else what it calls itself.
    pub(super) label: String,
}

/// 1024 public passports are shorter.
const MAX_LIST: usize = 32 << 20;
const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

impl Recipients {
    /// Everybody that the options name; the user alone if they name nobody.
    pub(super) fn gather(args: &SealArgs, context: &Context) -> Result<Self> {
        let mut all = Self(Vec::new());
        for path in &args.recipient {
            all.add(identity::load_public(path)?.contact().clone());
        }
        for path in &args.recipients_file {
            list(path)?.into_iter().for_each(|contact| all.add(contact));
        }
        if !args.to.is_empty() {
            let store = trust::open(context)?;
            for name in &args.to {
                all.add(approved(&store, name)?);
            }
        }
        if all.0.is_empty() && !args.passphrase_recipient {
            all.add(oneself()?);
        }
        all.look_up(context)?;
        Ok(all)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Recipient> {
        self.0.iter()
    }

    fn add(&mut self, contact: Contact) {
        if self
            .0
            .iter()
            .all(|other| other.contact.fingerprint() != contact.fingerprint())
        {
            let label = contact.label().to_owned();
            self.0.push(Recipient { contact, label });
        }
    }

    /// Calls everybody what the trust store does, and refuses whom it keeps out: nobody means to seal to them, and what is sealed to a passport that
    /// its owner lost control of is lost as well.
    fn look_up(&mut self, context: &Context) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let store = trust::open(context)?;
        for Recipient { contact, label } in &mut self.0 {
            let fingerprint = contact.fingerprint();
            let Some(record) = store.get(&fingerprint) else {
                continue;
            };
            if !record.label().is_empty() {
                record.label().clone_into(label);
            }
            if trust::is_barred(record.status()) {
                return Err(barred(label, &fingerprint, record.status()));
            }
        }
        Ok(())
    }
}

/// The passports in a list: paths relative to it, or public passports themselves.
fn list(path: &Path) -> Result<Vec<Contact>> {
    let bytes = read_small(path, "the list of recipients", MAX_LIST)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Failure::new(Exit::Format, "not a list of recipients").about(name_of(path)))?;
    let base = if path == Path::new(DASH) {
        PathBuf::from(".")
    } else {
        directory_of(path)
    };
    let mut contacts = Vec::new();
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        let passport = match line.starts_with(BEGIN) {
            true => {
                identity::parse_public(armor(line, &mut lines).as_bytes()).about(name_of(path))?
            }
            false => identity::load_public(&base.join(line)).about(name_of(path))?,
        };
        contacts.push(passport.contact().clone());
    }
    if contacts.is_empty() {
        return Err(Failure::usage("the list names nobody").about(name_of(path)));
    }
    Ok(contacts)
}

/// The lines of one armored object, of which `first` has been read.
fn armor<'a>(first: &'a str, lines: &mut impl Iterator<Item = &'a str>) -> String {
    let mut text = format!("{first}\n");
    for line in lines {
        text.push_str(line);
        text.push('\n');
        if line.starts_with(END) {
            break;
        }
    }
    text
}

/// The keys of an approved record. Strangers may call themselves what they like: an approved record goes before all others of the name.
fn approved(store: &Store, name: &str) -> Result<Contact> {
    let is_approved = |record: &Record<'_>| record.status() == Status::Approved;
    let found = store.find_all(name);
    let record = match found
        .iter()
        .filter(|record| is_approved(record))
        .collect::<Vec<_>>()[..]
    {
        [only] => *only,
        _ => trust::find(store, name)?,
    };
    if trust::is_barred(record.status()) {
        return Err(barred(name, &record.fingerprint(), record.status()));
    }
    if !is_approved(&record) {
        let fingerprint = record.fingerprint();
        let hint = format!(
            "compare the fingerprint with its owner, then: sealstone trust approve {fingerprint}"
        );
        return Err(Failure::new(Exit::Pending, format!("{name} is not approved")).hint(hint));
    }
    let keys = record.contact()?;
    let none = || {
        let hint = "get the public passport, then: sealstone trust approve FILE.pub\nor seal with -r FILE.pub";
        Failure::usage(format!("the trust store has no keys of {name}")).hint(hint)
    };
    keys.ok_or_else(none)
}

fn barred(name: &str, fingerprint: &Fingerprint, status: Status) -> Failure {
    Failure::new(
        Exit::Denied,
        format!("{name} is {status} in your trust store"),
    )
    .hint(format!("see: sealstone trust show {fingerprint}"))
}

/// The owner of the default passport, as its public half says. It signs itself, but only unlocking the secret half would tell that it is the user's: what
/// is sealed names the recipient, so that somebody else's is seen.
fn oneself() -> Result<Contact> {
    let nobody = || {
        Failure::usage("no recipient").hint("choose -r FILE.pub, --to NAME or -p for a passphrase")
    };
    let secret = paths::existing_default_passport().ok_or_else(nobody)?;
    Ok(Identity::load(&secret)?.public()?.contact().clone())
}
