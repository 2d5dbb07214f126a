//! Which store: the table `[store]` of the configuration.

use std::path::PathBuf;
use std::time::Duration;

use sealstone_primitives::secret::SecretVec;
use serde::Deserialize;

use crate::{Error, Result};

/// The file of the embedded store in the data directory.
pub const FILE: &str = "store.redb";
const MAX_NAME: usize = 40;

/// The kinds of stores.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum StoreKind {
    /// One file in the data directory, for one process.
    #[default]
    Redb,
    /// Redis, one server or a cluster.
    Redis,
    /// PostgreSQL.
    Postgres,
}

/// The writes that the server's disk has confirmed when it answers.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// Redis: each change is synced (`appendfsync always`).
    Always,
    /// Redis: the log is synced each second.
    Everysec,
    /// Redis: the service is not allowed to look.
    Unchecked,
    /// PostgreSQL: `synchronous_commit = on`.
    On,
    /// PostgreSQL: standbys have applied it.
    RemoteApply,
    /// PostgreSQL: standbys have received it.
    RemoteWrite,
    /// PostgreSQL: this server's disk alone.
    Local,
}

/// The store.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StoreOptions {
    /// Which one.
    pub kind: StoreKind,
    /// Where the server is; several nodes of a cluster, a primary and its standbys.
    pub urls: Vec<String>,
    /// The name in the server; by default of the role.
    pub name: Option<String>,
    /// The file with the server's password.
    pub password_file: Option<PathBuf>,
    /// PEM certificates that the server's certificate must come from; by default the system's.
    pub ca_file: Option<PathBuf>,
    /// Whether Redis is a cluster.
    pub cluster: bool,
    /// The state that is durable before the answer.
    pub durability: Option<Durability>,
    /// Replicas of Redis that confirm each change.
    pub replicas: u32,
    /// Seconds for one operation.
    pub seconds: u64,
    /// Connections to PostgreSQL.
    pub connections: usize,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            kind: StoreKind::default(),
            urls: Vec::new(),
            name: None,
            password_file: None,
            ca_file: None,
            cluster: false,
            durability: None,
            replicas: 0,
            seconds: 3,
            connections: 16,
        }
    }
}

impl StoreOptions {
    /// Whether several processes may use the store.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.kind != StoreKind::Redb
    }

    /// Checks what can be checked without a server.
    ///
    /// # Errors
    /// If options do not fit together.
    pub fn check(&self) -> Result<()> {
        let wrong = |text: &str| Err(Error::Config(format!("store: {text}")));
        if self.kind == StoreKind::Redb {
            let only_kind = Self {
                seconds: self.seconds,
                connections: self.connections,
                ..Self::default()
            };
            return match *self == only_kind {
                true => Ok(()),
                false => wrong("kind = \"redb\" has no other options"),
            };
        }
        let is_name = |name: &String| {
            let is_part = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
            (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_part)
        };
        if !self.name.iter().all(is_name) {
            return wrong("a name is up to 40 of a-z, 0-9 and _");
        }
        if self.urls.is_empty() {
            return wrong("urls are missing: say where the server is");
        }
        if self.urls.iter().any(|url| has_password(url)) {
            return wrong("a password does not belong into a URL: name a file in password-file");
        }
        if self.seconds == 0 || self.connections == 0 {
            return wrong("seconds and connections are at least 1");
        }
        self.check_kind()
    }

    fn check_kind(&self) -> Result<()> {
        use Durability::{Always, Everysec, Local, On, RemoteApply, RemoteWrite, Unchecked};
        let wrong = |text: &str| Err(Error::Config(format!("store: {text}")));
        match (self.kind, self.durability) {
            (StoreKind::Redis, Some(On | RemoteApply | RemoteWrite | Local)) => {
                wrong("the durability of redis is always, everysec or unchecked")
            }
            (StoreKind::Postgres, Some(Always | Everysec | Unchecked)) => {
                wrong("the durability of postgres is on, remote-apply, remote-write or local")
            }
            (StoreKind::Postgres, _) if self.cluster || self.replicas > 0 => {
                wrong("cluster and replicas are for redis")
            }
            (StoreKind::Redis, _) if self.urls.len() > 1 && !self.cluster => {
                wrong("several nodes of redis need cluster = true")
            }
            _ => Ok(()),
        }
    }

    /// The time for one operation.
    pub(super) fn limit(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// The name in the server.
    pub(super) fn name(&self, role: &str) -> String {
        let own = || format!("sealstone_{role}");
        self.name.clone().unwrap_or_else(own)
    }

    /// The server's password.
    pub(super) fn password(&self) -> Result<Option<SecretVec>> {
        let Some(path) = &self.password_file else {
            return Ok(None);
        };
        let read = SecretVec::from_vec(std::fs::read(path).map_err(|e| Error::io(path, e))?);
        let line = read.expose().split(|b| *b == b'\n').next().unwrap_or(&[]);
        match std::str::from_utf8(line) {
            Ok(text) if !text.is_empty() => Ok(Some(SecretVec::from_slice(text.as_bytes()))),
            _ => Err(Error::Config(format!(
                "store: the first line of {} is not a password",
                path.display()
            ))),
        }
    }

    /// The PEM certificates of `ca-file`.
    pub(super) fn authorities(&self) -> Result<Option<Vec<u8>>> {
        let read = |path: &PathBuf| std::fs::read(path).map_err(|e| Error::io(path, e));
        self.ca_file.as_ref().map(read).transpose()
    }
}

/// Whether `scheme://user:password@host` has the part behind the colon.
fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['/', '?']).next().unwrap_or(rest);
    rest.rsplit_once('@')
        .is_some_and(|(user, _)| user.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_urls_are_seen() {
        assert!(has_password("redis://user:secret@host:6379"));
        assert!(has_password("postgres://a:b@host/database"));
        assert!(!has_password("redis://user@host:6379/0"));
        assert!(!has_password("redis://host:6379"));
    }
}
