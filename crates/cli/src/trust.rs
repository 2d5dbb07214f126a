//! The trust store of this user.

use std::path::PathBuf;

use sealstone::Error;
use sealstone::passport::{Contact, Fingerprint};
use sealstone::trust::{Change, Record, Status, TrustStore};
use sealstone_files::{TrustDirectory, is_not_begun};

use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::paths;

/// The store in its directory.
pub(crate) type Store = TrustStore<TrustDirectory>;

/// The environment variable that says where it is.
const VARIABLE: &str = "SEALSTONE_TRUST_DIR";

/// Opens it; one that does not exist is empty.
pub(crate) fn open(context: &Context) -> Result<Store> {
    let directory = directory(context)?;
    TrustStore::open(TrustDirectory::new(&directory)).map_err(|error| {
        let failure = Failure::from(error);
        // Messages about one of its files say which.
        let named = failure
            .text()
            .is_some_and(|text| text.starts_with(&*directory.to_string_lossy()));
        if named {
            failure
        } else {
            failure.about(directory.display())
        }
    })
}

/// Where it is: what the option says, else the environment, else the user's data directory.
pub(crate) fn directory(context: &Context) -> Result<PathBuf> {
    let environment = || {
        std::env::var_os(VARIABLE)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let named = context.trust_dir.clone().or_else(environment);
    named.map_or_else(|| Ok(paths::data_dir()?.join("trust")), Ok)
}

/// What the store says of a passport, in a word; nothing if it was never met.
pub(crate) fn standing(fingerprint: &Fingerprint, context: &Context) -> Result<Option<String>> {
    Ok(open(context)?
        .get(fingerprint)
        .map(|record| record.status().to_string()))
}

/// Whether files of this sender must never open.
pub(crate) fn is_barred(status: Status) -> bool {
    matches!(status, Status::Denied | Status::Revoked)
}

/// What messages call the owner of a record.
pub(crate) fn name(record: &Record<'_>) -> String {
    match record.label() {
        "" => record.fingerprint().to_string(),
        label => label.to_owned(),
    }
}

/// The one record that `name` means.
pub(crate) fn find<'s>(store: &'s Store, name: &str) -> Result<Record<'s>> {
    let all = store.find_all(name);
    let listed: Vec<String> = all
        .iter()
        .map(|record| {
            format!(
                "{:<9} {}",
                record.status().to_string(),
                record.fingerprint()
            )
        })
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
            "use a fingerprint, or revoke the one that was replaced: sealstone trust revoke FINGERPRINT\n{}",
            listed.join("\n")
        ))),
    }
}

/// Approved passports of others that go by the same name: small and capital letters do not tell people apart.
pub(crate) fn namesakes<'s>(
    label: &str,
    fingerprint: &Fingerprint,
    store: &'s Store,
) -> Vec<Record<'s>> {
    let lower = label.to_lowercase();
    let is_namesake = |record: &Record<'_>| {
        record.status() == Status::Approved
            && record.fingerprint() != *fingerprint
            && !lower.is_empty()
            && record.label().to_lowercase() == lower
    };
    store.iter().filter(is_namesake).collect()
}

/// Says that the user has replaced one of their own passports. What is denied or revoked stays so.
/// Returns the status that it has then.
pub(crate) fn retire(
    contact: &Contact,
    status: Status,
    note: &str,
    store: &mut Store,
) -> Result<Status> {
    let operator = operator(None);
    let change = change(&operator, Some(note));
    let fingerprint = contact.fingerprint();
    let before = store.meet(contact, &change).map_err(unsure)?.status();
    if before == status || (is_barred(before) && status != Status::Revoked) {
        return Ok(before);
    }
    let record = store.set_status(&fingerprint, status, &change);
    Ok(record.map_err(unsure)?.status())
}

/// A change that failed on its way to the disk: once it had begun the log may have it, and then it is in force.
pub(crate) fn unsure(error: Error) -> Failure {
    let begun = !matches!(&error, Error::Io(e) if is_not_begun(e));
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Io if begun => failure
            .hint("the change may have taken effect all the same: see sealstone trust list")
            .about("the trust store"),
        Exit::Io => failure.about("the trust store"),
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

/// Who decides: whoever the options name, else the user.
pub(crate) fn operator(asked: Option<&str>) -> String {
    asked
        .map(str::to_owned)
        .or_else(paths::user_name)
        .unwrap_or_default()
}
