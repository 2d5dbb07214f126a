//! The store in Redis: one server or a cluster, for any number of processes.
//!
//! `spec/service.md`, "Slots of Redis", says which keys share a slot. Each change is one Lua
//! script on one slot, so Redis makes it as a whole.

mod cluster;
mod layout;
mod link;
mod transfer;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::task::JoinSet;

use self::layout::{Layout, Tag};
use self::link::{Link, Script};
use super::evaluate::encode_made;
use super::options::StoreOptions;
use super::{Answer, Change, Mark, Outcome, Refusal, Replace, Set, Store, StoreError, keeps_logs};

/// A store in Redis 7 or later.
#[derive(Clone)]
pub struct RedisStore(Arc<Inner>);

struct Inner {
    link: Link,
    layout: Layout,
    /// The sets that this process registered or found, and until when they matter.
    known: RwLock<HashMap<String, u64>>,
    /// One registration at a time: many first spends of a set arrive together.
    turn: tokio::sync::Mutex<()>,
}

impl RedisStore {
    /// Connects, and looks at what the server keeps.
    ///
    /// # Errors
    /// If no server answers, it is too old, or keeps less than is asked for.
    pub async fn open(options: &StoreOptions, role: &str) -> crate::Result<Self> {
        let link = Link::open(options).await?;
        let layout = Layout::new(&options.name(role));
        let known = RwLock::default();
        Ok(Self(Arc::new(Inner {
            link,
            layout,
            known,
            turn: tokio::sync::Mutex::default(),
        })))
    }

    /// Runs `apply.lua`.
    async fn run(&self, change: &Change, mode: &str) -> Result<Outcome, StoreError> {
        if change.is_empty() {
            return Ok(Outcome::Done);
        }
        let call = Call::new(change, &self.0.layout, mode)?;
        let answer: String = self
            .0
            .link
            .script(Script::Apply, &call.keys, &call.arguments)
            .await?;
        match answer.as_str() {
            "done" => Ok(Outcome::Done),
            "repeated" => Ok(Outcome::Repeated),
            "spent" => Ok(Outcome::Refused(Refusal::Spent)),
            "limit" => Ok(Outcome::Refused(Refusal::Limit)),
            "present" => Ok(Outcome::Refused(Refusal::Present)),
            "closed" => Ok(Outcome::Refused(Refusal::Closed)),
            _ => Err(lost()),
        }
    }

    /// Registers a set that this process does not know yet: in its slots, then in the registry.
    async fn register(&self, set: &Set) -> Result<(), StoreError> {
        if self.knows(set) {
            return Ok(());
        }
        let _turn = self.0.turn.lock().await;
        if self.knows(set) {
            return Ok(());
        }
        if self.registered(set.name()).await?.is_none() {
            let each = Layout::tags(set).map(|tag| {
                let mut command = redis::cmd("HSETNX");
                command.arg(self.0.layout.states(tag));
                command.arg(set.name()).arg("open");
                command
            });
            self.all::<i64>(each).await?;
        }
        self.note(set.name(), set.until(), "open").await?;
        let mut known = self.0.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(set.name().to_owned(), set.until());
        Ok(())
    }

    fn knows(&self, set: &Set) -> bool {
        let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
        known
            .get(set.name())
            .is_some_and(|until| *until >= set.until())
    }

    async fn registered(&self, name: &str) -> Result<Option<String>, StoreError> {
        let mut command = redis::cmd("HGET");
        command.arg(self.0.layout.registry()).arg(name);
        self.0.link.query(&command).await
    }

    async fn note(&self, name: &str, until: u64, state: &str) -> Result<(), StoreError> {
        let keys = [self.0.layout.registry()];
        let arguments = [name, &until.to_string(), state].map(|text| text.as_bytes().to_vec());
        let _: String = self
            .0
            .link
            .script(Script::Register, &keys, &arguments)
            .await?;
        Ok(())
    }

    /// All sets: until when they matter, and whether they are open.
    async fn registry(&self) -> Result<Vec<(Set, bool)>, StoreError> {
        let mut command = redis::cmd("HGETALL");
        command.arg(self.0.layout.registry());
        let entries: Vec<(String, String)> = self.0.link.query(&command).await?;
        let parse = |(name, value): (String, String)| {
            let (until, state) = value.split_once(' ')?;
            Some((Set::new(name, until.parse().ok()?), state == "open"))
        };
        let sets: Option<Vec<_>> = entries.into_iter().map(parse).collect();
        sets.ok_or_else(|| StoreError::Unavailable("its registry of sets was altered".to_owned()))
    }

    /// Runs commands on several slots at once.
    async fn all<T: redis::FromRedisValue + Send + 'static>(
        &self,
        commands: impl Iterator<Item = redis::Cmd>,
    ) -> Result<Vec<T>, StoreError> {
        let mut tasks = JoinSet::new();
        for command in commands {
            let inner = self.0.clone();
            tasks.spawn(async move { inner.link.query(&command).await });
        }
        let mut answers = Vec::with_capacity(tasks.len());
        while let Some(done) = tasks.join_next().await {
            let interrupted = |_| StoreError::Unavailable("it was interrupted".to_owned());
            answers.push(done.map_err(interrupted)??);
        }
        Ok(answers)
    }

    /// Drops a set in all its slots, then notes that in the registry.
    async fn close(&self, set: &Set) -> Result<(), StoreError> {
        let layout = &self.0.layout;
        let closing = Layout::tags(set).map(|tag| {
            let mut command = redis::cmd("HSET");
            command.arg(layout.states(tag)).arg(set.name());
            command.arg("closed");
            command
        });
        self.all::<i64>(closing).await?;
        let dropping = Layout::tags(set).map(|tag| {
            let mut command = redis::cmd("UNLINK");
            command.arg(layout.marks(tag, set.name()));
            command.arg(layout.counts(tag, set.name()));
            command
        });
        self.all::<i64>(dropping).await?;
        self.note(set.name(), set.until(), "closed").await
    }

    async fn count_marks(&self, set: &Set) -> Result<u64, StoreError> {
        let counting = Layout::tags(set).map(|tag| {
            let mut command = redis::cmd("HLEN");
            command.arg(self.0.layout.marks(tag, set.name()));
            command
        });
        Ok(self.all::<u64>(counting).await?.iter().sum())
    }
}

