//! The algorithm (RFC 9106, section 3.2).

use crate::Error;
use crate::blake2b::{LONGEST, Stream};
use crate::block::{Block, WORDS, place};
use crate::fill::{Get, Monitor, Progress, Task, fill};
use crate::hprime::hprime;
use crate::params::Params;
use crate::spent::Spent;
use core::sync::atomic::{AtomicBool, AtomicU64};
use sealstone_lanes::{Cpu, wipe};
use zeroize::Zeroizing;

#[cfg(feature = "std")]
use crate::{
    arena::Arena,
    fill::fill_together,
    pool::{Pool, share},
};
#[cfg(feature = "std")]
use core::sync::atomic::Ordering::Relaxed;
#[cfg(feature = "std")]
use sealstone_lanes::wipe_part;
#[cfg(feature = "std")]
use std::{
    sync::{Mutex, PoisonError},
    thread,
};

/// Argon2 with its parameters, and everything else that does not change from password to password.
///
/// ```
/// use sealstone_argon2::{Argon2, Arena, Params};
///
/// let params = Params::new(1024, 2, 4).unwrap();
/// let argon2 = Argon2::new(params).secret(b"pepper").associated_data(b"purpose").threads(2);
/// let (mut arena, mut key) = (Arena::new(), [0; 32]);
/// argon2.hash(b"password", b"16 bytes of salt", &mut key, &mut arena)?;
/// # assert_ne!(key, [0; 32]);
/// # Ok::<(), sealstone_argon2::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Argon2<'a> {
    params: Params,
    secret: &'a [u8],
    associated_data: &'a [u8],
    cpu: Option<Cpu>,
    cancel: Option<&'a AtomicBool>,
    progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    #[cfg(feature = "std")]
    pool: Option<&'a dyn Pool>,
    #[cfg(feature = "std")]
    threads: usize,
}

impl<'a> Argon2<'a> {
    /// Argon2 without a secret and associated data, on one thread.
    pub fn new(params: Params) -> Self {
        Self {
            params,
            secret: &[],
            associated_data: &[],
            cpu: None,
            cancel: None,
            progress: None,
            #[cfg(feature = "std")]
            pool: None,
            #[cfg(feature = "std")]
            threads: 1,
        }
    }

    /// Adds a secret (K, also called pepper), which is not stored with the hash.
    #[must_use]
    pub fn secret(self, secret: &'a [u8]) -> Self {
        Self { secret, ..self }
    }

    /// Adds associated data (X).
    #[must_use]
    pub fn associated_data(self, associated_data: &'a [u8]) -> Self {
        Self {
            associated_data,
            ..self
        }
    }

