//! The tree hash, whose pieces are hashed on all processors, and proofs of single pieces.

use super::{Hash, finish, hash_object, hex, update, with_copy};
use crate::data::{Data, feed};
use crate::lock::{Lock, SHORT};
use crate::number::Number;
use crate::output::{bytes_of, reserve};
use crate::process::processors;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sealstone_skein::tree::{self, HASH, PIECE, Pieces, Proof, Subtree};
use std::thread;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Pieces that are hashed, and the bytes that wait for more, so that all processors have work.
pub(crate) struct Tree {
    pieces: Pieces,
    count: u64,
    rest: Zeroizing<Vec<u8>>,
}

/// Bytes that are hashed at once: a piece for each processor, of which there may be many.
fn group() -> usize {
    processors().min(16) * PIECE
}

hash_object! {
    /// The tree hash of `spec/tree.md`: Skein-512 in tree mode, over pieces of 1 MiB.
    SkeinTree as "SkeinTree", Tree, "skein-512-tree", 64,

    #[new]
    #[pyo3(signature = (data=None, *, usedforsecurity=true))]
    fn new(data: Option<&Bound<'_, PyAny>>, usedforsecurity: bool) -> PyResult<Self> {
        let _ = usedforsecurity;
        let state = Tree { pieces: Pieces::new(), count: 0, rest: Zeroizing::default() };
        let object = Self { state: Lock::new(state), digest_size: HASH as u64 };
        data.map_or(Ok(()), |data| object.update(data))?;
        Ok(object)
    }

    /// Bytes of the message so far.
    #[getter]
    fn length(&self, py: Python<'_>) -> PyResult<u64> {
        let length = |state: &mut Tree| state.count * PIECE as u64 + state.rest.len() as u64;
        Ok(self.state.hold(py)?.with(length))
    }

    /// The proof that piece `index` belongs to the message so far.
    fn prove<'py>(&self, py: Python<'py>, index: Number<u64>) -> PyResult<Bound<'py, PyBytes>> {
        // A proof needs the values of all pieces: this is never short.
        let proof = with_copy(py, &self.state, SHORT + 1, |copy| copy.ended().prove(index.0))?;
        let proof = proof.ok_or_else(|| PyIndexError::new_err("there is no such piece"))?;
        Ok(PyBytes::new(py, proof.as_bytes()))
    }
}

impl Tree {
    /// With the last piece. The only piece of an empty message is empty.
    fn ended(mut self) -> Pieces {
        let waiting = std::mem::take(&mut self.rest);
        let (pieces, last) = waiting.as_chunks::<PIECE>();
        self.push(pieces);
        if !last.is_empty() || self.count == 0 {
            self.pieces.push(tree::subtree(self.count, last));
        }
        self.pieces
    }

    fn push(&mut self, pieces: &[[u8; PIECE]]) {
        for group in pieces.chunks(4 * processors()) {
            for subtree in subtrees(self.count, group) {
                self.pieces.push(subtree);
                self.count += 1;
            }
        }
    }

    /// Hashes the bytes that wait, which are whole pieces.
    fn flush(&mut self) {
        let mut waiting = std::mem::take(&mut self.rest);
        self.push(waiting.as_chunks().0);
        waiting.clear();
        self.rest = waiting;
    }

    /// Whether a message of this length is hashed where it is, but for its end.
    fn takes_at_once(&self, length: usize) -> bool {
        self.rest.is_empty() && length >= group()
    }

    /// Bytes that wait after a message of this length, or while it is added.
    fn most_waiting(&self, length: usize) -> usize {
        match self.takes_at_once(length) {
            true => length % PIECE,
            false => group().min(self.rest.len().saturating_add(length)),
        }
    }
}

impl Hash for Tree {
    fn copied(&self) -> PyResult<Self> {
        let mut rest = Zeroizing::default();
        reserve(&mut rest, self.rest.len())?;
        rest.extend_from_slice(&self.rest);
        Ok(Self {
            pieces: self.pieces.clone(),
            count: self.count,
            rest,
        })
    }

    fn waiting(&self) -> usize {
        self.rest.len() + HASH * usize::try_from(self.count).unwrap_or(usize::MAX / HASH)
    }

    fn does_more_for(&self, length: usize) -> bool {
        let waiting = self.most_waiting(length);
        waiting == group() || waiting > self.rest.capacity()
    }

    fn update(&mut self, mut message: &[u8]) -> PyResult<()> {
        let more = self.most_waiting(message.len()) - self.rest.len();
        reserve(&mut self.rest, more)?;
        if !self.takes_at_once(message.len()) {
            let missing = group() - self.rest.len();
            let (head, tail) = message.split_at(message.len().min(missing));
            self.rest.extend_from_slice(head);
            message = tail;
            if self.rest.len() == group() {
                self.flush();
            }
        }
        let (pieces, rest) = message.as_chunks::<PIECE>();
        self.push(pieces);
        self.rest.extend_from_slice(rest);
        Ok(())
    }

    fn finish_into(self, digest: &mut [u8]) {
        digest.copy_from_slice(&self.ended().hash());
    }
}

/// Hashes pieces, the first of which is piece `first`, on all processors.
fn subtrees(first: u64, pieces: &[[u8; PIECE]]) -> Vec<Subtree> {
    let each = pieces.len().div_ceil(processors()).max(1);
    let hash = |(first, part): (u64, &[[u8; PIECE]])| -> Vec<Subtree> {
        (first..)
            .zip(part)
            .map(|(at, piece)| tree::subtree(at, piece))
            .collect()
    };
    let parts = (first..).step_by(each).zip(pieces.chunks(each));
    if pieces.len() <= each {
        return parts.flat_map(hash).collect();
    }
    thread::scope(|scope| {
        // The system may give no thread: its part is then hashed on this one.
        let begin = |part| {
            let begun = thread::Builder::new().spawn_scoped(scope, move || hash(part));
            begun.map_err(|_| part)
        };
        let begun: Vec<_> = parts.map(begin).collect();
        let end = |part: Result<thread::ScopedJoinHandle<'_, Vec<Subtree>>, _>| match part {
            Ok(thread) => thread.join().expect("hashing a piece does not panic"),
            Err(part) => hash(part),
        };
        begun.into_iter().flat_map(end).collect()
    })
}

/// Whether `piece` is piece `index` of the message of `length` bytes with this digest.
#[pyfunction]
pub(crate) fn verify_piece(
    py: Python<'_>,
    digest: Data,
    length: Number<u64>,
    index: Number<u64>,
    piece: Data,
    proof: Data,
) -> PyResult<bool> {
    let digest = <&[u8; HASH]>::try_from(&digest[..])
        .map_err(|_| PyValueError::new_err("a digest of 64 bytes is needed"))?;
    Ok(py.detach(|| {
        let proof = Proof::from_bytes(&proof);
        proof.is_some_and(|it| it.verify(digest, length.0, index.0, &piece))
    }))
}
