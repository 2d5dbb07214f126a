//! Views and actions of operators, for one service.

use std::path::PathBuf;
use std::sync::Arc;

use metrics_exporter_prometheus::PrometheusHandle;
use sealstone_token::privacypass::directory::{Directory, DirectoryKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::Identity;
use super::history::History;
use crate::audit::{Event, Log};
use crate::clock::Clock;
use crate::gate::invitation::{Id, Invitations};
use crate::issuer::Issuer;
use crate::operators::Operators;
use crate::problem::{Kind, Problem};
use crate::session::{Lifetime, Sessions};
use crate::store::{Outcome, Store, Transfer};
use crate::{Error, Result, archive, record, vault};

const DAY: u64 = 24 * 60 * 60;
/// Invitations that operators made and that have not ended.
const INVITATIONS: &str = "admin/invitations";
/// More are refused until some have ended.
const MOST_INVITATIONS: usize = 4096;

/// The service that operators administer.
pub struct Service {
    /// `issuer` or `verifier`.
    pub role: &'static str,
    /// The address for clients.
    pub address: String,
    /// The store.
    pub store: Arc<dyn Transfer>,
    /// The data directory.
    pub data: PathBuf,
    /// The time.
    pub clock: Clock,
    /// The issuer, if it is one.
    pub issuer: Option<Arc<Issuer>>,
    /// Renders the metrics; none without a recorder.
    pub metrics: Option<PrometheusHandle>,
}

/// All that operators can do with one service.
pub struct Actions {
    pub(super) service: Service,
    pub(super) operators: Operators,
    pub(super) sessions: Sessions,
    pub(super) log: Log,
    pub(super) history: History,
}

/// An invitation without its secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Made {
    id: String,
    gate: String,
    quota: u64,
    until: u64,
    by: String,
    revoked: bool,
}

/// A new invitation: how many tokens, how long.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Invite {
    gate: String,
    quota: u64,
    days: u64,
}

/// An invitation to revoke.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Uninvite {
    gate: String,
    id: String,
}

impl Actions {
    /// The actions of a service.
    #[must_use]
    pub fn new(service: Service, lifetime: Lifetime) -> Self {
        let clock = service.clock.clone();
        let store: Arc<dyn Store> = service.store.clone();
        Self {
            operators: Operators::new(store.clone()),
            sessions: Sessions::new(store.clone(), lifetime),
            log: Log::new(store, clock),
            history: History::default(),
            service,
        }
    }

