//! The directory of an issuer elsewhere: fetched, checked against the pinned passport, kept
//! (`spec/service.md`, "Trust").
//!
//! ```no_run
//! use std::sync::Arc;
//! use sealstone_files::TrustDirectory;
//! use sealstone_server::network;
//! use sealstone_server::pinned::{FETCH_TIME, Pinned};
//! use sealstone_server::store::Store;
//!
//! async fn trusted(store: Arc<dyn Store>, now: u64) -> sealstone_server::Result<Pinned> {
//!     let trust = TrustDirectory::new("/var/lib/sealstone-verifier/trust");
//!     let agent = network::agent(None, FETCH_TIME)?;
//!     Pinned::open("https://issuer.example.org", agent, None, trust, store, now).await
//! }
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use sealstone::passport::{Contact, Fingerprint, PublicPassport};
use sealstone::statement::{MAX_LEN, Purpose, Statement};
use sealstone::trust::{Change, Status, TrustStore};
use sealstone_files::TrustDirectory;
use sealstone_token::Error as TokenError;
use sealstone_token::epoch::Redemption;
use sealstone_token::privacypass::directory::{Directory, DirectoryKey};
use sealstone_token::privacypass::{Token, TokenType};

use crate::issuer::{PASSPORT_PATH, SIGNED_DIRECTORY_PATH};
use crate::store::{Replace, Store};
use crate::{Error, Result, measure};

/// The record of the last good directory.
const RECORD: &str = "verifier/directory";
/// An agent that fetches should be as patient as this.
pub const FETCH_TIME: Duration = Duration::from_secs(10);
/// An unknown key is a reason to ask again, but not more often than this, in seconds.
const ASK_AGAIN: u64 = 5;

/// An issuer that a verifier trusts.
pub struct Pinned {
    url: String,
    agent: ureq::Agent,
    contact: Contact,
    trust: TrustDirectory,
    store: Arc<dyn Store>,
    keys: RwLock<Arc<Good>>,
    asked: AtomicU64,
    /// The entity tag of the directory in use, and for how many seconds it is fresh.
    seen: Mutex<(Option<String>, u64)>,
}

/// The directory in use.
#[derive(Default)]
struct Good {
    /// When it was signed.
    time: u64,
    keys: Vec<DirectoryKey>,
}

impl Pinned {
    /// Finds the issuer's passport in the trust store or, at the first start, at the issuer's URL;
    /// and its directory in the store or at the URL. `agent` asks ([`crate::network`]).
    ///
    /// # Errors
    /// If the issuer is not the one that is pinned, was denied or revoked, or does not answer and
    /// was never seen before.
    pub async fn open(
        url: &str,
        agent: ureq::Agent,
        fingerprint: Option<Fingerprint>,
        trust: TrustDirectory,
        store: Arc<dyn Store>,
        now: u64,
    ) -> Result<Self> {
        let url = url.trim_end_matches('/').to_owned();
        let contact = match seen(&trust, fingerprint)? {
            Some(contact) => contact,
            None => {
                let answer = fetch(&agent, format!("{url}{PASSPORT_PATH}"), None, false).await?;
                introduce(&answer.body.unwrap_or_default(), fingerprint, &trust, now)?
            }
        };
        let pinned = Self {
            url,
            agent,
            contact,
            trust,
            store,
            keys: RwLock::default(),
            asked: AtomicU64::new(0),
            seen: Mutex::new((None, u64::MAX)),
        };
        if let Some(kept) = pinned.store.get(RECORD).await? {
            pinned.take(&kept)?;
        }
        match pinned.refresh(now).await {
            Err(error) if pinned.good().keys.is_empty() => return Err(error),
            Err(error) => tracing::warn!(%error, "using the last good directory"),
            Ok(()) => {}
        }
        Ok(pinned)
    }

    /// The issuer's fingerprint.
    #[must_use]
    pub fn issuer(&self) -> Fingerprint {
        self.contact.fingerprint()
    }

    /// Fetches the directory, if it changed. A good one is kept durably, then used.
    ///
    /// # Errors
    /// If there is no good one. The last good one stays in use.
    pub async fn refresh(&self, now: u64) -> Result<()> {
        self.ask(now, false).await
    }

    /// For how many seconds the directory is fresh, as the issuer said with it.
    #[must_use]
    pub fn fresh_for(&self) -> u64 {
        self.seen().1
    }

    async fn ask(&self, now: u64, is_urgent: bool) -> Result<()> {
        self.asked.store(now, Ordering::Relaxed);
        let url = format!("{}{SIGNED_DIRECTORY_PATH}", self.url);
        let (tag, _) = self.seen().clone();
        let answer = fetch(&self.agent, url, tag, is_urgent).await?;
        if let Some(statement) = answer.body {
            self.keep(statement).await?;
            self.seen().0 = answer.tag;
        }
        self.seen().1 = answer.fresh;
        Ok(())
    }

