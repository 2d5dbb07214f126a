//! The issuer's keys: made, stored, announced, in this order (`spec/service.md`, "Keys").
//!
//! ```
//! use std::sync::Arc;
//! use sealstone_server::keys::{KeyOptions, Keyring};
//! use sealstone_server::store::RedbStore;
//! use sealstone_server::vault::Vault;
//! use sealstone_token::privacypass::TokenType;
//!
//! let directory = tempfile::tempdir()?;
//! let now = 1_767_225_600;
//! let vault = Arc::new(Vault::open(directory.path(), None, "Issuer", now)?);
//! let store = Arc::new(RedbStore::open(&directory.path().join("store.redb"))?);
//! let options = KeyOptions { types: vec![TokenType::VoprfP384], ..KeyOptions::default() };
//!
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! let keyring = runtime.block_on(Keyring::open(store, vault, &options, now))?;
//! assert!(keyring.published().json.contains("\"token-type\": 1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use sealstone::statement::{Purpose, Statement};
use sealstone_primitives::hash::sha256;
use sealstone_primitives::secret::Secret;
use sealstone_token::epoch::{Issuer, Redemption, Root, Schedule, generate_rsa};
use sealstone_token::privacypass::{IssuerKey, Token, TokenChallenge, TokenType};
use serde::{Deserialize, Serialize};

use crate::store::{Replace, Store};
use crate::vault::Vault;
use crate::{Error, Result};

/// The path that the directory names for requests.
pub const REQUEST_PATH: &str = "/token-request";
/// Seconds after which a directory is signed anew.
const SIGN_EVERY: u64 = 3600;
const STATE: &str = "issuer/state";

/// Which keys an issuer has, and for how long. The schedule counts at the first start only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyOptions {
    /// The types of token.
    pub types: Vec<TokenType>,
    /// Seconds of an epoch.
    pub length: u64,
    /// For how many seconds a key issues after its epoch.
    pub issue_grace: u64,
    /// For how many seconds tokens are accepted after their epoch.
    pub redeem_grace: u64,
}

impl Default for KeyOptions {
    /// Both types of RFC 9578, a week each; tokens are valid for one to two weeks.
    fn default() -> Self {
        const DAY: u64 = 24 * 60 * 60;
        Self {
            types: vec![TokenType::VoprfP384, TokenType::BlindRsa2048],
            length: 7 * DAY,
            issue_grace: DAY,
            redeem_grace: 7 * DAY,
        }
    }
}

/// The form of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One token (RFC 9578).
    One,
    /// Several of one key, with one proof.
    Amortized,
    /// Several of several keys.
    Generic,
}

/// The issuer's public directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The directory's text.
    pub json: String,
    /// The same, signed by the passport.
    pub statement: Vec<u8>,
    /// Changes with the text.
    pub etag: String,
    /// When it was signed, in seconds since 1970.
    pub signed: u64,
}

/// The record that says which keys there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// Counts revocations.
    generation: u64,
    start: u64,
    length: u64,
    issue_grace: u64,
    redeem_grace: u64,
}

/// The keys of an issuer, in memory and in its store.
pub struct Keyring {
    store: Arc<dyn Store>,
    vault: Arc<Vault>,
    types: Vec<TokenType>,
    inner: RwLock<Inner>,
    /// One refresh or revocation at a time.
    turn: tokio::sync::Mutex<()>,
}

struct Inner {
    state: State,
    issuer: Issuer,
    published: Arc<Published>,
}

impl Keyring {
    /// Reads the keys, or makes them at the first start, and publishes them.
    ///
    /// # Errors
    /// If the store fails, a record was altered, or the options fit no schedule.
    pub async fn open(
        store: Arc<dyn Store>,
        vault: Arc<Vault>,
        options: &KeyOptions,
        now: u64,
    ) -> Result<Self> {
        let state = match read_state(&*store).await? {
            Some((state, _)) => state,
            None => first_state(&*store, &vault, options, now).await?,
        };
        let issuer = load(&*store, &vault, &state, &options.types).await?;
        let keyring = Self {
            inner: RwLock::new(Inner {
                state,
                published: publish(&vault, &issuer, now, now)?,
                issuer,
            }),
            store,
            vault,
            types: options.types.clone(),
            turn: tokio::sync::Mutex::default(),
        };
        keyring.fill(now, Ahead::No).await?;
        Ok(keyring)
    }

