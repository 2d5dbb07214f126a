//! `trust approve`

use sealstone::passport::{Fingerprint, PublicPassport, Succession};
use sealstone::trust::Status;

use super::decide::{self, Subject};
use crate::args::ApproveArgs;
use crate::clock;
use crate::context::Context;
use crate::failure::{About, Failure, Result};
use crate::io::terminal;
use crate::text::printable;
use crate::trust::{self, Store};

pub(super) fn run(args: &ApproveArgs, context: &Context) -> Result<()> {
    let mut store = trust::open(context)?;
    args.decide
        .names
        .iter()
        .try_for_each(|name| refuse_prefix(name))?;
    let subjects = decide::subjects(&args.decide, &store)?;
    if !args.yes && !terminal::is_there() {
        let mut named = args.decide.names.iter().zip(&subjects);
        named.try_for_each(|(name, subject)| refuse_label(name, subject))?;
    }
    for subject in &subjects {
        introduce(subject, &store, context)?;
        compare(args, subject)?;
        reinstate(args, subject, &mut store)?;
        subject.decide(&args.decide, Status::Approved, &mut store)?;
    }
    decide::report(&subjects, &store, context)
}

/// The beginning of a fingerprint finds a record, but a stranger can search for a passport that begins like another one.
fn refuse_prefix(name: &str) -> Result<()> {
    let digits: String = name.chars().filter(|c| !matches!(c, '-' | ' ')).collect();
    let hexadecimal = digits.chars().all(|c| c.is_ascii_hexdigit());
    if hexadecimal && (MIN_DIGITS..32).contains(&digits.len()) {
        return Err(
            Failure::usage(format!("{name} is too short to approve a fingerprint by")).hint(
                "give the whole fingerprint, as its owner tells it to you, or the file FILE.pub",
            ),
        );
    }
    Ok(())
}

/// A stranger chooses its own label, and where there is no terminal nobody compares fingerprints.
fn refuse_label(name: &str, subject: &Subject) -> Result<()> {
    if subject.public.is_some() || name.parse::<Fingerprint>().is_ok() {
        return Ok(());
    }
    let what = format!(
        "nobody can be asked whether {} is who goes by {}",
        subject.fingerprint,
        printable(name)
    );
    Err(Failure::usage(what).hint(
        "give the whole fingerprint, as its owner tells it to you, or the file FILE.pub, or --yes",
    ))
}

/// As many digits stand for the fingerprint of a record.
const MIN_DIGITS: usize = 8;

/// Says who it is, and whom it succeeds.
fn introduce(subject: &Subject, store: &Store, context: &Context) -> Result<()> {
    context.say(&format!(
        "{}\n  fingerprint {}",
        subject.label, subject.fingerprint
    ));
    let public = subject.public.as_deref();
    let succession = public.and_then(|public| public.succession().map(|it| (public, it)));
    let predecessor = match succession {
        Some((public, succession)) => check_succession(public, succession, store, context)?,
        None => None,
    };
    for namesake in trust::namesakes(&subject.label, &subject.fingerprint, store) {
        let whole = namesake.fingerprint();
        if predecessor != Some(whole) {
            context.warn(&format!(
                "this is not the {} whom you approved as {whole}; --label gives it another name",
                trust::name(&namesake)
            ));
        }
    }
    Ok(())
}

/// A succession from somebody who is known must be true; from a stranger it means nothing. Who it is, if that is certain.
fn check_succession(
    public: &PublicPassport,
    succession: &Succession,
    store: &Store,
    context: &Context,
) -> Result<Option<Fingerprint>> {
    let predecessor = succession.predecessor();
    let record = store.get(&predecessor);
    let contact = record.map(|record| record.contact()).transpose()?.flatten();
    let (Some(record), Some(contact)) = (record, contact) else {
        context.say(&format!(
            "  says that it succeeds {predecessor}, whose keys you do not have: this cannot be checked"
        ));
        return Ok(None);
    };
    let fingerprint = public.contact().fingerprint();
    succession
        .verify(&contact, &fingerprint)
        .about("its claim to succeed somebody")?;
    let (name, status) = (trust::name(&record), record.status());
    context.say(&format!(
        "  succeeds {name} ({status}), who signed it over on {}",
        clock::show(succession.time())
    ));
    if trust::is_barred(status) {
        context.warn(&format!(
            "{name} is {status}: whoever signed this over may be the one you keep out"
        ));
    }
    if status == Status::Approved {
        context.say(&format!(
            "  if the old one is not to be trusted any more: sealstone trust revoke {predecessor}"
        ));
    }
    Ok(Some(predecessor))
}

/// Where there is a person, asks whether the fingerprint has been compared, whatever standard input is.
fn compare(args: &ApproveArgs, subject: &Subject) -> Result<()> {
    if args.yes || !terminal::is_there() {
        return Ok(());
    }
    let question = format!(
        "Does {} confirm the fingerprint\n{}\nin person or on the phone?",
        printable(&subject.label),
        subject.fingerprint
    );
    match terminal::confirm(&question)? {
        true => Ok(()),
        false => Err(Failure::usage("not approved")
            .hint("compare the fingerprint first; `sealstone trust deny` keeps its files out")),
    }
}

fn reinstate(args: &ApproveArgs, subject: &Subject, store: &mut Store) -> Result<()> {
    let revoked = store
        .get(&subject.fingerprint)
        .is_some_and(|record| record.status() == Status::Revoked);
    if args.reinstate && revoked {
        let operator = trust::operator(args.decide.change.operator.as_deref());
        let note = decide::note(&args.decide, Some(Status::Revoked), Status::Pending);
        let change = trust::change(&operator, note);
        store
            .reinstate(&subject.fingerprint, &change)
            .map_err(trust::unsure)?;
    }
    Ok(())
}
