//! Whether signed content is released: the user's decision about its sender.

use std::fmt;

use super::{Change, Record, Status, Storage, TrustStore};
use crate::passport::{Contact, Fingerprint};
use crate::{Error, Result};

/// The sender that content names. Its signatures have not been verified yet.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The sender's fingerprint.
    pub fingerprint: Fingerprint,
    /// The sender's keys, as the content carries them or as the user has them.
    pub keys: Option<Contact>,
    /// Whether the sender is the user.
    pub own: Own,
    /// Whether the passport was the user's default one and was replaced by another one.
    pub former: bool,
}

/// Whether a passport is one of the user's.
#[derive(Clone, Debug)]
pub enum Own {
    /// The user has its secret keys, and these are the public ones.
    Held(Box<Contact>),
    /// A passport of the user that is still locked claims the fingerprint.
    Claimed,
    /// It is not.
    No,
}

/// The decision about the content.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It is released once the signatures of this sender have been verified.
    Release(KnownSender),
    /// It is decided again once the signatures of this sender have been verified and then the
    /// passport that claims to be the sender has been unlocked: a prompt follows only from a claim
    /// that is authentic.
    Confirm(Contact),
    /// It is not released. The sender is recorded once the signatures have been verified.
    Withhold(KnownSender),
}

/// A sender whose keys are known.
#[derive(Clone, Debug)]
pub struct KnownSender {
    /// The public keys.
    pub contact: Contact,
    /// The reason for the verdict.
    pub ground: Ground,
    /// The user's name for the sender, else the sender's own label.
    pub label: String,
    /// Approved passports of the same name.
    pub namesakes: Vec<Fingerprint>,
    /// Whether the trust store has the keys.
    is_stored: bool,
}

/// The reason for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The sender is the user.
    Own,
    /// The user has approved the sender.
    Approved,
    /// The caller has named the sender.
    Expected,
    /// The sender is a passport that the user has replaced: others may have it.
    Replaced,
    /// The user has not decided about the sender.
    Pending,
}

/// Why nothing is decided: the content is not opened, whatever its signatures say.
#[derive(Debug)]
pub enum Refused {
    /// The user has denied the sender, or it is revoked or compromised.
    Barred {
        /// The user's name for it.
        label: String,
        /// The user's decision.
        status: Status,
    },
    /// The caller has named another sender.
    Another,
    /// The keys of the sender are not known, so that no signature can be verified.
    NoKeys,
    /// The trust store cannot be read.
    Store(Error),
}

impl<S: Storage> TrustStore<S> {
    /// Decides about content before anything of it is decrypted. `accept_pending` releases content
    /// of senders about whom the user has not decided.
    ///
    /// # Errors
    /// [`Refused`]. Nothing overrides that a sender is denied, revoked or compromised.
    pub fn verdict(&self, claim: Claim, accept_pending: bool) -> Result<Verdict, Refused> {
        self.refuse_barred(&claim.fingerprint)?;
        let replaced = self.is_replaced(&claim);
        match claim.own {
            Own::Held(contact) if !replaced => {
                Ok(Verdict::Release(self.known_sender(*contact, Ground::Own)))
            }
            Own::Claimed if !replaced => {
                let keys = claim.keys.ok_or(Refused::NoKeys)?;
                Ok(Verdict::Confirm(keys))
            }
            _ => {
                let ground = match replaced {
                    true => Ground::Replaced,
                    false => Ground::Pending,
                };
                let sender = self.sender_on_record(&claim.fingerprint, claim.keys, ground)?;
                match accept_pending || sender.ground == Ground::Approved {
                    true => Ok(Verdict::Release(sender)),
                    false => Ok(Verdict::Withhold(sender)),
                }
            }
        }
    }

    /// The sender that the caller expects, for content that claims a fingerprint.
    ///
    /// # Errors
    /// [`Refused::Another`] and [`Refused::Barred`].
    pub fn expect(&self, sender: Contact, claimed: &Fingerprint) -> Result<KnownSender, Refused> {
        self.refuse_barred(claimed)?;
        match sender.fingerprint() == *claimed {
            true => Ok(self.known_sender(sender, Ground::Expected)),
            false => Err(Refused::Another),
        }
    }

    /// Refuses a sender whose content must never open.
    ///
    /// # Errors
    /// [`Refused::Barred`].
    pub fn refuse_barred(&self, fingerprint: &Fingerprint) -> Result<(), Refused> {
        let record = self.get(fingerprint);
        match record.filter(|record| record.status().is_barred()) {
            None => Ok(()),
            Some(record) => Err(Refused::Barred {
                label: record.label().to_owned(),
                status: record.status(),
            }),
        }
    }

