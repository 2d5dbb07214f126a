//! The whole content of a store in Redis. No other process may write during this.

use std::collections::BTreeMap;

use super::RedisStore;
use super::layout::{Layout, Tag};
use crate::clock::Clock;
use crate::store::transfer::{PAGE_LEN, Page, Sink, Transfer, send, stays};
use crate::store::{Answer, Key, Set, StoreError};

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

fn altered() -> StoreError {
    StoreError::Unavailable("an entry has a length that none of ours has".to_owned())
}

impl RedisStore {
    /// All entries of a hash: with HSCAN some could come twice.
    async fn hash(&self, key: String) -> Result<Pairs, StoreError> {
        let mut command = redis::cmd("HGETALL");
        command.arg(key);
        self.0.link.query(&command).await
    }

    async fn send_set(&self, sink: &Sink, set: &Set) -> Result<(), StoreError> {
        for tag in Layout::tags(set) {
            let marks = self.hash(self.0.layout.marks(tag, set.name())).await?;
            for part in marks.chunks(PAGE_LEN) {
                let mark = |(key, made): &(Vec<u8>, Vec<u8>)| {
                    let key: Key = key.as_slice().try_into().map_err(|_| altered())?;
                    Ok((key, made.clone()))
                };
                let marks = part.iter().map(mark).collect::<Result<_, StoreError>>()?;
                let set = set.name().to_owned();
                send(sink, Page::Marks { set, marks }).await?;
            }
            let counts = self.hash(self.0.layout.counts(tag, set.name())).await?;
            for part in counts.chunks(PAGE_LEN) {
                let count = |(key, count): &(Vec<u8>, Vec<u8>)| {
                    let key: Key = key.as_slice().try_into().map_err(|_| altered())?;
                    let count = count.as_slice().try_into().map_err(|_| altered())?;
                    Ok((key, u64::from_be_bytes(count)))
                };
                let counts = part.iter().map(count).collect::<Result<_, StoreError>>()?;
                let set = set.name().to_owned();
                send(sink, Page::Counts { set, counts }).await?;
            }
        }
        Ok(())
    }

    async fn send_all(&self, sink: &Sink) -> Result<(), StoreError> {
        for (set, is_open) in self.registry().await? {
            let name = set.name().to_owned();
            let page = Page::Set {
                name,
                until: set.until(),
                is_open,
            };
            send(sink, page).await?;
            if is_open {
                self.send_set(sink, &set).await?;
            }
        }
        let mut records = Vec::new();
        for (name, value) in self.hash(self.0.layout.records()).await? {
            let name = String::from_utf8(name).map_err(|_| altered())?;
            if !stays(&name) {
                records.push((name, value));
            }
        }
        for part in records.chunks(PAGE_LEN) {
            send(sink, Page::Records(part.to_vec())).await?;
        }
        Ok(())
    }

    /// Writes entries into hashes, each hash with one command.
    async fn fill(&self, hashes: BTreeMap<String, Pairs>) -> Result<(), StoreError> {
        let commands = hashes.into_iter().map(|(key, pairs)| {
            let mut command = redis::cmd("HSET");
            command.arg(key);
            for (name, value) in pairs {
                command.arg(name).arg(value);
            }
            command
        });
        self.all::<i64>(commands).await.map(drop)
    }

    async fn put(&self, page: Page) -> Result<(), StoreError> {
        let layout = &self.0.layout;
        let mut hashes: BTreeMap<String, Pairs> = BTreeMap::new();
        match page {
            Page::Set {
                name,
                until,
                is_open: true,
            } => return self.register(&Set::new(name, until)).await,
            Page::Set { name, until, .. } => return self.close(&Set::new(name, until)).await,
            Page::Marks { set, marks } => {
                for (key, made) in marks {
                    let hash = layout.marks(place(&set, &key), &set);
                    hashes.entry(hash).or_default().push((key.to_vec(), made));
                }
            }
            Page::Counts { set, counts } => {
                for (key, count) in counts {
                    let hash = layout.counts(place(&set, &key), &set);
                    let pair = (key.to_vec(), count.to_be_bytes().to_vec());
                    hashes.entry(hash).or_default().push(pair);
                }
            }
            Page::Records(records) => {
                let records = records.into_iter();
                let pairs = records.map(|(name, value)| (name.into_bytes(), value));
                let pairs: Pairs = pairs.collect();
                if !pairs.is_empty() {
                    hashes.insert(layout.records(), pairs);
                }
            }
        }
        self.fill(hashes).await
    }
}

/// The slot of an entry.
fn place(set: &str, key: &Key) -> Tag {
    match Set::new(set, 0).is_spread() {
        true => Tag::Byte(key[0]),
        false => Tag::Gates,
    }
}

impl Transfer for RedisStore {
    fn pages(&self, sink: Sink) -> Answer<'_, u64> {
        Box::pin(async move {
            let now = Clock::system().now();
            self.send_all(&sink).await.map(|()| now)
        })
    }

    fn load(&self, page: Page) -> Answer<'_, ()> {
        Box::pin(self.put(page))
    }
}
