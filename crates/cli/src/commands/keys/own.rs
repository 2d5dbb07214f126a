//! The user's own keys, and their names.

use std::path::{Path, PathBuf};

use sealstone::passport::{Contact, Fingerprint};
use sealstone::trust::Name;

use crate::failure::{Failure, Result};
use crate::identity::{Identity, load_public, or_default};
use crate::paths;
use crate::trust::{self, Store};

/// A key of the user.
#[derive(Clone)]
pub(super) struct Own {
    pub(super) fingerprint: Fingerprint,
    /// The owner's label in the passport.
    pub(super) label: String,
    /// The public keys, where they were found.
    pub(super) contact: Option<Contact>,
}

impl Own {
    /// A file, or the label or the fingerprint of a key that is listed; without a name, the default
    /// passport.
    pub(super) fn find(name: Option<&str>, store: &Store) -> Result<Self> {
        let Some(name) = name else {
            let path = paths::trusted_default_passport()?;
            return Self::load(&or_default(path.as_deref())?);
        };
        let path = Path::new(name);
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension {
            Some("passport") => return Self::load(path),
            Some("pub") => return Ok(Self::of(load_public(path)?.contact())),
            _ if name.contains('/') => return Self::load(path),
            _ => {}
        }
        let parsed = Name::parse(name);
        let mut meant = all(store)?;
        meant.retain(|own| parsed.means(&own.fingerprint, &own.label));
        match (&meant[..], parsed) {
            ([own], _) => Ok(own.clone()),
            ([], _) => Err(Failure::usage("none of your keys has that name")
                .hint("see the names: sealstone keys list; or give the file FILE.passport")
                .about(name)),
            _ => Err(Failure::usage("more than one of your keys has that name")
                .hint("use the fingerprint: sealstone keys list")
                .about(name)),
        }
    }

    fn load(path: &Path) -> Result<Self> {
        let identity = Identity::load(path)?;
        Ok(Self {
            fingerprint: identity.locked.fingerprint(),
            label: identity.locked.label().to_owned(),
            contact: identity
                .public()
                .ok()
                .map(|public| public.contact().clone()),
        })
    }

    fn of(contact: &Contact) -> Self {
        Self {
            fingerprint: contact.fingerprint(),
            label: contact.label().to_owned(),
            contact: Some(contact.clone()),
        }
    }

    /// The owner in messages.
    pub(super) fn name(&self) -> String {
        trust::name_of(&self.label, &self.fingerprint)
    }
}

/// The default passport, the former ones, and all whose lifecycle was ever changed. Nothing is
/// unlocked, so no other user may be able to exchange a file.
pub(super) fn all(store: &Store) -> Result<Vec<Own>> {
    let default = paths::existing_default_passport();
    let files = default.into_iter().chain(paths::former_default_passports());
    let files: Vec<PathBuf> = files.map(paths::trusted).collect::<Result<_>>()?;
    let mut all: Vec<Own> = files
        .iter()
        .filter_map(|path| Own::load(path).ok())
        .collect();
    for (fingerprint, label, _) in store.key_lives() {
        if all.iter().all(|own| own.fingerprint != fingerprint) {
            let record = store.get(&fingerprint);
            all.push(Own {
                fingerprint,
                label: label.to_owned(),
                contact: record.and_then(|record| record.contact().ok().flatten()),
            });
        }
    }
    Ok(all)
}