    /// Remembers a sender after its signatures were verified: a stranger, or keys that the store
    /// did not have.
    ///
    /// # Errors
    /// As [`TrustStore::record_stranger`].
    pub fn record_sender(&mut self, sender: &KnownSender, change: &Change<'_>) -> Result<()> {
        match sender.is_news() {
            true => self.record_stranger(&sender.contact, change).map(drop),
            false => Ok(()),
        }
    }

    /// Whether this is a passport of the user that another one has replaced: a rotation leaves a
    /// pending record. A passport that is locked only claims its fingerprint.
    fn is_replaced(&self, claim: &Claim) -> bool {
        let is_pending = |record: Record<'_>| record.status() == Status::Pending;
        let is_held = matches!(claim.own, Own::Held(_));
        claim.former || is_held && self.get(&claim.fingerprint).is_some_and(is_pending)
    }

    /// The sender with the keys of the store, else with those of the claim. The ground is
    /// `otherwise` if the user has not approved the sender.
    fn sender_on_record(
        &self,
        fingerprint: &Fingerprint,
        claimed: Option<Contact>,
        otherwise: Ground,
    ) -> Result<KnownSender, Refused> {
        let record = self.get(fingerprint);
        let stored = record.map(|record| record.contact()).transpose();
        let stored = stored.map_err(Refused::Store)?.flatten();
        let contact = stored.or(claimed).ok_or(Refused::NoKeys)?;
        let is_approved = record.is_some_and(|record| record.status() == Status::Approved);
        let ground = match is_approved {
            true => Ground::Approved,
            false => otherwise,
        };
        Ok(self.known_sender(contact, ground))
    }

    fn known_sender(&self, contact: Contact, ground: Ground) -> KnownSender {
        let fingerprint = contact.fingerprint();
        let record = self.get(&fingerprint);
        let given = record.map(|record| record.label());
        let label = given.filter(|label| !label.is_empty());
        let label = label.unwrap_or(contact.label()).to_owned();
        let namesakes = self.namesakes(&label, &fingerprint);
        let has_keys = |record: Record<'_>| record.contact().is_ok_and(|keys| keys.is_some());
        KnownSender {
            ground,
            namesakes: namesakes.iter().map(Record::fingerprint).collect(),
            label,
            is_stored: record.is_some_and(has_keys),
            contact,
        }
    }
}

