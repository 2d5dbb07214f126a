//! Metrics (`spec/service.md`, "Metrics"): the names of all metrics, and the store's.
//!
//! ```
//! use sealstone_server::measure::METRICS;
//!
//! assert!(METRICS.iter().any(|metric| metric.name == "sealstone_requests_total"));
//! ```

use std::sync::Arc;
use std::time::Instant;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use sealstone_token::privacypass::directory::DirectoryKey;

use crate::store::{
    Answer, Change, Outcome, Page, Replace, Set, Sink, Store, StoreError, Transfer,
};
use crate::telemetry::Span;
use crate::{Error, Result};

/// Seconds, the upper bounds of buckets.
const SECONDS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];
/// Changes in one commit.
const GROUPS: [f64; 7] = [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0];
const GROUP: &str = "sealstone_store_group";

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name.
    pub name: &'static str,
    /// Its labels, whose values are few: of routes, statuses and kinds.
    pub labels: &'static [&'static str],
    /// The counted thing.
    pub help: &'static str,
}

const fn metric(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    Metric { name, labels, help }
}

/// All metrics. `_total` are counters, `_seconds` without a time are histograms, the others gauges.
pub const METRICS: &[Metric] = &[
    metric("sealstone_connections", &[], "connections that are open"),
    metric("sealstone_requests_total", &["route", "status"], "answers"),
    metric(
        "sealstone_request_seconds",
        &["route"],
        "time until the answer",
    ),
    metric("sealstone_tokens_issued_total", &[], "tokens issued"),
    metric(
        "sealstone_gate_refused_total",
        &["kind"],
        "requests that the gate refused, and why",
    ),
    metric(
        "sealstone_redemptions_total",
        &["kind"],
        "tokens shown: accepted, or why not",
    ),
    metric(
        "sealstone_store_seconds",
        &["kind"],
        "time of the store's operations",
    ),
    metric(
        "sealstone_store_errors_total",
        &["kind"],
        "operations without an answer: busy, unavailable",
    ),
    metric(GROUP, &[], "changes in one commit of the embedded store"),
    metric(
        "sealstone_store_commit_seconds",
        &[],
        "time of one commit of the embedded store",
    ),
    metric("sealstone_store_sets", &[], "sets that are open"),
    metric("sealstone_spent_tokens", &[], "spent tokens that are kept"),
    metric(
        "sealstone_disk_free_bytes",
        &[],
        "room for the data directory",
    ),
    metric(
        "sealstone_keys",
        &["kind"],
        "keys: issuing now, accepted now",
    ),
    metric(
        "sealstone_directory_time_seconds",
        &[],
        "when the verifier's directory was signed, since 1970",
    ),
    metric(
        "sealstone_tls_certificate_end_seconds",
        &[],
        "when the listener's certificate ends, since 1970",
    ),
    metric(
        "sealstone_tls_reloads_total",
        &["kind"],
        "changes of the certificate: done, failed",
    ),
    metric(
        "sealstone_tls_refused_total",
        &[],
        "connections whose handshake failed",
    ),
    metric(
        "sealstone_trace_exports_total",
        &["kind"],
        "messages with spans to the collector: done, failed",
    ),
];

/// The recorder of this process.
///
/// # Errors
/// If there is one already.
pub fn recorder() -> Result<PrometheusHandle> {
    let failed = |error: &dyn std::fmt::Display| Error::Config(format!("metrics: {error}"));
    let group = Matcher::Full(GROUP.to_owned());
    let builder = PrometheusBuilder::new()
        .set_buckets(&SECONDS)
        .and_then(|builder| builder.set_buckets_for_metric(group, &GROUPS));
    let handle = builder.map_err(|e| failed(&e))?.install_recorder();
    let handle = handle.map_err(|e| failed(&e))?;
    for metric in METRICS {
        describe(metric);
    }
    Ok(handle)
}

fn describe(metric: &Metric) {
    let (name, help) = (metric.name, metric.help);
    let is_time = [
        "sealstone_tls_certificate_end_seconds",
        "sealstone_directory_time_seconds",
    ];
    if name.ends_with("_total") {
        metrics::describe_counter!(name, help);
    } else if name == GROUP || name.ends_with("_seconds") && !is_time.contains(&name) {
        metrics::describe_histogram!(name, help);
    } else {
        metrics::describe_gauge!(name, help);
    }
}

/// Shows how many keys of a directory issue and are accepted.
pub fn show_keys(keys: &[DirectoryKey], now: u64) {
    let count = |is_counted: &dyn Fn(&DirectoryKey) -> bool| {
        keys.iter().filter(|entry| is_counted(entry)).count() as f64
    };
    let issuing = count(&|entry| {
        let lifetime = entry.lifetime;
        lifetime.is_some_and(|l| (l.not_before..l.issue_until).contains(&now))
    });
    let accepted = count(&|entry| {
        let lifetime = entry.lifetime;
        lifetime.is_some_and(|l| (l.not_before..l.redeem_until).contains(&now))
    });
    metrics::gauge!("sealstone_keys", "kind" => "issuing").set(issuing);
    metrics::gauge!("sealstone_keys", "kind" => "accepted").set(accepted);
}

/// A store whose operations are measured.
pub struct Measured(pub Arc<dyn Transfer>);

