//! Layer 1: the content of files, in parallel and with constant memory.

use std::fmt;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use sealstone_primitives::hash::Sha3_256;
use sealstone_skein::tree::{Start, TreeHasher};

use super::{DigestKind, Entry, EntryContent, Manifest, RelativePath};

/// Where the files of a package are: a directory, an archive, a map in memory.
pub trait Source: Sync {
    /// The object at `path`. Links are never followed, on no part of the path.
    ///
    /// # Errors
    /// The system's error; a missing object is [`Object::Missing`].
    fn open(&self, path: &RelativePath) -> io::Result<Object<'_>>;

    /// Calls `found` with the path of every object but directories, in any order.
    ///
    /// # Errors
    /// The system's error; with [`Unreadable`] inside, the finding names the directory.
    fn list(&self, found: &mut dyn FnMut(&str)) -> io::Result<()>;
}

/// The object at a path.
pub enum Object<'a> {
    /// There is no object.
    Missing,
    /// A regular file, to be read to its end.
    File(Box<dyn Read + Send + 'a>),
    /// A symbolic link with this target.
    Link(String),
    /// A directory, a device, or what else there is.
    Other,
}

/// A directory of a [`Source`] that cannot be read: the inside of an [`io::Error`].
#[derive(Debug)]
pub struct Unreadable {
    path: String,
    error: io::Error,
}

impl Unreadable {
    /// Names the directory of an error. The kind stays.
    pub fn at(path: &str, error: io::Error) -> io::Error {
        let path = path.to_owned();
        io::Error::new(error.kind(), Self { path, error })
    }

    /// The directory that the error names; `.`, the source itself, if it names none.
    fn place(error: &io::Error) -> &str {
        let named = error.get_ref().and_then(|it| it.downcast_ref::<Self>());
        named.map_or(".", |it| &it.path)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.error)
    }
}

impl std::error::Error for Unreadable {}

/// Something that layer 1 found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The path, as the manifest or the source has it.
    pub path: String,
    /// The fault.
    pub kind: FindingKind,
}

/// The fault of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// It is in the manifest and not in the source.
    Missing,
    /// Its content, or the target of the link, differs.
    Altered,
    /// It is in the source and not in the manifest.
    Additional,
    /// It could not be read, or it changed while it was read.
    Unreadable,
    /// A directory, link or device in the place of a file, or the like.
    OtherKind,
}

impl FindingKind {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Altered => "altered",
            Self::Additional => "additional",
            Self::Unreadable => "unreadable",
            Self::OtherKind => "another kind of object",
        }
    }
}

/// How to go through files.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Threads, from 1.
    pub workers: usize,
    /// Called with the number of bytes that were read since the last call, by any thread. While
    /// the caller's thread waits for others, it calls this with 0 about ten times a second.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl Default for Work<'_> {
    /// One thread, no progress.
    fn default() -> Self {
        Self {
            workers: 1,
            progress: &|_| {},
        }
    }
}

/// Bytes that are read at once.
const BUFFER: u64 = 1 << 18;
/// A file of this length is worth all threads, where its digest allows that.
const LARGE: u64 = 1 << 26;

/// Size and digest of everything that `reader` gives, up to `limit` bytes and one more.
pub(super) fn measure(
    kind: DigestKind,
    reader: &mut (dyn Read + Send),
    limit: u64,
    work: Work<'_>,
) -> io::Result<(u64, Vec<u8>)> {
    let mut reader = Counted {
        reader,
        left: limit.saturating_add(1),
        count: 0,
        progress: work.progress,
    };
    let digest = match kind {
        DigestKind::Sha3_256 => sha3_256(&mut reader)?,
        DigestKind::SkeinTree if work.workers > 1 => parallel_tree(&mut reader, work.workers)?,
        DigestKind::SkeinTree => tree(&mut reader)?,
    };
    Ok((reader.count, digest))
}

fn sha3_256(reader: &mut Counted<'_>) -> io::Result<Vec<u8>> {
    let mut hash = Sha3_256::new();
    read_all(reader, |bytes| hash.update(bytes))?;
    Ok(hash.finish().to_vec())
}

fn tree(reader: &mut Counted<'_>) -> io::Result<Vec<u8>> {
    let mut hash = TreeHasher::new();
    read_all(reader, |bytes| hash.update(bytes))?;
    Ok(hash.finish().to_vec())
}

fn parallel_tree(reader: &mut Counted<'_>, workers: usize) -> io::Result<Vec<u8>> {
    let mut digest = vec![0; 64];
    Start::new().hash_stream(reader, workers)?.read(&mut digest);
    Ok(digest)
}

