//! Finds the one of several hosts that takes writes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

type Connecting<'a> =
    std::pin::Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + 'a>>;

/// Tries one host after the other, the last good one first. A host that does not answer takes its
/// part of the time, and not the time of the others; a standby refuses, because all connections
/// are for writing.
pub(super) struct Hosts {
    /// One of each host, not empty.
    configs: Vec<Config>,
    tls: MakeRustlsConnect,
    /// For each host.
    patience: Duration,
    good: AtomicUsize,
}

impl Hosts {
    /// `limit` is the time for a connection to any of them.
    pub(super) fn new(configs: Vec<Config>, tls: MakeRustlsConnect, limit: Duration) -> Self {
        let patience = limit / u32::try_from(configs.len() + 1).unwrap_or(u32::MAX);
        Self {
            configs,
            tls,
            patience,
            good: AtomicUsize::new(0),
        }
    }

    async fn one(&self, index: usize) -> Result<(Client, JoinHandle<()>), Error> {
        let (client, connection) = self.configs[index].connect(self.tls.clone()).await?;
        self.good.store(index, Ordering::Relaxed);
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(%error, "a connection to PostgreSQL ended");
            }
        });
        Ok((client, task))
    }

    async fn any(&self) -> Result<(Client, JoinHandle<()>), Error> {
        let (count, good) = (self.configs.len(), self.good.load(Ordering::Relaxed));
        for next in 0..count - 1 {
            let connecting = self.one((good + next) % count);
            if let Ok(Ok(connected)) = tokio::time::timeout(self.patience, connecting).await {
                return Ok(connected);
            }
        }
        // The last one has what is left: the pool looks at the time.
        self.one((good + count - 1) % count).await
    }
}

impl Connect for Hosts {
    fn connect(&self, _: &Config) -> Connecting<'_> {
        Box::pin(self.any())
    }
}