impl KnownSender {
    /// Whether the trust store has to remember the sender or its keys.
    pub fn is_news(&self) -> bool {
        match self.ground {
            Ground::Own | Ground::Expected => false,
            Ground::Approved => !self.is_stored,
            Ground::Replaced | Ground::Pending => true,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Barred { status, .. } => write!(f, "its sender is {status} in the trust store"),
            Self::Another => write!(f, "signed by somebody else than expected"),
            Self::NoKeys => write!(f, "the keys of its sender are not known"),
            Self::Store(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use sealstone_primitives::secret::Secret;

    use super::super::Memory;
    use super::*;
    use crate::passport::Passport;

    fn person(number: u8, label: &str) -> Contact {
        let seed = Secret::from_array(&mut [number; 32]);
        let passport = Passport::from_seed(seed, label, 1).unwrap();
        passport.public().contact().clone()
    }

    /// A store with a decision about each of these.
    fn store(decisions: &[(&Contact, Status)]) -> TrustStore<Memory> {
        let mut store = TrustStore::open(Memory::default()).unwrap();
        let change = Change::default();
        for (contact, status) in decisions {
            store.introduce(contact, &change).unwrap();
            if *status != Status::Pending {
                let fingerprint = contact.fingerprint();
                store.set_status(&fingerprint, *status, &change).unwrap();
            }
        }
        store
    }

    fn claim(contact: &Contact, own: Own) -> Claim {
        Claim {
            fingerprint: contact.fingerprint(),
            keys: Some(contact.clone()),
            own,
            former: false,
        }
    }

    fn outcome(store: &TrustStore<Memory>, claim: Claim) -> (&'static str, Option<Ground>) {
        match store.verdict(claim, false) {
            Ok(Verdict::Release(sender)) => ("release", Some(sender.ground)),
            Ok(Verdict::Withhold(sender)) => ("withhold", Some(sender.ground)),
            Ok(Verdict::Confirm(_)) => ("confirm", None),
            Err(Refused::Barred { .. }) => ("barred", None),
            Err(Refused::NoKeys) => ("no keys", None),
            Err(_) => ("error", None),
        }
    }

    #[test]
    fn only_approved_senders_and_the_user_are_released() {
        let alice = person(1, "Alice");
        for (status, expected) in [
            (Status::Pending, ("withhold", Some(Ground::Pending))),
            (Status::Approved, ("release", Some(Ground::Approved))),
            (Status::Denied, ("barred", None)),
            (Status::Revoked, ("barred", None)),
            (Status::Compromised, ("barred", None)),
        ] {
            let store = store(&[(&alice, status)]);
            assert_eq!(outcome(&store, claim(&alice, Own::No)), expected);
        }
        let empty = store(&[]);
        let held = claim(&alice, Own::Held(Box::new(alice.clone())));
        let own = ("release", Some(Ground::Own));
        assert_eq!(outcome(&empty, held), own);
        assert_eq!(
            outcome(&empty, claim(&alice, Own::Claimed)),
            ("confirm", None)
        );
        let stranger = claim(&alice, Own::No);
        assert!(matches!(
            empty.verdict(stranger, true),
            Ok(Verdict::Release(_))
        ));
    }

    #[test]
    fn a_denial_counts_also_for_the_user_and_for_an_expected_sender() {
        let alice = person(1, "Alice");
        let denied = store(&[(&alice, Status::Denied)]);
        let held = claim(&alice, Own::Held(Box::new(alice.clone())));
        assert_eq!(outcome(&denied, held), ("barred", None));
        let fingerprint = alice.fingerprint();
        let refused = denied.expect(alice, &fingerprint).unwrap_err();
        assert!(matches!(refused, Refused::Barred { .. }));
    }

    #[test]
    fn a_replaced_passport_does_not_speak_for_the_user() {
        let alice = person(1, "Alice");
        let held = || claim(&alice, Own::Held(Box::new(alice.clone())));
        let replaced = ("withhold", Some(Ground::Replaced));
        let rotated = store(&[(&alice, Status::Pending)]);
        assert_eq!(outcome(&rotated, held()), replaced);
        let former = |own| Claim {
            former: true,
            ..claim(&alice, own)
        };
        let empty = store(&[]);
        assert_eq!(
            outcome(&empty, former(Own::Held(Box::new(alice.clone())))),
            replaced
        );
        // The command does not ask for its passphrase.
        assert_eq!(outcome(&empty, former(Own::Claimed)), replaced);
        let approved = store(&[(&alice, Status::Approved)]);
        let released = ("release", Some(Ground::Approved));
        assert_eq!(outcome(&approved, former(Own::No)), released);
    }

    #[test]
    fn keys_come_from_the_store_or_from_the_claim() {
        let (alice, bob) = (person(1, "Alice"), person(2, "Bob"));
        let without = |own| Claim {
            keys: None,
            ..claim(&alice, own)
        };
        let known = store(&[(&alice, Status::Approved)]);
        let released = ("release", Some(Ground::Approved));
        assert_eq!(outcome(&known, without(Own::No)), released);
        for own in [Own::No, Own::Claimed] {
            assert_eq!(outcome(&store(&[]), without(own)), ("no keys", None));
        }
        let expected = known.expect(bob, &alice.fingerprint());
        assert!(matches!(expected, Err(Refused::Another)));
    }

    #[test]
    fn strangers_and_missing_keys_are_remembered() {
        let (alice, other) = (person(1, "Alice"), person(2, "ALICE"));
        let mut store = store(&[(&other, Status::Approved)]);
        let change = Change::default();
        let verdict = store.verdict(claim(&alice, Own::No), false);
        let Ok(Verdict::Withhold(sender)) = verdict else {
            panic!("{verdict:?}");
        };
        assert_eq!(sender.namesakes, [other.fingerprint()]);
        store.record_sender(&sender, &change).unwrap();
        assert_eq!(store.iter().len(), 2);
        // Approved by its fingerprint alone, and then with keys.
        let carol = person(3, "Carol");
        let fingerprint = carol.fingerprint();
        store
            .set_status(&fingerprint, Status::Approved, &change)
            .unwrap();
        for is_news in [true, false] {
            let verdict = store.verdict(claim(&carol, Own::No), false);
            let Ok(Verdict::Release(sender)) = verdict else {
                panic!("{verdict:?}");
            };
            assert_eq!(sender.is_news(), is_news);
            store.record_sender(&sender, &change).unwrap();
        }
    }
}
