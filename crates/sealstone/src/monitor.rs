//! A monitor of signing (`spec/monitor.md`): slower, larger, more often, or the same payload again.
//!
//! The monitor holds a bounded state and does no input or output: the caller loads and stores the
//! bytes, and measures. Alarms are also events of `tracing`, and samples are figures of `metrics`.
//! Both cost almost nothing if no program listens.
//!
//! ```
//! use sealstone::monitor::{Kind, Monitor, Operation, Sample};
//!
//! let mut monitor = Monitor::new([7; 32]);
//! let mut sample = Sample {
//!     operation: Operation::Sign,
//!     key: [1; 32],
//!     time: 1_790_000_000_000,
//!     latency: 125_000,
//!     size: 4096,
//!     payload: Some([2; 32]),
//! };
//! assert!(monitor.observe(&sample).is_empty());
//! sample.time += 60_000;
//! assert_eq!(monitor.observe(&sample)[0].kind, Kind::Repeated);
//!
//! let stored = monitor.encode();
//! assert_eq!(Monitor::decode(&stored)?, monitor);
//! # Ok::<(), sealstone::Error>(())
//! ```

mod chart;
mod normal;

use std::fmt;

use minicbor::bytes::ByteArray;
use minicbor::{Decode, Encode};
use sealstone_primitives::hash::{Sha3_256, sha3_256};
use sealstone_primitives::rng;

pub use chart::{Chart, Direction};

use crate::wire::cbor;
use crate::{Error, Result};

/// One operation that was measured.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The operation.
    pub operation: Operation,
    /// The fingerprint of the key.
    pub key: [u8; 32],
    /// When: milliseconds since 1970.
    pub time: u64,
    /// How long it took: nanoseconds.
    pub latency: u64,
    /// How large the content is: bytes.
    pub size: u64,
    /// The SHA3-256 digest of the payload, to notice repeated ones.
    pub payload: Option<[u8; 32]>,
}

/// The quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum Operation {
    /// A package was signed.
    #[n(0)]
    Sign,
    /// A signature was added to a package.
    #[n(1)]
    Cosign,
    /// A package was verified.
    #[n(2)]
    Verify,
}

/// The change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum Kind {
    /// The operation takes longer, or less long.
    #[n(0)]
    Latency,
    /// The contents are larger, or smaller.
    #[n(1)]
    Size,
    /// The key is used more often.
    #[n(2)]
    Burst,
    /// The payload was there before.
    #[n(3)]
    Repeated,
}

/// A change that was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(map)]
pub struct Alarm {
    /// The change.
    #[n(0)]
    pub kind: Kind,
    /// The operation in which it was noticed.
    #[n(1)]
    pub operation: Operation,
    /// The tag of the key that was used.
    #[n(2)]
    pub key: Tag,
    /// When: milliseconds since 1970.
    #[n(3)]
    pub time: u64,
    /// The direction of a change of latency or size.
    #[n(4)]
    pub direction: Option<Direction>,
}

/// Tells equal keys or payloads from others, without telling which they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
pub struct Tag(#[n(0)] pub u64);

/// The charts of one operation.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct Stream {
    /// The operation.
    #[n(0)]
    pub operation: Operation,
    /// Nanoseconds.
    #[n(1)]
    pub latency: Chart,
    /// Bytes.
    #[n(2)]
    pub size: Chart,
}

/// The uses of one key.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct KeyUses {
    /// The tag of its fingerprint ([`Monitor::key_tag`]).
    #[n(0)]
    pub key: Tag,
    /// Uses by hour of the day (UTC).
    #[n(1)]
    pub hours: [u64; 24],
    /// The last use: milliseconds since 1970.
    #[n(2)]
    pub last: u64,
    /// Milliseconds between uses.
    #[n(3)]
    pub gaps: Chart,
}

/// The state of the monitor.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[cbor(map)]
pub struct Monitor {
    #[n(0)]
    secret: ByteArray<32>,
    #[n(1)]
    streams: Vec<Stream>,
    #[n(2)]
    keys: Vec<KeyUses>,
    /// Once it is full, the oldest tag is at `oldest`.
    #[n(3)]
    payloads: Vec<Tag>,
    #[n(4)]
    oldest: u32,
    #[n(5)]
    repeated: u64,
    #[n(6)]
    alarms: Vec<Alarm>,
}

