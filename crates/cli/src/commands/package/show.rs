//! The report of a verification, for people and for machines.

use std::collections::HashMap;
use std::io::stdout;

use sealstone::package::{Finding, Layer, LayerReport, Package, Report, SignerReport, Verdict};
use sealstone::passport::Fingerprint;
use sealstone::trust::Standing;
use serde_json::{Map, Value, json};

use crate::exit::Exit;
use sealstone_terminal::clock;
use sealstone_terminal::colour::{Colour, Paint};
use sealstone_terminal::text::{one_line, quoted};

/// A report, with its subject.
pub(super) struct Shown<'a> {
    pub(super) package: &'a Package,
    pub(super) report: &'a Report,
    /// Names of signers.
    pub(super) labels: &'a HashMap<Fingerprint, String>,
}

/// More findings are counted only.
const SHOWN_FINDINGS: usize = 20;

impl Shown<'_> {
    /// The table of layers, the signers, the findings, the verdict.
    pub(super) fn text(&self) -> String {
        let paint = Paint::on(&stdout());
        let manifest = self.package.manifest();
        let author = match manifest.author.as_str() {
            "" => String::new(),
            author => format!(" by {}", quoted(author)),
        };
        let mut text = format!("package{author} of {}\n", clock::show(manifest.time));
        for layer in &self.report.layers {
            text += &layer_line(layer, paint);
        }
        for signer in &self.report.signers {
            text += &self.signer_line(signer);
        }
        text += &findings(&self.report.findings);
        let word = match self.report.verdict {
            Verdict::Good => paint.paint(Colour::Green, "GOOD"),
            _ => paint.paint(Colour::Red, "BAD"),
        };
        text + &format!("{word}: {}\n", one_line(&self.report.reason))
    }

    fn signer_line(&self, signer: &SignerReport) -> String {
        let label = self.labels.get(&signer.fingerprint);
        let name = label.map_or(String::new(), |label| format!("{} ", quoted(label)));
        let proved = signer.proved_time.map_or(String::new(), |time| {
            format!(", before {} by timestamp", clock::show(time))
        });
        format!(
            "  {} {name}{}\n    {}, says {}{proved}\n",
            signer.role.name(),
            signer.fingerprint,
            standing(signer),
            clock::show(signer.time),
        )
    }

    /// The object of `--json`.
    pub(super) fn value(&self) -> Value {
        let manifest = self.package.manifest();
        let signers = self.report.signers.iter().map(|it| self.signer_value(it));
        let mut value = self.report.to_json();
        value["signers"] = signers.collect();
        value["package"] = json!({
            "author": manifest.author,
            "time": manifest.time,
            "files": manifest.entries.len(),
            "digest": manifest.digest.name(),
            "complete": manifest.complete,
            "threshold": manifest.threshold,
            "required": manifest.required.iter().map(|it| it.name()).collect::<Vec<_>>(),
            "timestamps": self.package.timestamps().len(),
        });
        value
    }

    fn signer_value(&self, signer: &SignerReport) -> Value {
        let mut value = signer.to_json();
        value["label"] = json!(self.labels.get(&signer.fingerprint));
        value["standing"] = signer.standing.name().into();
        value
    }
}

/// The object of `--json` for a file that is not a package, or a malformed one.
pub(super) fn malformed(reason: &str) -> Value {
    let unchecked = |layer: Layer| {
        let value = json!({"verdict": "unchecked", "required": layer.is_always_required(),
            "reason": "the package could not be read"});
        (layer.name().to_owned(), value)
    };
    let layers: Map<String, Value> = Layer::ALL.into_iter().map(unchecked).collect();
    json!({"verdict": "bad", "reason": reason, "layers": layers, "signers": [], "findings": []})
}

fn layer_line(layer: &LayerReport, paint: Paint) -> String {
    let word = format!("{:<9}", layer.verdict.name());
    let word = match layer.verdict {
        Verdict::Good => paint.paint(Colour::Green, &word),
        Verdict::Bad => paint.paint(Colour::Red, &word),
        _ => word,
    };
    format!(
        "  {} {:<10} {word} {}\n",
        layer.layer.number(),
        layer.layer.name(),
        one_line(&layer.reason)
    )
}

fn findings(all: &[Finding]) -> String {
    let line = |it: &Finding| format!("  {:<10} {}\n", it.kind.name(), one_line(&it.path));
    let mut text: String = all.iter().take(SHOWN_FINDINGS).map(line).collect();
    if all.len() > SHOWN_FINDINGS {
        text += &format!("  … and {} more (see --json)\n", all.len() - SHOWN_FINDINGS);
    }
    text
}

pub(super) fn standing(signer: &SignerReport) -> String {
    match signer.standing {
        Standing::Unknown | Standing::Pending if signer.named => "named by you".to_owned(),
        Standing::Revoked { since } => format!("revoked since {}", clock::show(since)),
        Standing::Compromised { since: Some(since) } => {
            format!("compromised since {}", clock::show(since))
        }
        other => other.name().to_owned(),
    }
}

/// The exit code of a report.
pub(super) fn exit(report: &Report) -> Option<Exit> {
    if report.verdict == Verdict::Good {
        return None;
    }
    let spoils = |it: &&LayerReport| {
        it.verdict == Verdict::Bad || (it.required && it.verdict != Verdict::Good)
    };
    let bad = report.layers.iter().find(spoils).map(|it| it.layer);
    Some(match bad {
        Some(Layer::Content) => Exit::Content,
        Some(Layer::Hmac) => Exit::Hmac,
        Some(Layer::Ed25519) => Exit::Ed25519,
        Some(Layer::MlDsa65) => Exit::MlDsa65,
        Some(Layer::Keys) => Exit::Keys,
        Some(Layer::Timestamp) => Exit::Timestamp,
        None => Exit::Signers,
    })
}
