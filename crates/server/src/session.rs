//! Sessions of operators: records that logging out removes (`spec/service.md`, "Administration").
//!
//! ```
//! use std::sync::Arc;
//! use sealstone_server::session::{Lifetime, Sessions};
//! use sealstone_server::store::RedbStore;
//!
//! let directory = tempfile::tempdir()?;
//! let store = Arc::new(RedbStore::open(&directory.path().join("store.redb"))?);
//! let sessions = Sessions::new(store, Lifetime::default());
//! let (host, now) = ("127.0.0.1:8079", 1_767_225_600);
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! runtime.block_on(async {
//!     let secret = sessions.open("alice", host, now).await?;
//!     assert_eq!(sessions.find(&secret, host, now + 60).await?.as_deref(), Some("alice"));
//!     sessions.close(&secret).await?;
//!     assert_eq!(sessions.find(&secret, host, now + 60).await?, None);
//!     Ok::<(), sealstone_server::Error>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::hash::sha256;
use sealstone_primitives::rng;
use serde::{Deserialize, Serialize};

use crate::store::Store;
use crate::{Result, record};

const RECORD: &str = "admin/sessions";
/// Another session ends the oldest one.
const MOST: usize = 128;
/// The store notes that a session is in use only after this many seconds.
const NOTE_EVERY: u64 = 30;

/// When a session expires, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// After the last request.
    pub idle: u64,
    /// After the login.
    pub most: u64,
}

impl Default for Lifetime {
    fn default() -> Self {
        Self {
            idle: 15 * 60,
            most: 12 * 60 * 60,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    /// The digest of the secret that the browser has. Somebody who reads the store cannot use the
    /// session.
    digest: String,
    name: String,
    host: String,
    begun: u64,
    seen: u64,
}

/// The sessions of one store.
pub struct Sessions {
    store: Arc<dyn Store>,
    lifetime: Lifetime,
}

impl Sessions {
    /// The sessions in `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, lifetime: Lifetime) -> Self {
        Self { store, lifetime }
    }

    /// Begins a session of an operator at a host, and returns its secret.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn open(&self, name: &str, host: &str, now: u64) -> Result<String> {
        let secret = URL_SAFE_NO_PAD.encode(rng::array::<32>());
        let session = Session {
            digest: digest(&secret),
            name: name.to_owned(),
            host: host.to_owned(),
            begun: now,
            seen: now,
        };
        self.edit(|sessions| {
            sessions.retain(|session| self.is_valid(session, now));
            let surplus = (sessions.len() + 1).saturating_sub(MOST);
            sessions.drain(..surplus);
            sessions.push(session.clone());
        })
        .await?;
        Ok(secret)
    }

    /// The operator of a session that has not expired.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn find(&self, secret: &str, host: &str, now: u64) -> Result<Option<String>> {
        let sessions: Vec<Session> = record::read(&*self.store, RECORD).await?;
        let digest = digest(secret);
        let is_it = |session: &&Session| session.digest == digest && session.host == host;
        let found = sessions.iter().find(is_it);
        let Some(session) = found.filter(|session| self.is_valid(session, now)) else {
            return Ok(None);
        };
        if now.abs_diff(session.seen) >= NOTE_EVERY {
            self.edit(|sessions| {
                let mut same = sessions.iter_mut().filter(|s| s.digest == digest);
                same.by_ref().for_each(|session| session.seen = now);
            })
            .await?;
        }
        Ok(Some(session.name.clone()))
    }

    /// Ends a session.
    ///
    /// # Errors
    /// If the store fails. Then the session may stay valid.
    pub async fn close(&self, secret: &str) -> Result<()> {
        let digest = digest(secret);
        self.edit(|sessions| sessions.retain(|session| session.digest != digest))
            .await
    }

    /// Ends all sessions of an operator.
    ///
    /// # Errors
    /// If the store fails. Then the sessions may stay valid.
    pub async fn close_all(&self, name: &str) -> Result<()> {
        self.edit(|sessions| sessions.retain(|session| session.name != name))
            .await
    }

    async fn edit(&self, mut change: impl FnMut(&mut Vec<Session>)) -> Result<()> {
        let change = |sessions: &mut Vec<Session>| {
            change(sessions);
            Ok(())
        };
        record::edit(&*self.store, RECORD, change).await
    }

    /// A clock that was set back makes no session longer.
    fn is_valid(&self, session: &Session, now: u64) -> bool {
        now.abs_diff(session.seen) < self.lifetime.idle
            && now.abs_diff(session.begun) < self.lifetime.most
    }
}

fn digest(secret: &str) -> String {
    crate::hex(&sha256(&[secret.as_bytes()]))
}
