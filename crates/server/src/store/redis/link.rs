//! The connection: timeouts, what is tried again, and what the server must keep.

use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_routing::{
    MultipleNodeRoutingInfo, Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr,
};
use redis::{
    Client, Cmd, ConnectionAddr, ErrorKind, FromRedisValue, IntoConnectionInfo, RedisError,
    RedisResult, ServerErrorKind, TlsCertificates, TlsMode, Value,
};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::cluster::Cluster;
use crate::store::StoreError;
use crate::store::options::{Durability, StoreOptions};
use crate::{Error, Result};

/// Between two attempts of a command that the server did not run.
const PAUSE: Duration = Duration::from_millis(50);
const OLDEST: u32 = 7;

/// Attempts to connect again for one command. The next command tries again.
const RECONNECTS: usize = 8;

/// The scripts, as they stand in [`SOURCES`].
#[derive(Clone, Copy)]
pub(super) enum Script {
    Apply,
    Update,
    Register,
}

const SOURCES: [&str; 3] = [
    include_str!("apply.lua"),
    include_str!("update.lua"),
    include_str!("register.lua"),
];

/// A connection that comes back by itself.
pub(super) struct Link {
    connection: Connection,
    scripts: [redis::Script; 3],
    limit: Duration,
    replicas: u32,
}

#[derive(Clone)]
enum Connection {
    Single(ConnectionManager),
    Cluster(Cluster),
}

impl Link {
    pub(super) async fn open(options: &StoreOptions) -> Result<Self> {
        // If a process has several providers of cryptography, the first one counts.
        drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
        let limit = options.limit();
        let connecting = async {
            match options.cluster {
                true => cluster(options).await.map(Connection::Cluster),
                false => single(options).await.map(Connection::Single),
            }
        };
        let connection = match timeout(limit * 2, connecting).await {
            Ok(connected) => connected?,
            Err(_) => return Err(unavailable(format!("{:?}: no answer", options.urls)).into()),
        };
        let link = Self {
            connection,
            scripts: SOURCES.map(redis::Script::new),
            limit,
            replicas: options.replicas,
        };
        link.check(options.durability.unwrap_or(Durability::Always))
            .await?;
        Ok(link)
    }

    /// Asks. After an error the command was run, or was not run.
    pub(super) async fn query<T: FromRedisValue>(
        &self,
        command: &Cmd,
    ) -> std::result::Result<T, StoreError> {
        let answer = self.ask(command, None).await.map_err(unavailable)?;
        redis::from_redis_value(answer).map_err(unavailable)
    }