    /// Keeps a directory, and uses it. Other processes keep theirs in the same store: the newest
    /// one is used.
    async fn keep(&self, statement: Vec<u8>) -> Result<()> {
        let (time, _) = self.check(&statement)?;
        if time < self.good().time {
            let text = "it answered with an older directory than before";
            return Err(Error::Issuer(text.to_owned()));
        }
        let before = self.store.get(RECORD).await?;
        let is_newer = |kept: &Vec<u8>| self.check(kept).is_ok_and(|(kept, _)| kept > time);
        if before.as_ref() == Some(&statement) || before.as_ref().is_some_and(is_newer) {
            return self.take(&before.unwrap_or(statement));
        }
        let record = Replace {
            name: RECORD.to_owned(),
            expected: before,
            value: Some(statement.clone()),
        };
        if self.store.update(vec![record]).await? {
            return self.take(&statement);
        }
        let text = "another process kept a directory at the same time";
        Err(Error::Issuer(text.to_owned()))
    }

    fn seen(&self) -> MutexGuard<'_, (Option<String>, u64)> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows its keys, and how old it is.
    pub fn show(&self, now: u64) {
        let good = self.good();
        measure::show_keys(&good.keys, now);
        metrics::gauge!("sealstone_directory_time_seconds").set(good.time as f64);
    }

    fn take(&self, statement: &[u8]) -> Result<()> {
        let (time, directory) = self.check(statement)?;
        let keys = directory.keys;
        let mut good = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        *good = Arc::new(Good { time, keys });
        Ok(())
    }

    /// The directory in a statement of the issuer, which must be approved at this time.
    fn check(&self, statement: &[u8]) -> Result<(u64, Directory)> {
        if seen(&self.trust, Some(self.issuer()))?.is_none() {
            return Err(Error::Issuer("it is not approved any more".to_owned()));
        }
        let statement = Statement::decode(statement)?;
        let content = statement.verify(Purpose::TokenDirectory, &self.contact)?;
        let text = std::str::from_utf8(content).map_err(|_| TokenError::Malformed("directory"))?;
        Ok((statement.time(), Directory::from_json(text)?))
    }

    /// Checks a token, and does not spend it. For an unknown key it asks the issuer again.
    ///
    /// # Errors
    /// If the token is forged, or of a key that is unknown or over.
    pub async fn redeem(
        &self,
        token: &Token,
        now: u64,
    ) -> std::result::Result<Redemption, TokenError> {
        let is_unknown = find(&self.good(), token, now).is_err();
        if is_unknown && self.may_ask(now) {
            match self.ask(now, true).await {
                Ok(()) => {}
                Err(error) => tracing::warn!(%error, "using the last good directory"),
            }
        }
        let good = self.good();
        let entry = find(&good, token, now)?;
        entry.key.verify(token)?;
        let lifetime = entry.lifetime.ok_or(TokenError::NoEpoch)?;
        Ok(Redemption {
            epoch: lifetime.epoch,
            nullifier: token.nullifier(),
            redeem_until: lifetime.redeem_until,
        })
    }