/// Bytes of the longest state.
pub const MAX_STATE: usize = 262_144;

const MAGIC: &[u8; 8] = b"SEALMON\x01";
const DIGEST_LEN: usize = 8;
const MAX_KEYS: usize = 16;
const MAX_PAYLOADS: usize = 1024;
const MAX_ALARMS: usize = 64;
const HOUR: u64 = 3_600_000;

impl Monitor {
    /// A monitor that has seen nothing, with a secret of random bytes.
    #[must_use]
    pub fn new(secret: [u8; 32]) -> Self {
        Self {
            secret: secret.into(),
            streams: Vec::new(),
            keys: Vec::new(),
            payloads: Vec::new(),
            oldest: 0,
            repeated: 0,
            alarms: Vec::new(),
        }
    }

    /// A monitor that has seen nothing, with a secret of its own.
    #[must_use]
    pub fn random() -> Self {
        Self::new(rng::array())
    }

    /// Takes a sample; returns the changes that it shows.
    pub fn observe(&mut self, sample: &Sample) -> Vec<Alarm> {
        let key = self.key_tag(&sample.key);
        let stream = self.stream(sample.operation);
        let latency = stream.latency.add(sample.latency);
        let size = stream.size.add(sample.size);
        // Verifying uses no secret key.
        let signs = sample.operation != Operation::Verify;
        let burst = signs && self.use_key(key, sample.time);
        let repeated = sample
            .payload
            .is_some_and(|payload| self.is_repeated(&payload));
        let found = [
            latency.map(|direction| (Kind::Latency, Some(direction))),
            size.map(|direction| (Kind::Size, Some(direction))),
            burst.then_some((Kind::Burst, None)),
            repeated.then_some((Kind::Repeated, None)),
        ];
        let alarms: Vec<Alarm> = found
            .into_iter()
            .flatten()
            .map(|(kind, direction)| Alarm {
                kind,
                operation: sample.operation,
                key,
                time: sample.time,
                direction,
            })
            .collect();
        for alarm in &alarms {
            if self.alarms.len() == MAX_ALARMS {
                self.alarms.remove(0);
            }
            self.alarms.push(*alarm);
        }
        tell(sample, &alarms);
        alarms
    }

    /// The key's name in the state.
    #[must_use]
    pub fn key_tag(&self, fingerprint: &[u8; 32]) -> Tag {
        self.tag(0, fingerprint)
    }

    /// The charts of each operation.
    #[must_use]
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// The uses of each key.
    #[must_use]
    pub fn keys(&self) -> &[KeyUses] {
        &self.keys
    }

    /// The last alarms, oldest first.
    #[must_use]
    pub fn alarms(&self) -> &[Alarm] {
        &self.alarms
    }