impl Measured {
    fn measure<'a, T: Send + 'a>(&self, kind: &'static str, work: Answer<'a, T>) -> Answer<'a, T> {
        let begun = Instant::now();
        let span = Span::of("store", kind);
        Box::pin(async move {
            let answer = span.around(work).await;
            let histogram = metrics::histogram!("sealstone_store_seconds", "kind" => kind);
            histogram.record(begun.elapsed());
            if let Err(error) = &answer {
                let kind = match error {
                    StoreError::Busy => "busy",
                    StoreError::Unavailable(_) => "unavailable",
                };
                metrics::counter!("sealstone_store_errors_total", "kind" => kind).increment(1);
                span.failed(kind);
            }
            answer
        })
    }
}

impl Store for Measured {
    fn apply(&self, change: Change) -> Answer<'_, Outcome> {
        self.measure("apply", self.0.apply(change))
    }

    fn probe(&self, change: Change) -> Answer<'_, Outcome> {
        self.measure("probe", self.0.probe(change))
    }

    fn get(&self, name: &str) -> Answer<'_, Option<Vec<u8>>> {
        self.measure("get", self.0.get(name))
    }

    fn update(&self, records: Vec<Replace>) -> Answer<'_, bool> {
        self.measure("update", self.0.update(records))
    }

    fn close_sets(&self, before: u64) -> Answer<'_, u64> {
        self.measure("close", self.0.close_sets(before))
    }

    fn sets(&self) -> Answer<'_, Vec<(Set, u64)>> {
        self.measure("sets", self.0.sets())
    }
}

impl Transfer for Measured {
    fn pages(&self, sink: Sink) -> Answer<'_, u64> {
        self.0.pages(sink)
    }

    fn load(&self, page: Page) -> Answer<'_, ()> {
        self.0.load(page)
    }

    fn copies_at_work(&self) -> bool {
        self.0.copies_at_work()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// The texts of all files below `directory` with this ending.
    fn texts(directory: &Path, ending: &str, found: &mut String) {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                texts(&path, ending, found);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push_str(&std::fs::read_to_string(&path).expect("text"));
            }
        }
    }

    /// The names that follow one of `starts`.
    fn names<'t>(text: &'t str, starts: &[&str]) -> BTreeSet<&'t str> {
        let after = starts.iter().flat_map(|start| text.split(start).skip(1));
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
        let name = |rest: &'t str| {
            let rest = rest.trim_start().trim_start_matches('"');
            let name = rest.split(|c| !is_name(c)).next().unwrap_or("");
            name.starts_with("sealstone_").then_some(name)
        };
        after.filter_map(name).collect()
    }

    fn described() -> BTreeSet<&'static str> {
        METRICS.iter().map(|metric| metric.name).collect()
    }

    #[test]
    fn every_metric_of_the_source_is_described() {
        let mut source = String::new();
        texts(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            "rs",
            &mut source,
        );
        let macros = ["counter!(", "gauge!(", "histogram!("];
        let emitted = names(&source, &macros);
        let constant = BTreeSet::from([GROUP]);
        let described = described();
        assert_eq!(
            emitted.union(&constant).copied().collect::<BTreeSet<_>>(),
            described
        );
        let planted = names("counter!(\"sealstone_planted_total\")", &macros);
        assert!(!planted.is_subset(&described));
    }

    #[test]
    fn every_label_of_the_source_is_described() {
        let mut source = String::new();
        texts(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            "rs",
            &mut source,
        );
        for metric in METRICS {
            let call = format!("!(\"{}\", ", metric.name);
            for arguments in source.split(&call).skip(1) {
                let arguments = arguments.split(')').next().unwrap_or("");
                let pairs = arguments
                    .split(", ")
                    .filter_map(|pair| pair.split_once(" => "));
                let labels: Vec<&str> = pairs.map(|(name, _)| name.trim_matches('"')).collect();
                assert_eq!(labels, metric.labels, "{}", metric.name);
            }
        }
    }

    #[test]
    fn rules_and_the_page_name_metrics_that_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let described = described();
        let check = |text: &str| {
            let mut used = Vec::new();
            for word in text.split(|c: char| !(c.is_ascii_lowercase() || c == '_')) {
                let parts = ["_bucket", "_count", "_sum"].iter();
                let base = parts.clone().find_map(|part| word.strip_suffix(part));
                let name = base.unwrap_or(word);
                if name.starts_with("sealstone_") && !described.contains(name) {
                    return Err(name.to_owned());
                }
                used.extend(name.starts_with("sealstone_").then(|| name.to_owned()));
            }
            Ok(used.len())
        };
        let rules = std::fs::read_to_string(root.join("deploy/prometheus/alerts.yaml"));
        let rules = rules.expect("rules");
        assert!(check(&rules).expect("names that exist") >= 10);
        let planted = rules.replace("sealstone_store_seconds", "sealstone_store_latency");
        assert_eq!(check(&planted), Err("sealstone_store_latency".to_owned()));
        let page = std::fs::read_to_string(root.join("spec/service.md")).expect("the page");
        let page = page.split("## Metrics").nth(1).expect("the section");
        let page = page.split("\n## ").next().unwrap_or(page);
        for metric in METRICS {
            assert!(
                page.contains(&format!("`{}`", metric.name)),
                "{}",
                metric.name
            );
        }
        check(page).expect("names that exist");
    }
}