fn lost() -> StoreError {
    let text = "it lost a set that it had: Redis was emptied, or restored without its log";
    StoreError::Unavailable(text.to_owned())
}

impl Store for RedisStore {
    fn apply(&self, change: Change) -> Answer<'_, Outcome> {
        Box::pin(async move {
            // A change that is refused registers a set for nothing, which is harmless.
            for set in change.sets() {
                self.register(set).await?;
            }
            self.run(&change, "apply").await
        })
    }

    fn probe(&self, change: Change) -> Answer<'_, Outcome> {
        Box::pin(async move { self.run(&change, "probe").await })
    }

    fn get(&self, name: &str) -> Answer<'_, Option<Vec<u8>>> {
        let mut command = redis::cmd("HGET");
        command.arg(self.0.layout.records()).arg(name);
        Box::pin(async move { self.0.link.query(&command).await })
    }

    fn update(&self, records: Vec<Replace>) -> Answer<'_, bool> {
        let text = |value: Option<Vec<u8>>| match value {
            Some(bytes) => [b"=", bytes.as_slice()].concat(),
            None => b"-".to_vec(),
        };
        Box::pin(async move {
            if !keeps_logs(&records) {
                return Ok(false);
            }
            let arguments = records.into_iter().flat_map(|record| {
                let name = record.name.into_bytes();
                [name, text(record.expected), text(record.value)]
            });
            let arguments: Vec<Vec<u8>> = arguments.collect();
            let keys = [self.0.layout.records()];
            self.0.link.script(Script::Update, &keys, &arguments).await
        })
    }

    fn close_sets(&self, before: u64) -> Answer<'_, u64> {
        Box::pin(async move {
            let mut closed = 0;
            for (set, is_open) in self.registry().await? {
                if is_open && set.until() < before {
                    self.close(&set).await?;
                    closed += 1;
                }
            }
            Ok(closed)
        })
    }

    fn sets(&self) -> Answer<'_, Vec<(Set, u64)>> {
        Box::pin(async move {
            let mut sets = Vec::new();
            for (set, is_open) in self.registry().await? {
                if is_open {
                    let marks = self.count_marks(&set).await?;
                    sets.push((set, marks));
                }
            }
            Ok(sets)
        })
    }
}

/// The keys and arguments of `apply.lua`.
struct Call {
    keys: Vec<String>,
    arguments: Vec<Vec<u8>>,
}

impl Call {
    fn new(change: &Change, layout: &Layout, mode: &str) -> Result<Self, StoreError> {
        let tag = tag_of(change)?;
        let mut sets: Vec<&Set> = Vec::new();
        for set in change.sets() {
            if !sets.iter().any(|known| known.name() == set.name()) {
                sets.push(set);
            }
        }
        let mut keys = vec![layout.states(tag)];
        for set in &sets {
            keys.push(layout.marks(tag, set.name()));
            keys.push(layout.counts(tag, set.name()));
        }
        let lens = [
            sets.len(),
            change.marks.len(),
            change.absent.len(),
            change.counts.len(),
        ];
        let mut arguments = vec![mode.as_bytes().to_vec()];
        arguments.extend([change.now, change.grace].map(|n| n.to_string().into_bytes()));
        arguments.extend(lens.map(|n| n.to_string().into_bytes()));
        arguments.extend(sets.iter().map(|set| set.name().as_bytes().to_vec()));
        let number = |set: &Set| {
            let place = sets.iter().position(|known| known.name() == set.name());
            (place.unwrap_or(0) + 1).to_string().into_bytes()
        };
        for mark in &change.marks {
            let value = encode_made(change.now, mark.operation.as_ref());
            arguments.extend([number(&mark.set), mark.key.to_vec(), value]);
        }
        for mark in &change.absent {
            arguments.extend([number(&mark.set), mark.key.to_vec()]);
        }
        for count in &change.counts {
            arguments.extend([number(&count.set), count.key.to_vec()]);
            arguments.extend([count.add, count.limit].map(|n| n.to_be_bytes().to_vec()));
        }
        Ok(Self { keys, arguments })
    }
}

/// The slot of a change.
fn tag_of(change: &Change) -> Result<Tag, StoreError> {
    if !change.sets().any(Set::is_spread) {
        return Ok(Tag::Gates);
    }
    match change {
        Change {
            marks,
            counts,
            absent,
            ..
        } if counts.is_empty() && absent.is_empty() => match marks.as_slice() {
            [Mark { key, .. }] => Ok(Tag::Byte(key[0])),
            _ => Err(crosses()),
        },
        _ => Err(crosses()),
    }
}

fn crosses() -> StoreError {
    StoreError::Unavailable("a change of a spread set holds one mark and nothing else".to_owned())
}