    /// Makes, stores and announces the keys of this moment and of the next epoch, and takes over
    /// what other processes did. Call it often: it is cheap if there is nothing to do.
    ///
    /// # Errors
    /// If the store fails. The keys that were there stay.
    pub async fn refresh(&self, now: u64) -> Result<()> {
        self.reload().await?;
        self.fill(now, Ahead::Yes).await
    }

    /// Replaces all keys, because somebody else may know them. Old tokens are worthless.
    ///
    /// # Errors
    /// If the store fails, or another process revoked at the same time.
    pub async fn revoke(&self, now: u64) -> Result<()> {
        let turn = self.turn.lock().await;
        let Some((state, encoded)) = read_state(&*self.store).await? else {
            return Err(Error::Damaged(STATE.to_owned()));
        };
        let next = State {
            generation: state.generation + 1,
            ..state
        };
        let mut records = vec![
            Replace {
                name: STATE.to_owned(),
                expected: Some(encoded),
                value: Some(encode(&next)),
            },
            new_root(&self.vault, next.generation)?,
        ];
        records.extend(self.removals(&state, now).await?);
        if !self.store.update(records).await? {
            return Err(changed_meanwhile());
        }
        drop(turn);
        tracing::warn!(generation = next.generation, "all keys were revoked");
        self.refresh(now).await
    }

    /// Begins the next epoch now. No token expires earlier because of it.
    ///
    /// # Errors
    /// If the store fails, another process changed the keys at the same time, or one more rotation
    /// would make too many epochs valid at once.
    pub async fn rotate(&self, now: u64) -> Result<()> {
        // The key of the next epoch is listed before it begins.
        self.refresh(now).await?;
        let turn = self.turn.lock().await;
        let Some((state, encoded)) = read_state(&*self.store).await? else {
            return Err(Error::Damaged(STATE.to_owned()));
        };
        let rotated = schedule(&state)?.rotate(now).map_err(|_| {
            let text = "too many epochs would be valid at once: wait until the oldest has ended";
            Error::Config(text.to_owned())
        })?;
        let next = State {
            start: rotated.start(),
            issue_grace: rotated.issue_grace(),
            redeem_grace: rotated.redeem_grace(),
            ..state
        };
        let replace = Replace {
            name: STATE.to_owned(),
            expected: Some(encoded),
            value: Some(encode(&next)),
        };
        if !self.store.update(vec![replace]).await? {
            return Err(changed_meanwhile());
        }
        drop(turn);
        tracing::info!("the next epoch began before its time");
        self.refresh(now).await
    }

    /// The removal of all keys of a generation.
    async fn removals(&self, state: &State, now: u64) -> Result<Vec<Replace>> {
        let last = schedule(state)?.epoch(now).unwrap_or(0).saturating_add(2);
        let first = last.saturating_sub(16);
        let rsa = (first..=last).map(|epoch| rsa_name(state.generation, epoch));
        let names = rsa.chain([root_name(state.generation)]);
        let mut removals = Vec::new();
        for name in names {
            if let Some(expected) = self.store.get(&name).await? {
                removals.push(Replace {
                    name,
                    expected: Some(expected),
                    value: None,
                });
            }
        }
        Ok(removals)
    }

    /// Takes over another generation, if another process made one.
    async fn reload(&self) -> Result<()> {
        let _turn = self.turn.lock().await;
        let Some((state, _)) = read_state(&*self.store).await? else {
            return Err(Error::Damaged(STATE.to_owned()));
        };
        let known = self.read().state;
        if state.generation != known.generation {
            let issuer = load(&*self.store, &self.vault, &state, &self.types).await?;
            let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
            inner.state = state;
            inner.issuer = issuer;
        } else if state != known {
            let schedule = schedule(&state)?;
            let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
            inner.state = state;
            inner.issuer.reschedule(schedule);
        }
        Ok(())
    }

