//! BLAKE2b of a message in parts (RFC 7693, section 3.3).

use super::compress::{IV, Input};
use super::engine::{Byte, Count, Engine};
use sealstone_lanes::{Absorb, Blocks, Part, Scalar, Word};

/// Bytes in a message block.
pub const BLOCK: usize = 128;
/// The longest output in bytes; the longest key too.
pub const LONGEST: usize = 64;

/// A message block.
pub type Block<E> = [[Byte<E>; 8]; 16];

/// The state between two blocks of a hash: all that later blocks depend on. [`Stream`] wipes its
/// own; a chain by itself is not wiped.
#[derive(Clone)]
pub struct Chain<E: Engine> {
    /// Computes F.
    pub engine: E,
    /// h.
    pub state: [E::Scalar; 8],
    /// The bytes compressed so far.
    pub count: E::Count,
}

/// The state of a hash. Generic over the engine, so that a prover can run it on symbols. Wiped on
/// drop.
#[derive(Clone)]
pub struct Stream<E: Engine> {
    chain: Chain<E>,
    /// The last bytes of the message so far. A full block stays here too, because it gets a flag if
    /// it is the last one.
    block: Block<E>,
    filled: usize,
}

impl<E: Engine> Stream<E> {
    /// An output of `output` bytes, under a key, which may be empty. Neither is longer than
    /// [`LONGEST`].
    pub fn new(engine: E, key: &[Byte<E>], output: usize) -> Self {
        let cpu = engine.scalars();
        let mut state = IV.map(|word| E::Scalar::splat(cpu, word));
        let parameters = 0x0101_0000 ^ ((key.len() as u64) << 8) ^ output as u64;
        state[0] = state[0].xor(E::Scalar::splat(cpu, parameters));
        let mut stream = Self::with_chain(Chain {
            engine,
            state,
            count: engine.count(),
        });
        if !key.is_empty() {
            stream.fill(key);
            stream.filled = BLOCK;
        }
        stream
    }

    /// Continues from this state: that of a new hash, or a prover's.
    pub fn with_chain(chain: Chain<E>) -> Self {
        let zero = E::Scalar::byte(chain.engine.scalars(), 0);
        Self {
            chain,
            block: [[zero; 8]; 16],
            filled: 0,
        }
    }

    /// Adds bytes to the message.
    #[inline]
    pub fn update(&mut self, message: &[Byte<E>]) {
        self.add(Part::<_, &[Block<E>]>::new(self.filled, message));
    }

    /// Adds a part that is cut for the number of waiting bytes. A prover adds one with an unknown
    /// number of blocks.
    #[inline]
    pub fn add(&mut self, part: Part<'_, Byte<E>, impl Blocks<Chain<E>>>) {
        if part.ends_block {
            if self.filled > 0 {
                self.fill(part.head);
                self.chain.compress(&self.block, BLOCK, false);
                self.filled = 0;
            }
            part.blocks.absorb_into(&mut self.chain);
        }
        self.fill(part.rest);
    }

    /// Ends the message and returns its hash, of which only the first `output` bytes count. The
    /// state must not be used again.
    pub fn finish(&mut self) -> [Byte<E>; LONGEST] {
        let mut hash = [E::Scalar::byte(self.chain.engine.scalars(), 0); LONGEST];
        self.finish_into(&mut hash);
        hash
    }

    /// [`Stream::finish`], to a buffer that the caller wipes.
    pub fn finish_into(&mut self, hash: &mut [Byte<E>; LONGEST]) {
        let zero = E::Scalar::byte(self.chain.engine.scalars(), 0);
        self.block.as_flattened_mut()[self.filled..].fill(zero);
        self.chain.compress(&self.block, self.filled, true);
        for (bytes, word) in hash.as_chunks_mut().0.iter_mut().zip(&self.chain.state) {
            let mut word = word.to_le_bytes();
            *bytes = word;
            E::wipe(&mut [], &mut word);
        }
    }

    fn fill(&mut self, bytes: &[Byte<E>]) {
        self.block.as_flattened_mut()[self.filled..][..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }
}

impl<E: Engine> Chain<E> {
    /// Compresses a block, of which `bytes` are message.
    fn compress(&mut self, block: &Block<E>, bytes: usize, last: bool) {
        self.count = self.count.plus(bytes);
        let cpu = self.engine.scalars();
        let splat = |word| E::Scalar::splat(cpu, word);
        let mut words = [splat(0); 16];
        for (word, bytes) in words.iter_mut().zip(block) {
            *word = E::Scalar::from_le_bytes(*bytes);
        }
        let input = Input {
            words: &words,
            counter: self.count.words(cpu),
            last: splat(if last { u64::MAX } else { 0 }),
        };
        self.engine.compress(&mut self.state, &input);
        E::wipe(&mut words, &mut []);
    }
}

impl<E: Engine> Absorb<Block<E>> for Chain<E> {
    fn absorb(&mut self, block: &Block<E>) {
        self.compress(block, BLOCK, false);
    }
}

impl<E: Engine> Drop for Stream<E> {
    fn drop(&mut self) {
        E::wipe(&mut self.chain.state, self.block.as_flattened_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealstone_lanes::{Cpu, Portable};
    use std::cell::Cell;

    /// Counts what is wiped, in words and bytes.
    #[derive(Clone, Copy)]
    struct Watched;

    thread_local! {
        static COMPRESSIONS: Cell<usize> = const { Cell::new(0) };
        static WIPED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }

    impl Engine for Watched {
        type Scalar = u64;
        type Count = u128;

        fn count(self) -> u128 {
            0
        }
        fn scalars(self) -> Portable {
            Portable
        }
        fn compress(self, state: &mut [u64; 8], input: &Input<'_, u64>) {
            COMPRESSIONS.set(COMPRESSIONS.get() + 1);
            Cpu::best().compress(state, input);
        }
        fn wipe(words: &mut [u64], bytes: &mut [u8]) {
            Cpu::wipe(words, bytes);
            assert!(words.iter().all(|word| *word == 0) && bytes.iter().all(|byte| *byte == 0));
            let (w, b) = WIPED.get();
            WIPED.set((w + words.len(), b + bytes.len()));
        }
    }

    /// The words of each message block are wiped; the bytes of the hash when they are written; the
    /// state and the last block at the end.
    #[test]
    fn every_copy_of_the_message_is_wiped() {
        for (len, blocks) in [(0, 1), (1, 1), (128, 1), (129, 2), (1000, 8)] {
            COMPRESSIONS.set(0);
            WIPED.set((0, 0));
            let mut hash = Stream::new(Watched, &[], LONGEST);
            hash.update(&vec![7; len]);
            let mut out = [0; LONGEST];
            hash.finish_into(&mut out);
            assert_eq!(COMPRESSIONS.get(), blocks);
            assert_eq!(WIPED.get(), (16 * blocks, LONGEST), "{len}");
            drop(hash);
            assert_eq!(WIPED.get(), (16 * blocks + 8, LONGEST + BLOCK), "{len}");
            let mut plain = Stream::new(Cpu::best(), &[], LONGEST);
            plain.update(&vec![7; len]);
            assert_eq!(plain.finish(), out);
        }
    }
}
