//! `token directory`

use std::cmp::Ordering;
use std::path::Path;

use sealstone::passport::{Contact, Fingerprint};
use sealstone::statement::{self, Purpose, Statement};
use sealstone::trust::Status;
use sealstone_terminal::text::quoted;
use sealstone_terminal::{clock, question};
use sealstone_token::epoch::Schedule;
use sealstone_token::privacypass::directory::{Directory, DirectoryKey};
use serde_json::json;

use super::files::{self, Form};
use super::inspect::{self, Description};
use crate::args::{DirectoryArgs, EpochFile, ScheduleArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::identity::{Identity, load_public, or_default};
use crate::io::input;
use crate::key_lifecycle;
use crate::named::Parse;
use crate::passphrase::Passphrases;
use crate::trust;

pub(super) fn run(args: &DirectoryArgs, context: &Context) -> Result<()> {
    match &args.check {
        Some(path) => check(path, args, context),
        None => make(args, context),
    }
}

fn make(args: &DirectoryArgs, context: &Context) -> Result<()> {
    let schedule = schedule(&args.schedule)?;
    let key = |file: &EpochFile| entry(file, schedule.as_ref());
    let directory = Directory {
        request_uri: args.request_uri.clone(),
        keys: args.keys.iter().map(key).collect::<Result<_>>()?,
    };
    let text = directory.to_json() + "\n";
    let (bytes, form, what) = match args.sign {
        true => (
            sign(&text, args, context)?,
            Form::Message,
            "signed directory",
        ),
        false => (text.into_bytes(), Form::Text, "directory"),
    };
    files::write(&args.output, &bytes, form)?;
    let count = directory.keys.len();
    files::done(
        &args.output,
        context,
        &format!("a {what} of {count} key(s)"),
        || json!({"keys": count, "signed": args.sign}),
    )
}

/// The schedule that the options name, if they name one.
fn schedule(args: &ScheduleArgs) -> Result<Option<Schedule>> {
    let (Some(start), Some(length)) = (args.start, args.length) else {
        return Ok(None);
    };
    let schedule = Schedule::new(start, length, args.issue_grace, args.redeem_grace);
    schedule.map(Some).map_err(|_| {
        Failure::usage("--issue-grace is at most --redeem-grace, that at most 6 times --length")
    })
}

/// A key with its lifetime.
fn entry(file: &EpochFile, schedule: Option<&Schedule>) -> Result<DirectoryKey> {
    let key = files::read_public(&file.file)?;
    let lifetime = match (schedule, file.epoch) {
        (Some(schedule), Some(epoch)) => Some(schedule.lifetime(epoch)),
        (None, None) => None,
        (Some(_), None) => return Err(Failure::usage("with --start, write --key EPOCH=KEY.pub")),
        (None, Some(_)) => {
            return Err(Failure::usage("epochs of keys need --start and --length"));
        }
    };
    Ok(DirectoryKey {
        key,
        not_before: lifetime.map(|lifetime| lifetime.not_before),
        lifetime,
    })
}

/// The directory as a statement of the user's passport.
fn sign(text: &str, args: &DirectoryArgs, context: &Context) -> Result<Vec<u8>> {
    let identity = Identity::load(&or_default(args.from.as_deref())?)?;
    key_lifecycle::check(&identity.locked.fingerprint(), context)?;
    let unlocked = identity.unlock(&Passphrases::from(&args.unlock), context)?;
    question::finish();
    let passport = unlocked.into_passport();
    key_lifecycle::reserve(&passport.fingerprint(), 1, context)?;
    let signed = Statement::sign(
        &passport,
        Purpose::TokenDirectory,
        text.as_bytes(),
        clock::now(),
    )?;
    trust::countersign(&passport, context);
    Ok(signed.encode())
}

fn check(path: &Path, args: &DirectoryArgs, context: &Context) -> Result<()> {
    let file = input::read(path, "the directory", statement::MAX_LEN)?;
    let (signed, signer, directory) = file.parse(|bytes| -> Result<_> {
        let signed = Statement::decode(bytes).map_err(|error| explain(error, bytes))?;
        let signer = signer(args.signer.as_deref(), &signed.signer(), context)?;
        let content = signed.verify(Purpose::TokenDirectory, &signer)?;
        let directory = Directory::from_json(&String::from_utf8_lossy(content))?;
        must_be_in_use(&directory)?;
        if let Some(path) = &args.after {
            must_follow(&signed, content, path, &signer)?;
        }
        Ok((signed, signer, directory))
    })?;
    let content = signed.verify(Purpose::TokenDirectory, &signer)?;
    if args.output.output.is_some() {
        files::write(&args.output, content, Form::Text)?;
        let count = directory.keys.len();
        let what = format!("the directory of {}", quoted(signer.label()));
        return files::done(&args.output, context, &what, || json!({"keys": count}));
    }
    inspect::print(&shown(&signed, &signer, &directory), context)
}

/// A list without signatures is another mistake than a damaged file.
fn explain(error: sealstone::Error, bytes: &[u8]) -> Failure {
    let is_list = std::str::from_utf8(bytes).is_ok_and(|text| Directory::from_json(text).is_ok());
    match is_list {
        true => Failure::new(Exit::Authentication, "the directory is not signed")
            .hint("ask the issuer for the signed one, or show it: sealstone token inspect"),
        false => error.into(),
    }
}

/// The passport that must have signed: the one that the user names, else the approved one that the
/// statement names.
fn signer(named: Option<&Path>, claimed: &Fingerprint, context: &Context) -> Result<Contact> {
    let store = trust::open(context)?;
    let record = store.get(claimed);
    if let Some(record) = &record
        && record.status().is_barred()
    {
        let what = format!("its signer {} is {}", trust::name(record), record.status());
        return Err(Failure::new(Exit::Denied, what));
    }
    if let Some(path) = named {
        return Ok(load_public(path)?.contact().clone());
    }
    if let Some(own) = trust::owner()?.filter(|own| own.fingerprint() == *claimed) {
        return Ok(own);
    }
    let approved = record.filter(|record| record.status() == Status::Approved);
    let contact = approved.map(|record| record.contact()).transpose()?;
    contact.flatten().ok_or_else(|| {
        Failure::new(
            Exit::Pending,
            format!("its signer {claimed} is not approved"),
        )
        .hint("name the signer: --signer FILE.pub, or approve it: sealstone trust approve")
    })
}

/// The state of a key at this time.
fn state(entry: &DirectoryKey) -> &'static str {
    let now = clock::now();
    let lifetime = entry.lifetime;
    match entry.not_before {
        Some(time) if now < time => "not yet",
        _ if lifetime.is_some_and(|it| it.redeem_until <= now) => "over",
        _ if lifetime.is_some_and(|it| it.issue_until <= now) => "only redeems",
        _ => "issues and redeems",
    }
}

