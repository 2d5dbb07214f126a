//! A storage that stops at any moment, and the search for a moment at which a change causes damage.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use sealstone::trust::{
    File, Interrupted, Memory, ReadSession, Status, Storage, TrustStore, WriteSession,
};

use super::fixture::{Files, Snapshot, at, name, snapshot};

/// How a storage operation fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// Nothing was written.
    Before,
    /// Everything was written, but the call failed.
    After,
    /// This many bytes of an append were written.
    Inside(usize),
    /// The file grew, but it has this byte instead of the appended bytes (seen after power
    /// failures).
    Filled(u8),
}

/// Writes to memory until the operation of this number, which fails in this way.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) operation: usize,
    pub(crate) failure: Failure,
    /// Whether all later operations fail too, as after a kill of the program. Otherwise as after a
    /// temporarily full disk.
    pub(crate) dead: bool,
}

/// Memory with the given failures.
#[derive(Clone)]
pub(crate) struct Faulty {
    memory: Memory,
    fault: Option<Fault>,
    /// For each operation so far the number of bytes, if it is an append.
    done: Rc<RefCell<Vec<Option<usize>>>>,
}

/// A change of the store in the storage.
pub(crate) type Action<'a> = &'a dyn Fn(Faulty) -> sealstone::Result<()>;

impl Faulty {
    pub(crate) fn new(memory: Memory, fault: Option<Fault>) -> Self {
        Self {
            memory,
            fault,
            done: Rc::default(),
        }
    }

    /// The failure of the next operation, if it fails.
    fn next(&self, appended: Option<usize>) -> Option<Failure> {
        let mut done = self.done.borrow_mut();
        let (number, fault) = (done.len(), self.fault.as_ref()?);
        done.push(appended);
        match number.cmp(&fault.operation) {
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Equal => Some(fault.failure),
            std::cmp::Ordering::Greater => fault.dead.then_some(Failure::Before),
        }
    }
}

impl Storage for Faulty {
    type Reader = Self;
    type Writer = Self;

    fn read(&self) -> io::Result<Self> {
        Ok(self.clone())
    }

    fn write(&self) -> io::Result<Self> {
        Ok(self.clone())
    }
}

impl ReadSession for Faulty {
    fn read(&self, file: File, limit: usize) -> io::Result<Option<Vec<u8>>> {
        ReadSession::read(&self.memory, file, limit)
    }
}

impl WriteSession for Faulty {
    fn replace(&mut self, file: File, bytes: &[u8]) -> io::Result<()> {
        match self.next(None) {
            None => return self.memory.replace(file, bytes),
            Some(Failure::After) => self.memory.replace(file, bytes)?,
            Some(_) => {}
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    fn append(&mut self, file: File, bytes: &[u8]) -> io::Result<()> {
        match self.next(Some(bytes.len())) {
            None => return self.memory.append(file, bytes),
            Some(Failure::Before) => {}
            Some(Failure::After) => self.memory.append(file, bytes)?,
            Some(Failure::Inside(len)) => {
                self.memory.append(file, &bytes[..len.min(bytes.len())])?
            }
            Some(Failure::Filled(byte)) => self.memory.append(file, &vec![byte; bytes.len()])?,
        }
        Err(io::ErrorKind::StorageFull.into())
    }
}

/// Every possible interruption of `action`. Appends longer than `all_lengths` are cut at every
/// length up to it and at some larger lengths.
pub(crate) fn faults(start: &Files, action: Action<'_>, all_lengths: usize) -> Vec<Fault> {
    let never = Fault {
        operation: usize::MAX,
        failure: Failure::Before,
        dead: true,
    };
    let storage = Faulty::new(start.to_memory(), Some(never));
    action(storage.clone()).unwrap();
    let operations = storage.done.borrow().clone();
    let mut faults = Vec::new();
    for (operation, appended) in operations.into_iter().enumerate() {
        let mut failures = vec![Failure::Before, Failure::After];
        if let Some(len) = appended {
            failures.extend(
                (1..len)
                    .filter(|at| *at <= all_lengths || at % 97 == 0)
                    .map(Failure::Inside),
            );
            failures.extend([
                Failure::Inside(len - 1),
                Failure::Filled(0x00),
                Failure::Filled(0xff),
            ]);
        }
        faults.extend(failures.into_iter().map(|failure| Fault {
            operation,
            failure,
            dead: true,
        }));
    }
    faults
}

/// The files after every interruption of `action`, with a description. `Err` describes the first
/// one that causes damage.
pub(crate) fn interrupt_everywhere(
    start: &Files,
    action: Action<'_>,
    all_lengths: usize,
) -> Result<Vec<(Fault, Files)>, String> {
    let before = open(start).map_err(|e| format!("at the start: {e}"))?;
    let finished = start.to_memory();
    action(Faulty::new(finished.clone(), None)).unwrap();
    let after = open(&Files::of(&finished)).unwrap();
    let mut left = Vec::new();
    for fault in faults(start, action, all_lengths) {
        let memory = start.to_memory();
        if action(Faulty::new(memory.clone(), Some(fault.clone()))).is_ok() {
            return Err(format!("{fault:?} was not reported"));
        }
        let files = Files::of(&memory);
        let now = open(&files).map_err(|e| format!("{fault:?}: {e}"))?;
        if now != before && now != after {
            return Err(format!("{fault:?}: neither before nor after, but {now:?}"));
        }
        next_write_works(memory, &now).map_err(|e| format!("{fault:?}: {e}"))?;
        left.push((fault, files));
    }
    Ok(left)
}

fn next_write_works(memory: Memory, now: &Snapshot) -> sealstone::Result<()> {
    let somebody = name(0xee);
    TrustStore::open(memory.clone())?.set_status(&somebody, Status::Denied, &at(999))?;
    let mut store = TrustStore::open(memory)?;
    assert_eq!(store.check()?.interrupted, Interrupted::default());
    assert_eq!(
        store.get(&somebody).map(|record| record.status()),
        Some(Status::Denied)
    );
    assert_eq!(snapshot(&store)[..now.len()], now[..]);
    Ok(())
}

pub(crate) fn open(files: &Files) -> sealstone::Result<Snapshot> {
    TrustStore::open(files.to_memory()).map(|store| snapshot(&store))
}
