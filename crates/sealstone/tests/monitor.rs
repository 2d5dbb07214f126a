//! The monitor's documented rates and delays, its limits, and its state (`spec/monitor.md`).

use std::f64::consts::TAU;

use sealstone::Error;
use sealstone::monitor::{Alarm, Direction, Kind, MAX_STATE, Monitor, Operation, Sample};

const START: u64 = 1_790_000_000_000;

/// SplitMix64 (Steele, Lea, Flood, 2014): fixed seeds, so that every run is the same.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Above 0 and below 1.
    fn uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }
}

fn sample(latency: u64, size: u64, time: u64) -> Sample {
    Sample {
        operation: Operation::Sign,
        key: [1; 32],
        time,
        latency,
        size,
        payload: None,
    }
}

/// A latency around 100 µs with a deviation of 10 µs.
fn usual(random: &mut Random) -> f64 {
    100_000.0 + 10_000.0 * random.normal()
}

fn of_kind(alarms: &[Alarm], kind: Kind) -> bool {
    alarms.iter().any(|alarm| alarm.kind == kind)
}

/// Alarms in 10^6 samples of three quiet streams: latency, size, gaps.
fn false_alarms(
    seed: u64,
    latency: impl Fn(&mut Random) -> f64,
    size: impl Fn(&mut Random) -> f64,
    gap: impl Fn(&mut Random) -> f64,
) -> [usize; 3] {
    let (mut random, mut monitor) = (Random(seed), Monitor::new([7; 32]));
    let (mut time, mut found) = (START, [0; 3]);
    for _ in 0..1_000_000 {
        time += gap(&mut random) as u64;
        let (latency, size) = (latency(&mut random) as u64, size(&mut random) as u64);
        for alarm in monitor.observe(&sample(latency, size, time)) {
            let kinds = [Kind::Latency, Kind::Size, Kind::Burst];
            found[kinds.iter().position(|kind| *kind == alarm.kind).unwrap()] += 1;
        }
    }
    found
}

/// 10^6 samples at one false alarm in 100,000.
const ALLOWED: usize = 10;

#[test]
fn a_million_quiet_samples_stay_below_the_stated_rate() {
    let log_normal = |random: &mut Random| 1e6 * (1.5 * random.normal()).exp();
    let cauchy = |random: &mut Random| 1e9 + 1e5 * (TAU / 2.0 * (random.uniform() - 0.5)).tan();
    let found = false_alarms(1, usual, log_normal, cauchy);
    assert!(found.iter().all(|alarms| *alarms <= ALLOWED), "{found:?}");
}

#[test]
fn heavy_tails_and_few_values_stay_below_it_too() {
    let pareto = |random: &mut Random| 1e4 / random.uniform();
    let two_values = |random: &mut Random| {
        if random.uniform() < 0.1 {
            9000.0
        } else {
            100.0
        }
    };
    let exponential = |random: &mut Random| -60_000.0 * random.uniform().ln();
    let found = false_alarms(2, pareto, two_values, exponential);
    assert!(found.iter().all(|alarms| *alarms <= ALLOWED), "{found:?}");
}

/// A monitor after 512 quiet samples, one a minute on average.
fn settled(random: &mut Random) -> (Monitor, u64) {
    let (mut monitor, mut time) = (Monitor::new([7; 32]), START);
    for _ in 0..512 {
        time += (-60_000.0 * random.uniform().ln()) as u64;
        let alarms = monitor.observe(&sample(usual(random) as u64, 4096, time));
        assert!(alarms.is_empty(), "{alarms:?}");
    }
    (monitor, time)
}

/// The number of samples until a change of latency is found. `change` gives each sample's distance
/// in deviations.
fn delay(seed: u64, direction: Direction, change: impl Fn(u32) -> f64) -> u32 {
    let mut random = Random(seed);
    let (mut monitor, mut time) = settled(&mut random);
    for number in 1..1000 {
        time += (-60_000.0 * random.uniform().ln()) as u64;
        let latency = usual(&mut random) + 10_000.0 * change(number);
        let alarms = monitor.observe(&sample(latency as u64, 4096, time));
        if let Some(alarm) = alarms.iter().find(|alarm| alarm.kind == Kind::Latency) {
            assert_eq!(alarm.direction, Some(direction));
            return number;
        }
    }
    u32::MAX
}

