//! `verify --html`: a report in one file that needs neither a network nor a script.

use std::path::Path;

use data_encoding::HEXLOWER;
use sealstone::package::{Entry, EntryContent, LayerReport, SignerReport, Verdict};
use sealstone::timestamp::{PathCertificate, Verified};
use sealstone_primitives::hash::{sha3_256, sha256};
use sealstone_terminal::clock;
use sealstone_terminal::html::{
    code, definitions, element, escape, line, page, row, section, table,
};
use sealstone_terminal::text::{printable, shown};
use serde_json::Value;

use super::show::{Shown, standing};

const STYLE: &str = include_str!("report.css");
/// Longer lists are folded.
const FOLDED: usize = 20;
/// More files and findings are counted only: a browser has to show the page.
const MAX_ROWS: usize = 10_000;

/// The report on a file that is no package: there are no layers to show.
pub(super) fn malformed(path: &Path, reason: &str, now: u64) -> String {
    let title = "✘ BAD";
    let body = [
        element("h1", "Verification of a signed package"),
        format!("<p class=\"verdict bad\">{title}: {}</p>\n", line(reason)),
        definitions(&[("Verified", clock::show(now)), ("File", shown(path))]),
        element(
            "p",
            "The file cannot be read as a package, so no layer of it was checked and nothing is \
             known of its signers.",
        ),
    ];
    page(&format!("{title}: signed package"), STYLE, &body.concat())
}

impl Shown<'_> {
    /// The report as HTML, made at this time.
    pub(super) fn html(&self, now: u64) -> String {
        let verdict = self.report.verdict;
        let title = match verdict {
            Verdict::Good => "✔ GOOD",
            _ => "✘ BAD",
        };
        let body = [
            element("h1", "Verification of a signed package"),
            format!(
                "<p class=\"verdict {}\">{title}: {}</p>\n",
                verdict.name(),
                line(&self.report.reason)
            ),
            self.facts(now),
            self.layers(),
            self.signers(),
            self.timestamps(),
            self.policy(),
            self.findings(),
            self.files(),
            self.how_to_check(),
        ];
        page(&format!("{title}: signed package"), STYLE, &body.concat())
    }

    fn facts(&self, now: u64) -> String {
        let program = concat!("sealstone ", env!("CARGO_PKG_VERSION"));
        let manifest = self.package.manifest();
        let digest = HEXLOWER.encode(&sha3_256(&self.package.encode()));
        let mut facts = vec![
            ("Package, SHA3-256", digest),
            ("Verified", clock::show(now)),
            ("Verified by", program.to_owned()),
            ("Signed (claimed)", clock::show(manifest.time)),
            ("Author (claimed)", manifest.author.clone()),
            ("Files", manifest.entries.len().to_string()),
            ("Digest", manifest.digest.name().to_owned()),
            ("Signatures required", manifest.threshold.to_string()),
        ];
        if manifest.complete {
            facts.push(("Directory", "complete: additional files are bad".to_owned()));
        }
        if let Some(metadata) = &manifest.metadata {
            facts.push(("Metadata", metadata.as_str().to_owned()));
        }
        definitions(&facts)
    }

    fn layers(&self) -> String {
        let row = |layer: &LayerReport| {
            let required = if layer.required { "required" } else { "" };
            row(&[
                line(layer.layer.number()),
                line(layer.layer.name()),
                word(layer.verdict),
                required.to_owned(),
                line(&layer.reason),
            ])
        };
        let rows: String = self.report.layers.iter().map(row).collect();
        let names = ["", "Layer", "Verdict", "", "Reason"];
        section("Layers", &table(&names, &rows))
    }

    fn signers(&self) -> String {
        let one = |signer: &SignerReport| {
            let label = self.labels.get(&signer.fingerprint);
            let right = |right| if right { "good" } else { "bad" }.to_owned();
            let proved = signer.proved_time.map(clock::show);
            let facts = definitions(&[
                ("Name", label.cloned().unwrap_or_default()),
                ("Fingerprint", signer.fingerprint.to_string()),
                ("Role", signer.role.name().to_owned()),
                ("Trust", standing(signer)),
                (
                    "Counts",
                    if signer.counts { "yes" } else { "no" }.to_owned(),
                ),
                ("Time (claimed)", clock::show(signer.time)),
                ("Proved to be before", proved.unwrap_or_default()),
                ("Ed25519", right(signer.ed25519)),
                ("ML-DSA-65", right(signer.ml_dsa_65)),
            ]);
            card(&facts)
        };
        let all: String = self.report.signers.iter().map(one).collect();
        section("Signers", &all)
    }

    fn timestamps(&self) -> String {
        let one = |(index, found): (usize, &Verified)| {
            let accuracy = found.accuracy.map(|it| format!("{} s", it.as_secs_f64()));
            let facts = definitions(&[
                ("Timestamp", (index + 1).to_string()),
                ("Time", clock::show(found.time.as_secs())),
                ("Accuracy", accuracy.unwrap_or_default()),
                ("Authority", found.tsa().to_owned()),
                ("Policy", found.policy.to_string()),
                ("Serial number", HEXLOWER.encode(&found.serial)),
                ("Renew before", clock::show(found.expires())),
            ]);
            let chain: String = found.path.iter().map(certificate).collect();
            card(&(facts + &element("h3", "Certificates, from the authority to the root") + &chain))
        };
        let all: String = self.report.timestamps.iter().enumerate().map(one).collect();
        match all.is_empty() {
            true => String::new(),
            false => section("Timestamps", &all),
        }
    }

    fn policy(&self) -> String {
        let Some(policy) = self.package.policy() else {
            return String::new();
        };
        let value: Option<Value> = serde_json::from_slice(policy).ok();
        let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
        let text = pretty.unwrap_or_else(|| String::from_utf8_lossy(policy).into_owned());
        let text = format!("<pre>{}</pre>\n", escape(&printable(&text)));
        section("Policy", &text)
    }

    fn findings(&self) -> String {
        let all = &self.report.findings;
        let one = |it: &sealstone::package::Finding| row(&[line(it.kind.name()), code(&it.path)]);
        let rows: String = all.iter().take(MAX_ROWS).map(one).collect();
        match all.is_empty() {
            true => String::new(),
            false => section(
                "Findings",
                &folded(all.len(), &table(&["Finding", "Path"], &rows)),
            ),
        }
    }

    fn files(&self) -> String {
        let entries = &self.package.manifest().entries;
        let rows: String = entries.iter().take(MAX_ROWS).map(file).collect();
        let table = table(&["Path", "Bytes", "Digest"], &rows);
        section("Files", &folded(entries.len(), &table))
    }

    fn how_to_check(&self) -> String {
        let text = "<p>This page says what one program found. You can check the package without \
            that program: OpenSSL 3.5 alone checks signatures, digests and timestamps. Take the \
            package, its files and the fingerprints of the signers from people that you trust.</p>\n\
            <pre>sealstone verify --export evidence PACKAGE\n\
            sh evidence/check.sh --root DIRECTORY</pre>\n\
            <p>The script is short and readable, and the format is specified in \
            spec/package.md.</p>\n";
        section("How to check this without us", text)
    }
}

