//! The trust store of this user.

use std::path::{Path, PathBuf};

use sealstone::Error;
use sealstone::passport::{Contact, Fingerprint, Passport};
use sealstone::trust::{Change, Countersignature, Entry, Record, TrustStore};
use sealstone_files::{TrustDirectory, is_not_begun, names_its_file};
use sealstone_terminal::clock;
use sealstone_terminal::text::{quoted_name, quoted_short};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::identity::{self, Identity};
use crate::paths;

/// The store in its directory.
pub(crate) type Store = TrustStore<TrustDirectory>;

/// Opens and verifies it. A store that does not exist is empty.
pub(crate) fn open(context: &Context) -> Result<Store> {
    let directory = directory(context)?;
    let named = |error: Error| match &error {
        Error::Io(e) if names_its_file(e) => error.into(),
        _ => Failure::from(error).about(directory.display()),
    };
    let store = TrustStore::open(TrustDirectory::new(&directory)).map_err(named)?;
    // A countersignature of the default passport must be right.
    if let Some(signature) = store.signature()
        && let Some(owner) = owner()?.filter(|owner| owner.fingerprint() == signature.signer())
    {
        store.verify_signed(&owner).map_err(named)?;
    }
    Ok(store)
}

/// The public keys of the default passport. `None` if there is none that can be read.
pub(crate) fn owner() -> Result<Option<Contact>> {
    let path = paths::trusted_default_passport()?;
    Ok(path.and_then(|path| keys_of(&path)))
}

/// The same for verbs that take only a name from it: they warn, and go without it.
pub(crate) fn owner_or_warning(context: &Context) -> Option<Contact> {
    keys_of(&identity::default_passport_or_warning(context)?)
}

fn keys_of(path: &Path) -> Option<Contact> {
    let public = Identity::load(path).ok()?.public().ok()?;
    Some(public.contact().clone())
}

/// Countersigns the store again if `passport` countersigned it before, now that it is unlocked
/// anyway. The user is told which decisions that covers.
pub(crate) fn countersign(passport: &Passport, context: &Context) {
    if let Err(failure) = countersign_again(passport, context) {
        context.warn(&format!(
            "the trust store was not countersigned: {}",
            failure.text().unwrap_or_default()
        ));
    }
}

fn countersign_again(passport: &Passport, context: &Context) -> Result<()> {
    let mut store = open(context)?;
    let signer = store.signature().map(Countersignature::signer);
    if signer != Some(passport.fingerprint()) {
        return Ok(());
    }
    let unsigned = store.verify_signed(passport.contact())?;
    if unsigned.is_empty() {
        return Ok(());
    }
    let list = decisions(&unsigned);
    store.sign(passport, clock::now())?;
    context.say(&format!(
        "countersigned in the trust store:{list}\nif one of them is not yours, another program \
         can change the store: sealstone trust log"
    ));
    Ok(())
}

/// Decisions, one per line, each after a line feed.
pub(crate) fn decisions(entries: &[&Entry]) -> String {
    let line = |entry: &&Entry| {
        let whose = entry.fingerprint();
        let whose = whose.map_or(String::new(), |fingerprint| fingerprint.brief());
        let label = quoted_short(entry.label());
        format!(
            "\n#{:<4} {:<11} {whose} {label}",
            entry.sequence(),
            entry.event()
        )
    };
    entries.iter().map(line).collect()
}

/// The directory: the option's, else the user's.
pub(crate) fn directory(context: &Context) -> Result<PathBuf> {
    let named = context.trust_dir.clone();
    paths::found(named.or_else(sealstone_files::trust_directory))
}

/// The status of a passport; `None` if it was never seen.
pub(crate) fn standing(fingerprint: &Fingerprint, context: &Context) -> Result<Option<String>> {
    Ok(open(context)?
        .get(fingerprint)
        .map(|record| record.status().to_string()))
}

/// The status of a record with the date from which it holds.
pub(crate) fn status(record: &Record<'_>) -> String {
    match (record.status(), record.since()) {
        (status, Some(since)) => format!("{status} since {}", clock::show(since)),
        (status, None) => status.to_string(),
    }
}

/// The owner of a record in messages.
pub(crate) fn name(record: &Record<'_>) -> String {
    name_of(record.label(), &record.fingerprint())
}

/// The owner of a passport within a line: the quoted label, cut if it is long. The fingerprint, if
/// there is no label.
pub(crate) fn name_of(label: &str, fingerprint: &Fingerprint) -> String {
    match label {
        "" => fingerprint.to_string(),
        label => quoted_short(label),
    }
}

/// The same behind a word, on lines that a terminal does not break.
pub(crate) fn quoted_name_of(label: &str, fingerprint: &Fingerprint) -> String {
    match label {
        "" => format!(" {fingerprint}"),
        label => quoted_name(label),
    }
}

/// Refuses a date of a revocation or a compromise that lies in the future.
pub(crate) fn must_be_past(since: Option<u64>) -> Result<()> {
    match since.is_some_and(|since| since > clock::now()) {
        true => Err(Failure::usage("--since lies in the future").hint("times are UTC")),
        false => Ok(()),
    }
}

/// The only record that `name` can mean.
pub(crate) fn find<'s>(store: &'s Store, name: &str) -> Result<Record<'s>> {
    let all = store.find_all(name);
    let listed: Vec<String> = all
        .iter()
        .map(|record| format!("{:<11} {}", record.status(), record.fingerprint()))
        .collect();
    match all[..] {
        [only] => Ok(only),
        [] => store.find(name).about(name).map_err(|failure| {
            failure.hint("see the names: sealstone trust list; small and capital letters differ")
        }),
        _ => Err(Failure::usage(format!(
            "{name}: {} trust records have that name",
            all.len()
        ))
        .hint(format!(
            "use a fingerprint, or revoke a replaced one: sealstone trust revoke FINGERPRINT\n{}",
            listed.join("\n")
        ))),
    }
}

/// A change that failed. If it had begun, it may have reached the log, and then it is in force.
pub(crate) fn unsure(error: Error) -> Failure {
    let begun = !matches!(&error, Error::Io(e) if is_not_begun(e));
    let is_full = matches!(error, Error::StoreFull);
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Io if begun => failure
            .hint("the change may have taken effect all the same: see sealstone trust list")
            .about("the trust store"),
        Exit::Io => failure.about("the trust store"),
        _ if is_full => {
            failure.hint("remove strangers that you saw long ago: sealstone trust prune")
        }
        _ => failure,
    }
}

/// A change that is made now by this user.
pub(crate) fn change<'a>(operator: &'a str, note: Option<&'a str>) -> Change<'a> {
    Change {
        time: clock::now(),
        operator,
        note,
    }
}

/// The person who decides: the one that the options name, else the user.
pub(crate) fn operator(asked: Option<&str>) -> String {
    asked
        .map(str::to_owned)
        .or_else(sealstone_terminal::user::name)
        .unwrap_or_default()
}
