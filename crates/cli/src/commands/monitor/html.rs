//! `monitor report --html`: one page without anything from elsewhere.

use std::fmt::Write;

use sealstone::monitor::Chart;
use sealstone_terminal::html::escape;

use super::report::{Report, SHOWN, last, latency, logarithm, size};

const HEAD: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">
<title>Monitor of signing</title>
<style>
body { font: 16px sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em }
svg { display: block; background: #f4f4f4 } rect { fill: #36648b }
</style>
<h1>Monitor of signing</h1>
";

/// The page.
pub(super) fn page(report: &Report<'_>) -> String {
    let mut page = String::from(HEAD);
    for stream in report.monitor.streams() {
        let operation = stream.operation.name();
        let count = stream.latency.count();
        page += &format!("<h2>{operation}: {count} times</h2>\n");
        page += &chart("latency", &stream.latency, latency);
        page += &chart("size", &stream.size, size);
    }
    for uses in report.monitor.keys() {
        // Labels are claims of others.
        let name = escape(&report.name(uses.key));
        page += &format!("<h2>key {name}</h2>\n<p>uses by hour of the day (UTC)</p>\n");
        page += &svg(uses.hours.iter().map(|count| *count as f64).collect());
    }
    let repeated = report.monitor.repeated();
    page += &format!("<h2>changes noticed</h2>\n<p>repeated payloads: {repeated}</p>\n<ul>\n");
    for alarm in report.monitor.alarms() {
        page += &format!("<li>{}</li>\n", escape(report.alarm_text(alarm).trim()));
    }
    page + "</ul>\n</html>\n"
}

fn chart(name: &str, chart: &Chart, unit: fn(u64) -> String) -> String {
    let at = |part| chart.quantile(part).map_or(String::new(), unit);
    let (median, high) = (at(0.5), at(0.9));
    format!(
        "<p>{name}: median {median}, nine of ten below {high}; the last {SHOWN}:</p>\n{}",
        svg(last(chart).map(logarithm).collect())
    )
}

/// One bar a value.
fn svg(values: Vec<f64>) -> String {
    let high = values.iter().copied().fold(1.0, f64::max);
    let mut bars = String::from("<svg width=\"480\" height=\"60\" role=\"img\">");
    for (place, value) in values.iter().enumerate() {
        let (x, height) = (place * 8, (value / high * 58.0).max(1.0));
        let y = 60.0 - height;
        let _ = write!(
            bars,
            "<rect x=\"{x}\" y=\"{y:.1}\" width=\"6\" height=\"{height:.1}\"/>"
        );
    }
    bars + "</svg>\n"
}