    /// How many payloads were there before.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// The bytes to store, at most [`MAX_STATE`].
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(cbor::encode(self));
        let digest = sha3_256(&bytes);
        bytes.extend(&digest[..DIGEST_LEN]);
        bytes
    }

    /// Reads what [`Monitor::encode`] wrote.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a later version, [`Error::Malformed`] for everything else.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        const MALFORMED: Error = Error::Malformed("state of the monitor");
        let (body, digest) = bytes
            .split_last_chunk::<DIGEST_LEN>()
            .filter(|_| bytes.len() <= MAX_STATE)
            .ok_or(MALFORMED)?;
        if sha3_256(body)[..DIGEST_LEN] != *digest {
            return Err(MALFORMED);
        }
        let (magic, state) = body.split_first_chunk::<8>().ok_or(MALFORMED)?;
        if magic[..7] != MAGIC[..7] {
            return Err(MALFORMED);
        }
        if magic != MAGIC {
            return Err(Error::Unsupported("state of the monitor"));
        }
        let monitor: Self = cbor::decode(state, "state of the monitor")?;
        monitor.is_valid().then_some(monitor).ok_or(MALFORMED)
    }

    fn is_valid(&self) -> bool {
        let streams = self.streams.iter().enumerate();
        let unique = |(at, stream): (usize, &Stream)| {
            let earlier = &self.streams[..at];
            let is_new = earlier.iter().all(|it| it.operation != stream.operation);
            is_new && stream.latency.is_valid() && stream.size.is_valid()
        };
        let full = self.payloads.len() == MAX_PAYLOADS;
        streams.into_iter().all(unique)
            && self.keys.len() <= MAX_KEYS
            && self.keys.iter().all(|key| key.gaps.is_valid())
            && self.payloads.len() <= MAX_PAYLOADS
            && (self.oldest == 0 || full && (self.oldest as usize) < MAX_PAYLOADS)
            && self.alarms.len() <= MAX_ALARMS
    }

    fn stream(&mut self, operation: Operation) -> &mut Stream {
        let known = self.streams.iter().position(|it| it.operation == operation);
        let at = known.unwrap_or_else(|| {
            self.streams.push(Stream {
                operation,
                latency: Chart::default(),
                size: Chart::default(),
            });
            self.streams.len() - 1
        });
        &mut self.streams[at]
    }

    /// Counts a use; whether uses come faster than before.
    fn use_key(&mut self, key: Tag, time: u64) -> bool {
        let hour = (time / HOUR % 24) as usize;
        if let Some(uses) = self.keys.iter_mut().find(|uses| uses.key == key) {
            let gap = time.saturating_sub(uses.last);
            uses.last = time;
            uses.hours[hour] = uses.hours[hour].saturating_add(1);
            return uses.gaps.add(gap) == Some(Direction::Down);
        }
        if self.keys.len() == MAX_KEYS {
            let unused = (0..MAX_KEYS).min_by_key(|at| self.keys[*at].last);
            self.keys.remove(unused.unwrap_or(0));
        }
        let mut hours = [0; 24];
        hours[hour] = 1;
        self.keys.push(KeyUses {
            key,
            hours,
            last: time,
            gaps: Chart::default(),
        });
        false
    }

    fn is_repeated(&mut self, payload: &[u8; 32]) -> bool {
        let tag = self.tag(1, payload);
        // Without a branch inside, so that the compiler compares many at once.
        let equal = |known: &Tag| u32::from(*known == tag);
        if self.payloads.iter().map(equal).sum::<u32>() > 0 {
            self.repeated = self.repeated.saturating_add(1);
            return true;
        }
        if self.payloads.len() < MAX_PAYLOADS {
            self.payloads.push(tag);
        } else {
            self.payloads[self.oldest as usize] = tag;
            self.oldest = (self.oldest + 1) % MAX_PAYLOADS as u32;
        }
        false
    }

    fn tag(&self, kind: u8, bytes: &[u8; 32]) -> Tag {
        let mut hash = Sha3_256::new();
        hash.update(b"sealstone.monitor.v1\0");
        hash.update(&self.secret[..]);
        hash.update(&[kind]);
        hash.update(bytes);
        let [a, b, c, d, e, f, g, h, ..] = hash.finish();
        Tag(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

/// Hands the sample to `metrics` and the alarms to `tracing`.
fn tell(sample: &Sample, alarms: &[Alarm]) {
    let operation = sample.operation.name();
    let seconds = sample.latency as f64 / 1e9;
    metrics::histogram!("sealstone_latency_seconds", "operation" => operation).record(seconds);
    metrics::histogram!("sealstone_size_bytes", "operation" => operation)
        .record(sample.size as f64);
    for alarm in alarms {
        let kind = alarm.kind.name();
        metrics::counter!("sealstone_monitor_alarms", "kind" => kind).increment(1);
        tracing::warn!(
            kind,
            operation,
            time = alarm.time,
            "the monitor noticed a change"
        );
    }
}

impl Operation {
    /// The word for it in messages, lists and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sign => "sign",
            Self::Cosign => "cosign",
            Self::Verify => "verify",
        }
    }
}

impl Kind {
    /// The word for it in messages, lists and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Size => "size",
            Self::Burst => "burst",
            Self::Repeated => "repeated-payload",
        }
    }
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.operation.name();
        match (self.kind, self.direction) {
            (Kind::Latency, Some(Direction::Up)) => {
                write!(f, "{operation} takes longer than before")
            }
            (Kind::Latency, _) => write!(f, "{operation} takes less long than before"),
            (Kind::Size, Some(Direction::Up)) => write!(f, "{operation} gets larger contents"),
            (Kind::Size, _) => write!(f, "{operation} gets smaller contents"),
            (Kind::Burst, _) => write!(f, "the key is used more often than before"),
            (Kind::Repeated, _) => write!(f, "{operation} got a payload that was there before"),
        }
    }
}
