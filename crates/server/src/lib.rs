//! The token service: issuers and verifiers of anonymous tokens, on `sealstone-token`.
//!
//! | module | what |
//! |---|---|
//! | [`store`] | what must not be forgotten: spent tokens, used proofs, sealed keys |
//! | [`vault`] | the service's passport, and secrets sealed to it |
//! | [`keys`] | the issuer's keys: made, stored, announced |
//! | [`gate`] | who gets tokens |
//! | [`service`] | puts a service together, serves, ends |
//! | [`issuer`] | its routes |
//! | [`verifier`] | its routes, and what they do with a token |
//! | [`origin`] | a layer that lets requests with a token pass |
//! | [`pinned`] | the directory of an issuer elsewhere |
//! | [`http`] | connections and limits of routes |
//! | [`api`] | the JSON of clients, and its OpenAPI document |
//! | [`problem`] | errors that clients get |
//! | [`config`] | all options |
//! | [`args`] | the command's verbs |
//! | [`admin`] | what an operator does while a service runs |
//! | [`operators`] | operators, their roles and passwords |
//! | [`session`] | their sessions |
//! | [`audit`] | the log of what they did |
//! | [`archive`] | the file of a backup |
//! | [`moving`] | moves a store, makes and restores backups |
//! | [`measure`] | what is measured |
//! | [`telemetry`] | spans of requests, for a collector |
//! | [`record`] | records of the store that hold JSON |
//! | [`client`] | gets tokens, for trying a service |
//! | [`network`] | how this program asks others |
//! | [`clock`] | the time |
#![forbid(unsafe_code)]

pub mod admin;
pub mod api;
pub mod archive;
pub mod args;
pub mod audit;
pub mod bodies;
pub mod client;
pub mod clock;
pub mod config;
mod error;
pub mod gate;
mod health;
pub mod http;
pub mod issuer;
pub mod keys;
pub mod measure;
pub mod moving;
pub mod network;
pub mod operators;
pub mod origin;
pub mod pinned;
pub mod problem;
pub mod record;
pub mod service;
pub mod session;
pub mod store;
pub mod telemetry;
pub mod vault;
pub mod verifier;

pub use error::{Error, Result};

/// In hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