    /// Adds the keys that are missing, each durable before it is announced.
    async fn fill(&self, now: u64, ahead: Ahead) -> Result<()> {
        let _turn = self.turn.lock().await;
        let (generation, schedule) = {
            let inner = self.read();
            (inner.state.generation, *inner.issuer.schedule())
        };
        let current = schedule.epoch(now).unwrap_or(0);
        // A stored key is listed at once; a new one for the next epoch may come a little later.
        let is_due = |epoch| epoch == current || (epoch > current && ahead == Ahead::Yes);
        let mut found = Vec::new();
        if self.types.contains(&TokenType::BlindRsa2048) {
            for epoch in wanted(&schedule, now) {
                if self
                    .read()
                    .issuer
                    .find(TokenType::BlindRsa2048, epoch)
                    .is_none()
                    && let Some(key) = self.rsa(generation, epoch, is_due(epoch)).await?
                {
                    found.push((epoch, key));
                }
            }
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.issuer.advance(now)?;
        for (epoch, key) in found {
            inner.issuer.insert(epoch, key)?;
        }
        let json = inner.issuer.directory(REQUEST_PATH, now).to_json();
        let is_old = now.abs_diff(inner.published.signed) >= SIGN_EVERY;
        if json != inner.published.json || is_old {
            // A clock that is set back does not make the directory older: verifiers would
            // refuse it.
            let signed = now.max(inner.published.signed);
            inner.published = publish(&self.vault, &inner.issuer, now, signed)?;
        }
        Ok(())
    }

    /// The RSA key of an epoch: from the store; new, if it is due.
    async fn rsa(&self, generation: u64, epoch: u64, is_due: bool) -> Result<Option<IssuerKey>> {
        let name = rsa_name(generation, epoch);
        for _ in 0..2 {
            if let Some(sealed) = self.store.get(&name).await? {
                let secret = self.vault.unseal(&name, &sealed)?;
                let key = IssuerKey::decode(TokenType::BlindRsa2048, secret.expose())?;
                return Ok(Some(key));
            }
            if !is_due {
                return Ok(None);
            }
            let (vault, name) = (self.vault.clone(), name.clone());
            let made = tokio::task::spawn_blocking(move || -> Result<Replace> {
                let key = generate_rsa(epoch)?;
                let sealed = vault.seal(&name, key.encode()?.expose())?;
                Ok(Replace::create(name, sealed))
            });
            let made = made
                .await
                .map_err(|_| Error::Damaged("an RSA key".to_owned()))??;
            // If another process was faster, its key counts: the loop reads it.
            self.store.update(vec![made]).await?;
        }
        Err(Error::Damaged(format!("the record {name}")))
    }

    /// Answers a request, which asks for at most `limit` tokens.
    ///
    /// # Errors
    /// As [`Issuer::issue`], [`Issuer::issue_batch`] and [`Issuer::issue_generic`].
    pub fn issue(
        &self,
        form: Form,
        request: &[u8],
        limit: usize,
        now: u64,
    ) -> std::result::Result<Vec<u8>, sealstone_token::Error> {
        let inner = self.read();
        match form {
            Form::One => inner.issuer.issue(request, now),
            Form::Amortized => inner.issuer.issue_batch(request, limit, now),
            Form::Generic => inner.issuer.issue_generic(request, limit, now),
        }
    }

    /// Checks a token, and does not spend it.
    ///
    /// # Errors
    /// As [`Issuer::redeem`].
    pub fn redeem(
        &self,
        token: &Token,
        challenge: &TokenChallenge,
        now: u64,
    ) -> std::result::Result<Redemption, sealstone_token::Error> {
        self.read().issuer.redeem(token, challenge, now)
    }

    /// The directory that clients and verifiers fetch.
    #[must_use]
    pub fn published(&self) -> Arc<Published> {
        self.read().published.clone()
    }

    /// Whether there is a key of each type for this moment.
    #[must_use]
    pub fn is_ready(&self, now: u64) -> bool {
        let inner = self.read();
        let epoch = inner.issuer.schedule().epoch(now);
        epoch.is_some_and(|epoch| {
            let has = |kind: &TokenType| inner.issuer.find(*kind, epoch).is_some();
            self.types.iter().all(has)
        })
    }

    /// The key of a type that is preferred at this moment.
    #[must_use]
    pub fn public_key(&self, kind: TokenType, now: u64) -> Option<Vec<u8>> {
        let inner = self.read();
        let epoch = inner.issuer.schedule().epoch(now)?;
        let key = inner.issuer.find(kind, epoch)?;
        Some(key.public_key().as_bytes().to_vec())
    }

    /// The types of token that are issued.
    #[must_use]
    pub fn types(&self) -> &[TokenType] {
        &self.types
    }

    /// The passport that signs the directory.
    #[must_use]
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the next epoch's keys are made now. An RSA key takes a second.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ahead {
    No,
    Yes,
}

/// The epochs whose keys should be in memory: those that redeem, and the next.
fn wanted(schedule: &Schedule, now: u64) -> std::ops::RangeInclusive<u64> {
    let valid = schedule.redeeming(now).unwrap_or(0..=0);
    *valid.start()..=valid.end().saturating_add(1)
}

fn root_name(generation: u64) -> String {
    format!("issuer/root/{generation}")
}

fn rsa_name(generation: u64, epoch: u64) -> String {
    format!("issuer/rsa/{generation}/{epoch}")
}

fn encode(state: &State) -> Vec<u8> {
    serde_json::to_vec(state).expect("numbers have a JSON form")
}

fn schedule(state: &State) -> Result<Schedule> {
    let made = Schedule::new(
        state.start,
        state.length,
        state.issue_grace,
        state.redeem_grace,
    );
    made.map_err(|_| {
        Error::Config("keys: 0 < length, issue-grace <= redeem-grace <= 6 lengths".to_owned())
    })
}

fn changed_meanwhile() -> Error {
    Error::Config("the keys changed meanwhile: try again".to_owned())
}

async fn read_state(store: &dyn Store) -> Result<Option<(State, Vec<u8>)>> {
    let Some(encoded) = store.get(STATE).await? else {
        return Ok(None);
    };
    let state = serde_json::from_slice(&encoded);
    let state = state.map_err(|_| Error::Damaged(format!("the record {STATE}")))?;
    Ok(Some((state, encoded)))
}

/// Makes the root and the schedule. The present epoch is number 1, so that a clock that is set
/// back a little still finds an epoch.
async fn first_state(
    store: &dyn Store,
    vault: &Vault,
    options: &KeyOptions,
    now: u64,
) -> Result<State> {
    let length = options.length.max(1);
    let state = State {
        generation: 0,
        start: (now / length).saturating_sub(1) * length,
        length: options.length,
        issue_grace: options.issue_grace,
        redeem_grace: options.redeem_grace,
    };
    schedule(&state)?;
    let records = vec![Replace::create(STATE, encode(&state)), new_root(vault, 0)?];
    if store.update(records).await? {
        tracing::info!("made the root of all keys");
    }
    let made = read_state(store).await?;
    made.map(|(state, _)| state)
        .ok_or_else(|| Error::Damaged(STATE.to_owned()))
}

fn new_root(vault: &Vault, generation: u64) -> Result<Replace> {
    let name = root_name(generation);
    let sealed = vault.seal(&name, Root::generate().secret().expose())?;
    Ok(Replace::create(name, sealed))
}

/// The issuer of a generation, without RSA keys.
async fn load(
    store: &dyn Store,
    vault: &Vault,
    state: &State,
    types: &[TokenType],
) -> Result<Issuer> {
    let name = root_name(state.generation);
    let damaged = || Error::Damaged(format!("the record {name}"));
    let sealed = store.get(&name).await?.ok_or_else(damaged)?;
    let secret = vault.unseal(&name, &sealed)?;
    let root = Secret::from_slice(secret.expose()).map_err(|_| damaged())?;
    let is_derived = |kind: &TokenType| *kind != TokenType::BlindRsa2048;
    let derived: Vec<TokenType> = types.iter().copied().filter(is_derived).collect();
    Ok(Issuer::new(Root::new(root), schedule(state)?, &derived)?)
}

fn publish(vault: &Vault, issuer: &Issuer, now: u64, time: u64) -> Result<Arc<Published>> {
    let json = issuer.directory(REQUEST_PATH, now).to_json();
    let passport = vault.passport();
    let signed = Statement::sign(passport, Purpose::TokenDirectory, json.as_bytes(), time)?;
    let digest = sha256(&[json.as_bytes(), &time.to_be_bytes()]);
    let hex: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(Arc::new(Published {
        statement: signed.encode(),
        etag: format!("\"{hex}\""),
        signed: time,
        json,
    }))
}
