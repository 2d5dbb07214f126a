//! Hash objects as those of Python's hashlib: Skein, its tree, and BLAKE2b.

mod tree;

use crate::data::{Data, Secret, feed};
use crate::lock::{Lock, SHORT, long};
use crate::number::{Length, length};
use crate::output::{bytes_of, zeros};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sealstone_argon2::blake2b;
use sealstone_skein::{Parameters, Skein256, Skein512, Skein1024};
use std::sync::LazyLock;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

pub(crate) use tree::{SkeinTree, verify_piece};

/// A message being hashed.
pub(crate) trait Hash: Send + Sized {
    /// An error if the system has no memory for it.
    fn copied(&self) -> PyResult<Self>;
    /// Bytes besides the digest that a copy takes and that are hashed for it.
    fn waiting(&self) -> usize {
        0
    }
    /// Whether to add a message of this length takes longer than to hash it.
    fn does_more_for(&self, _length: usize) -> bool {
        false
    }
    /// An error if the system has no memory. Then nothing was added.
    fn update(&mut self, message: &[u8]) -> PyResult<()>;
    /// Writes the hash. `digest` is as long as the hash.
    fn finish_into(self, digest: &mut [u8]);
}

/// The longest digest in bytes.
const LONGEST: u64 = 1 << 24;

fn update<H: Hash>(py: Python<'_>, state: &Lock<H>, message: &[u8]) -> PyResult<()> {
    let held = state.hold(py)?;
    let updated = held.with(|state| {
        let is_short = message.len() <= SHORT && !state.does_more_for(message.len());
        is_short.then(|| state.update(message))
    });
    updated.unwrap_or_else(|| py.detach(|| held.with(|state| state.update(message))))
}

/// A copy of the state, with which `work` is done. `length` is that of the digest.
fn with_copy<H: Hash, T: Send>(
    py: Python<'_>,
    state: &Lock<H>,
    length: usize,
    work: impl FnOnce(H) -> T + Send,
) -> PyResult<T> {
    let held = state.hold(py)?;
    let copy = held.with(|state| {
        let is_short = length + state.waiting() <= SHORT;
        is_short.then(|| state.copied())
    });
    match copy {
        Some(copy) => {
            drop(held);
            Ok(work(copy?))
        }
        None => py.detach(|| {
            let copy = held.with(|state| state.copied());
            drop(held);
            Ok(work(copy?))
        }),
    }
}

/// A hash, which is wiped when it is dropped.
fn finish<H: Hash>(state: H, length: usize) -> PyResult<Zeroizing<Vec<u8>>> {
    let mut digest = zeros(length)?;
    state.finish_into(&mut digest);
    Ok(digest)
}

fn hex(bytes: &[u8]) -> PyResult<Zeroizing<String>> {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|it| char::from(DIGITS[usize::from(it)]));
    let mut text = Zeroizing::new(String::new());
    let reserved = text.try_reserve_exact(2 * bytes.len());
    reserved.map_err(|_| PyMemoryError::new_err("no memory for a hash in hexadecimal"))?;
    text.extend(bytes.iter().flat_map(digits));
    Ok(text)
}

/// The methods of all hash objects, and a constructor of their own.
macro_rules! hash_object {
    ($(#[$doc:meta])* $object:ident as $python:literal, $state:ty, $name:literal, $block:literal, $($constructor:tt)*) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $python, module = "sealstone.hashes")]
        pub(crate) struct $object {
            state: Lock<$state>,
            digest_size: u64,
        }

        #[pymethods]
        impl $object {
            $($constructor)*

            /// Adds bytes to the message.
            fn update(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
                feed(data, |py, piece| update(py, &self.state, piece))
            }

            /// The hash of the message so far.
            fn digest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                let length = self.digest_len();
                if length <= SHORT {
                    return PyBytes::new_with(py, length, |digest| {
                        with_copy(py, &self.state, length, |copy| copy.finish_into(digest))
                    });
                }
                let digest = with_copy(py, &self.state, length, |copy| finish(copy, length))?;
                bytes_of(py, digest?)
            }

            /// The hash of the message so far in hexadecimal.
            fn hexdigest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
                let length = self.digest_len();
                let text = with_copy(py, &self.state, length, |copy| hex(&*finish(copy, length)?))?;
                Ok(PyString::new(py, &text?))
            }

            /// Whether `tag` is the hash of the message so far; compares in constant time.
            fn verify(&self, py: Python<'_>, tag: Data) -> PyResult<bool> {
                let length = self.digest_len();
                with_copy(py, &self.state, length, |copy| {
                    Ok(finish(copy, length)?.ct_eq(&tag).into())
                })?
            }

            /// An object of its own with the message so far.
            fn copy(&self, py: Python<'_>) -> PyResult<Self> {
                let state = with_copy(py, &self.state, 0, Lock::new)?;
                Ok(Self { state, digest_size: self.digest_size })
            }

            #[getter]
            fn name(&self) -> &'static str {
                $name
            }

            /// Length of the hash in bytes.
            #[getter]
            fn digest_size(&self) -> u64 {
                self.digest_size
            }

            /// Length in bytes of the blocks in which the message is hashed.
            #[getter]
            fn block_size(&self) -> u64 {
                $block
            }
        }

        impl $object {
            /// Bytes of the hash, which fits in memory.
            fn digest_len(&self) -> usize {
                self.digest_size as usize
            }
        }
    };
}
pub(crate) use hash_object;

