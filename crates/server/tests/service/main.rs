//! The programs, run like operators and used like clients.

mod accounts;
mod admin;
mod attestation;
mod audit;
mod forms;
mod fuzz;
mod gates;
mod hostile;
mod image;
mod interop;
mod moving;
mod origin;
mod proxy;
mod telemetry;
mod tls;
mod trust;
mod webauthn;
mod world;