    /// Runs a script on the slot of its keys. A change is then on all replicas that are asked for.
    pub(super) async fn script<T: FromRedisValue>(
        &self,
        script: Script,
        keys: &[String],
        arguments: &[Vec<u8>],
    ) -> std::result::Result<T, StoreError> {
        let build = |verb: &str, body: &str| {
            let mut command = redis::cmd(verb);
            command.arg(body).arg(keys.len()).arg(keys).arg(arguments);
            command
        };
        let key = keys.first().filter(|_| self.replicas > 0);
        let key = key.map(String::as_str);
        let short = build("EVALSHA", self.scripts[script as usize].get_hash());
        let answer = match self.ask(&short, key).await {
            // A server that was restarted has no script; the whole one stays there.
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.ask(&build("EVAL", SOURCES[script as usize]), key)
                    .await
            }
            answer => answer,
        };
        redis::from_redis_value(answer.map_err(unavailable)?).map_err(unavailable)
    }

    /// Sends until the server ran it, or it may have run it. With a key, waits for replicas too.
    async fn ask(&self, command: &Cmd, key: Option<&str>) -> RedisResult<Value> {
        let until = Instant::now() + self.limit;
        loop {
            let generation = self.connection.generation();
            let asking = async {
                match key {
                    Some(key) => self.send_and_wait(command, key).await,
                    None => self.connection.send(command).await,
                }
            };
            match timeout_at(until, asking).await {
                Ok(Err(error)) if is_not_run(&error) && Instant::now() + PAUSE < until => {
                    sleep(PAUSE).await;
                }
                Ok(Err(error)) if !error.is_timeout() => return Err(error),
                Ok(Ok(answer)) => return Ok(answer),
                _ => {
                    self.connection.replace(generation);
                    return Err((ErrorKind::Io, "Redis does not answer in time").into());
                }
            }
        }
    }

    /// One pipeline, so that the replicas are those of the connection that made the change.
    async fn send_and_wait(&self, command: &Cmd, key: &str) -> RedisResult<Value> {
        let mut pipeline = redis::pipe();
        pipeline.add_command(command.clone());
        let millis = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
        pipeline.cmd("WAIT").arg(self.replicas).arg(millis / 2);
        let answers = match self.connection.clone() {
            Connection::Single(mut one) => one.req_packed_commands(&pipeline, 0, 2).await?,
            Connection::Cluster(all) => {
                let slot = Route::with_key(key, SlotAddr::Master);
                let route = SingleNodeRoutingInfo::SpecificNode(slot);
                let mut all = all.connection();
                all.route_pipeline(pipeline, 0, 2, route).await?
            }
        };
        let [answer, confirmed] = <[Value; 2]>::try_from(answers)
            .map_err(|_| RedisError::from((ErrorKind::Client, "an answer is missing")))?;
        let answer = answer.extract_error()?;
        match redis::from_redis_value::<u32>(confirmed.extract_error()?)? >= self.replicas {
            true => Ok(answer),
            false => Err((ErrorKind::Client, "too few replicas confirmed the change").into()),
        }
    }

    /// Looks whether the server keeps what is asked for.
    async fn check(&self, durability: Durability) -> std::result::Result<(), StoreError> {
        let info = self.everywhere(redis::cmd("INFO")).await?;
        for text in &info {
            let field = |name: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(name));
                line.map(|value| value.trim_start_matches(':').trim().to_owned())
            };
            let version = field("redis_version").unwrap_or_default();
            let major = version.split('.').next().and_then(|part| part.parse().ok());
            if major.unwrap_or(0) < OLDEST {
                return Err(unavailable(format!(
                    "Redis {version} is too old: 7 is needed"
                )));
            }
            let policy = field("maxmemory_policy").unwrap_or_default();
            if policy.starts_with("allkeys") {
                return Err(unavailable(format!(
                    "Redis forgets spent tokens when memory is short (maxmemory-policy {policy}): \
                     set maxmemory-policy noeviction"
                )));
            }
        }
        match durability {
            Durability::Unchecked => Ok(()),
            asked => self.check_log(asked).await,
        }
    }

    async fn check_log(&self, asked: Durability) -> std::result::Result<(), StoreError> {
        let mut command = redis::cmd("CONFIG");
        command.arg("GET").arg("append*");
        let answers = self.everywhere(command).await.map_err(|error| {
            unavailable(format!(
                "{error}; if this user may not read the configuration of Redis, check it by hand \
                 and set durability = \"unchecked\""
            ))
        })?;
        for text in &answers {
            let words = text.split_whitespace();
            let value = |name: &str| {
                let found = words.clone().position(|word| word == name);
                found.and_then(|at| words.clone().nth(at + 1)).unwrap_or("")
            };
            let (log, sync) = (value("appendonly"), value("appendfsync"));
            let needed = match asked {
                Durability::Everysec => "everysec",
                _ => "always",
            };
            if log != "yes" || (sync != "always" && sync != needed) {
                return Err(unavailable(format!(
                    "Redis has appendonly {log} and appendfsync {sync}, and durability asks for \
                     {needed}: set appendonly yes and appendfsync {needed} there, or \
                     durability = \"everysec\" if a crash of its machine may forget the spends \
                     of the last two seconds"
                )));
            }
        }
        Ok(())
    }

    /// The answers of all masters as text.
    async fn everywhere(&self, command: Cmd) -> std::result::Result<Vec<String>, StoreError> {
        let asking = async {
            match self.connection.clone() {
                Connection::Single(_) => Ok(vec![self.connection.send(&command).await?]),
                Connection::Cluster(all) => {
                    let masters = MultipleNodeRoutingInfo::AllMasters;
                    let routing = RoutingInfo::MultiNode((masters, None));
                    match all.connection().route_command(command, routing).await? {
                        Value::Map(answers) => Ok(answers.into_iter().map(|(_, v)| v).collect()),
                        answer => Ok(vec![answer]),
                    }
                }
            }
        };
        let answers: RedisResult<Vec<Value>> = match timeout(self.limit, asking).await {
            Ok(answers) => answers,
            Err(_) => Err((ErrorKind::Io, "Redis does not answer in time").into()),
        };
        let answers = answers.map_err(unavailable)?;
        Ok(answers.iter().map(text).collect())
    }
}