/// An old directory may be an attempt to bring an old key back.
fn must_be_in_use(directory: &Directory) -> Result<()> {
    match directory.keys.iter().any(|entry| state(entry) != "over") {
        true => Ok(()),
        false => Err(
            Failure::new(Exit::Authentication, "every key of the directory is over")
                .hint("ask the issuer for its present directory"),
        ),
    }
}

/// A list that is still valid, but older, may bring back a key that the issuer has withdrawn. Two
/// lists of one time are the proof that the issuer shows its clients different keys.
fn must_follow(new: &Statement, content: &[u8], before: &Path, signer: &Contact) -> Result<()> {
    let file = input::read(before, "the directory before", statement::MAX_LEN)?;
    let old =
        file.parse(|bytes| Statement::decode(bytes).map_err(|error| explain(error, bytes)))?;
    let old_content = old.verify(Purpose::TokenDirectory, signer);
    let old_content = old_content.about(file.name())?;
    match new.time().cmp(&old.time()) {
        Ordering::Greater => Ok(()),
        Ordering::Equal if content == old_content => Ok(()),
        Ordering::Equal => Err(Failure::new(
            Exit::Authentication,
            format!(
                "its signer signed another list at the same time: {}",
                file.name()
            ),
        )
        .hint("keep both: they prove that the issuer shows different keys to its clients")),
        Ordering::Less => Err(Failure::new(
            Exit::Authentication,
            format!("it is older than {}", file.name()),
        )
        .hint("ask the issuer for its present directory")),
    }
}

fn shown(signed: &Statement, signer: &Contact, directory: &Directory) -> Vec<Description> {
    let heading = Description::new("signed directory")
        .with("signer", quoted(signer.label()))
        .with("fingerprint", signer.fingerprint().to_string())
        .with("signed", clock::show(signed.time()))
        .with("asks at", &directory.request_uri);
    let keys = directory.keys.iter();
    std::iter::once(heading)
        .chain(keys.map(|entry| inspect::listed(entry).with("now", state(entry))))
        .collect()
}
