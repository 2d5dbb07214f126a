//! Serving: connections, limits of each route, an orderly end.
//!
//! ```no_run
//! use sealstone_server::http::{self, Connections};
//!
//! # async fn example() -> sealstone_server::Result<()> {
//! let listener = http::bind("127.0.0.1:0").await?;
//! let router = axum::Router::new();
//! let stop = http::Stop::default();
//! stop.on_signals()?;
//! http::serve(listener, router, &Connections::default(), &stop).await;
//! # Ok(())
//! # }
//! ```

mod accept;
mod cors;
mod route;
mod stop;
mod tls;

pub use accept::{Connections, Listener, bind, serve};
pub use cors::Pages;
pub use route::{
    Body, OwnLimits, Peer, Proxies, ROUTES, RouteLimits, answer_json, guarded, media_type,
    with_fallbacks,
};
pub use stop::Stop;
pub use tls::{Tls, TlsOptions, reload_on_hangup};

/// The header in which clients show proofs to a gate.
pub const GATE_HEADER: &str = "sealstone-gate";
