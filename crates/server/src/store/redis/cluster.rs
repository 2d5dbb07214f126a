//! The connection to a cluster, replaced when it stops answering.
//!
//! The client library follows a failover by itself, but takes no timeout as a reason to connect
//! again. With version 1.8.1, a failover under load left connections behind on which every command
//! timed out for good.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::RedisResult;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use tokio::time::timeout;

/// One connection for all tasks of the process.
#[derive(Clone)]
pub(super) struct Cluster(Arc<Inner>);

struct Inner {
    client: ClusterClient,
    /// How long opening may take.
    limit: Duration,
    current: Mutex<Current>,
}

struct Current {
    connection: ClusterConnection,
    /// How many connections were there before.
    generation: u64,
    /// Whether a task opens the next one.
    is_opening: bool,
}

impl Cluster {
    /// Connects to the nodes that answer.
    pub(super) async fn open(client: ClusterClient, limit: Duration) -> RedisResult<Self> {
        let current = Current {
            connection: client.get_async_connection().await?,
            generation: 0,
            is_opening: false,
        };
        Ok(Self(Arc::new(Inner {
            client,
            limit,
            current: Mutex::new(current),
        })))
    }

    /// The connection of this moment.
    pub(super) fn connection(&self) -> ClusterConnection {
        self.0.current().connection.clone()
    }

    /// Names the connection of this moment for [`Self::replace`].
    pub(super) fn generation(&self) -> u64 {
        self.0.current().generation
    }

    /// Opens another connection in the background, unless that was done already. Commands use the
    /// old one until then.
    pub(super) fn replace(&self, generation: u64) {
        let mut current = self.0.current();
        if current.generation != generation || current.is_opening {
            return;
        }
        current.is_opening = true;
        drop(current);
        let inner = self.0.clone();
        tokio::spawn(async move { inner.open_next().await });
    }
}

impl Inner {
    async fn open_next(&self) {
        let opened = timeout(self.limit, self.client.get_async_connection()).await;
        let mut current = self.current();
        current.is_opening = false;
        match opened {
            Ok(Ok(connection)) => {
                current.connection = connection;
                current.generation += 1;
                drop(current);
                tracing::warn!("the cluster of Redis did not answer in time: connected again");
            }
            Ok(Err(error)) => {
                drop(current);
                tracing::error!(%error, "the cluster of Redis cannot be reached");
            }
            Err(_) => {
                drop(current);
                tracing::error!("the cluster of Redis cannot be reached in time");
            }
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
