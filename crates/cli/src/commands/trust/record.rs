//! A record of the trust store as JSON.

use sealstone::trust::Record;
use serde_json::{Value, json};

/// One record for machines.
pub(super) fn record_json(record: &Record<'_>) -> Value {
    json!({
        "fingerprint": record.fingerprint().to_string(),
        "status": record.status().to_string(),
        "label": record.label(),
        "first_seen": record.first_seen(),
        "changed": record.changed(),
        "operator": record.operator(),
        "note": record.note(),
        "since": record.since(),
    })
}
