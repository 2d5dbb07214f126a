//! The hashes of the chunks of a file that is being sealed.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The contribution of each chunk of a signed file to the root that its sender signs
/// (`spec/tree.md`), 64 bytes per chunk. Sealing fills it: [`super::Sealer::note_chunk_hashes`].
#[derive(Debug, Default)]
pub struct ChunkHashes {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    values: Vec<[u8; 64]>,
    ended: bool,
}

impl ChunkHashes {
    /// The hashes of the first `count` chunks, once those are sealed.
    ///
    /// The content may ask for hashes of chunks that it has given completely, and of no others: it
    /// would wait for itself. `None` if the file is not signed, or the sealing has failed.
    pub fn first(&self, count: u64) -> Option<Vec<[u8; 64]>> {
        let count = usize::try_from(count).ok()?;
        let mut state = self.lock();
        while state.values.len() < count && !state.ended {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.values.get(..count).map(<[_]>::to_vec)
    }

    pub(super) fn push(&self, value: [u8; 64]) {
        self.lock().values.push(value);
        self.changed.notify_all();
    }

    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the hashes when it is dropped.
pub(super) struct EndOfHashes<'a>(pub(super) &'a ChunkHashes);

impl Drop for EndOfHashes<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Ends the hashes if the thread panics: the source would wait for a chunk that never comes.
pub(super) struct EndIfPanicking<'a>(pub(super) &'a ChunkHashes);

impl Drop for EndIfPanicking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}
