//! F of BLAKE2b as an uninterpreted function: the proof knows only that equal arguments give equal
//! results.
//!
//! So a proof with it holds for every function, including F. A separate row proves F itself. A hash
//! of many blocks is then a short term.

use super::modes::blake2b::Compression;
use super::value::{Value, ValueByte, Values};
use sealstone_argon2::blake2b::{Count, Engine, Input};

/// F in a specification, uninterpreted.
pub(super) struct UninterpretedF;

impl<'a> Compression<&'a Values> for UninterpretedF {
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

/// An engine of the source's BLAKE2b with an uninterpreted F, which counts bytes with `C`.
#[derive(Clone, Copy)]
pub(super) struct UninterpretedEngine<'a, C = u128> {
    /// The list of operations.
    pub(super) values: &'a Values,
    /// The number of bytes before the message.
    pub(super) before: C,
    /// A planted bug, which must be found.
    pub(super) bug: Bug,
}

/// Possible bugs of the source in the arguments of F.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    /// Nothing.
    None,
    /// The count of bytes is always zero.
    #[cfg(test)]
    Counter,
    /// No block is the last one.
    #[cfg(test)]
    Last,
    /// F does not change the state.
    #[cfg(test)]
    State,
}

impl<'a, C: Count<Value<'a>>> Engine for UninterpretedEngine<'a, C> {
    type Scalar = Value<'a>;
    type Count = C;

    fn count(self) -> C {
        self.before
    }
    fn scalars(self) -> &'a Values {
        self.values
    }
    fn compress(self, state: &mut [Value<'a>; 8], input: &Input<'_, Value<'a>>) {
        #[cfg_attr(not(test), expect(unused_mut, reason = "only bugs change them"))]
        let (mut t, mut f) = (input.counter, input.last);
        match self.bug {
            Bug::None => {}
            #[cfg(test)]
            Bug::Counter => t = t.map(Value::cleared),
            #[cfg(test)]
            Bug::Last => f = f.cleared(),
            #[cfg(test)]
            Bug::State => return,
        }
        *state = Value::f(state, input.words, &t, f);
    }
    /// Values here are not secret. The wipe makes a value that is wiped too early missing.
    fn wipe(words: &mut [Value<'a>], bytes: &mut [ValueByte<'a>]) {
        words.iter_mut().for_each(|word| *word = word.cleared());
        bytes.iter_mut().for_each(|byte| *byte = byte.cleared());
    }
}
