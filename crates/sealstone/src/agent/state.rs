//! The agent: what it holds, and what it answers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sealstone_primitives::kdf;
use sealstone_primitives::secret::Secret;
use zeroize::Zeroizing;

use super::message::{Answer, HeldPassport, Refusal, Request, Status};
use crate::passport::{Contact, Fingerprint, Passport};

/// Holds passports for a time, and unwraps file keys and signs sealed files with them.
///
/// Between requests only root seeds are kept, on pages that are locked in memory. The keys that are
/// derived from a seed stay for at most a second after the last request that needed them.
#[derive(Default)]
pub struct Agent {
    held: Mutex<BTreeMap<Fingerprint, Held>>,
    has_held: AtomicBool,
    process: u64,
}

/// The answer to one request.
pub struct Answered {
    /// The message for the client.
    pub message: Zeroizing<Vec<u8>>,
    /// Whether the client asked the agent to end.
    pub stop: bool,
}

struct Held {
    seed: Secret<32>,
    contact: Contact,
    until: Duration,
    derived: Option<Arc<Passport>>,
    used: Duration,
}

/// The most passports: more than anybody has.
const MAX_HELD: usize = 16;
/// How long derived keys are kept unused.
const DERIVED_FOR: Duration = Duration::from_secs(1);

impl Agent {
    /// An agent that holds nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// An agent that calls itself by this process number.
    pub fn of_process(process: u32) -> Self {
        Self {
            process: process.into(),
            ..Self::default()
        }
    }

    /// Answers one request. `now` is the time since any fixed moment; it never goes back, and also
    /// runs while the machine sleeps.
    pub fn answer(&self, request: &[u8], now: Duration) -> Answered {
        self.tick(now);
        let request = Request::decode(request);
        let stop = matches!(request, Ok(Request::Stop));
        let answer = request.and_then(|request| self.run(request, now));
        Answered {
            message: answer.unwrap_or_else(Answer::Refused).encode(),
            stop,
        }
    }

    /// Wipes passports and derived keys whose time is over. Call it about once a second. Returns
    /// how many passports are left.
    pub fn tick(&self, now: Duration) -> usize {
        let mut held = self.lock();
        held.retain(|_, held| now < held.until);
        for held in held.values_mut() {
            if now.saturating_sub(held.used) >= DERIVED_FOR {
                held.derived = None;
            }
        }
        held.len()
    }

    /// Whether it was ever given a passport. One that has nothing any more may end; it may have had
    /// it for a shorter time than between two calls of [`tick`](Self::tick).
    pub fn has_held(&self) -> bool {
        self.has_held.load(Ordering::Acquire)
    }

    fn run(&self, request: Request, now: Duration) -> Result<Answer, Refusal> {
        match request {
            Request::Status => Ok(Answer::Status(self.status(now))),
            Request::Hold {
                seed,
                label,
                created,
                seconds,
            } => {
                let until = now.saturating_add(Duration::from_secs(seconds));
                let held = Held::new(seed, &label, created, until)?;
                self.hold(held)
            }
            Request::Lock(which) => {
                self.lock()
                    .retain(|held, _| which.is_some_and(|fingerprint| *held != fingerprint));
                Ok(Answer::Done)
            }
            Request::Contact(whose) => {
                let held = self.lock();
                let held = held.get(&whose).ok_or(Refusal::NotHeld)?;
                Ok(bytes(held.contact.encoded_carried()))
            }
            Request::Hedge(whose) => Ok(hedge(&*self.passport(&whose, now)?)),
            Request::Unwrap(whose, key) => {
                let passport = self.passport(&whose, now)?;
                let key = key.unwrap(&passport).ok_or(Refusal::NotWrapped)?;
                Ok(bytes(key.expose().to_vec()))
            }
            Request::Sign(whose, root) => {
                let passport = self.passport(&whose, now)?;
                let signature = root.sign(&passport).map_err(|_| Refusal::Fault)?;
                Ok(bytes(signature.to_bytes()))
            }
            Request::Stop => {
                self.lock().clear();
                Ok(Answer::Done)
            }
        }
    }

    fn status(&self, now: Duration) -> Status {
        let entry = |(fingerprint, held): (&Fingerprint, &Held)| HeldPassport {
            fingerprint: *fingerprint,
            label: held.contact.label().to_owned(),
            seconds: held.until.saturating_sub(now).as_secs(),
        };
        Status {
            process: self.process,
            passports: self.lock().iter().map(entry).collect(),
        }
    }

    /// Replaces a passport that is held already: the new time counts.
    fn hold(&self, new: Held) -> Result<Answer, Refusal> {
        let mut held = self.lock();
        let name = new.contact.fingerprint();
        if held.len() >= MAX_HELD && !held.contains_key(&name) {
            return Err(Refusal::Full);
        }
        held.insert(name, new);
        self.has_held.store(true, Ordering::Release);
        Ok(Answer::Done)
    }

    /// The keys of a held passport. Others may use them at the same time.
    fn passport(&self, whose: &Fingerprint, now: Duration) -> Result<Arc<Passport>, Refusal> {
        let mut held = self.lock();
        let held = held.get_mut(whose).ok_or(Refusal::NotHeld)?;
        held.used = now;
        if let Some(derived) = &held.derived {
            return Ok(Arc::clone(derived));
        }
        let contact = &held.contact;
        let derived =
            Passport::from_seed(held.seed.duplicate(), contact.label(), contact.created());
        let derived = Arc::new(derived.map_err(|_| Refusal::Fault)?);
        Ok(Arc::clone(held.derived.insert(derived)))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Fingerprint, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn new(seed: Secret<32>, label: &str, created: u64, until: Duration) -> Result<Self, Refusal> {
        if !seed.is_locked() {
            return Err(Refusal::NotLocked);
        }
        let passport = Passport::from_seed(seed.duplicate(), label, created);
        let passport = passport.map_err(|_| Refusal::Malformed)?;
        Ok(Self {
            contact: passport.contact().clone(),
            seed,
            until,
            derived: None,
            used: Duration::ZERO,
        })
    }
}

fn bytes(bytes: Vec<u8>) -> Answer {
    Answer::Bytes(Zeroizing::new(bytes))
}

/// A secret for one file, made from the passport's and from fresh randomness: nobody can ask for
/// the same one twice.
fn hedge(passport: &Passport) -> Answer {
    let fresh = Secret::<32>::random();
    let ikm = [&fresh.expose()[..], &passport.hedge().expose()[..]];
    let hedge: Secret<32> = kdf::extract(b"sealstone.agent.v1", &ikm).expand_secret(&[b"hedge"]);
    bytes(hedge.expose().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_keys_are_kept_for_a_second() {
        let (agent, alice) = (Agent::new(), Passport::generate("Alice", 7).unwrap());
        let (start, name) = (Duration::from_secs(1_000), alice.fingerprint());
        let until = start + Duration::from_secs(60);
        let held = Held::new(alice.seed().duplicate(), "Alice", 7, until);
        agent.hold(held.ok().unwrap()).ok().unwrap();
        let is_derived = || agent.lock()[&name].derived.is_some();
        assert!(!is_derived());
        for at in [start, start + Duration::from_secs(5)] {
            agent.passport(&name, at).ok().unwrap();
            agent.tick(at + Duration::from_millis(999));
            assert!(is_derived());
            agent.tick(at + Duration::from_secs(1));
            assert!(!is_derived());
        }
    }
}
