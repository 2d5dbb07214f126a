//! The trust store for machines.

use serde_json::{Value, json};

use super::{Entry, Ground, KnownSender, Record};

impl Record<'_> {
    /// As a JSON object; times are in seconds since 1970.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "fingerprint": self.fingerprint().to_string(),
            "status": self.status().to_string(),
            "label": self.label(),
            "first_seen": self.first_seen(),
            "changed": self.changed(),
            "operator": self.operator(),
            "note": self.note(),
            "since": self.since(),
        })
    }
}

impl Entry {
    /// As a JSON object; times are in seconds since 1970.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "sequence": self.sequence(),
            "time": self.time(),
            "event": self.event(),
            "fingerprint": self.fingerprint().map(|fingerprint| fingerprint.to_string()),
            "label": self.label(),
            "operator": self.operator(),
            "note": self.note(),
            "brings_keys": self.brings_keys(),
            "since": self.since(),
            "uses": self.uses(),
            "lifecycle": self.lifecycle().map(|(stage, limits, successor)| json!({
                "stage": stage.name(),
                "not_before": limits.not_before,
                "not_after": limits.not_after,
                "max_uses": limits.max_uses,
                "successor": successor.map(|successor| successor.to_string()),
            })),
        })
    }
}

impl Ground {
    /// The word for it in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Approved => "approved",
            Self::Expected => "expected",
            Self::Replaced => "replaced",
            Self::Pending => "pending",
        }
    }
}

impl KnownSender {
    /// As a JSON object: who it is, and why the content is released.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "fingerprint": self.contact.fingerprint().to_string(),
            "label": self.label,
            "trust": self.ground.name(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Change, Memory, Status, TrustStore};
    use crate::passport::Fingerprint;

    #[test]
    fn a_record_and_its_entry_tell_the_same() {
        let mut store = TrustStore::open(Memory::default()).unwrap();
        let change = Change {
            time: 5,
            operator: "me",
            note: Some("why"),
        };
        let name = Fingerprint::from_bytes([7; 32]);
        let record = store.set_status(&name, Status::Revoked, &change).unwrap();
        let record = record.to_json();
        let entry = store.log().next().unwrap().to_json();
        for field in ["fingerprint", "label", "operator", "note", "since"] {
            assert_eq!(record[field], entry[field], "{field}");
        }
        assert_eq!(
            (&record["status"], &entry["event"]),
            (&"revoked".into(), &"revoked".into())
        );
        assert_eq!(entry["lifecycle"], serde_json::Value::Null);
    }
}
