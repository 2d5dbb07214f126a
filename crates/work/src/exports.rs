//! The exports of WebAssembly: numbers in, numbers out. `js/src/search.ts` calls it.
#![expect(
    unsafe_code,
    reason = "no_mangle keeps the names; a name that another library has would be wrong to link"
)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, MAX_CHALLENGE, Method, SUBJECT_LEN, Search};

/// The module has one input and one search. A visitor's worker has a module of its own.
struct State {
    input: Vec<u8>,
    search: Option<Search>,
}

static STATE: Mutex<State> = Mutex::new(State {
    input: Vec::new(),
    search: None,
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets input and search.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn clear() {
    let mut state = state();
    state.input = Vec::new();
    state.search = None;
}

/// Appends a byte to the input: the challenge, then the subject. More than both need are dropped,
/// and [`begin`] refuses them.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn put(byte: u32) {
    let input = &mut state().input;
    if input.len() <= MAX_CHALLENGE + SUBJECT_LEN {
        input.push(byte.to_le_bytes()[0]);
    }
}

/// Begins a search for `bits` leading zero bits, by Argon2id, or by SHA-256 if `memory` is 0.
/// Returns 0; 1 if the input or a parameter is out of range; 2 if there is no memory.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn begin(bits: u32, memory: u32, passes: u32) -> u32 {
    let mut state = state();
    // The memory of the search before, first.
    state.search = None;
    let method = match memory {
        0 => Method::Sha256,
        memory => Method::Argon2id { memory, passes },
    };
    let parts = state.input.split_last_chunk::<SUBJECT_LEN>();
    let begun = parts.ok_or(Error::Malformed);
    let begun =
        begun.and_then(|(challenge, subject)| Search::new(challenge, subject, bits, method));
    match begun {
        Ok(search) => {
            state.search = Some(search);
            0
        }
        Err(Error::Malformed) => 1,
        Err(Error::Memory) => 2,
    }
}

/// As [`Search::next`]; the largest number if no counter passes, or no search has begun.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn search(from: u64, step: u32, tries: u32) -> u64 {
    let mut state = state();
    let found = state.search.as_mut();
    let found = found.and_then(|search| search.next(from, step, tries));
    found.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_goes_in_byte_by_byte() {
        clear();
        assert_eq!(search(0, 1, 10), u64::MAX, "nothing has begun");
        assert_eq!(begin(8, 0, 0), 1, "no input");
        [[1_u8; 56].as_slice(), &[7; 32]]
            .concat()
            .iter()
            .for_each(|byte| put(u32::from(*byte)));
        for (memory, passes) in [(0, 0), (8, 1)] {
            assert_eq!(begin(4, memory, passes), 0);
            let method = match memory {
                0 => Method::Sha256,
                memory => Method::Argon2id { memory, passes },
            };
            let mut same = Search::new(&[1; 56], &[7; 32], 4, method).expect("parameters");
            assert_eq!(Some(search(0, 1, 10_000)), same.next(0, 1, 10_000));
        }
        assert_eq!(begin(4, 1, 1), 1, "too little memory");
        for byte in 0..2000 {
            put(byte);
        }
        assert_eq!(begin(8, 0, 0), 1, "too much input");
        clear();
    }
}
