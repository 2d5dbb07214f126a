//! A decision of the user about a passport, with everything that it brings.

use super::{Change, Record, Status, Storage, TrustStore};
use crate::Result;
use crate::passport::{Contact, Fingerprint};

/// A decision about a passport.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The passport.
    pub fingerprint: Fingerprint,
    /// Its keys, if they are there.
    pub contact: Option<&'a Contact>,
    /// The decision.
    pub status: Status,
    /// From when a revocation or a compromise holds: seconds since 1970.
    pub since: Option<u64>,
    /// A new label.
    pub label: Option<&'a str>,
}

impl<S: Storage> TrustStore<S> {
    /// Stores the keys of a passport, if `decision` brings some, the decision, and the label, if it
    /// has one. A note belongs to one decision: a `change` without one keeps the note only if the
    /// status stays.
    ///
    /// # Errors
    /// As [`TrustStore::introduce`], [`TrustStore::set_status`], [`TrustStore::set_status_since`]
    /// and [`TrustStore::relabel`].
    pub fn decide(&mut self, decision: &Decision<'_>, change: &Change<'_>) -> Result<Record<'_>> {
        let Decision {
            fingerprint,
            contact,
            status,
            since,
            label,
        } = decision;
        let before = self.get(fingerprint).map(|record| record.status());
        let otherwise = (before != Some(*status)).then_some("");
        let change = &Change {
            note: change.note.or(otherwise),
            ..*change
        };
        if let Some(contact) = contact {
            self.introduce(contact, change)?;
        }
        match *since {
            None => self.set_status(fingerprint, *status, change)?,
            Some(since) => self.set_status_since(fingerprint, *status, since, change)?,
        };
        if let Some(label) = label {
            self.relabel(fingerprint, label, change)?;
        }
        Ok(self.known(fingerprint))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;
    use crate::passport::Passport;

    #[test]
    fn a_decision_brings_keys_and_label_and_has_a_note_of_its_own() {
        let alice = Passport::generate("Alice", 1).unwrap();
        let mut store = TrustStore::open(Memory::default()).unwrap();
        let decision = Decision {
            fingerprint: alice.fingerprint(),
            contact: Some(alice.contact()),
            status: Status::Approved,
            since: None,
            label: Some("Alice of Lima"),
        };
        let change = |note| Change {
            time: 2,
            operator: "me",
            note,
        };
        let record = store.decide(&decision, &change(Some("met her"))).unwrap();
        assert_eq!(
            (record.label(), record.note()),
            ("Alice of Lima", "met her")
        );
        assert!(record.contact().unwrap().is_some());
        let record = store.decide(&decision, &change(None)).unwrap();
        assert_eq!(record.note(), "met her", "the same decision");
        let revoked = Decision {
            status: Status::Revoked,
            since: Some(1),
            label: None,
            ..decision
        };
        let record = store.decide(&revoked, &change(None)).unwrap();
        assert_eq!((record.since(), record.note()), (Some(1), ""));
        assert_eq!(record.label(), "Alice of Lima");
    }
}