macro_rules! skein {
    ($($object:ident $python:literal $state:ident $name:literal $block:literal),*) => { $(
        impl Hash for $state {
            fn copied(&self) -> PyResult<Self> {
                Ok(self.clone())
            }
            fn update(&mut self, message: &[u8]) -> PyResult<()> {
                self.update(message);
                Ok(())
            }
            fn finish_into(self, digest: &mut [u8]) {
                self.output().read(digest);
            }
        }

        hash_object! {
            /// Skein 1.3, with all its optional arguments.
            $object as $python, $state, $name, $block,

            #[new]
            #[pyo3(signature = (data=None, *, digest_size=None, key=None, personalization=None, public_key=None, key_id=None, nonce=None, usedforsecurity=true))]
            #[expect(clippy::too_many_arguments, reason = "the optional arguments of Skein")]
            fn new(
                py: Python<'_>,
                data: Option<&Bound<'_, PyAny>>,
                digest_size: Option<Length>,
                key: Option<Secret>,
                personalization: Option<Data>,
                public_key: Option<Data>,
                key_id: Option<Data>,
                nonce: Option<Data>,
                usedforsecurity: bool,
            ) -> PyResult<Self> {
                static PLAIN: LazyLock<$state> = LazyLock::new($state::new);
                let _ = usedforsecurity;
                let digest_size = digest_size.map_or($block, |it| it.0);
                let [personalization, public_key, key_id, nonce] =
                    [&personalization, &public_key, &key_id, &nonce].map(|it| it.as_deref());
                let given = [key.as_deref(), personalization, public_key, key_id, nonce];
                let is_plain = digest_size == $block && given.iter().all(Option::is_none);
                let state = if is_plain {
                    PLAIN.clone()
                } else {
                    let given = given.map(Option::unwrap_or_default);
                    let [key, personalization, public_key, key_id, nonce] = given;
                    let parameters = Parameters::new()
                        .output_bits(bits(digest_size)?)
                        .key(key)
                        .personalization(personalization)
                        .public_key(public_key)
                        .key_id(key_id)
                        .nonce(nonce);
                    let length = given.iter().map(|it| it.len()).sum();
                    long(py, length, || $state::with(&parameters))
                };
                let object = Self { state: Lock::new(state), digest_size };
                data.map_or(Ok(()), |data| object.update(data))?;
                Ok(object)
            }
        }
    )* };
}
skein! {
    PySkein256 "Skein256" Skein256 "skein-256" 32,
    PySkein512 "Skein512" Skein512 "skein-512" 64,
    PySkein1024 "Skein1024" Skein1024 "skein-1024" 128
}

fn bits(digest_size: u64) -> PyResult<u64> {
    if !(1..=LONGEST).contains(&digest_size) {
        let text = format!("digest_size must be 1 to {LONGEST} bytes");
        return Err(PyValueError::new_err(text));
    }
    Ok(8 * digest_size)
}

/// A message being hashed with BLAKE2b. The key is in its state until the message has more than a
/// block. So the state has memory of its own, which it never leaves, and which is wiped.
struct Blake2bState {
    hash: Box<blake2b::Blake2b>,
    has_key: bool,
}

impl Blake2bState {
    fn new(key: &[u8], size: usize) -> Self {
        let has_key = !key.is_empty();
        let hash = below(has_key, || Box::new(blake2b::Blake2b::keyed(key, size)));
        Self { hash, has_key }
    }
}

impl Hash for Blake2bState {
    fn copied(&self) -> PyResult<Self> {
        Ok(Self {
            hash: below(self.has_key, || self.hash.clone()),
            has_key: self.has_key,
        })
    }
    fn update(&mut self, message: &[u8]) -> PyResult<()> {
        below(self.has_key, || self.hash.update(message));
        Ok(())
    }
    fn finish_into(mut self, digest: &mut [u8]) {
        below(self.has_key, || {
            // A value that is moved out of a box is not wiped there.
            let hash = std::mem::replace(&mut *self.hash, blake2b::Blake2b::new(1));
            digest.copy_from_slice(hash.finish().as_ref());
        });
    }
}

/// Calls `work`, and then overwrites the stack that it used if there was a secret.
fn below<R>(is_secret: bool, work: impl FnOnce() -> R) -> R {
    /// More than BLAKE2b takes on any instruction set.
    const DEPTH: usize = 8 << 10;
    #[inline(never)]
    fn run<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    #[inline(never)]
    fn overwrite() {
        std::hint::black_box(&mut [0_u8; DEPTH]);
    }
    let result = run(work);
    if is_secret {
        overwrite();
    }
    result
}

hash_object! {
    /// BLAKE2b (RFC 7693).
    Blake2b as "Blake2b", Blake2bState, "blake2b", 128,

    #[new]
    #[pyo3(signature = (data=None, *, digest_size=64, key=None, usedforsecurity=true))]
    fn new(
        data: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = length)] digest_size: u64,
        key: Option<Secret>,
        usedforsecurity: bool,
    ) -> PyResult<Self> {
        let _ = usedforsecurity;
        let key = key.as_deref().unwrap_or_default();
        let size = usize::try_from(digest_size).unwrap_or(0);
        if !(1..=blake2b::LONGEST).contains(&size) || key.len() > blake2b::LONGEST {
            let text = "digest_size must be 1 to 64 bytes, a key at most 64";
            return Err(PyValueError::new_err(text));
        }
        let state = Lock::new(Blake2bState::new(key, size));
        let object = Self { state, digest_size };
        data.map_or(Ok(()), |data| object.update(data))?;
        Ok(object)
    }
}
