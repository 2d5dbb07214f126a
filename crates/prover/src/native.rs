//! Runs machine code on the CPU: to check the prover, and to reproduce refutations.
//!
//! This is the only place of the crate with `unsafe`: [`Mapping`] calls whole functions by
//! [`caller`], [`Bench`] runs single instructions.

mod bench;
mod caller;
mod mapping;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use bench::{Bench, SCRATCH, State, Width};
pub use caller::Executed;
pub(crate) use caller::{Entry, ON_STACK, Reached, Until};
pub(crate) use mapping::Mapping;

/// Exclusive use of a resource of the process: addresses, or the handler of traps. A process may
/// prove in several threads. Native runs take a small part of a proof's time.
pub(crate) type Guard<T> = MutexGuard<'static, T>;

/// Waits for it. A thread that panicked has released everything by `Drop`.
pub(crate) fn lock<T>(place: &'static Mutex<T>) -> Guard<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
