//! `trust approve`

use sealstone::passport::{Fingerprint, PublicPassport, Succession};
use sealstone::trust::{Name, Record, Status};
use sealstone_terminal::clock;
use sealstone_terminal::question;
use sealstone_terminal::text::quoted;

use super::decide::{self, Subject};
use crate::args::ApproveArgs;
use crate::context::Context;
use crate::failure::{About, Failure, Result};
use crate::trust::{self, Store};

pub(super) fn run(args: &ApproveArgs, context: &Context) -> Result<()> {
    let mut store = trust::open(context)?;
    args.decide
        .names
        .iter()
        .try_for_each(|name| refuse_prefix(name))?;
    let subjects = decide::subjects(&args.decide, &store)?;
    if !args.yes && !question::is_there() {
        return Err(unasked(&subjects));
    }
    for subject in &subjects {
        introduce(args, subject, &store, context)?;
        compare(args, subject)?;
        reinstate(args, subject, &mut store)?;
        subject.decide(&args.decide, Status::Approved, None, &mut store)?;
    }
    decide::report(&subjects, &store, context)
}

/// The beginning of a fingerprint finds a record, but a stranger can search for a passport that
/// begins like another one.
fn refuse_prefix(name: &str) -> Result<()> {
    match Name::parse(name) {
        Name::Beginning { digits, .. } if digits.len() < ENOUGH_DIGITS => {
            let what = format!("{} is too short to approve a passport by", quoted(name));
            Err(Failure::usage(what).hint(
                "give the whole fingerprint, as its owner tells it to you, or the file FILE.pub",
            ))
        }
        _ => Ok(()),
    }
}

/// Nobody can find a passport whose fingerprint begins with this number of given digits.
const ENOUGH_DIGITS: usize = 32;

/// Without a terminal there is nobody to ask.
fn unasked(subjects: &[Subject]) -> Failure {
    let line = |subject: &Subject| format!("\n{} {}", subject.fingerprint, subject.name());
    let list: String = subjects.iter().map(line).collect();
    let what = "there is no terminal to ask whether you have compared the fingerprint";
    Failure::usage(what).hint(format!(
        "compare it with its owner, then repeat this with --yes{list}"
    ))
}

/// Shows the passport, its predecessor, and other approved passports of the same label.
fn introduce(
    args: &ApproveArgs,
    subject: &Subject,
    store: &Store,
    context: &Context,
) -> Result<()> {
    context.say(&format!(
        "{}\n  fingerprint {}",
        subject.name(),
        subject.fingerprint
    ));
    let public = subject.public.as_deref();
    let succession = public.and_then(|public| public.succession().map(|it| (public, it)));
    let predecessor = match succession {
        Some((public, succession)) => check_succession(public, succession, store, context)?,
        None => None,
    };
    let label = args.decide.label.as_deref().unwrap_or(&subject.label);
    for namesake in store.namesakes(label, &subject.fingerprint) {
        if predecessor != Some(namesake.fingerprint()) {
            allow_namesake(args, subject, &namesake, context)?;
        }
    }
    Ok(())
}

/// Another approved passport has the label. An option or the person who is asked must allow that:
/// the question about the fingerprint does not show it. The question names both passports: standard
/// error may be a file.
fn allow_namesake(
    args: &ApproveArgs,
    subject: &Subject,
    namesake: &Record<'_>,
    context: &Context,
) -> Result<()> {
    let what = format!(
        "this is not the {} that you approved as {}",
        trust::name(namesake),
        namesake.fingerprint()
    );
    if args.same_label {
        context.warn(&what);
        return Ok(());
    }
    let hint = "--label NAME gives it another name; --same-label approves it under the same one";
    if args.yes || !question::is_there() {
        return Err(Failure::usage(what).hint(hint));
    }
    context.warn(&what);
    let question = format!(
        "Approve {}\n{}\nunder the name of the {} that you approved as\n{}?",
        subject.name(),
        subject.fingerprint,
        trust::name(namesake),
        namesake.fingerprint()
    );
    match question::confirm(&question)? {
        true => Ok(()),
        false => Err(Failure::usage("not approved").hint(hint)),
    }
}

/// A succession from a known passport must be true; from a stranger it means nothing. Returns the
/// predecessor if its signatures are right.
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
            "  claims to succeed {predecessor}\n  you do not have its keys, so the claim cannot be checked"
        ));
        return Ok(None);
    };
    let fingerprint = public.contact().fingerprint();
    succession
        .verify(&contact, &fingerprint)
        .about("its claim to succeed another passport")?;
    let (name, status) = (trust::name(&record), record.status());
    context.say(&format!(
        "  succeeds {name} ({status}), which signed this on {}",
        clock::show(succession.time())
    ));
    if status.is_barred() {
        context.warn(&format!(
            "{name} is {status}: the person that you keep out may have signed this"
        ));
    }
    if status == Status::Approved {
        context.say(&format!(
            "  if you no longer trust the old one:\n  sealstone trust revoke {}",
            predecessor.half()
        ));
    }
    Ok(Some(predecessor))
}

/// Asks at the terminal whether the fingerprint has been compared, whatever standard input is.
fn compare(args: &ApproveArgs, subject: &Subject) -> Result<()> {
    if args.yes || !question::is_there() {
        return Ok(());
    }
    let question = format!(
        "Does {} confirm the fingerprint\n{}\nin person or on the phone?",
        subject.name(),
        subject.fingerprint
    );
    match question::confirm(&question)? {
        true => Ok(()),
        false => Err(Failure::usage("not approved")
            .hint("compare the fingerprint first; `sealstone trust deny` keeps its files out")),
    }
}

fn reinstate(args: &ApproveArgs, subject: &Subject, store: &mut Store) -> Result<()> {
    let record = store.get(&subject.fingerprint);
    let is_final = record.is_some_and(|record| record.status().is_final());
    if args.reinstate && is_final {
        let operator = trust::operator(args.decide.change.operator.as_deref());
        let note = args.decide.change.note.as_deref().or(Some(""));
        let change = trust::change(&operator, note);
        store
            .reinstate(&subject.fingerprint, &change)
            .map_err(trust::unsure)?;
    }
    Ok(())
}
