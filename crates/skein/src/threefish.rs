//! Threefish, the tweakable block cipher (Skein 1.3, section 3.3), for one block, or for one block
//! in every lane.

mod cipher;
mod t1024;
mod t256;
mod t512;

pub use cipher::{Threefish, Threefish256, Threefish512, Threefish1024};

use sealstone_lanes::Word;

/// C240, the constant of the key schedule (section 3.3.2).
pub(crate) const C240: u64 = 0x1BD1_1BDA_A9FC_1A22;

/// A block: 4, 8 or 16 words. Implemented for exactly these three.
pub trait Block<W: Word>: Copy {
    /// E(key, tweak, self).
    #[inline(always)]
    fn encrypt(self, cpu: W::Cpu, key: &Self, tweak: &[W; 2]) -> Self {
        self.encrypt_observed(cpu, key, tweak, |_, _| ())
    }
    /// [`Block::encrypt`], calling `observe` with the state after each step. Words do not move:
    /// after round d, word i of the specification is at index π^d(i).
    fn encrypt_observed(
        self,
        cpu: W::Cpu,
        key: &Self,
        tweak: &[W; 2],
        observe: impl FnMut(Step, &Self),
    ) -> Self;
    /// The inverse: encrypt then decrypt is the identity.
    fn decrypt(self, cpu: W::Cpu, key: &Self, tweak: &[W; 2]) -> Self;
}

/// A step of the encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The subkey of this number, from 0, has been added.
    Subkey(usize),
    /// The round of this number, from 1, is done.
    Round(usize),
}

/// MIX on pairs of words (section 3.3.1): `a b r` mixes words a and b with a rotation by r.
macro_rules! mix {
    ($v:ident; $($a:literal $b:literal $r:literal),*) => { $(
        $v[$a] = $v[$a].add($v[$b]);
        $v[$b] = $v[$b].rotl::<$r>().xor($v[$a]);
    )* };
}

/// The inverse of [`mix`].
macro_rules! unmix {
    ($v:ident; $($a:literal $b:literal $r:literal),*) => { $(
        $v[$b] = $v[$b].xor($v[$a]).rotr::<$r>();
        $v[$a] = $v[$a].sub($v[$b]);
    )* };
}

/// Adds (`add`) or subtracts (`sub`) the words of subkey `s`. It is unrolled, so that the indices
/// of word and subkey are constants.
macro_rules! subkey {
    ($op:ident $schedule:ident $v:ident; $s:expr; $($i:literal)*) => { $(
        $v[$i] = $v[$i].$op($schedule.word($s, $i)).opaque();
    )* };
}

use {mix, subkey, unmix};

/// The key schedule (section 3.3.2). Subkeys are made where they are used, with constant indices:
/// after inlining, no selection and no modulo is left.
struct Schedule<W: Word, const N: usize> {
    cpu: W::Cpu,
    key: [W; N],
    /// C240 and all words of the key, k_N.
    parity: W,
    tweak: [W; 3],
}

impl<W: Word, const N: usize> Schedule<W, N> {
    #[inline(always)]
    fn new(cpu: W::Cpu, key: &[W; N], tweak: &[W; 2]) -> Self {
        let mut parity = W::splat(cpu, C240);
        for word in key {
            parity = parity.xor(*word);
        }
        let tweak = [tweak[0], tweak[1], tweak[0].xor(tweak[1])];
        Self {
            cpu,
            key: *key,
            parity,
            tweak,
        }
    }

    /// Word `i` of subkey `s`.
    #[inline(always)]
    fn word(&self, s: usize, i: usize) -> W {
        let at = (s + i) % (N + 1);
        let word = if at == N { self.parity } else { self.key[at] };
        match N - i {
            3 => word.add(self.tweak[s % 3]),
            2 => word.add(self.tweak[(s + 1) % 3]),
            1 => word.add(W::splat(self.cpu, s as u64)),
            _ => word,
        }
    }
}