fn read_all(reader: &mut Counted<'_>, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    // A short file needs no long buffer.
    let mut buffer = vec![0; reader.left.min(BUFFER) as usize];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => take(&buffer[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Counts what is read, and ends behind the limit, so an endless file cannot block the reader.
struct Counted<'a> {
    reader: &'a mut (dyn Read + Send),
    left: u64,
    count: u64,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let n = self.reader.read(&mut buffer[..most])?;
        self.left -= n as u64;
        self.count += n as u64;
        (self.progress)(n as u64);
        Ok(n)
    }
}

/// Calls `each` for every item on all threads, longest first, and returns the results in order.
/// A large file is worth all threads, if its digest can use them.
pub(super) fn map_by_size<T: Sync, R: Send>(
    digest: DigestKind,
    items: &[T],
    size: impl Fn(&T) -> u64,
    work: Work<'_>,
    each: &(dyn Fn(&T, Work<'_>) -> R + Sync),
) -> Vec<R> {
    let is_large = |item: &T| digest == DigestKind::SkeinTree && size(item) >= LARGE;
    let (large, mut small): (Vec<usize>, Vec<usize>) =
        (0..items.len()).partition(|&i| is_large(&items[i]));
    small.sort_by_key(|&i| std::cmp::Reverse(size(&items[i])));
    let mut results: Vec<(usize, R)> = Vec::with_capacity(items.len());
    results.extend(large.into_iter().map(|i| (i, each(&items[i], work))));
    let alone = Work { workers: 1, ..work };
    let next = AtomicUsize::new(0);
    let run = || {
        let mine = std::iter::from_fn(|| small.get(next.fetch_add(1, Relaxed)));
        mine.map(|&i| (i, each(&items[i], alone)))
            .collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let (running, ended) = mpsc::channel();
        let others: Vec<_> = (1..work.workers.min(small.len()))
            .map(|_| {
                let running = running.clone();
                scope.spawn(move || {
                    let _running = running;
                    run()
                })
            })
            .collect();
        drop(running);
        results.extend(run());
        wait(&ended, work);
        for other in others {
            match other.join() {
                Ok(done) => results.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Between two calls of a thread that waits for others.
const INTERVAL: Duration = Duration::from_millis(100);

/// Waits until every sender is dropped. The caller's thread may be the only one that receives
/// signals, and it looks at them in its progress function.
fn wait(ended: &Receiver<std::convert::Infallible>, work: Work<'_>) {
    while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        (work.progress)(0);
    }
}

/// Compares every detached file and every link with the manifest, and looks for additional ones.
pub(super) fn check(manifest: &Manifest, source: &dyn Source, work: Work<'_>) -> Vec<Finding> {
    let entries: Vec<&Entry> = manifest.entries.iter().collect();
    let finding = |path: &str, kind| Finding {
        path: path.to_owned(),
        kind,
    };
    let check = |entry: &&Entry, work: Work<'_>| {
        let kind = check_entry(manifest.digest, entry, source, work);
        kind.map(|kind| finding(entry.path.as_str(), kind))
    };
    let results = map_by_size(manifest.digest, &entries, |it| it.size(), work, &check);
    let mut findings: Vec<Finding> = results.into_iter().flatten().collect();
    if manifest.complete {
        let listed = source.list(&mut |path| {
            let named = |entry: &Entry| entry.path.as_str().cmp(path);
            if manifest.entries.binary_search_by(named).is_err() {
                findings.push(finding(path, FindingKind::Additional));
            }
        });
        if let Err(error) = listed {
            findings.push(finding(Unreadable::place(&error), FindingKind::Unreadable));
        }
    }
    findings.sort();
    findings
}

fn check_entry(
    kind: DigestKind,
    entry: &Entry,
    source: &dyn Source,
    work: Work<'_>,
) -> Option<FindingKind> {
    let Ok(object) = source.open(&entry.path) else {
        return Some(FindingKind::Unreadable);
    };
    match (&entry.content, object) {
        // It must not hide another file of its name, but need not be there.
        (EntryContent::File { embedded: true, .. }, Object::Missing) => None,
        (_, Object::Missing) => Some(FindingKind::Missing),
        (EntryContent::File { size, digest, .. }, Object::File(mut reader)) => {
            match measure(kind, &mut *reader, *size, work) {
                Ok(found) if found == (*size, digest.clone()) => None,
                Ok(_) => Some(FindingKind::Altered),
                Err(_) => Some(FindingKind::Unreadable),
            }
        }
        (EntryContent::Link(target), Object::Link(found)) => {
            (*target != found).then_some(FindingKind::Altered)
        }
        _ => Some(FindingKind::OtherKind),
    }
}

impl Entry {
    /// The length of the content in bytes; of the target, for a link.
    pub fn size(&self) -> u64 {
        match &self.content {
            EntryContent::File { size, .. } => *size,
            EntryContent::Link(target) => target.len() as u64,
        }
    }

    /// The length of the content that stands in the package itself.
    pub(super) fn embedded_size(&self) -> Option<u64> {
        match self.content {
            EntryContent::File {
                size,
                embedded: true,
                ..
            } => Some(size),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;

    #[test]
    fn a_thread_that_waits_for_others_goes_on_reporting() {
        let (caller, end) = (
            thread::current().id(),
            Instant::now() + Duration::from_secs(60),
        );
        let (begun, told) = (AtomicBool::new(false), AtomicBool::new(false));
        let until = |flag: &AtomicBool| {
            while !flag.load(Relaxed) {
                assert!(Instant::now() < end, "nobody reports");
                thread::sleep(Duration::from_millis(1));
            }
        };
        let progress = |bytes| {
            let is_callers = bytes == 0 && thread::current().id() == caller;
            told.fetch_or(is_callers, Relaxed);
        };
        let each = |item: &u64, _: Work<'_>| {
            if thread::current().id() == caller {
                until(&begun);
            } else {
                begun.store(true, Relaxed);
                until(&told);
            }
            *item
        };
        let work = Work {
            workers: 2,
            progress: &progress,
        };
        let mapped = map_by_size(DigestKind::Sha3_256, &[1, 2], |it| *it, work, &each);
        assert_eq!(mapped, [1, 2]);
    }
}
