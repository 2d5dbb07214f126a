//! F of BLAKE2b as a letter: a function of which nothing is known, but that equal arguments give
//! equal results.
//!
//! What is proved with the letter holds for every function in its place, and so for F; that F
//! itself is right is proved beside it. A hash of many blocks is then short.

use super::modes::blake2b::Compression;
use super::value::{Value, ValueByte, Values};
use sealstone_argon2::blake2b::{Engine, Input};

/// F in a specification.
pub(super) struct Letter;

impl<'a> Compression<&'a Values> for Letter {
    fn compress(
        &self,
        _: &mut &'a Values,
        h: &[Value<'a>],
        m: &[Value<'a>],
        t: &[Value<'a>],
        f: &Value<'a>,
    ) -> Vec<Value<'a>> {
        Value::f(h, m, t, *f).to_vec()
    }
}

/// An engine of the source's BLAKE2b that computes F by its letter.
#[derive(Clone, Copy)]
pub(super) struct Spelling<'a> {
    /// Where the operations are.
    pub(super) values: &'a Values,
    /// A bug, planted to see that it is found.
    pub(super) slip: Slip,
}

/// What the source might get wrong on its way to F.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slip {
    /// Nothing.
    None,
    /// The count of bytes is always zero.
    #[cfg(test)]
    Counter,
    /// No block is the last one.
    #[cfg(test)]
    Last,
    /// F leaves the state as it was.
    #[cfg(test)]
    State,
}

impl<'a> Engine for Spelling<'a> {
    type Scalar = Value<'a>;

    fn scalars(self) -> &'a Values {
        self.values
    }
    fn compress(self, state: &mut [Value<'a>; 8], input: &Input<'_, Value<'a>>) {
        #[cfg_attr(not(test), expect(unused_mut, reason = "only bugs change them"))]
        let (mut t, mut f) = (input.counter, input.last);
        match self.slip {
            Slip::None => {}
            #[cfg(test)]
            Slip::Counter => t = t.map(Value::cleared),
            #[cfg(test)]
            Slip::Last => f = f.cleared(),
            #[cfg(test)]
            Slip::State => return,
        }
        *state = Value::f(state, input.words, &t, f);
    }
    /// Nothing here is secret; but what is wiped too early must be missing.
    fn wipe(words: &mut [Value<'a>], bytes: &mut [ValueByte<'a>]) {
        words.iter_mut().for_each(|word| *word = word.cleared());
        bytes.iter_mut().for_each(|byte| *byte = byte.cleared());
    }
}