    /// On up to this many threads, at most one for each lane, and on one if a lane has less than 4
    /// MiB.
    ///
    /// With one lane, a second thread gets memory from the system ahead of the first, if the arena
    /// has to grow, and helps to wipe it. The result is the same for any number.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self {
            threads: threads.max(1),
            ..self
        }
    }

    /// Uses the threads of the caller's pool.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn pool(self, pool: &'a dyn Pool) -> Self {
        Self {
            pool: Some(pool),
            ..self
        }
    }

    /// Stops with [`Error::Cancelled`] when the flag is set.
    ///
    /// The computation ends within about a millisecond, or in new memory within the time that the
    /// system takes for a few pages. Wiping the memory afterwards is not interrupted; it takes some
    /// tenths of a second for 1 GiB. If the flag is set from the start, [`Argon2::hash`] gets no
    /// memory.
    #[must_use]
    pub fn cancel(self, flag: &'a AtomicBool) -> Self {
        Self {
            cancel: Some(flag),
            ..self
        }
    }

    /// Calls `progress` about every millisecond on each thread.
    #[must_use]
    pub fn progress(self, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Self {
            progress: Some(progress),
            ..self
        }
    }

    /// Uses this instruction set: for tests and measurements.
    #[must_use]
    pub fn on(self, cpu: Cpu) -> Self {
        Self {
            cpu: Some(cpu),
            ..self
        }
    }

    #[cfg(feature = "std")]
    pub(crate) fn with_params(self, params: Params) -> Self {
        Self { params, ..self }
    }

    #[cfg(feature = "std")]
    pub(crate) fn data(&self) -> &'a [u8] {
        self.associated_data
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Hashes `password` (P) with `salt` (S) to `tag`, which has 4 bytes or more. The length of the
    /// tag enters the hash. The memory of the arena is wiped before this returns. On an error,
    /// `tag` is zero.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `tag` is shorter than 4 bytes; [`Error::TooLong`] for inputs of 2^32
    /// bytes and more; [`Error::OutOfMemory`]; [`Error::Cancelled`]; [`Error::Pool`].
    #[cfg(feature = "std")]
    pub fn hash(
        &self,
        password: &[u8],
        salt: &[u8],
        tag: &mut [u8],
        arena: &mut Arena,
    ) -> Result<(), Error> {
        tag.fill(0);
        self.check(password, salt, tag)?;
        if self.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            return Err(Error::Cancelled);
        }
        let (memory, getter) = arena.blocks(self.params.blocks())?;
        let Some(getter) = getter else {
            return self.hash_on(password, salt, tag, memory, None);
        };
        let get = |blocks: &mut [Block]| getter.get(blocks);
        let goes_on = || !self.cancel.is_some_and(|cancel| cancel.load(Relaxed));
        thread::scope(|scope| {
            // With one lane, the other thread would be idle until it helps to wipe.
            let is_idle = self.pool.is_none() && self.threads > 1 && self.params.lanes() == 1;
            let work = || getter.get_ahead(goes_on);
            let is_ahead = is_idle && thread::Builder::new().spawn_scoped(scope, work).is_ok();
            let get = (!is_ahead).then_some(&get as Get<'_>);
            self.hash_on(password, salt, tag, memory, get)
        })
    }

    /// [`Argon2::hash`] in the caller's memory of at least [`Params::blocks`] blocks. Their content
    /// does not matter; they are wiped.
    ///
    /// # Errors
    /// As [`Argon2::hash`]; [`Error::MemoryTooSmall`] instead of [`Error::OutOfMemory`].
    pub fn hash_with(
        &self,
        password: &[u8],
        salt: &[u8],
        tag: &mut [u8],
        memory: &mut [Block],
    ) -> Result<(), Error> {
        self.hash_on(password, salt, tag, memory, None)
    }

    /// [`Argon2::hash_with`]; `get` gets memory for blocks that are about to be filled.
    fn hash_on(
        &self,
        password: &[u8],
        salt: &[u8],
        tag: &mut [u8],
        memory: &mut [Block],
        get: Option<Get<'_>>,
    ) -> Result<(), Error> {
        tag.fill(0);
        self.check(password, salt, tag)?;
        let needed = self.params.blocks();
        let memory = usize::try_from(needed)
            .ok()
            .and_then(|blocks| memory.get_mut(..blocks));
        let memory = memory.ok_or(Error::MemoryTooSmall(needed))?;
        // Dropped last, after the return of all functions that leave something in registers and on
        // the stack.
        let _spent = Spent(self.cpu());
        let mut memory = Wiped {
            blocks: memory,
            #[cfg(feature = "std")]
            threads: self.wipers(),
        };
        self.hash_in(password, salt, tag, &mut memory, get)
    }

    /// Runs in its own stack frame, below the caller's.
    #[inline(never)]
    fn hash_in(
        &self,
        password: &[u8],
        salt: &[u8],
        tag: &mut [u8],
        memory: &mut Wiped<'_>,
        get: Option<Get<'_>>,
    ) -> Result<(), Error> {
        let mut sum = Sum(Zeroizing::new([[0; 8]; WORDS]));
        let lanes = u64::from(self.params.lanes());
        let monitor = Monitor {
            total: u64::from(self.params.passes()) * self.params.blocks() - 2 * lanes,
            done: AtomicU64::new(0),
            cancel: self.cancel,
            progress: self.progress,
            get,
        };
        let h0 = self.h0(password, salt, tag.len());
        self.first_blocks(&h0, memory.blocks, &monitor);
        self.fill(memory, &monitor, &mut sum)?;
        hprime(self.cpu(), &[sum.0.as_flattened()], tag);
        Ok(())
    }

    fn check(&self, password: &[u8], salt: &[u8], tag: &[u8]) -> Result<(), Error> {
        if tag.len() < 4 {
            return Err(Error::Parameter("a tag of at least 4 bytes"));
        }
        let inputs = [
            (password, "the password"),
            (salt, "the salt"),
            (self.secret, "the secret"),
            (self.associated_data, "the associated data"),
            (tag, "the tag"),
        ];
        for (input, name) in inputs {
            u32::try_from(input.len()).map_err(|_| Error::TooLong(name))?;
        }
        Ok(())
    }

    /// Steps 5 to 7, after the first blocks. The tag is H′ of the sum (step 8).
    fn fill(
        &self,
        memory: &mut Wiped<'_>,
        monitor: &Monitor<'_>,
        sum: &mut Sum,
    ) -> Result<(), Error> {
        let (cpu, params) = (self.cpu(), &self.params);
        #[cfg(feature = "std")]
        if let (None, threads @ 2.., true) = (
            self.pool,
            self.threads.min(params.lanes() as usize),
            params.segment_blocks() >= WORTH_A_THREAD,
        ) {
            let blocks = &mut *memory.blocks;
            let last = |block: &Block| sum.add(block);
            let result = fill_together(cpu, params, blocks, monitor, threads, last);
            // The threads have wiped the blocks. If a thread panics, this line is not reached.
            memory.blocks = &mut [];
            return result;
        }
        fill(cpu, params, memory.blocks, monitor, |task| self.run(task))?;
        let segments = memory.blocks.chunks(params.segment_blocks() as usize);
        let last = segments.rev().take(params.lanes() as usize);
        last.filter_map(<[_]>::last)
            .for_each(|block| sum.add(block));
        Ok(())
    }

    /// H_0 (step 1).
    fn h0(&self, password: &[u8], salt: &[u8], tag_len: usize) -> Zeroizing<[u8; LONGEST]> {
        let mut hash = Stream::new(self.cpu(), &[], LONGEST);
        let params = &self.params;
        let numbers = [
            params.lanes(),
            tag_len as u32,
            params.memory_kib(),
            params.passes(),
            params.version() as u32,
            params.variant() as u32,
        ];
        numbers
            .iter()
            .for_each(|number| hash.update(&number.to_le_bytes()));
        for input in [password, salt, self.secret, self.associated_data] {
            hash.update(&(input.len() as u32).to_le_bytes());
            hash.update(input);
        }
        let mut h0 = Zeroizing::new([0; LONGEST]);
        hash.finish_into(&mut h0);
        h0
    }

    /// The first two blocks of each lane (steps 3 and 4).
    fn first_blocks(&self, h0: &[u8; LONGEST], memory: &mut [Block], monitor: &Monitor<'_>) {
        let length = self.params.segment_blocks() as usize;
        let mut bytes = Zeroizing::new([[0; 8]; WORDS]);
        for (lane, segment) in memory
            .chunks_mut(length)
            .take(self.params.lanes() as usize)
            .enumerate()
        {
            monitor.before(&mut segment[..2]);
            for (index, block) in segment.iter_mut().take(2).enumerate() {
                let numbers = [(index as u32).to_le_bytes(), (lane as u32).to_le_bytes()];
                hprime(
                    self.cpu(),
                    &[h0, numbers.as_flattened()],
                    bytes.as_flattened_mut(),
                );
                for (word, bytes) in bytes.iter().enumerate() {
                    let (line, lane) = place(word);
                    block[line].0[lane] = u64::from_le_bytes(*bytes);
                }
            }
        }
    }

    fn cpu(&self) -> Cpu {
        self.cpu.unwrap_or_else(Cpu::best)
    }

    #[cfg(feature = "std")]
    fn run(&self, task: Task<'_>) {
        match self.pool {
            Some(pool) => share(pool, task, self.params.lanes() as usize),
            None => task.run(),
        }
    }

    /// The number of threads that wipe the memory, unless a team of threads filled and wiped it: as
    /// many as may fill it; with one lane two, since a second thread gets the memory.
    #[cfg(feature = "std")]
    fn wipers(&self) -> usize {
        match self.pool {
            Some(_) => 1,
            None => self.threads.min(self.params.lanes().max(2) as usize),
        }
    }

    #[cfg(not(feature = "std"))]
    fn run(&self, task: Task<'_>) {
        task.run();
    }
}

