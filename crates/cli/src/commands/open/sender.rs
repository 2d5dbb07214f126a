//! Whether the content of a file may be released: the user's decision about its sender.

use sealstone::file::Sender;
use sealstone::passport::{Contact, Fingerprint};
use sealstone::trust::{Record, Status};
use sealstone_terminal::text::quoted;
use serde_json::{Value, json};

use super::keys::KeyRing;
use crate::args::AccessArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::trust::{self, Store};

/// The decision about the content.
pub(super) enum Verdict {
    /// The file is not signed, and that is accepted.
    Unsigned,
    /// Released once the signatures of this sender have been checked.
    Release(Known),
    /// Decided again once the signatures of this sender have been checked and then the passport
    /// that claims to be the sender has been unlocked.
    Confirm(Contact),
    /// Not released; the sender is recorded once the signatures have been checked.
    Withhold(Known),
}

/// A sender whose keys are known.
pub(super) struct Known {
    pub(super) contact: Contact,
    standing: Standing,
    /// The user's name for the sender, else the sender's own label.
    label: String,
    /// Whether the user replaced this passport by another one.
    replaced: bool,
    /// Approved passports of the same name.
    namesakes: Vec<Fingerprint>,
    /// Whether the trust store has its keys.
    stored: bool,
}

/// Why the content is released, or not.
#[derive(Clone, Copy, PartialEq)]
enum Standing {
    /// It is the user.
    Own,
    /// Approved in the trust store.
    Approved,
    /// Named with `--from`.
    Expected,
    /// A stranger so far.
    Pending,
}

/// Decides before anything is decrypted. Nothing overrides that a sender is denied or revoked.
pub(super) fn decide(
    sender: &Sender,
    args: &AccessArgs,
    keys: &mut KeyRing<'_>,
) -> Result<Verdict> {
    let expected = keys.expected()?;
    let Some(fingerprint) = sender.fingerprint() else {
        let policy = keys.store()?.is_signed_only();
        return unsigned(args, expected.is_some(), policy);
    };
    let store = keys.store()?;
    let store = &*store;
    refuse_barred(&fingerprint, store)?;
    if let Some(contact) = expected {
        if contact.fingerprint() != fingerprint {
            let hint = format!("the file says that its sender is\n{fingerprint}");
            return Err(Failure::new(
                Exit::Authentication,
                "signed by another passport than --from names",
            )
            .hint(hint));
        }
        return Ok(Verdict::Release(Known::new(
            contact,
            Standing::Expected,
            store,
        )));
    }
    let held = keys.held_contact(&fingerprint)?;
    let carried = match sender {
        Sender::Carried(contact) => Some(Contact::clone(contact)),
        _ => None,
    };
    let contact = carried.or_else(|| keys.public_half(&fingerprint));
    let replaced =
        keys.is_former(&fingerprint) || is_replaced(&fingerprint, keys, held.is_some(), store);
    if let Some(contact) = held.filter(|_| !replaced) {
        return Ok(Verdict::Release(Known::new(contact, Standing::Own, store)));
    }
    if keys.names(&fingerprint) && !replaced {
        return own(&fingerprint, contact, keys, store);
    }
    from_store(&fingerprint, contact, replaced, args.accept_pending, store)
}

/// Whether this is a passport of the user that another one has replaced: `passport rotate` makes
/// the record. A passport that is locked only claims its fingerprint.
fn is_replaced(
    fingerprint: &Fingerprint,
    keys: &KeyRing<'_>,
    is_held: bool,
    store: &Store,
) -> bool {
    let is_pending = |record: Record<'_>| record.status() == Status::Pending;
    (is_held || keys.unlocked(fingerprint).is_some())
        && store.get(fingerprint).is_some_and(is_pending)
}

/// The user's own passport. The file only claims its sender, and a locked passport only claims its
/// fingerprint: nothing is asked before the signatures have been checked.
fn own(
    fingerprint: &Fingerprint,
    contact: Option<Contact>,
    keys: &KeyRing<'_>,
    store: &Store,
) -> Result<Verdict> {
    if let Some(passport) = keys.unlocked(fingerprint) {
        let contact = passport.contact().clone();
        return Ok(Verdict::Release(Known::new(contact, Standing::Own, store)));
    }
    let contact = contact.ok_or_else(|| unknown_keys(fingerprint))?;
    Ok(Verdict::Confirm(contact))
}

fn unsigned(args: &AccessArgs, expected: bool, policy: bool) -> Result<Verdict> {
    if expected {
        return Err(Failure::new(
            Exit::Pending,
            "it is not signed, and --from names a sender",
        ));
    }
    if args.require_signed {
        return Err(Failure::new(
            Exit::Pending,
            "it is not signed, and --require-signed asks for a sender",
        ));
    }
    if policy {
        let what = "it is not signed, and your trust store refuses unsigned files";
        return Err(Failure::new(Exit::Pending, what)
            .hint("ask for a signed one, or change that: sealstone trust policy any"));
    }
    Ok(Verdict::Unsigned)
}

