//! Actions of operators while a service runs: one set of routes on a socket and on a listener
//! (`spec/service.md`, "Administration").
//!
//! The socket in the data directory is for its owner, and for `sealstone-server admin`. The
//! listener is for operators with a name, a role and a password, and shows a page.
//!
//! ```no_run
//! use std::path::Path;
//! use sealstone_server::admin;
//!
//! let data = Path::new("/var/lib/sealstone-issuer");
//! let status = admin::ask(data, "GET", "/api/status", &serde_json::json!({}))?;
//! println!("{}", status["keys"]);
//! # Ok::<(), sealstone_server::Error>(())
//! ```

mod actions;
pub mod command;
mod guard;
#[cfg(test)]
mod guard_tests;
mod history;
mod login;
mod page;
mod routes;
mod site;
mod socket;

pub use actions::{Actions, Service};
pub use guard::{Guard, Origins};
pub use socket::{Socket, ask, fetch, listen};

/// The caller.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    name: String,
    role: crate::operators::Role,
}