#[test]
fn shifts_are_found_within_the_stated_delays() {
    for seed in 10..40 {
        let up = delay(seed, Direction::Up, |_| 5.0);
        let down = delay(seed, Direction::Down, |_| -5.0);
        assert!(up <= 10 && down <= 10, "seed {seed}: {up} {down}");
        let small = delay(seed, Direction::Up, |_| 1.0);
        assert!(small <= 100, "seed {seed}: {small}");
    }
}

#[test]
fn slow_drifts_are_found_within_the_stated_delays() {
    for seed in 40..70 {
        let slow = delay(seed, Direction::Up, |number| 0.1 * f64::from(number));
        assert!(slow <= 40, "seed {seed}: {slow}");
        let slower = delay(seed, Direction::Up, |number| 0.01 * f64::from(number));
        assert!(slower <= 200, "seed {seed}: {slower}");
    }
}

#[test]
fn a_burst_is_found_within_ten_uses_and_a_pause_is_none() {
    for seed in 70..100 {
        let mut random = Random(seed);
        let (mut monitor, mut time) = settled(&mut random);
        time += 86_400_000;
        let quiet = monitor.observe(&sample(100_000, 4096, time));
        assert!(quiet.is_empty(), "{quiet:?}");
        let found = (1..=10).find(|_| {
            time += (-600.0 * random.uniform().ln()) as u64;
            let alarms = monitor.observe(&sample(usual(&mut random) as u64, 4096, time));
            of_kind(&alarms, Kind::Burst)
        });
        assert!(found.is_some(), "seed {seed}");
    }
}

#[test]
fn one_outlier_is_no_alarm_and_a_short_baseline_is_enough() {
    let mut random = Random(5);
    let (mut monitor, time) = settled(&mut random);
    let outlier = monitor.observe(&sample(u64::MAX, u64::MAX, time + 60_000));
    assert!(outlier.is_empty());
    let mut monitor = Monitor::new([7; 32]);
    let mut time = START;
    let mut observe = |latency| {
        time += 60_000;
        of_kind(&monitor.observe(&sample(latency, 1, time)), Kind::Latency)
    };
    assert!((0..32).all(|number| !observe(1000 + number)));
    assert!((0..20).any(|_| observe(5000)));
}

#[test]
fn repeated_payloads_are_found_among_the_last_thousand() {
    let mut monitor = Monitor::new([7; 32]);
    let mut observe = |number: u32| {
        let mut payload = [0; 32];
        payload[..4].copy_from_slice(&number.to_be_bytes());
        let payload = Some(payload);
        let time = START + 1000 * u64::from(number);
        let alarms = monitor.observe(&Sample {
            payload,
            ..sample(1000, 1000, time)
        });
        of_kind(&alarms, Kind::Repeated)
    };
    assert!((0..1500).all(|number| !observe(number)));
    assert!(observe(1499) && observe(476));
    assert!(!observe(475), "it is older than the last 1024");
    assert_eq!(monitor.repeated(), 2);
}

#[test]
fn the_baseline_is_of_the_last_512_values() {
    let (mut random, mut monitor) = (Random(3), Monitor::new([7; 32]));
    let values: Vec<u64> = (0..1300).map(|_| usual(&mut random) as u64).collect();
    for (number, value) in values.iter().enumerate() {
        let time = START + 60_000 * number as u64;
        assert_eq!(monitor.observe(&sample(*value, 1, time)), []);
    }
    let latency = &monitor.streams()[0].latency;
    assert!(latency.values().eq(values[1300 - 512..].iter().copied()));
    assert_eq!(latency.count(), 1300);
}

#[test]
fn a_key_and_a_payload_of_the_same_bytes_have_different_tags() {
    let mut monitor = Monitor::new([7; 32]);
    monitor.observe(&Sample {
        payload: Some([1; 32]),
        ..sample(1000, 1000, START)
    });
    let tag = monitor.key_tag(&[1; 32]).0.to_be_bytes();
    let stored = monitor.encode();
    let times = stored.windows(8).filter(|part| *part == tag).count();
    assert_eq!(times, 1);
}

#[test]
fn verifying_is_no_use_of_a_key_and_the_key_that_is_unused_longest_is_forgotten() {
    let mut monitor = Monitor::new([7; 32]);
    let mut time = START;
    let mut observe = |operation, key: u8| {
        time += 60_000;
        monitor.observe(&Sample {
            operation,
            key: [key; 32],
            ..sample(1000, 1000, time)
        });
        let known = |key: &u8| {
            let tag = monitor.key_tag(&[*key; 32]);
            monitor.keys().iter().any(|uses| uses.key == tag)
        };
        (0..20).filter(known).collect::<Vec<u8>>()
    };
    assert!(observe(Operation::Verify, 0).is_empty());
    (0..16).for_each(|key| drop(observe(Operation::Sign, key)));
    observe(Operation::Cosign, 0);
    assert_eq!(
        observe(Operation::Sign, 16),
        [&[0], &(2..17).collect::<Vec<_>>()[..]].concat()
    );
}

