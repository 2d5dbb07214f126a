//! Sealed files: round trips, changes, hostile files, golden files, and the second implementation.

mod altered;
mod cases;
mod common;
mod golden;
mod hostile;
mod interop;
mod lengths;
mod roundtrip;
mod spec;
