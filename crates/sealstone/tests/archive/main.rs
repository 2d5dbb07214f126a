//! Archives: what is written is read again, and what breaks a rule is refused.

mod common;
mod example;
mod hostile;
mod roundtrip;
mod sealed;
