//! The connections: a pool, timeouts, and what the server must keep.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime, Timeouts, Transaction,
};
use rustls::RootCertStore;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::hosts::Hosts;
use crate::store::StoreError;
use crate::store::options::{Durability, StoreOptions};
use crate::{Error, Result};

const OLDEST: i32 = 150_000;

/// A pool whose connections see the tables of one schema.
pub(super) struct Link {
    pool: Pool,
    limit: Duration,
}

/// A statement that a connection prepares once.
pub(super) struct Query(String);

impl Query {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    Database(tokio_postgres::Error),
    Pool(PoolError),
    Late,
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

type Asked<T> = std::result::Result<T, Failure>;
type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Link {
    pub(super) async fn open(options: &StoreOptions, schema: &str) -> Result<Self> {
        let limit = options.limit();
        let configs = options.urls.iter();
        let configs = configs.map(|url| configure(url, options, schema));
        let configs = configs.collect::<Result<Vec<_>>>()?;
        let hosts = Hosts::new(configs, tls(options)?, limit);
        let manager = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        // Each host has a configuration of its own.
        let manager = Manager::from_connect(Config::new(), hosts, manager);
        let pool = Pool::builder(manager)
            .max_size(options.connections)
            .timeouts(Timeouts {
                wait: Some(limit),
                create: Some(limit),
                recycle: Some(limit),
            })
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| Error::Config(format!("store: {error}")))?;
        let link = Self { pool, limit };
        link.check().await?;
        link.prepare(schema).await?;
        Ok(link)
    }

    /// The row of a query that has one or none.
    pub(super) async fn one(
        &self,
        query: &Query,
        parameters: Parameters<'_>,
    ) -> std::result::Result<Option<Row>, StoreError> {
        let rows = self.all(query, parameters).await?;
        Ok(rows.into_iter().next())
    }

    pub(super) async fn all(
        &self,
        query: &Query,
        parameters: Parameters<'_>,
    ) -> std::result::Result<Vec<Row>, StoreError> {
        let asking = async {
            let client = self.pool.get().await?;
            let statement = client.prepare_cached(&query.0).await?;
            Ok(client.query(&statement, parameters).await?)
        };
        self.within(asking).await.map_err(|error| failed(&error))
    }

    /// How many rows a statement changed, durably.
    pub(super) async fn execute(&self, query: &Query, parameters: Parameters<'_>) -> Asked<u64> {
        let asking = async {
            let client = self.pool.get().await?;
            let statement = client.prepare_cached(&query.0).await?;
            Ok(client.execute(&statement, parameters).await?)
        };
        self.within(asking).await
    }

    /// Runs `work` in a transaction, which is committed if there is an answer.
    pub(super) async fn transaction<T>(
        &self,
        work: impl AsyncFnOnce(&Transaction<'_>) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> std::result::Result<T, StoreError> {
        let run = async |transaction: &Transaction<'_>| work(transaction).await.map(Some);
        let done = self.try_transaction(run).await;
        let none = || StoreError::Unavailable("a transaction without an answer".to_owned());
        done.map_err(|error| failed(&error))?.ok_or_else(none)
    }

    /// The same. Without an answer, nothing is changed.
    pub(super) async fn try_transaction<T>(
        &self,
        work: impl AsyncFnOnce(
            &Transaction<'_>,
        ) -> std::result::Result<Option<T>, tokio_postgres::Error>,
    ) -> Asked<Option<T>> {
        let asking = async {
            let mut client = self.pool.get().await?;
            let transaction = client.transaction().await?;
            let answer = work(&transaction).await?;
            match answer.is_some() {
                true => transaction.commit().await?,
                false => transaction.rollback().await?,
            }
            Ok(answer)
        };
        self.within(asking).await
    }

    /// A connection whose answer is not awaited any more ends what it does, or is rolled back.
    async fn within<T>(&self, asking: impl Future<Output = Asked<T>>) -> Asked<T> {
        match tokio::time::timeout(self.limit, asking).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::Late),
        }
    }

    /// Looks whether the server keeps what it acknowledges.
    async fn check(&self) -> std::result::Result<(), StoreError> {
        let query = Query::new(
            "SELECT current_setting('server_version_num')::int, current_setting('fsync'), \
             current_setting('full_page_writes')",
        );
        let row = self.one(&query, &[]).await?;
        let wrong = |text: String| Err(StoreError::Unavailable(text));
        let Some(row) = row else {
            return wrong("PostgreSQL does not say its version".to_owned());
        };
        let (version, fsync, pages): (i32, String, String) = (row.get(0), row.get(1), row.get(2));
        if version < OLDEST {
            return wrong(format!(
                "PostgreSQL {} is too old: 15 is needed",
                version / 10_000
            ));
        }
        if fsync != "on" || pages != "on" {
            return wrong(format!(
                "PostgreSQL has fsync {fsync} and full_page_writes {pages}, and can forget spent \
                 tokens: set both on"
            ));
        }
        Ok(())
    }

    /// Makes the schema and its tables. One of several processes does this.
    async fn prepare(&self, schema: &str) -> std::result::Result<(), StoreError> {
        let tables = format!(
            "SELECT pg_advisory_xact_lock(hashtextextended('{schema}', 0));
             DO $$ BEGIN IF to_regnamespace('{schema}') IS NULL THEN CREATE SCHEMA {schema};
             END IF; END $$;
             CREATE TABLE IF NOT EXISTS sets (number bigint GENERATED ALWAYS AS IDENTITY,
             name text PRIMARY KEY, until bigint NOT NULL, is_open boolean NOT NULL DEFAULT true);
             CREATE TABLE IF NOT EXISTS records (name text PRIMARY KEY, value bytea NOT NULL)"
        );
        self.transaction(async |transaction| transaction.batch_execute(&tables).await)
            .await
    }
}

