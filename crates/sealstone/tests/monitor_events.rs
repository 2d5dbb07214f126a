//! The monitor's reports: events of `tracing`, figures of `metrics`.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, CounterFn, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use sealstone::monitor::{Alarm, Kind, Monitor, Operation, Sample};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};

const START: u64 = 1_790_000_000_000;
const PAYLOAD: [u8; 32] = [0x5a; 32];
const KEY: [u8; 32] = [0xa5; 32];

/// Keeps every event as a line: level, target, fields.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

impl Subscriber for Events {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        panic!("the monitor opens no spans")
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        struct EventText(String);
        impl Visit for EventText {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                write!(self.0, " {}={value:?}", field.name()).unwrap();
            }
        }
        let metadata = event.metadata();
        let mut line = EventText(format!("{} {}", metadata.level(), metadata.target()));
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Keeps every figure under its name and labels.
#[derive(Default)]
struct Figures {
    counters: Mutex<BTreeMap<String, Arc<Count>>>,
    histograms: Mutex<BTreeMap<String, Arc<Values>>>,
}

#[derive(Default)]
struct Count(AtomicU64);

#[derive(Default)]
struct Values(Mutex<Vec<f64>>);

impl CounterFn for Count {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Relaxed);
    }

    fn absolute(&self, _: u64) {
        panic!("the monitor only counts")
    }
}

impl HistogramFn for Values {
    fn record(&self, value: f64) {
        self.0.lock().unwrap().push(value);
    }
}

impl Recorder for Figures {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let mut counters = self.counters.lock().unwrap();
        Counter::from_arc(counters.entry(named(key)).or_default().clone())
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        panic!("the monitor has no gauges")
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        let mut histograms = self.histograms.lock().unwrap();
        Histogram::from_arc(histograms.entry(named(key)).or_default().clone())
    }
}

impl Figures {
    fn counts(&self) -> Vec<(String, u64)> {
        let counters = self.counters.lock().unwrap();
        let count = |(name, count): (&String, &Arc<Count>)| (name.clone(), count.0.load(Relaxed));
        counters.iter().map(count).collect()
    }

    fn values(&self) -> Vec<(String, Vec<f64>)> {
        let histograms = self.histograms.lock().unwrap();
        let values = |(name, values): (&String, &Arc<Values>)| {
            (name.clone(), values.0.lock().unwrap().clone())
        };
        histograms.iter().map(values).collect()
    }
}

fn named(key: &Key) -> String {
    let labels = key
        .labels()
        .map(|label| format!("{}={}", label.key(), label.value()));
    format!("{}{{{}}}", key.name(), labels.collect::<Vec<_>>().join(","))
}

fn sample(operation: Operation, number: u64, payload: [u8; 32]) -> Sample {
    Sample {
        operation,
        key: KEY,
        time: START + 1000 * number,
        latency: 250_000,
        size: 4096,
        payload: Some(payload),
    }
}

/// Runs with a subscriber and a recorder that listen to this thread only.
fn heard<T>(run: impl FnOnce() -> T) -> (T, Vec<String>, Figures) {
    let (events, figures) = (Events::default(), Figures::default());
    let result = tracing::subscriber::with_default(events.clone(), || {
        metrics::with_local_recorder(&figures, run)
    });
    let events = events.0.lock().unwrap().clone();
    (result, events, figures)
}

#[test]
fn a_quiet_sample_is_a_figure_and_no_event() {
    let ((), events, figures) = heard(|| {
        let mut monitor = Monitor::new([7; 32]);
        assert!(
            monitor
                .observe(&sample(Operation::Sign, 0, PAYLOAD))
                .is_empty()
        );
        let verified = sample(Operation::Verify, 1, [1; 32]);
        assert!(monitor.observe(&verified).is_empty());
    });
    assert_eq!(events, Vec::<String>::new());
    assert_eq!(figures.counts(), []);
    let expected = [
        ("sealstone_latency_seconds{operation=sign}", 0.00025),
        ("sealstone_latency_seconds{operation=verify}", 0.00025),
        ("sealstone_size_bytes{operation=sign}", 4096.0),
        ("sealstone_size_bytes{operation=verify}", 4096.0),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), vec![value]));
    assert_eq!(figures.values(), expected);
}

#[test]
fn each_alarm_is_one_event_and_one_count() {
    let (alarms, events, figures) = heard(|| {
        let mut monitor = Monitor::new([7; 32]);
        let mut alarms = Vec::new();
        for number in 0..3 {
            alarms.extend(monitor.observe(&sample(Operation::Sign, number, PAYLOAD)));
        }
        alarms
    });
    let kinds: Vec<Kind> = alarms.iter().map(|alarm: &Alarm| alarm.kind).collect();
    assert_eq!(kinds, [Kind::Repeated, Kind::Repeated]);
    let line = |number: u64| {
        format!(
            "{} sealstone::monitor message=the monitor noticed a change \
             kind=\"repeated-payload\" operation=\"sign\" time={}",
            Level::WARN,
            START + 1000 * number
        )
    };
    assert_eq!(events, [line(1), line(2)]);
    let name = "sealstone_monitor_alarms{kind=repeated-payload}";
    assert_eq!(figures.counts(), [(name.to_owned(), 2)]);
}

/// Events and figures contain neither the key, nor the payload, nor their tags.
#[test]
fn nothing_that_is_told_names_a_key_or_a_payload() {
    let ((), events, figures) = heard(|| {
        let mut monitor = Monitor::new([7; 32]);
        for number in 0..2 {
            monitor.observe(&sample(Operation::Cosign, number, PAYLOAD));
        }
    });
    assert_eq!(events.len(), 1);
    let told = format!("{events:?} {:?} {:?}", figures.counts(), figures.values());
    let tag = Monitor::new([7; 32]).key_tag(&KEY).0;
    for never in [
        "5a5a",
        "a5a5",
        "90, 90",
        "165, 165",
        &tag.to_string(),
        &format!("{tag:x}"),
    ] {
        assert!(!told.contains(never), "{never}: {told}");
    }
}

#[test]
fn events_after_a_restart_are_told_as_if_there_had_been_none() {
    let told = |restarts: bool| {
        let (state, events, figures) = heard(|| {
            let mut monitor = Monitor::new([7; 32]);
            for number in 0..300 {
                let mut sample = sample(Operation::Sign, number, [number as u8; 32]);
                // Payloads repeat after 256. From 200 on everything is slower.
                sample.latency += 1000 * (number % 7) + if number < 200 { 0 } else { 900_000 };
                monitor.observe(&sample);
                if restarts {
                    monitor = Monitor::decode(&monitor.encode()).unwrap();
                }
            }
            monitor.encode()
        });
        (state, events, figures.counts(), figures.values())
    };
    let (state, events, counts, values) = told(true);
    let latency = |line: &String| line.contains("kind=\"latency\"");
    assert_eq!(
        events.iter().filter(|line| latency(line)).count(),
        1,
        "{events:?}"
    );
    assert_eq!(
        events
            .iter()
            .filter(|line| line.contains("repeated"))
            .count(),
        44
    );
    assert_eq!((state, events, counts, values), told(false));
}
