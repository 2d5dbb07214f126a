//! Names of passports as people type them.

use super::{Record, Status, Storage, TrustStore};
use crate::passport::Fingerprint;
use crate::wire::text;

/// The meaning of a typed name.
///
/// White space, dashes and invisible characters between digits never matter, so that they cannot
/// make a short fingerprint look like something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// A whole fingerprint. It never means a label.
    Whole(Fingerprint),
    /// 8 or more hexadecimal digits: the beginning of a fingerprint, or a label that looks like
    /// one.
    Beginning {
        /// The digits in lower case.
        digits: String,
        /// The label.
        label: String,
    },
    /// A label.
    Label(String),
}

/// Fewer digits are not taken for a fingerprint.
const MIN_DIGITS: usize = 8;

impl Name {
    /// Reads a name.
    #[must_use]
    pub fn parse(typed: &str) -> Self {
        if let Ok(fingerprint) = typed.parse() {
            return Self::Whole(fingerprint);
        }
        let label = text::typed_label(typed);
        let digits = text::typed_digits(typed);
        let hexadecimal = digits.chars().all(|c| c.is_ascii_hexdigit());
        match hexadecimal && digits.len() >= MIN_DIGITS {
            true => Self::Beginning { digits, label },
            false => Self::Label(label),
        }
    }

    /// Whether the name can mean the passport of this fingerprint and label.
    #[must_use]
    pub fn means(&self, fingerprint: &Fingerprint, label: &str) -> bool {
        let labelled = |name: &String| !name.is_empty() && name == label;
        match self {
            Self::Whole(whole) => whole == fingerprint,
            Self::Beginning {
                digits,
                label: name,
            } => fingerprint.digits().starts_with(digits) || labelled(name),
            Self::Label(name) => labelled(name),
        }
    }
}

impl<S: Storage> TrustStore<S> {
    /// The only approved record that `name` can mean. Strangers choose their own labels, so records
    /// that are not approved never make a name ambiguous here.
    #[must_use]
    pub fn find_approved(&self, name: &str) -> Option<Record<'_>> {
        let is_approved = |record: &Record<'_>| record.status() == Status::Approved;
        let mut approved = self.find_all(name).into_iter().filter(is_approved);
        let only = approved.next()?;
        approved.next().is_none().then_some(only)
    }

    /// Other approved passports of the same label; case does not count. Nobody should take one for
    /// the other.
    pub fn namesakes(&self, label: &str, fingerprint: &Fingerprint) -> Vec<Record<'_>> {
        let lower = label.to_lowercase();
        let is_namesake = |record: &Record<'_>| {
            record.status() == Status::Approved
                && record.fingerprint() != *fingerprint
                && !lower.is_empty()
                && record.label().to_lowercase() == lower
        };
        self.iter().filter(is_namesake).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Change, Memory};
    use super::*;

    #[test]
    fn characters_that_are_not_seen_change_nothing() {
        let alice = Fingerprint::from_bytes([0xa1; 32]);
        let other = Fingerprint::from_bytes([0xb2; 32]);
        for separator in [
            "", " ", "-", "\u{a0}", "\u{202f}", "\u{200b}", "\u{2011}", "\u{feff}",
        ] {
            let name = Name::parse(&format!("A1a1{separator}a1A1{separator}a1"));
            assert!(matches!(&name, Name::Beginning { digits, .. } if digits == "a1a1a1a1a1"));
            assert!(name.means(&alice, "") && !name.means(&other, ""));
            let whole = Name::parse(&["a1"; 32].join(separator));
            assert_eq!(whole, Name::Whole(alice), "{separator:?}");
        }
        let label = Name::parse("\u{a0}Alice\u{200b}\u{a0} Smith ");
        assert_eq!(label, Name::Label("Alice Smith".into()));
        assert!(label.means(&other, "Alice Smith") && !label.means(&other, "Alice"));
        assert!(!Name::parse("\u{200b}").means(&other, ""));
    }

    #[test]
    fn only_approved_passports_of_a_label_are_namesakes() {
        let mut store = TrustStore::open(Memory::default()).unwrap();
        let [alice, twin, other, denied] =
            [1, 2, 3, 4].map(|number| Fingerprint::from_bytes([number; 32]));
        let change = Change::default();
        for (fingerprint, label, status) in [
            (&alice, "Alice", Status::Approved),
            (&twin, "ALICE", Status::Approved),
            (&other, "", Status::Approved),
            (&denied, "alice", Status::Denied),
        ] {
            store.set_status(fingerprint, status, &change).unwrap();
            store.relabel(fingerprint, label, &change).unwrap();
        }
        let namesakes = store.namesakes("alice", &alice);
        assert_eq!(namesakes.len(), 1);
        assert_eq!(namesakes[0].fingerprint(), twin);
        assert!(store.namesakes("", &alice).is_empty());
    }

    #[test]
    fn an_approved_passport_is_found_among_strangers_of_its_label() {
        let mut store = TrustStore::open(Memory::default()).unwrap();
        let [alice, stranger, twin] = [1, 2, 3].map(|number| Fingerprint::from_bytes([number; 32]));
        let change = Change::default();
        let mut put = |fingerprint, status| {
            store.set_status(fingerprint, status, &change).unwrap();
            store.relabel(fingerprint, "Alice", &change).unwrap();
            let found = store.find_approved("Alice");
            found.map(|record| record.fingerprint())
        };
        assert_eq!(put(&stranger, Status::Denied), None);
        assert_eq!(put(&alice, Status::Approved), Some(alice));
        assert_eq!(put(&twin, Status::Approved), None);
        assert_eq!(put(&alice, Status::Revoked), Some(twin));
    }
}
