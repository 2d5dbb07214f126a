//! Puts a service together, says that it is ready, serves, and ends.
//!
//! ```no_run
//! use sealstone_server::config::Config;
//! use sealstone_server::http::Stop;
//! use sealstone_server::service;
//!
//! # async fn example() -> sealstone_server::Result<()> {
//! let config = Config { data: Some("/var/lib/sealstone-issuer".into()), ..Config::default() };
//! let stop = Stop::default();
//! stop.on_signals()?;
//! service::issuer(&config, &stop).await
//! # }
//! ```

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use sealstone_files::TrustDirectory;
use sealstone_primitives::secret::Secret;
use sealstone_token::privacypass::directory::Directory;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::config::Config;
use crate::gate::Gates;
use crate::health::{self, Health, PROBE_LEN, SHARED_PROBE_LEN};
use crate::http::{self, Listener, Stop, Tls, reload_on_hangup, with_fallbacks};
use crate::issuer::Issuer;
use crate::keys::Keyring;
use crate::measure::{self, Measured};
use crate::moving::{self, ROLE, TRUST};
use crate::pinned::{FETCH_TIME, Pinned};
use crate::session::Lifetime;
use crate::store::{self, MOVED, Replace, Store, Transfer};
use crate::vault::{Vault, restore_passport};
use crate::verifier::{Source, Verifier};
use crate::{Error, Result, admin, api, network};

const GATE_SECRET: &str = "issuer/gate-secret";
/// How often keys, sets and gauges are updated.
const MAINTENANCE: Duration = Duration::from_secs(30);
/// How often the page's curves get a point.
const SAMPLE_EVERY: Duration = Duration::from_secs(10);
/// For how many seconds sets are kept after their end: clocks jump.
const KEPT: u64 = 24 * 60 * 60;

/// The common state of both services.
struct Common {
    data: PathBuf,
    clock: Clock,
    store: Arc<dyn Transfer>,
    listener: Listener,
    address: String,
    metrics: Option<PrometheusHandle>,
}

/// Runs an issuer until `stop`.
///
/// # Errors
/// If it cannot start.
pub async fn issuer(config: &Config, stop: &Stop) -> Result<()> {
    let common = Common::open(config, "issuer", stop).await?;
    let now = common.clock.now();
    let passphrase = config.passport.passphrase_file.as_deref();
    let label = config.passport.label.as_deref().unwrap_or("Token issuer");
    let vault = match config.store.is_shared() {
        true => Vault::open_shared(&*common.store, &common.data, passphrase, label, now).await?,
        false => {
            restore_passport(&*common.store, &common.data).await?;
            Vault::open(&common.data, passphrase, label, now)?
        }
    };
    let vault = Arc::new(vault);
    let secret = gate_secret(&*common.store, &vault).await?;
    let gates = Gates::new(&config.issuer.gate, &config.gates, &secret)?;
    let options = config.key_options()?;
    let store = common.store.clone();
    let keyring = Arc::new(Keyring::open(store.clone(), vault.clone(), &options, now).await?);
    let issuer = Arc::new(Issuer::new(
        keyring.clone(),
        store,
        gates,
        config.proxies()?,
        common.clock.clone(),
        config.issuer.max_batch,
    ));
    let mut router = issuer.clone().router(&config.routes);
    let document = match config.issuer.verify {
        true => api::both(),
        false => api::issuer(),
    };
    router = router.merge(api::router(&document));
    if config.issuer.verify {
        let source = Source::Own(keyring.clone());
        let name = config.issuer.name.as_ref();
        let verifier = common.verifier(source, name, None, &config.issuer.origins)?;
        router = router.merge(verifier.router(&config.routes));
    }
    let (ready, clock) = (keyring.clone(), common.clock.clone());
    let is_ready = move || ready.is_ready(clock.now());
    let (upkeep, clock) = (keyring.clone(), common.clock.clone());
    common.maintain(
        stop,
        || Duration::ZERO,
        move || {
            let (upkeep, now) = (upkeep.clone(), clock.now());
            async move {
                let refreshed = upkeep.refresh(now).await;
                if let Ok(directory) = Directory::from_json(&upkeep.published().json) {
                    measure::show_keys(&directory.keys, now);
                }
                refreshed
            }
        },
    );
    let admin = common
        .administer(config, "issuer", Some(issuer), stop)
        .await?;
    let line = json!({
        "event": "ready", "role": "issuer", "admin": admin.url, "listen": common.address,
        "url": common.url(),
        "fingerprint": vault.passport().fingerprint().to_string(),
        "gate": config.issuer.gate, "types": config.keys.types,
    });
    let served = common.serve(router, config, stop, is_ready, &line).await;
    drop(admin);
    served
}

