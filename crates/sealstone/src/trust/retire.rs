//! A passport of the user that another one replaces.

use super::{Change, Status, Storage, TrustStore};
use crate::Result;
use crate::lifecycle::Stage;
use crate::passport::{Passport, PublicPassport};

impl<S: Storage> TrustStore<S> {
    /// Records that the user has replaced the passport `old` by `new`: its files no longer count as
    /// the user's own. `public` is the public half of `new`, which says that it succeeds `old`.
    ///
    /// `status` is [`Status::Pending`], or [`Status::Revoked`] if others may have the old passport.
    /// One that is denied, revoked or compromised stays so. The lifecycle of the old key names the
    /// new one. If the old passport had countersigned everything, the new one countersigns it
    /// again. Returns the status of the old one.
    ///
    /// # Errors
    /// As [`TrustStore::introduce`] and [`TrustStore::rotate_key`]. Parts of the change may then be
    /// in force.
    pub fn retire(
        &mut self,
        old: &Passport,
        new: &Passport,
        public: &PublicPassport,
        status: Status,
        change: &Change<'_>,
    ) -> Result<Status> {
        let unsigned = self.verify_signed(old.contact());
        let all_signed = unsigned.is_ok_and(|unsigned| unsigned.is_empty());
        if self.key_lifecycle(&old.fingerprint()).stage == Stage::Active {
            self.rotate_key(old.contact(), public, change)?;
        }
        let mut after = self.introduce(old.contact(), change)?.status();
        if after != status && (!after.is_barred() || status.is_final() && !after.is_final()) {
            after = self
                .set_status(&old.fingerprint(), status, change)?
                .status();
        }
        if all_signed {
            self.sign(new, change.time)?;
        }
        Ok(after)
    }
}

#[cfg(test)]
mod tests {
    use sealstone_primitives::secret::Secret;

    use super::super::Memory;
    use super::*;

    const CHANGE: Change<'_> = Change {
        time: 5,
        operator: "bob",
        note: Some("replaced"),
    };

    fn passport(number: u8) -> Passport {
        let seed = Secret::from_array(&mut [number; 32]);
        Passport::from_seed(seed, "Bob", 1).unwrap()
    }

    /// Retires the first of two passports; returns both.
    fn retire(store: &mut TrustStore<Memory>, status: Status) -> (Status, Passport, Passport) {
        let (old, new) = (passport(1), passport(2));
        let public = old.succeed(&new, 5);
        let after = store.retire(&old, &new, &public, status, &CHANGE).unwrap();
        (after, old, new)
    }

    #[test]
    fn the_old_passport_gets_its_status_and_a_successor() {
        for status in [Status::Pending, Status::Revoked] {
            let mut store = TrustStore::open(Memory::default()).unwrap();
            let (after, old, new) = retire(&mut store, status);
            assert_eq!(after, status);
            let name = old.fingerprint();
            assert_eq!(store.get(&name).unwrap().status(), status);
            let successor = store.key_lifecycle(&name).successor;
            assert_eq!(successor, Some(*new.fingerprint().as_bytes()));
            assert!(store.signature().is_none());
        }
    }

    #[test]
    fn a_worse_status_stays() {
        for (before, status, after) in [
            (Status::Denied, Status::Pending, Status::Denied),
            (Status::Denied, Status::Revoked, Status::Revoked),
            (Status::Compromised, Status::Revoked, Status::Compromised),
            (Status::Approved, Status::Pending, Status::Pending),
        ] {
            let mut store = TrustStore::open(Memory::default()).unwrap();
            let name = passport(1).fingerprint();
            store.set_status(&name, before, &CHANGE).unwrap();
            assert_eq!(retire(&mut store, status).0, after, "{before} {status}");
        }
    }

    #[test]
    fn the_new_passport_countersigns_what_the_old_one_had() {
        let mut store = TrustStore::open(Memory::default()).unwrap();
        let other = passport(3).fingerprint();
        store.set_status(&other, Status::Denied, &CHANGE).unwrap();
        store.sign(&passport(1), 5).unwrap();
        let (_, _, new) = retire(&mut store, Status::Pending);
        assert_eq!(store.signature().unwrap().signer(), new.fingerprint());
        assert!(store.verify_signed(new.contact()).unwrap().is_empty());
    }
}