/// A monitor with all parts full.
fn full() -> Monitor {
    let (mut random, mut monitor) = (Random(6), Monitor::new([7; 32]));
    let operations = [Operation::Sign, Operation::Cosign, Operation::Verify];
    for number in 0..40_000_u64 {
        let mut payload = [0; 32];
        payload[..8].copy_from_slice(&(random.bits() % 3000).to_be_bytes());
        monitor.observe(&Sample {
            operation: operations[number as usize % 3],
            key: [(number / 3 % 20) as u8; 32],
            time: START + number * 7_000,
            latency: random.bits(),
            size: random.bits(),
            payload: Some(payload),
        });
    }
    monitor
}

#[test]
fn the_state_is_bounded_and_comes_back_as_it_was() {
    let monitor = full();
    assert_eq!((monitor.keys().len(), monitor.streams().len()), (16, 3));
    assert_eq!(monitor.alarms().len(), 64);
    let stored = monitor.encode();
    assert!(stored.len() <= MAX_STATE, "{}", stored.len());
    assert_eq!(Monitor::decode(&stored).unwrap(), monitor);
    let quiet = settled(&mut Random(1)).0;
    let key = quiet.key_tag(&[1; 32]);
    let uses = quiet.keys().iter().find(|uses| uses.key == key).unwrap();
    assert_eq!(uses.hours.iter().sum::<u64>(), 512);
    let fingerprint_is_there = quiet.encode().windows(32).any(|part| part == [1; 32]);
    assert!(!fingerprint_is_there);
}

#[test]
fn a_monitor_that_is_stored_after_each_sample_does_what_one_in_memory_does() {
    let mut random = Random(8);
    let (mut kept, mut time) = settled(&mut random);
    let mut stored = kept.encode();
    for number in 0..60 {
        time += 60_000;
        let sample = sample(
            (usual(&mut random) + 500.0 * f64::from(number)) as u64,
            1,
            time,
        );
        let mut again = Monitor::decode(&stored).unwrap();
        assert_eq!(again.observe(&sample), kept.observe(&sample));
        stored = again.encode();
    }
    assert_eq!(stored, kept.encode());
}

#[test]
fn every_damage_to_the_state_is_noticed() {
    let mut monitor = Monitor::new([7; 32]);
    for number in 0..40 {
        monitor.observe(&sample(1000 + number, 1, START + 1000 * number));
    }
    let good = monitor.encode();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert!(Monitor::decode(&bad).is_err(), "byte {at}");
        assert!(Monitor::decode(&good[..at]).is_err(), "{at} bytes");
    }
    assert!(Monitor::decode(&[&good[..], &[0]].concat()).is_err());
    assert!(Monitor::decode(&vec![0; MAX_STATE + 1]).is_err());
}

#[test]
fn a_later_version_is_told_from_damage() {
    let mut bytes = Monitor::new([7; 32]).encode();
    bytes[7] = 2;
    assert!(matches!(
        Monitor::decode(&with_right_digest(bytes)),
        Err(Error::Unsupported(_))
    ));
}

#[test]
fn a_chart_with_more_values_than_samples_is_refused() {
    let mut monitor = Monitor::new([7; 32]);
    for number in 0..40 {
        monitor.observe(&sample(1000, 1, START + 1000 * number));
    }
    // Field 4 of the first chart: 40 samples.
    let count = |bytes: &[u8]| bytes.windows(3).position(|it| *it == [4, 0x18, 40]);
    let mut bytes = monitor.encode();
    let at = count(&bytes).expect("a number of samples") + 2;
    for (samples, taken) in [(41, true), (40, true), (39, false)] {
        bytes[at] = samples;
        bytes = with_right_digest(bytes);
        assert_eq!(Monitor::decode(&bytes).is_ok(), taken, "{samples}");
    }
}

/// A changed state with the right digest.
fn with_right_digest(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes.len() - 8;
    let digest = sealstone_primitives::hash::sha3_256(&bytes[..body]);
    bytes[body..].copy_from_slice(&digest[..8]);
    bytes
}