/// Runs a verifier until `stop`.
///
/// # Errors
/// If it cannot start.
pub async fn verifier(config: &Config, stop: &Stop) -> Result<()> {
    let Some(url) = &config.verifier.issuer else {
        let text = "a verifier needs the URL of its issuer: give it with --issuer";
        return Err(Error::Config(text.to_owned()));
    };
    let common = Common::open(config, "verifier", stop).await?;
    let trust = TrustDirectory::new(common.data.join(TRUST));
    let fingerprint = config.fingerprint()?;
    let (store, now) = (common.store.clone(), common.clock.now());
    let agent = network::agent(config.verifier.ca_file.as_deref(), FETCH_TIME)?;
    let pinned = Pinned::open(url, agent, fingerprint, trust, store, now).await?;
    let pinned = Arc::new(pinned);
    let source = Source::Pinned(pinned.clone());
    let name = config.verifier.name.as_ref();
    let verifier = common.verifier(source, name, Some(url), &config.verifier.origins)?;
    let ready = verifier.clone();
    let admin = common.administer(config, "verifier", None, stop).await?;
    let line = json!({
        "event": "ready", "role": "verifier", "admin": admin.url, "listen": common.address,
        "url": common.url(),
        "issuer": url, "fingerprint": pinned.issuer().to_string(),
    });
    let refresh = config.verifier.refresh;
    let fresh = pinned.clone();
    let every = move || Duration::from_secs(refresh.min(fresh.fresh_for()).max(1));
    let clock = common.clock.clone();
    pinned.show(clock.now());
    common.maintain(stop, every, move || {
        let (upkeep, now) = (pinned.clone(), clock.now());
        async move {
            let refreshed = upkeep.refresh(now).await;
            upkeep.show(now);
            refreshed
        }
    });
    let router = verifier.router(&config.routes);
    let router = router.merge(api::router(&api::verifier()));
    let served = common.serve(router, config, stop, move || ready.is_ready(), &line);
    let served = served.await;
    drop(admin);
    served
}

/// The operators' interface to a running service.
struct Administered {
    _socket: admin::Socket,
    /// The page's URL, if there is a listener.
    url: Option<String>,
}

impl Common {
    async fn open(config: &Config, role: &str, stop: &Stop) -> Result<Self> {
        let Some(data) = config.data.clone() else {
            let text = "a data directory is needed: give it with --data";
            return Err(Error::Config(text.to_owned()));
        };
        sealstone_files::make_directory(&data).map_err(|e| Error::io(&data, e))?;
        let is_watched = config.metrics.listen.is_some() || !config.admin.listen.is_empty();
        let metrics = is_watched.then(measure::recorder).transpose()?;
        let store = store::open(&config.store, &data, role).await?;
        let store: Arc<dyn Transfer> = Arc::new(Measured(store));
        moving::is_whole(&*store).await?;
        claim_role(&*store, role).await?;
        let tls = Tls::open(&config.tls)?;
        let every = Duration::from_secs(config.tls.reload_seconds);
        reload_on_hangup(tls.clone(), every, stop)?;
        let listener = http::bind(&config.listen).await?;
        let address = listener.local_addr();
        let address = address.map_err(|e| Error::io(Path::new(&config.listen), e))?;
        Ok(Self {
            data,
            clock: Clock::system(),
            store,
            listener: Listener::new(listener, tls),
            address: address.to_string(),
            metrics,
        })
    }

