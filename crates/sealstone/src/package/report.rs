//! Reports for machines.

use serde_json::{Map, Value, json};

use super::{LayerReport, Report, SignerReport};

impl Report {
    /// The report as a JSON object: verdict, reason, layers by name, signers, findings. It does not
    /// depend on who reads it, so the standing of signers is not in it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let findings = self.findings.iter();
        let findings = findings.map(|it| json!({"path": it.path, "kind": it.kind.name()}));
        json!({
            "verdict": self.verdict.name(),
            "reason": self.reason,
            "layers": self.layers.iter().map(layer).collect::<Map<String, Value>>(),
            "signers": self.signers.iter().map(SignerReport::to_json).collect::<Vec<_>>(),
            "findings": findings.collect::<Vec<_>>(),
        })
    }
}

impl SignerReport {
    /// One of the signers in [`Report::to_json`].
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "fingerprint": self.fingerprint.to_string(),
            "role": self.role.name(),
            "time": self.time,
            "proved_time": self.proved_time,
            "ed25519": self.ed25519,
            "ml_dsa_65": self.ml_dsa_65,
            "named": self.named,
            "counts": self.counts,
        })
    }
}

fn layer(report: &LayerReport) -> (String, Value) {
    let value = json!({
        "verdict": report.verdict.name(),
        "required": report.required,
        "reason": report.reason,
    });
    (report.layer.name().to_owned(), value)
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, FindingKind, Layer, Role, Verdict};
    use super::*;
    use crate::passport::Fingerprint;
    use crate::trust::Standing;

    #[test]
    fn a_report_is_one_object() {
        let report = Report {
            verdict: Verdict::Bad,
            reason: "it is missing".into(),
            layers: Layer::ALL.map(|layer| LayerReport {
                layer,
                verdict: Verdict::Bad,
                required: layer == Layer::Content,
                reason: "a file is missing".into(),
                missing: false,
            }),
            signers: vec![SignerReport {
                fingerprint: Fingerprint::from_bytes([0xa1; 32]),
                role: Role::Signer,
                time: 5,
                proved_time: None,
                ed25519: true,
                ml_dsa_65: false,
                named: true,
                standing: Standing::Denied,
                counts: false,
            }],
            findings: vec![Finding {
                path: "a/b".into(),
                kind: FindingKind::Missing,
            }],
            timestamps: Vec::new(),
        };
        let value = report.to_json();
        assert_eq!(value["layers"]["content"]["required"], true);
        assert_eq!(value["layers"]["hmac"]["required"], false);
        assert_eq!(
            value["findings"],
            json!([{"path": "a/b", "kind": "missing"}])
        );
        let signer = json!({
            "fingerprint": report.signers[0].fingerprint.to_string(),
            "role": "signer",
            "time": 5,
            "proved_time": null,
            "ed25519": true,
            "ml_dsa_65": false,
            "named": true,
            "counts": false,
        });
        assert_eq!(value["signers"], json!([signer]));
        assert_eq!(
            (&value["verdict"], &value["reason"]),
            (&json!("bad"), &json!("it is missing"))
        );
    }
}