/// The sum of the last blocks of all lanes (step 7). It is updated in place: a copy would have to
/// be wiped too.
struct Sum(Zeroizing<[[u8; 8]; WORDS]>);

impl Sum {
    fn add(&mut self, block: &Block) {
        for (word, bytes) in self.0.iter_mut().enumerate() {
            let (line, lane) = place(word);
            *bytes = (u64::from_le_bytes(*bytes) ^ block[line].0[lane]).to_le_bytes();
        }
    }
}

/// Blocks of a segment from which on a second thread is quicker. With fewer, starting the thread
/// and waiting for it takes longer: `bench/argon2.py` measures the least memory that two lanes use
/// two threads for.
#[cfg(feature = "std")]
const WORTH_A_THREAD: u64 = 1024;

/// Memory that is wiped on drop, even after a panic in a callback or a pool, unless it was wiped
/// before.
struct Wiped<'m> {
    blocks: &'m mut [Block],
    #[cfg(feature = "std")]
    threads: usize,
}

impl Drop for Wiped<'_> {
    fn drop(&mut self) {
        #[cfg(feature = "std")]
        if let threads @ 2.. = self.threads.min(self.blocks.len() / SHARED) {
            wipe_together(self.blocks, threads);
            return;
        }
        wipe(self.blocks.as_flattened_mut());
    }
}

/// Blocks for each thread that wipes. Starting a thread takes as long as wiping some hundred
/// blocks.
#[cfg(feature = "std")]
const SHARED: usize = 4 << 10;

/// Wipes on `threads` threads, including this one: one thread alone does not use the whole
/// bandwidth of the memory.
#[cfg(feature = "std")]
fn wipe_together(blocks: &mut [Block], threads: usize) {
    let lines = blocks.as_flattened_mut();
    let all = lines.len();
    let parts = Mutex::new(lines.chunks_mut(all.div_ceil(4 * threads)));
    let work = || {
        loop {
            let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(part) = part else { return };
            wipe_part(part, all);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If the system gives no thread, the others do all the work.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

impl core::fmt::Debug for Argon2<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Argon2")
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn no_more_threads_wipe_than_fill_or_get_memory() {
        let wipers = |lanes, threads| {
            let argon2 = Argon2::new(Params::new(1 << 20, 1, lanes).unwrap());
            argon2.threads(threads).wipers()
        };
        for (lanes, threads, expected) in [
            (1, 1, 1),
            (1, 2, 2),
            (1, usize::MAX, 2),
            (4, 1, 1),
            (4, 3, 3),
            (4, 1000, 4),
        ] {
            assert_eq!(wipers(lanes, threads), expected, "{lanes} {threads}");
        }
    }
}