    /// The URL for clients.
    fn url(&self) -> String {
        format!("{}://{}", self.listener.scheme(), self.address)
    }

    /// Starts the socket and the listener for operators.
    async fn administer(
        &self,
        config: &Config,
        role: &'static str,
        issuer: Option<Arc<Issuer>>,
        stop: &Stop,
    ) -> Result<Administered> {
        let lifetime = Lifetime {
            idle: config.admin.idle_seconds,
            most: config.admin.session_seconds,
        };
        let service = admin::Service {
            role,
            address: self.address.clone(),
            store: self.store.clone(),
            data: self.data.clone(),
            clock: self.clock.clone(),
            issuer,
            metrics: self.metrics.clone(),
        };
        let actions = Arc::new(admin::Actions::new(service, lifetime));
        actions.started().await?;
        if let Some(handle) = self.metrics.clone() {
            watch(actions.clone(), handle, stop.clone());
        }
        let socket = admin::listen(&self.data, actions.clone(), stop)?;
        let url = match config.admin.listen.as_str() {
            "" => None,
            address => {
                let listener = http::bind(address).await?;
                let address = listener.local_addr();
                let address = address.map_err(|e| Error::io(Path::new("admin"), e))?;
                let origins = admin::Origins::new(address, &config.admin.origins)?;
                let router = admin::Guard::new(actions, origins).router();
                let (connections, stop) = (config.connections.clone(), stop.clone());
                tokio::spawn(async move {
                    http::serve(listener, router, &connections, &stop).await;
                });
                Some(format!("http://{address}"))
            }
        };
        Ok(Administered {
            _socket: socket,
            url,
        })
    }

    /// A verifier whose names are configured, or follow from addresses.
    fn verifier(
        &self,
        source: Source,
        issuer_name: Option<&String>,
        issuer_url: Option<&str>,
        origins: &[String],
    ) -> Result<Arc<Verifier>> {
        let host = |url: &str| {
            let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
            rest.split('/').next().unwrap_or(rest).to_owned()
        };
        let name = match (issuer_name, issuer_url) {
            (Some(name), _) => name.clone(),
            (None, Some(url)) => host(url),
            (None, None) => self.address.clone(),
        };
        let own = [self.address.clone()];
        let origins = if origins.is_empty() { &own } else { origins };
        let (store, clock) = (self.store.clone(), self.clock.clone());
        Ok(Arc::new(Verifier::new(
            source, store, &name, origins, clock,
        )?))
    }

    /// Updates keys, sets and gauges until the service ends. `refresh` runs each `every`, which
    /// may change.
    fn maintain<F>(
        &self,
        stop: &Stop,
        every: impl Fn() -> Duration + Send + 'static,
        refresh: impl Fn() -> F + Send + 'static,
    ) where
        F: Future<Output = Result<()>> + Send,
    {
        let (store, clock, stop) = (self.store.clone(), self.clock.clone(), stop.clone());
        let data = self.data.clone();
        tokio::spawn(async move {
            // An issuer makes the next epoch's keys at once; a verifier has just asked.
            let mut since = if every().is_zero() {
                MAINTENANCE
            } else {
                Duration::ZERO
            };
            while !stop.is_ending() {
                if since >= every() {
                    since = Duration::ZERO;
                    if let Err(error) = refresh().await {
                        tracing::error!(%error, "keys were not refreshed");
                    }
                }
                if let Ok(Some(_)) = store.get(MOVED).await {
                    tracing::error!("the content of the store moved: this process ends");
                    stop.now();
                }
                if let Err(error) = tidy(&*store, clock.now()).await {
                    tracing::error!(%error, "old sets were not dropped");
                }
                show_room(&data);
                let pause = match every() {
                    Duration::ZERO => MAINTENANCE,
                    every => MAINTENANCE.min(every),
                };
                tokio::select! {
                    () = tokio::time::sleep(pause) => since += pause,
                    () = stop.wait() => break,
                }
            }
        });
    }

