//! An agent that holds unlocked passports for other processes of their owner (`spec/agent.md`).
//!
//! This module is the protocol, without sockets and clocks: the caller carries the messages.
//!
//! | to | use |
//! |---|---|
//! | hold passports and answer requests | [`Agent`] |
//! | ask an agent | [`Client`], [`Transport`] |
//! | seal and open with a passport that an agent holds | [`RemotePassport`], [`Client::file_key`] |
//!
//! ```
//! use std::time::Duration;
//! use sealstone::agent::{Agent, Client};
//! use sealstone::file::{Sealed, Sealer, Workers};
//! use sealstone::passport::Passport;
//!
//! let agent = Agent::new();
//! let client = Client::new(|request: &[u8]| Ok(agent.answer(request, Duration::ZERO).message));
//! let alice = Passport::generate("Alice", 0)?;
//! client.hold(&alice, 900)?;
//!
//! // From here on without the passport.
//! let held = client.passport(&alice.fingerprint())?;
//! let mut file = Vec::new();
//! Sealer::new().to_passport(held.contact()).signed_by(&held)
//!     .seal(&b"note to self"[..], &mut file, Workers::default())?;
//!
//! let sealed = Sealed::read(&file[..])?;
//! let key = client.file_key(&sealed, &[held.contact().fingerprint()])?;
//! let mut content = Vec::new();
//! sealed.unlock_with(&key)?.open_signed(held.contact(), &mut content, Workers::default())?;
//! assert_eq!(content, b"note to self");
//! # Ok::<(), sealstone::Error>(())
//! ```

mod client;
mod message;
mod state;
#[cfg(test)]
mod tests;

pub use client::{Client, RemotePassport, Transport};
pub use message::{HeldPassport, MAX_ANSWER, MAX_REQUEST, Status, frame, frame_len};
pub use state::{Agent, Answered};
