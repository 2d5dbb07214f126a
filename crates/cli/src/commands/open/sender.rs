//! Whether the content of a file may be released: the user's decision about its sender.

use std::sync::Mutex;

use sealstone::file::Sender;
use sealstone::passport::{Contact, Fingerprint};
use sealstone::trust::{Claim, Ground, KnownSender, Refused, Verdict};
use sealstone_terminal::text::{COLUMNS, columns, quoted, quoted_name};

use super::hold;
use super::keys::KeyRing;
use crate::args::AccessArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::named::Named;
use crate::trust;

/// The sender whose content may be released; `None` if the file is not signed, and that is
/// accepted. `verify` verifies the signatures of a sender if the decision depends on them, and is
/// told whether the content is read afterwards.
pub(super) fn admit(
    sender: &Named<Sender>,
    args: &AccessArgs,
    keys: &Mutex<KeyRing<'_>>,
    context: &Context,
    mut verify: impl FnMut(&Contact, bool) -> Result<()>,
) -> Result<Option<Admitted>> {
    let mut verified = false;
    loop {
        // In a statement of its own: the keys must be free again while the file is verified.
        let verdict = sender.look(|sender| decide(sender, args, &mut hold(keys)))?;
        match verdict {
            None => {
                context.warn("unsigned: anyone could have sealed this");
                return Ok(None);
            }
            Some(Verdict::Release(sender)) => return Ok(Some(Admitted { sender, verified })),
            Some(Verdict::Confirm(sender)) => {
                verify(&sender, true)?;
                verified = true;
                hold(keys).confirm(&sender.fingerprint())?;
            }
            Some(Verdict::Withhold(stranger)) => {
                verify(&stranger.contact, false)?;
                record(&stranger, context)?;
                return Err(withheld(&stranger).about(sender.name()));
            }
        }
    }
}

/// A sender whose content may be released once its signatures have been verified.
pub(super) struct Admitted {
    pub(super) sender: KnownSender,
    /// Whether they have been.
    pub(super) verified: bool,
}

/// Decides before anything is decrypted; `None` for a file that is not signed.
fn decide(sender: &Sender, args: &AccessArgs, keys: &mut KeyRing<'_>) -> Result<Option<Verdict>> {
    let expected = keys.expected()?;
    let store = keys.store()?;
    let Some(fingerprint) = sender.fingerprint() else {
        unsigned(args, expected.is_some(), store.is_signed_only())?;
        return Ok(None);
    };
    let verdict = match expected {
        Some(contact) => store.expect(contact, &fingerprint).map(Verdict::Release),
        // The command does not ask about a sender whose files never open.
        None => match store.refuse_barred(&fingerprint) {
            Ok(()) => store.verdict(claim(sender, fingerprint, keys)?, args.accept_pending),
            Err(refused) => Err(refused),
        },
    };
    Ok(Some(verdict.map_err(|e| refused(e, &fingerprint))?))
}

fn claim(sender: &Sender, fingerprint: Fingerprint, keys: &mut KeyRing<'_>) -> Result<Claim> {
    let own = keys.own(&fingerprint)?;
    let carried = match sender {
        Sender::Carried(contact) => Some(Contact::clone(contact)),
        _ => None,
    };
    Ok(Claim {
        fingerprint,
        keys: carried.or_else(|| keys.public_half(&fingerprint)),
        own,
        former: keys.is_replaced(&fingerprint),
    })
}

fn unsigned(args: &AccessArgs, expected: bool, policy: bool) -> Result<()> {
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
    Ok(())
}

fn refused(refused: Refused, fingerprint: &Fingerprint) -> Failure {
    match refused {
        Refused::Barred { label, status } => {
            let what = format!("its sender is {status} in your trust store");
            let hint = format!(
                "sender{}\nsee: sealstone trust show {}",
                trust::quoted_name_of(&label, fingerprint),
                fingerprint.half()
            );
            Failure::new(Exit::Denied, what).hint(hint)
        }
        Refused::Another => {
            let what = "signed by another passport than --from names";
            let hint = format!("the file says that its sender is\n{fingerprint}");
            Failure::new(Exit::Authentication, what).hint(hint)
        }
        Refused::NoKeys => {
            let what =
                "only the sender's fingerprint is known, so the signatures cannot be checked";
            Failure::new(Exit::Pending, what).hint(format!(
                "get the public passport of\n{fingerprint}\nand give it with --from FILE.pub, or approve it: sealstone trust approve FILE.pub"
            ))
        }
        Refused::Store(error) => error.into(),
    }
}

/// Remembers a stranger, or keys that the store did not have, after the signatures were checked.
pub(super) fn record(sender: &KnownSender, context: &Context) -> Result<()> {
    if !sender.is_news() {
        return Ok(());
    }
    let operator = trust::operator(None);
    let mut store = trust::open(context)?;
    // A full store must not keep files of approved senders closed.
    if let Err(e) = store.record_sender(sender, &trust::change(&operator, None)) {
        context.warn(&format!("the trust store did not record the sender: {e}"));
    }
    Ok(())
}

/// Why the content is not released.
fn withheld(sender: &KnownSender) -> Failure {
    let fingerprint = sender.contact.fingerprint();
    let named = fingerprint.half();
    if sender.ground == Ground::Replaced {
        return Failure::new(
            Exit::Pending,
            "its sender is a passport that you replaced, and others may have it; \
             the file is whole and stays sealed",
        )
        .hint(format!(
            "fingerprint {fingerprint}\nif nobody else has it:\n  sealstone trust approve {named}\n\
             or open this one file with --accept-pending"
        ));
    }
    let what = "you have not approved its sender; the file is whole and stays sealed";
    let namesakes = match &sender.namesakes[..] {
        [] => String::new(),
        known => {
            let known: String = known.iter().map(|known| format!("\n{known}")).collect();
            format!(
                "it is NOT the sender of that name that you approved:{known}\n\
                 if the passport is a new one of the same owner, its FILE.pub says so:\n  \
                 sealstone trust approve FILE.pub\n"
            )
        }
    };
    Failure::new(Exit::Pending, what).hint(format!(
        "its sender goes by{}\nfingerprint {fingerprint}\n{namesakes}\
         compare it with its owner, then:\n  sealstone trust approve {named}\n\
         or open this one file with --accept-pending",
        quoted_name(&sender.label)
    ))
}

/// The sender, for people: the end of a line that takes `before` columns so far, and lines below
/// it. A label that a terminal could break is on a line of its own.
pub(super) fn describe(sender: &KnownSender, before: usize) -> (String, String) {
    let (short, long) = match sender.ground {
        Ground::Own => return ("from yourself".to_owned(), String::new()),
        Ground::Approved => ("approved", "from an approved sender"),
        Ground::Expected => ("as expected", "from the expected sender"),
        Ground::Replaced => ("", "from a passport that you replaced, NOT APPROVED"),
        Ground::Pending => ("", "from a sender that is NOT APPROVED"),
    };
    let line = format!("from {}, {short}", quoted(&sender.label));
    // A bracket may close behind it.
    if !short.is_empty() && before + columns(&line) < COLUMNS {
        return (line, String::new());
    }
    let mut below = match sender.ground {
        Ground::Replaced => String::new(),
        _ => format!("\n  sender{}", quoted_name(&sender.label)),
    };
    if short.is_empty() {
        below += &format!("\n  fingerprint {}", sender.contact.fingerprint());
    }
    (long.to_owned(), below)
}