    /// Whether it is time to ask for an unknown key: true for one of many callers at once.
    fn may_ask(&self, now: u64) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        now.abs_diff(asked) >= ASK_AGAIN
            && self
                .asked
                .compare_exchange(asked, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// The key of a type that is preferred at this time.
    #[must_use]
    pub fn public_key(&self, kind: TokenType, now: u64) -> Option<Vec<u8>> {
        let good = self.good();
        let is_it = |entry: &&DirectoryKey| {
            let is_valid = entry
                .lifetime
                .is_some_and(|l| (l.not_before..l.issue_until).contains(&now));
            entry.key.token_type() == kind && is_valid
        };
        let found = good.keys.iter().find(is_it);
        found.map(|entry| entry.key.as_bytes().to_vec())
    }

    fn good(&self) -> Arc<Good> {
        self.keys
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The key of a token, if it is accepted at this time.
fn find<'g>(
    good: &'g Good,
    token: &Token,
    now: u64,
) -> std::result::Result<&'g DirectoryKey, TokenError> {
    let is_valid = |entry: &DirectoryKey| {
        let lifetime = entry.lifetime;
        lifetime.is_some_and(|l| (l.not_before..l.redeem_until).contains(&now))
    };
    let is_it = |entry: &&DirectoryKey| entry.key.id() == token.key_id() && is_valid(entry);
    good.keys.iter().find(is_it).ok_or(TokenError::NoEpoch)
}

/// The issuer in the trust store: the one with this fingerprint, or the only one.
fn seen(trust: &TrustDirectory, fingerprint: Option<Fingerprint>) -> Result<Option<Contact>> {
    let store = TrustStore::open(trust.clone())?;
    let found = match fingerprint {
        Some(fingerprint) => store.get(&fingerprint),
        None => store.iter().next(),
    };
    let Some(record) = found else {
        return match store.iter().next() {
            Some(other) => Err(Error::Issuer(format!(
                "{} is pinned: to trust another issuer, use another data directory",
                other.fingerprint()
            ))),
            None => Ok(None),
        };
    };
    match record.status() {
        Status::Approved => Ok(record.contact()?),
        status => Err(Error::Issuer(format!("its passport is {}", status.name()))),
    }
}

/// Approves the passport in `armor`: the configuration names it, or no issuer was seen before.
fn introduce(
    armor: &[u8],
    fingerprint: Option<Fingerprint>,
    trust: &TrustDirectory,
    now: u64,
) -> Result<Contact> {
    let passport = PublicPassport::from_armor(armor)?;
    let contact = passport.contact().clone();
    let note = match fingerprint {
        Some(wanted) if wanted != contact.fingerprint() => {
            let found = contact.fingerprint();
            return Err(Error::Issuer(format!(
                "its fingerprint is {found}, not {wanted}"
            )));
        }
        Some(_) => "pinned by the configuration",
        None => "pinned at the first use of its URL",
    };
    let change = Change {
        time: now,
        operator: "verifier",
        note: Some(note),
    };
    let mut store = TrustStore::open(trust.clone())?;
    store.introduce(&contact, &change)?;
    store.set_status(&contact.fingerprint(), Status::Approved, &change)?;
    tracing::warn!(fingerprint = %contact.fingerprint(), note, "pinned the issuer");
    Ok(contact)
}

/// The answer of a URL.
struct Fetched {
    /// The new content; none if it did not change since the tag.
    body: Option<Vec<u8>>,
    tag: Option<String>,
    /// Seconds.
    fresh: u64,
}

/// Asks a URL, for something else than what `tag` names. Urgently means: not from a cache.
async fn fetch(
    agent: &ureq::Agent,
    url: String,
    tag: Option<String>,
    is_urgent: bool,
) -> Result<Fetched> {
    let (agent, asked) = (agent.clone(), url.clone());
    let fetched = tokio::task::spawn_blocking(move || {
        let mut request = agent.get(&asked);
        if let Some(tag) = &tag {
            request = request.header("if-none-match", tag);
        }
        if is_urgent {
            request = request.header("cache-control", "no-cache");
        }
        let mut response = request.call()?;
        let header = |name| response.headers().get(name)?.to_str().ok();
        let (found, fresh) = (
            header("etag").map(str::to_owned),
            max_age(header("cache-control")),
        );
        let body = match response.status().as_u16() {
            304 if tag.is_some() => None,
            200 => {
                let limit = u64::try_from(MAX_LEN).unwrap_or(u64::MAX);
                Some(
                    response
                        .body_mut()
                        .with_config()
                        .limit(limit)
                        .read_to_vec()?,
                )
            }
            status => return Err(ureq::Error::StatusCode(status)),
        };
        Ok(Fetched {
            body,
            tag: found,
            fresh,
        })
    });
    match fetched.await {
        Ok(Ok(fetched)) => Ok(fetched),
        Ok(Err(error)) => Err(Error::Issuer(format!("{url}: {error}"))),
        Err(_) => Err(Error::Issuer(format!("{url}: the request was interrupted"))),
    }
}

/// The seconds that a header Cache-Control allows (RFC 9111, section 5.2.2); without it, any.
fn max_age(header: Option<&str>) -> u64 {
    let directives = header.unwrap_or("").split(',').map(str::trim);
    let mut found = u64::MAX;
    for directive in directives {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let seconds = match name.to_ascii_lowercase().as_str() {
            "no-cache" | "no-store" => Some(0),
            "max-age" => value.trim_matches('"').parse().ok(),
            _ => None,
        };
        found = found.min(seconds.unwrap_or(u64::MAX));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::max_age;

    #[test]
    fn the_shortest_time_counts() {
        for (header, seconds) in [
            (None, u64::MAX),
            (Some("public"), u64::MAX),
            (Some("public, max-age=60"), 60),
            (Some("Max-Age=\"7\""), 7),
            (Some("max-age=60, no-cache"), 0),
            (Some("no-store"), 0),
            (Some("max-age=x"), u64::MAX),
            (Some("s-maxage=5"), u64::MAX),
        ] {
            assert_eq!(max_age(header), seconds, "{header:?}");
        }
    }
}
