//! Accepts connections, and ends them in an orderly way.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use super::{Peer, Stop, Tls};
use crate::{Error, Result};

/// Bytes of the head of a request, at most.
const MAX_HEAD: usize = 32 * 1024;

/// Limits for connections.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Connections {
    /// The most connections at the same time. Others wait until one ends.
    pub most: usize,
    /// Seconds for the head of a request, and between two requests.
    pub head_seconds: u64,
    /// Seconds that requests have to end when the service ends.
    pub end_seconds: u64,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            most: 1024,
            head_seconds: 10,
            end_seconds: 10,
        }
    }
}

/// Listens at an address and port.
///
/// # Errors
/// If the system refuses.
pub async fn bind(address: &str) -> Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|e| Error::io(Path::new(address), e))
}

/// Where connections come from, with TLS or without.
pub struct Listener {
    tcp: TcpListener,
    tls: Option<Arc<Tls>>,
}

impl Listener {
    /// A listener that speaks TLS, if there is a certificate.
    #[must_use]
    pub fn new(tcp: TcpListener, tls: Option<Arc<Tls>>) -> Self {
        Self { tcp, tls }
    }

    /// The scheme of its URLs.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }
}

impl From<TcpListener> for Listener {
    fn from(tcp: TcpListener) -> Self {
        Self::new(tcp, None)
    }
}

/// Serves `router` until `stop`; then no connection is accepted, and requests that have begun end.
pub async fn serve(
    listener: impl Into<Listener>,
    router: Router,
    limits: &Connections,
    stop: &Stop,
) {
    let Listener { tcp, tls } = listener.into();
    let permits = Arc::new(Semaphore::new(limits.most));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    let head_time = Duration::from_secs(limits.head_seconds.max(1));
    http.timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_buf_size(MAX_HEAD)
        .half_close(false);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&tcp, &permits) => accepted,
            () = stop.wait() => break,
        };
        let Some((stream, peer, permit)) = accepted else {
            continue;
        };
        let conversation = Conversation {
            http: http.clone(),
            router: router.clone(),
            peer: Peer(peer.ip()),
            watcher: graceful.watcher(),
        };
        let tls = tls.clone();
        tokio::spawn(async move {
            let open = metrics::gauge!("sealstone_connections");
            open.increment(1.0);
            match tls {
                None => conversation.hold(stream).await,
                // A handshake is the first part of a head.
                Some(tls) => match tokio::time::timeout(head_time, tls.accept(stream)).await {
                    Ok(Ok(stream)) => conversation.hold(stream).await,
                    _ => metrics::counter!("sealstone_tls_refused_total").increment(1),
                },
            }
            open.decrement(1.0);
            drop(permit);
        });
    }
    drop(tcp);
    let most = Duration::from_secs(limits.end_seconds);
    if tokio::time::timeout(most, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests did not end in time");
    }
}

/// All that a connection needs.
struct Conversation {
    http: http1::Builder,
    router: Router,
    peer: Peer,
    watcher: Watcher,
}

impl Conversation {
    /// Answers requests until the connection ends.
    async fn hold(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let peer = self.peer;
        let service = self.router.map_request(move |mut request: Request<_>| {
            request.extensions_mut().insert(peer);
            request.map(axum::body::Body::new)
        });
        let service = TowerToHyperService::new(service);
        let connection = self.http.serve_connection(TokioIo::new(stream), service);
        // A connection that breaks is the client's affair.
        drop(self.watcher.watch(connection).await);
    }
}

type Accepted = (TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit);

/// The next connection, when there is room for it.
async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> Option<Accepted> {
    let permit = permits.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Small answers leave at once.
            drop(stream.set_nodelay(true));
            Some((stream, peer, permit))
        }
        Err(error) => {
            // Mostly a lack of descriptors, which passes when connections end.
            tracing::warn!(%error, "cannot accept a connection");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}