    /// Prints that the service is ready, and serves until `stop`.
    async fn serve(
        self,
        router: Router,
        config: &Config,
        stop: &Stop,
        is_ready: impl Fn() -> bool + Send + Sync + 'static,
        line: &Value,
    ) -> Result<()> {
        let health = Arc::new(Health {
            store: self.store.clone(),
            probe_len: match config.store.is_shared() {
                true => SHARED_PROBE_LEN,
                false => PROBE_LEN,
            },
            stop: stop.clone(),
            is_ready: Box::new(is_ready),
        });
        let router = with_fallbacks(router.merge(health::router(health)));
        let router = config.pages()?.before(router);
        let connections = config.connections.clone();
        if let (Some(address), Some(handle)) = (&config.metrics.listen, self.metrics) {
            let listener = http::bind(address).await?;
            let (connections, stop) = (connections.clone(), stop.clone());
            tokio::spawn(async move {
                http::serve(listener, metrics_router(handle), &connections, &stop).await;
            });
        }
        say(line)?;
        http::serve(self.listener, router, &connections, stop).await;
        tracing::info!("ended");
        Ok(())
    }
}

/// Samples numbers for the page, and keeps the recorder's buffers small.
fn watch(actions: Arc<admin::Actions>, handle: PrometheusHandle, stop: Stop) {
    tokio::spawn(async move {
        while !stop.is_ending() {
            handle.run_upkeep();
            actions.sample();
            tokio::select! {
                () = tokio::time::sleep(SAMPLE_EVERY) => {}
                () = stop.wait() => break,
            }
        }
    });
}

/// A data directory belongs to one kind of service.
async fn claim_role(store: &dyn Store, role: &str) -> Result<()> {
    store
        .update(vec![Replace::create(ROLE, role.into())])
        .await?;
    match store.get(ROLE).await? {
        Some(found) if found == role.as_bytes() => Ok(()),
        found => Err(Error::Config(format!(
            "this data directory belongs to a service of another kind ({}): use another directory",
            String::from_utf8_lossy(&found.unwrap_or_default())
        ))),
    }
}

/// The secret that challenges and invitations are authenticated with.
async fn gate_secret(store: &dyn Store, vault: &Vault) -> Result<Secret<32>> {
    if store.get(GATE_SECRET).await?.is_none() {
        let sealed = vault.seal(GATE_SECRET, Secret::<32>::random().expose())?;
        store
            .update(vec![Replace::create(GATE_SECRET, sealed)])
            .await?;
    }
    let damaged = || Error::Damaged(format!("the record {GATE_SECRET}"));
    let sealed = store.get(GATE_SECRET).await?.ok_or_else(damaged)?;
    let secret = vault.unseal(GATE_SECRET, &sealed)?;
    Secret::from_slice(secret.expose()).map_err(|_| damaged())
}

/// Drops what is over, and shows how much there is.
async fn tidy(store: &dyn Store, now: u64) -> Result<()> {
    store.close_sets(now.saturating_sub(KEPT)).await?;
    let (mut marks, sets) = (0, store.sets().await?);
    for (set, len) in &sets {
        if set.name().starts_with("spent-") {
            marks += len;
        }
    }
    metrics::gauge!("sealstone_store_sets").set(sets.len() as f64);
    metrics::gauge!("sealstone_spent_tokens").set(marks as f64);
    Ok(())
}

/// Shows how much room the data directory has.
fn show_room(data: &Path) {
    if let Ok(found) = rustix::fs::statvfs(data) {
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        metrics::gauge!("sealstone_disk_free_bytes").set(free as f64);
    }
}

/// The line on standard output that others wait for.
fn say(line: &Value) -> Result<()> {
    let mut output = std::io::stdout().lock();
    let written = writeln!(output, "{line}").and_then(|()| output.flush());
    written.map_err(|e| Error::io(Path::new("standard output"), e))
}

fn metrics_router(handle: PrometheusHandle) -> Router {
    let render = move || async move { handle.render() };
    with_fallbacks(Router::new().route("/metrics", get(render)))
}