fn refuse_barred(fingerprint: &Fingerprint, store: &Store) -> Result<()> {
    let barred = store
        .get(fingerprint)
        .filter(|record| trust::is_barred(record.status()));
    let Some(record) = barred else { return Ok(()) };
    let what = format!(
        "its sender, {}, is {} in your trust store",
        trust::name(&record),
        record.status()
    );
    Err(Failure::new(Exit::Denied, what).hint(format!("see: sealstone trust show {fingerprint}")))
}

fn from_store(
    fingerprint: &Fingerprint,
    contact: Option<Contact>,
    replaced: bool,
    accept_pending: bool,
    store: &Store,
) -> Result<Verdict> {
    let record = store.get(fingerprint);
    let stored = record.map(|record| record.contact()).transpose()?.flatten();
    let contact = stored
        .or(contact)
        .ok_or_else(|| unknown_keys(fingerprint))?;
    if record.is_some_and(|record| record.status() == Status::Approved) {
        return Ok(Verdict::Release(Known::new(
            contact,
            Standing::Approved,
            store,
        )));
    }
    let stranger = Known {
        replaced,
        ..Known::new(contact, Standing::Pending, store)
    };
    Ok(if accept_pending {
        Verdict::Release(stranger)
    } else {
        Verdict::Withhold(stranger)
    })
}

fn unknown_keys(fingerprint: &Fingerprint) -> Failure {
    let what = "only the sender's fingerprint is known, so the signatures cannot be checked";
    Failure::new(Exit::Pending, what).hint(format!(
        "get the public passport of\n{fingerprint}\nand give it with --from FILE.pub, or approve it: sealstone trust approve FILE.pub"
    ))
}

impl Known {
    fn new(contact: Contact, standing: Standing, store: &Store) -> Self {
        let record = store.get(&contact.fingerprint());
        let label = record
            .map(|record| record.label())
            .filter(|label| !label.is_empty())
            .unwrap_or(contact.label());
        let label = label.to_owned();
        let namesakes = trust::namesakes(&label, &contact.fingerprint(), store)
            .iter()
            .map(Record::fingerprint)
            .collect();
        Self {
            contact,
            standing,
            label,
            replaced: false,
            namesakes,
            stored: record.is_some_and(|record| record.contact().is_ok_and(|keys| keys.is_some())),
        }
    }

    /// Remembers a stranger, or keys that the store did not have, after the signatures were
    /// checked.
    pub(super) fn record(&self, context: &Context) -> Result<()> {
        let known = self.standing == Standing::Approved && self.stored;
        if known || !matches!(self.standing, Standing::Pending | Standing::Approved) {
            return Ok(());
        }
        let operator = trust::operator(None);
        let mut store = trust::open(context)?;
        // A full store must not keep files of approved senders closed.
        if let Err(e) = store.record_stranger(&self.contact, &trust::change(&operator, None)) {
            context.warn(&format!("the trust store did not remember the sender: {e}"));
        }
        Ok(())
    }

    /// Why the content is not released.
    pub(super) fn withheld(&self) -> Failure {
        let fingerprint = self.contact.fingerprint();
        if self.replaced {
            return Failure::new(
                Exit::Pending,
                "its sender is a passport that you replaced, and others may have it; \
                 the file is whole and stays sealed",
            )
            .hint(format!(
                "fingerprint {fingerprint}\nif nobody else has it: sealstone trust approve {fingerprint}\n\
                 or open this one file with --accept-pending"
            ));
        }
        let what = format!(
            "you have not approved its sender, who goes by {}; the file is whole and stays sealed",
            quoted(&self.label)
        );
        let namesakes: String = self
            .namesakes
            .iter()
            .map(|known| {
                let label = quoted(&self.label);
                format!("it is NOT the {label} that you approved: {known}\n")
            })
            .collect();
        let namesakes = match self.namesakes[..] {
            [] => namesakes,
            _ => format!(
                "{namesakes}if {} has made a new passport, its FILE.pub says so: sealstone trust approve FILE.pub\n",
                quoted(&self.label)
            ),
        };
        Failure::new(Exit::Pending, what).hint(format!(
            "fingerprint {fingerprint}\n{namesakes}compare it with its owner, then: sealstone trust approve {fingerprint}\nor open this one file with --accept-pending"
        ))
    }

    /// The sender, for people.
    pub(super) fn describe(&self) -> String {
        match self.standing {
            Standing::Own => "from yourself".to_owned(),
            Standing::Approved => format!("from {}, approved", quoted(&self.label)),
            Standing::Expected => format!("from {}, as expected", quoted(&self.label)),
            Standing::Pending if self.replaced => format!(
                "from a passport that you replaced, NOT APPROVED: {}",
                self.contact.fingerprint()
            ),
            Standing::Pending => format!(
                "from {}, NOT APPROVED: {}",
                quoted(&self.label),
                self.contact.fingerprint()
            ),
        }
    }

    /// The sender, for machines.
    pub(super) fn json(&self) -> Value {
        let standing = match self.standing {
            Standing::Own => "own",
            Standing::Approved => "approved",
            Standing::Expected => "expected",
            Standing::Pending if self.replaced => "replaced",
            Standing::Pending => "pending",
        };
        json!({"fingerprint": self.contact.fingerprint().to_string(), "label": self.label, "trust": standing})
    }
}