fn card(content: &str) -> String {
    format!("<section class=\"card\">{content}</section>\n")
}

/// A long list is folded, and a very long one is cut.
fn folded(count: usize, content: &str) -> String {
    if count <= FOLDED {
        return content.to_owned();
    }
    let more = match count.checked_sub(MAX_ROWS) {
        None | Some(0) => String::new(),
        Some(more) => format!("<p>… and {more} more (see --json and --export)</p>\n"),
    };
    format!("<details><summary>All {count}</summary>\n{content}{more}</details>\n")
}

fn word(verdict: Verdict) -> String {
    let sign = match verdict {
        Verdict::Good => "✔ ",
        Verdict::Bad => "✘ ",
        Verdict::Unchecked | Verdict::Absent => "",
    };
    let name = verdict.name();
    format!("<span class=\"word {name}\">{sign}{name}</span>")
}

fn file(entry: &Entry) -> String {
    let content = match &entry.content {
        EntryContent::File { digest, .. } => code(HEXLOWER.encode(digest)),
        EntryContent::Link(target) => format!("link to {}", code(target)),
    };
    row(&[code(&entry.path), line(entry.size()), content])
}

fn certificate(found: &PathCertificate) -> String {
    definitions(&[
        ("Subject", found.subject.clone()),
        ("Issuer", found.issuer.clone()),
        ("Serial number", HEXLOWER.encode(&found.serial)),
        ("Valid from", clock::show(found.not_before)),
        ("Valid until", clock::show(found.not_after)),
        ("SHA-256", HEXLOWER.encode(&sha256(&[&found.der]))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_folded_and_very_long_ones_cut() {
        assert_eq!(folded(FOLDED, "x"), "x");
        assert!(folded(FOLDED + 1, "x").starts_with("<details><summary>All 21</summary>"));
        assert!(!folded(MAX_ROWS, "x").contains("more"));
        assert!(folded(MAX_ROWS + 7, "x").contains("and 7 more"));
    }
}
