//! The tree hash, whose pieces are hashed on all processors, and proofs of single pieces.

use super::{Hash, finish_into, hash_object, hex, update};
use crate::data::{Data, feed};
use crate::lock::Lock;
use crate::process::processors;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealstone_skein::tree::{self, HASH, PIECE, Pieces, Proof, Subtree};
use std::thread;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Whole pieces, and the begin of the next one.
#[derive(Clone)]
pub(crate) struct Tree {
    pieces: Pieces,
    count: u64,
    rest: Vec<u8>,
}

hash_object! {
    /// The tree hash of `spec/tree.md`: Skein-512 in tree mode, over pieces of 1 MiB.
    SkeinTree as "SkeinTree", Tree, "skein-512-tree", 64,

    #[new]
    #[pyo3(signature = (data=None, *, usedforsecurity=true))]
    fn new(data: Option<&Bound<'_, PyAny>>, usedforsecurity: bool) -> PyResult<Self> {
        let _ = usedforsecurity;
        let state = Tree { pieces: Pieces::new(), count: 0, rest: Vec::new() };
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
    fn prove<'py>(&self, py: Python<'py>, index: u64) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.state.hold(py)?.with(|state| state.clone());
        let proof = py.detach(|| state.ended().prove(index));
        let proof = proof.ok_or_else(|| PyIndexError::new_err("there is no such piece"))?;
        Ok(PyBytes::new(py, proof.as_bytes()))
    }
}

impl Tree {
    /// With the last piece. The only piece of an empty message is empty.
    fn ended(mut self) -> Pieces {
        if !self.rest.is_empty() || self.count == 0 {
            self.pieces.push(tree::subtree(self.count, &self.rest));
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
}

impl Hash for Tree {
    fn update(&mut self, mut message: &[u8]) {
        if !self.rest.is_empty() {
            let missing = PIECE - self.rest.len();
            let (head, tail) = message.split_at(message.len().min(missing));
            self.rest.extend_from_slice(head);
            message = tail;
            if let Ok(piece) = <&[u8; PIECE]>::try_from(&self.rest[..]) {
                let subtree = tree::subtree(self.count, piece);
                self.pieces.push(subtree);
                self.count += 1;
                self.rest.clear();
            }
        }
        let (pieces, rest) = message.as_chunks::<PIECE>();
        self.push(pieces);
        self.rest.extend_from_slice(rest);
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
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || hash(part))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Vec<Subtree>>| {
            thread.join().expect("hashing a piece does not panic")
        };
        threads.into_iter().flat_map(join).collect()
    })
}

/// Whether `piece` is piece `index` of the message of `length` bytes with this digest.
#[pyfunction]
pub(crate) fn verify_piece(
    py: Python<'_>,
    digest: Data,
    length: u64,
    index: u64,
    piece: Data,
    proof: Data,
) -> PyResult<bool> {
    let digest = <&[u8; HASH]>::try_from(&digest[..])
        .map_err(|_| PyValueError::new_err("a digest of 64 bytes is needed"))?;
    let proof = Proof::from_bytes(&proof);
    Ok(py.detach(|| proof.is_some_and(|it| it.verify(digest, length, index, &piece))))
}