    /// Notes in the audit log that the service starts.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn started(&self) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.log
            .append("service", &Event::Started { version })
            .await
    }

    /// Records the present numbers, for the curves of the page.
    pub fn sample(&self) {
        let now = self.service.clock.now();
        self.history.add(now, &self.measured());
    }

    /// The text of all metrics; empty without a recorder.
    fn measured(&self) -> String {
        let rendered = self.service.metrics.as_ref().map(PrometheusHandle::render);
        rendered.unwrap_or_default()
    }

    /// Keys, sets, gate, curves.
    pub(super) async fn status(&self) -> Result<Value> {
        let sets = self.service.store.sets().await?;
        let set = |(set, marks): &(crate::store::Set, u64)| json!({"name": set.name(), "until": set.until(), "marks": marks});
        let mut status = json!({
            "service": self.service.role, "listen": self.service.address,
            "version": env!("CARGO_PKG_VERSION"), "now": self.service.clock.now(),
            "sets": sets.iter().map(set).collect::<Vec<_>>(),
            "counters": counters(&self.measured()), "history": self.history.to_json(),
        });
        if let Some(issuer) = &self.service.issuer {
            let directory = Directory::from_json(&issuer.keyring.published().json)?;
            let invitations = issuer.gates.invitations().iter();
            status["keys"] = directory.keys.iter().map(key).collect();
            status["gate"] = issuer.gates.describe(self.service.clock.now());
            status["invitation-gates"] = invitations.map(Invitations::name).collect();
            let passport = issuer.keyring.vault().passport();
            status["fingerprint"] = passport.fingerprint().to_string().into();
        }
        Ok(status)
    }

    pub(super) async fn rotate(&self, who: &Identity) -> std::result::Result<(), Problem> {
        let issuer = self.issuer()?;
        self.log.append(&who.name, &Event::KeysRotated).await?;
        Ok(issuer.keyring.rotate(self.service.clock.now()).await?)
    }

    pub(super) async fn revoke(&self, who: &Identity) -> std::result::Result<(), Problem> {
        let issuer = self.issuer()?;
        self.log.append(&who.name, &Event::KeysRevoked).await?;
        Ok(issuer.keyring.revoke(self.service.clock.now()).await?)
    }

    pub(super) async fn invite(
        &self,
        who: &Identity,
        asked: Invite,
    ) -> std::result::Result<Value, Problem> {
        let now = self.service.clock.now();
        let until = now.saturating_add(asked.days.saturating_mul(DAY));
        let invitation = self.gate(&asked.gate)?.invite(asked.quota, now, until);
        let made = Made {
            id: crate::hex(&invitation.ids()[0]),
            gate: asked.gate,
            quota: asked.quota,
            until,
            by: who.name.clone(),
            revoked: false,
        };
        let event = Event::Invited {
            gate: made.gate.clone(),
            id: made.id.clone(),
            quota: made.quota,
            until,
        };
        self.log.append(&who.name, &event).await?;
        record::edit(&*self.service.store, INVITATIONS, |list: &mut Vec<Made>| {
            list.retain(|made| now < made.until);
            if list.len() >= MOST_INVITATIONS {
                let text = "there are too many invitations: wait until some have ended";
                return Err(Error::Config(text.to_owned()));
            }
            list.push(made.clone());
            Ok(())
        })
        .await?;
        let text = invitation.to_string();
        Ok(json!({
            "qr": super::page::qr(&format!("{} {text}", made.gate)),
            "invitation": text, "gate": made.gate, "id": made.id, "until": until,
        }))
    }

    pub(super) async fn uninvite(
        &self,
        who: &Identity,
        asked: Uninvite,
    ) -> std::result::Result<Value, Problem> {
        let malformed = || Problem::new(Kind::Malformed).detail("an id has 32 hexadecimal digits");
        let id = parse_id(&asked.id).ok_or_else(malformed)?;
        let change = self
            .gate(&asked.gate)?
            .revoke(&id, self.service.clock.now());
        let event = Event::Uninvited {
            gate: asked.gate,
            id: crate::hex(&id),
        };
        self.log.append(&who.name, &event).await?;
        let is_new = self.service.store.apply(change).await? == Outcome::Done;
        let id = crate::hex(&id);
        record::edit(&*self.service.store, INVITATIONS, |list: &mut Vec<Made>| {
            let mut same = list.iter_mut().filter(|made| made.id == id);
            same.by_ref().for_each(|made| made.revoked = true);
            Ok(())
        })
        .await?;
        Ok(json!({"revoked": true, "new": is_new}))
    }

    /// The invitations of operators, without their secrets.
    pub(super) async fn invitations(&self) -> Result<Value> {
        let now = self.service.clock.now();
        let mut list: Vec<Made> = record::read(&*self.service.store, INVITATIONS).await?;
        list.retain(|made| now < made.until);
        Ok(json!({"invitations": list}))
    }

    /// The bytes of a backup, while the service works.
    pub(super) async fn backup(
        &self,
        who: &Identity,
    ) -> std::result::Result<mpsc::Receiver<Vec<u8>>, Problem> {
        if !self.service.store.copies_at_work() {
            let text = "only an embedded store is backed up here: use the tools of its server";
            return Err(Problem::new(Kind::NotFound).detail(text));
        }
        self.log.append(&who.name, &Event::BackedUp).await?;
        let passport = vault::read_passport(&self.service.data)?;
        let (store, role) = (self.service.store.clone(), self.service.role);
        let (bytes, parts) = mpsc::channel(4);
        tokio::spawn(async move {
            // Readers refuse a file without its end.
            match archive::produce(&*store, role, passport, bytes).await {
                Ok(()) => tracing::info!("made a backup"),
                Err(error) => tracing::error!(%error, "a backup was not made"),
            }
        });
        Ok(parts)
    }

    fn issuer(&self) -> std::result::Result<&Issuer, Problem> {
        let text = "this service is not an issuer";
        let issuer = self.service.issuer.as_deref();
        issuer.ok_or_else(|| Problem::new(Kind::NotFound).detail(text))
    }

    fn gate(&self, name: &str) -> std::result::Result<&Invitations, Problem> {
        let mut gates = self.issuer()?.gates.invitations().iter();
        let found = gates.find(|gate| gate.name() == name);
        found.ok_or_else(|| {
            let text = format!("the gate {name} takes no invitations, or is not in use");
            Problem::new(Kind::NotFound).detail(text)
        })
    }
}

fn key(entry: &DirectoryKey) -> Value {
    let lifetime = entry.lifetime;
    json!({
        "type": entry.key.token_type().number(), "key-id": crate::hex(entry.key.id()),
        "epoch": lifetime.map(|l| l.epoch), "not-before": lifetime.map(|l| l.not_before),
        "issue-until": lifetime.map(|l| l.issue_until),
        "redeem-until": lifetime.map(|l| l.redeem_until),
    })
}

/// Counters and gauges by name and labels.
fn counters(rendered: &str) -> Map<String, Value> {
    let lines = rendered.lines().filter(|line| !line.starts_with('#'));
    let is_shown = |name: &str| name.contains("_total") || !name.contains("_seconds");
    lines
        .filter_map(|line| line.rsplit_once(' '))
        .filter(|(name, _)| is_shown(name) && !name.contains("_bucket"))
        .filter_map(|(name, value)| Some((name.to_owned(), value.parse::<f64>().ok()?.into())))
        .collect()
}

fn parse_id(text: &str) -> Option<Id> {
    let number = (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok())??;
    Some(number.to_be_bytes())
}
