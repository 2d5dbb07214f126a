//! `monitor report`: on a terminal and as JSON.

use sealstone::monitor::{Alarm, Chart, KeyUses, Monitor, Stream, Tag};
use sealstone::passport::Fingerprint;
use sealstone_terminal::clock;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Result;
use crate::identity::{self, Identity};
use crate::paths;
use crate::trust;

/// The monitor's state, with the names of the user's keys.
pub(super) struct Report<'a> {
    pub(super) monitor: &'a Monitor,
    names: Vec<(Tag, String)>,
}

/// Values shown in a chart.
pub(super) const SHOWN: usize = 60;

impl<'a> Report<'a> {
    pub(super) fn new(monitor: &'a Monitor, context: &Context) -> Result<Self> {
        let store = trust::open(context)?;
        let tag = |key: &Fingerprint| monitor.key_tag(key.as_bytes());
        let name = |key: &Fingerprint, label: &str| (tag(key), format!("{} {label}", key.brief()));
        let files = identity::default_passport_or_warning(context).into_iter();
        let files = files.chain(paths::former_default_passports());
        let passports = files.filter_map(|path| Identity::load(&path).ok());
        let mut names: Vec<_> = passports
            .map(|it| name(&it.locked.fingerprint(), it.locked.label()))
            .collect();
        names.extend(store.key_lives().map(|(key, label, _)| name(&key, label)));
        names.extend(store.iter().map(|it| name(&it.fingerprint(), it.label())));
        Ok(Self { monitor, names })
    }

    /// The fingerprint and label of a key, else its tag.
    pub(super) fn name(&self, key: Tag) -> String {
        let known = self.names.iter().find(|(tag, _)| *tag == key);
        known.map_or_else(
            || format!("another key ({:016x})", key.0),
            |(_, name)| name.clone(),
        )
    }

    pub(super) fn text(&self) -> String {
        let streams: String = self.monitor.streams().iter().map(stream_text).collect();
        let keys: String = self
            .monitor
            .keys()
            .iter()
            .map(|it| self.key_text(it))
            .collect();
        let alarms: String = self
            .monitor
            .alarms()
            .iter()
            .map(|it| self.alarm_text(it))
            .collect();
        let alarms = match &*alarms {
            "" => "  none\n",
            alarms => alarms,
        };
        format!(
            "{streams}{keys}repeated payloads: {}\nchanges noticed:\n{alarms}",
            self.monitor.repeated()
        )
    }

    fn key_text(&self, uses: &KeyUses) -> String {
        let total: u64 = uses.hours.iter().sum();
        format!(
            "key {}\n  uses {total}, by hour of the day (UTC)\n  {}\n",
            self.name(uses.key),
            bars(uses.hours.iter().copied(), |count| count as f64)
        )
    }

    pub(super) fn alarm_text(&self, alarm: &Alarm) -> String {
        let time = clock::show(alarm.time / 1000);
        format!("  {time} {alarm} ({})\n", self.name(alarm.key))
    }

    pub(super) fn value(&self) -> Value {
        let monitor = self.monitor;
        json!({
            "operations": monitor.streams().iter().map(stream_json).collect::<Vec<_>>(),
            "keys": monitor.keys().iter().map(|it| self.key_json(it)).collect::<Vec<_>>(),
            "repeated_payloads": monitor.repeated(),
            "alarms": monitor.alarms().iter().map(|it| self.alarm_json(it)).collect::<Vec<_>>(),
        })
    }

    fn key_json(&self, uses: &KeyUses) -> Value {
        json!({
            "key": self.name(uses.key),
            "uses_by_hour": uses.hours,
            "last": uses.last / 1000,
            "gap_ms": chart_json(&uses.gaps),
        })
    }

    fn alarm_json(&self, alarm: &Alarm) -> Value {
        json!({
            "kind": alarm.kind.name(),
            "operation": alarm.operation.name(),
            "key": self.name(alarm.key),
            "time": alarm.time / 1000,
            "message": alarm.to_string(),
        })
    }
}

fn stream_text(stream: &Stream) -> String {
    format!(
        "{}: {} times\n{}{}",
        stream.operation.name(),
        stream.latency.count(),
        chart_text("latency", &stream.latency, latency),
        chart_text("size", &stream.size, size)
    )
}

fn chart_text(name: &str, chart: &Chart, unit: fn(u64) -> String) -> String {
    let at = |part| chart.quantile(part).map_or(String::new(), unit);
    format!(
        "  {name:<8} median {}, nine of ten below {}\n           {}\n",
        at(0.5),
        at(0.9),
        bars(last(chart), logarithm)
    )
}

fn stream_json(stream: &Stream) -> Value {
    json!({
        "operation": stream.operation.name(),
        "count": stream.latency.count(),
        "latency_ns": chart_json(&stream.latency),
        "size_bytes": chart_json(&stream.size),
    })
}

fn chart_json(chart: &Chart) -> Value {
    json!({
        "count": chart.count(),
        "median": chart.quantile(0.5),
        "p90": chart.quantile(0.9),
        "last": last(chart).collect::<Vec<_>>(),
    })
}

/// The newest values, oldest first.
pub(super) fn last(chart: &Chart) -> impl Iterator<Item = u64> {
    let all = chart.values().count();
    chart.values().skip(all.saturating_sub(SHOWN))
}

pub(super) fn logarithm(value: u64) -> f64 {
    (value as f64 + 1.0).ln()
}

/// One bar a value, the lowest and the highest one at the edges.
fn bars(values: impl Iterator<Item = u64>, scale: fn(u64) -> f64) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let scaled: Vec<f64> = values.map(scale).collect();
    let low = scaled.iter().copied().fold(f64::INFINITY, f64::min);
    let high = scaled.iter().copied().fold(0.0, f64::max);
    let bar = |value: &f64| match high > low {
        true => BARS[(((value - low) / (high - low)) * 7.0).round() as usize],
        false => BARS[0],
    };
    scaled.iter().map(bar).collect()
}

pub(super) fn latency(nanoseconds: u64) -> String {
    match nanoseconds {
        0..1_000_000 => format!("{} µs", nanoseconds / 1000),
        1_000_000..10_000_000_000 => format!("{} ms", nanoseconds / 1_000_000),
        _ => format!("{} s", nanoseconds / 1_000_000_000),
    }
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} bytes"),
        10_240..10_485_760 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::{bars, logarithm};

    #[test]
    fn bars_reach_from_the_lowest_to_the_highest_value() {
        assert_eq!(bars([0, 7, 3].into_iter(), |value| value as f64), "▁█▄");
        assert_eq!(bars([5, 5].into_iter(), logarithm), "▁▁");
        assert_eq!(bars([].into_iter(), logarithm), "");
        assert_eq!(bars([0, u64::MAX].into_iter(), logarithm), "▁█");
    }
}