fn configure(url: &str, options: &StoreOptions, schema: &str) -> Result<Config> {
    let wrong = |text: String| Error::Config(format!("store: {url}: {text}"));
    let parsed: std::result::Result<Config, _> = url.parse();
    let mut config = parsed.map_err(|error| wrong(error.to_string()))?;
    if config.get_hosts().len() != 1 {
        return Err(wrong("give each host a URL of its own".to_owned()));
    }
    if let Some(password) = options.password()? {
        config.password(password.expose());
    }
    let commit = match options.durability {
        Some(Durability::RemoteApply) => "remote_apply",
        Some(Durability::RemoteWrite) => "remote_write",
        Some(Durability::Local) => "local",
        _ => "on",
    };
    let millis = options.limit().as_millis();
    config
        .application_name("sealstone-server")
        .connect_timeout(options.limit())
        .keepalives_idle(options.limit())
        // A machine that is gone confirms nothing: its connections end.
        .tcp_user_timeout(options.limit())
        .target_session_attrs(TargetSessionAttrs::ReadWrite)
        .options(format!(
            "-c search_path={schema} -c synchronous_commit={commit} \
             -c default_transaction_isolation=read\\ committed \
             -c statement_timeout={millis} -c idle_in_transaction_session_timeout={millis}"
        ));
    Ok(config)
}

/// TLS is used if the URL says so (`sslmode=require`) or the server offers it.
fn tls(options: &StoreOptions) -> Result<MakeRustlsConnect> {
    // If a process has several providers of cryptography, the first one counts.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let mut roots = RootCertStore::empty();
    match options.authorities()? {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let added = certificate.ok().map(|certificate| roots.add(certificate));
                if !matches!(added, Some(Ok(()))) {
                    let text = "store: ca-file holds no PEM certificates".to_owned();
                    return Err(Error::Config(text));
                }
            }
        }
        None => {
            let system = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(system.certs);
        }
    }
    let config = rustls::ClientConfig::builder().with_root_certificates(Arc::new(roots));
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

/// Whether a table is not there: its set was closed.
pub(super) fn is_missing(failure: &Failure) -> bool {
    match failure {
        Failure::Database(error) => error.code() == Some(&SqlState::UNDEFINED_TABLE),
        Failure::Pool(_) | Failure::Late => false,
    }
}

pub(super) fn failed(failure: &Failure) -> StoreError {
    let text = match failure {
        Failure::Database(error) => describe(error),
        Failure::Pool(PoolError::Backend(error)) => describe(error),
        Failure::Pool(PoolError::Timeout(_)) => return StoreError::Busy,
        Failure::Pool(error) => error.to_string(),
        Failure::Late => "PostgreSQL does not answer in time".to_owned(),
    };
    StoreError::Unavailable(text)
}

/// The library's own text leaves out what the server said.
fn describe(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(said), _) => format!("PostgreSQL: {}", said.message()),
        (None, Some(source)) => format!("PostgreSQL: {error}: {source}"),
        (None, None) => format!("PostgreSQL: {error}"),
    }
}
