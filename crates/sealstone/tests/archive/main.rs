//! Archives: round trips, and refusals of broken rules.

mod common;
mod example;
mod hostile;
mod roundtrip;
mod sealed;
