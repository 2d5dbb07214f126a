//! Operators: names, roles, passwords, and their sessions (`spec/service.md`, "Administration").
//!
//! ```
//! use std::sync::Arc;
//! use sealstone_server::operators::{Operators, Role};
//! use sealstone_server::store::RedbStore;
//!
//! let directory = tempfile::tempdir()?;
//! let store = Arc::new(RedbStore::open(&directory.path().join("store.redb"))?);
//! let operators = Operators::new(store);
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! runtime.block_on(async {
//!     operators.set("alice", Role::Admin, Some(b"correct horse battery")).await?;
//!     let role = operators.log_in("alice", b"correct horse battery").await?;
//!     assert_eq!(role, Some(Role::Admin));
//!     assert_eq!(operators.log_in("alice", b"wrong").await?, None);
//!     Ok::<(), sealstone_server::Error>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use sealstone_argon2::{Params, hash_password, verify_password};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::store::Store;
use crate::{Error, Result, record};

const RECORD: &str = "admin/operators";
/// 19 MiB: a login from the page must not push the service's own memory out.
const PARAMS: Params = Params::OWASP[1];
/// Bytes of a password.
const PASSWORD: std::ops::RangeInclusive<usize> = 12..=1024;
const MAX_NAME: usize = 64;

/// An operator's rights. Each role has all rights of those before it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Sees keys, sets, rates and the audit log.
    Viewer,
    /// Makes and revokes invitations, and begins epochs.
    Operator,
    /// Revokes all keys, and administers operators.
    Admin,
}

/// The record of an operator.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Operator {
    role: Role,
    /// Argon2id, as a PHC string.
    password: String,
}

type Table = BTreeMap<String, Operator>;

/// The operators of one store.
pub struct Operators {
    store: Arc<dyn Store>,
    /// Hashing takes memory and a processor: one password at a time.
    turn: Mutex<()>,
}

impl Operators {
    /// The operators in `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            turn: Mutex::default(),
        }
    }

    /// Adds an operator, or changes the role, and the password if there is one.
    ///
    /// # Errors
    /// If the name or the password is not possible, or a new operator has no password.
    pub async fn set(&self, name: &str, role: Role, password: Option<&[u8]>) -> Result<()> {
        checked_name(name)?;
        let hashed = match password {
            Some(password) => Some(self.hash(password).await?),
            None => None,
        };
        let needs_one = || Error::Config(format!("{name} is new: a password is needed"));
        record::edit(&*self.store, RECORD, |table: &mut Table| {
            let before = table.get(name).map(|operator| operator.password.clone());
            let password = hashed.clone().or(before).ok_or_else(needs_one)?;
            table.insert(name.to_owned(), Operator { role, password });
            Ok(())
        })
        .await
    }

    /// Removes an operator. Returns whether there was one.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn remove(&self, name: &str) -> Result<bool> {
        let remove = |table: &mut Table| Ok(table.remove(name).is_some());
        record::edit(&*self.store, RECORD, remove).await
    }

    /// Names and roles.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn list(&self) -> Result<BTreeMap<String, Role>> {
        let table: Table = record::read(&*self.store, RECORD).await?;
        let listed = table.into_iter();
        Ok(listed.map(|(name, entry)| (name, entry.role)).collect())
    }

    /// The role of an operator.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn role(&self, name: &str) -> Result<Option<Role>> {
        let table: Table = record::read(&*self.store, RECORD).await?;
        Ok(table.get(name).map(|entry| entry.role))
    }

    /// The role, if the password is right. For unknown names it takes as long.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn log_in(&self, name: &str, password: &[u8]) -> Result<Option<Role>> {
        let table: Table = record::read(&*self.store, RECORD).await?;
        let Some(operator) = table.get(name).cloned() else {
            // The time of the answer does not tell which names exist.
            let hashed = self.work(|| hash_password(b"nobody", &PARAMS));
            drop(hashed.await?);
            return Ok(None);
        };
        let password = sealstone_primitives::secret::SecretVec::from_slice(password);
        let check = move || verify_password(password.expose(), &operator.password, &PARAMS);
        Ok(self.work(check).await?.ok().map(|_| operator.role))
    }

    async fn hash(&self, password: &[u8]) -> Result<String> {
        if !PASSWORD.contains(&password.len()) {
            return Err(Error::Config(
                "a password has 12 to 1024 bytes: take several words".to_owned(),
            ));
        }
        let password = sealstone_primitives::secret::SecretVec::from_slice(password);
        let hashed = self.work(move || hash_password(password.expose(), &PARAMS));
        hashed
            .await?
            .map_err(|error| Error::Config(format!("the password: {error}")))
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let _turn = self.turn.lock().await;
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|_| Error::Config("hashing was interrupted".to_owned()))
    }
}

/// A name that an operator can have.
pub(crate) fn checked_name(name: &str) -> Result<&str> {
    let is_part =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.@".contains(&byte);
    // These names stand in the audit log for other things.
    let is_taken = ["local", "service", "unknown"].contains(&name);
    match !is_taken && (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_part) {
        true => Ok(name),
        false => Err(Error::Config(format!(
            "an operator's name has 1 to {MAX_NAME} small letters, digits, dots, dashes and @, \
             and is not local, service or unknown"
        ))),
    }
}