/// A value as text: a list is its words.
fn text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        Value::VerbatimString { text, .. } => text.clone(),
        Value::Array(parts) => parts.iter().map(text).collect::<Vec<_>>().join(" "),
        Value::Map(parts) => {
            let words = parts
                .iter()
                .flat_map(|(name, value)| [text(name), text(value)]);
            words.collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

impl Connection {
    async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        let answer = match self.clone() {
            Self::Single(mut one) => one.req_packed_command(command).await?,
            Self::Cluster(all) => all.connection().req_packed_command(command).await?,
        };
        answer.extract_error()
    }

    /// Names what [`Self::replace`] replaces.
    fn generation(&self) -> u64 {
        match self {
            Self::Single(_) => 0,
            Self::Cluster(all) => all.generation(),
        }
    }

    /// Replaces a connection that does not answer. One to a single server does that by itself.
    fn replace(&self, generation: u64) {
        if let Self::Cluster(all) = self {
            all.replace(generation);
        }
    }
}

/// Whether the server refused to run a command, so that it may be sent again.
///
/// A connection that breaks is not such a case: a change that was made, and is made again, would
/// look as if somebody else had spent the token.
fn is_not_run(error: &RedisError) -> bool {
    use ServerErrorKind::{Ask, BusyLoading, ClusterDown, MasterDown, Moved, ReadOnly, TryAgain};
    matches!(
        error.kind(),
        ErrorKind::ClusterConnectionNotFound
            | ErrorKind::Server(
                Ask | BusyLoading | ClusterDown | MasterDown | Moved | ReadOnly | TryAgain
            )
    )
}

async fn single(options: &StoreOptions) -> Result<ConnectionManager> {
    let config = ConnectionManagerConfig::new()
        .set_response_timeout(Some(options.limit()))
        .set_connection_timeout(Some(options.limit()))
        .set_number_of_retries(RECONNECTS)
        .set_min_delay(PAUSE)
        .set_max_delay(PAUSE * 4);
    let url = options.urls.first().map_or("", String::as_str);
    let mut info = url.into_connection_info().map_err(|e| wrong_url(url, &e))?;
    let password = options.password()?;
    if let Some(password) = &password {
        let text = String::from_utf8_lossy(password.expose());
        let settings = info.redis_settings().clone().set_password(text);
        info = info.set_redis_settings(settings);
    }
    let client = match (info.addr(), options.authorities()?) {
        (ConnectionAddr::TcpTls { .. }, root_cert) => {
            let client_tls = None;
            Client::build_with_tls(
                info,
                TlsCertificates {
                    client_tls,
                    root_cert,
                },
            )
        }
        _ => Client::open(info),
    };
    let client = client.map_err(|e| wrong_url(url, &e))?;
    let connected = ConnectionManager::new_with_config(client, config).await;
    Ok(connected.map_err(|error| unavailable(format!("{url}: {error}")))?)
}

async fn cluster(options: &StoreOptions) -> Result<Cluster> {
    let urls: Vec<&str> = options.urls.iter().map(String::as_str).collect();
    let all = urls.join(" ");
    // Without retries: this module knows what may be sent again.
    let mut builder = ClusterClientBuilder::new(urls.iter().copied())
        .retries(0)
        .connection_timeout(options.limit())
        // Less than the limit of a command, and more than a wait for replicas.
        .response_timeout(options.limit() * 3 / 4);
    if let Some(password) = options.password()? {
        builder = builder.password(String::from_utf8_lossy(password.expose()));
    }
    if urls.iter().any(|url| url.starts_with("rediss://")) {
        builder = builder.tls(TlsMode::Secure).certs(TlsCertificates {
            client_tls: None,
            root_cert: options.authorities()?,
        });
    }
    let client = builder.build().map_err(|e| wrong_url(&all, &e))?;
    let connected = Cluster::open(client, options.limit() * 2).await;
    Ok(connected.map_err(|error| unavailable(format!("{all}: {error}")))?)
}

fn wrong_url(url: &str, error: &RedisError) -> Error {
    Error::Config(format!("store: {url}: {error}"))
}

fn unavailable(cause: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(cause.to_string())
}
