//! Threefish, one block at a time, in both directions.

use super::Claim;
use super::counterexample::{SourceVerdict, compare};
use super::symbol::{Arena, Symbol};
use super::value::{Run, Value, Values, compare_words};
use crate::spec;
use sealstone_lanes::Word as LaneWord;
use sealstone_prover::term::{Bit, Terms, Word};
use sealstone_skein::threefish::Block;

pub(super) fn claims() -> Vec<Claim> {
    let each = "all words equal Skein 1.3, 3.3, for all keys, tweaks and blocks";
    let inverse = "decryption undoes encryption, for all keys, tweaks and blocks";
    vec![
        Claim::of("Threefish-256, encryption", each, || {
            encrypt::<Symbol<'_>, 4>(&Arena::new(10))
        }),
        Claim::of("Threefish-512, encryption", each, || {
            encrypt::<Symbol<'_>, 8>(&Arena::new(11))
        }),
        Claim::of("Threefish-1024, encryption", each, || {
            encrypt::<Symbol<'_>, 16>(&Arena::new(12))
        }),
        Claim::of("Threefish-256, decryption", each, || {
            decrypt::<Symbol<'_>, 4>(&Arena::new(13))
        }),
        Claim::of("Threefish-512, decryption", each, || {
            decrypt::<Symbol<'_>, 8>(&Arena::new(14))
        }),
        Claim::of("Threefish-1024, decryption", each, || {
            decrypt::<Symbol<'_>, 16>(&Arena::new(15))
        }),
        Claim::of("Threefish-256", inverse, || {
            there_and_back::<Value<'_>, 4>(&Values::default())
        }),
        Claim::of("Threefish-512", inverse, || {
            there_and_back::<Value<'_>, 8>(&Values::default())
        }),
        Claim::of("Threefish-1024", inverse, || {
            there_and_back::<Value<'_>, 16>(&Values::default())
        }),
    ]
}

/// Key, tweak and block.
struct Inputs<S, const N: usize> {
    key: [S; N],
    tweak: [S; 2],
    block: [S; N],
}

impl<'a, S: From<Symbol<'a>>, const N: usize> Inputs<S, N> {
    /// Unknown inputs, and the specified result for them.
    fn any(
        arena: &'a Arena,
        specification: impl Fn(&mut Terms, &[Word], &[Word], &[Word]) -> Vec<Word>,
    ) -> (Self, Vec<Word>) {
        let (key, tweak, block) = (
            arena.words("key"),
            arena.words("tweak"),
            arena.words("block"),
        );
        let words = |symbols: &[Symbol<'_>]| -> Vec<Word> {
            symbols.iter().map(|word| word.bits().to_vec()).collect()
        };
        let specified =
            arena.with(|terms| specification(terms, &words(&key), &words(&tweak), &words(&block)));
        let inputs = Self {
            key: key.map(S::from),
            tweak: tweak.map(S::from),
            block: block.map(S::from),
        };
        (inputs, specified)
    }
}

/// The source's encryption against the specification.
pub(super) fn encrypt<'a, S, const N: usize>(arena: &'a Arena) -> SourceVerdict
where
    S: LaneWord<Cpu = &'a Arena> + From<Symbol<'a>> + Into<Symbol<'a>>,
    [S; N]: Block<S>,
{
    let (Inputs { key, tweak, block }, specified) =
        Inputs::<S, N>::any(arena, spec::threefish::encrypt);
    compare(
        arena,
        &bits(block.encrypt(arena, &key, &tweak)),
        &specified.concat(),
    )
}

/// The source's decryption against the specification.
pub(super) fn decrypt<'a, S, const N: usize>(arena: &'a Arena) -> SourceVerdict
where
    S: LaneWord<Cpu = &'a Arena> + From<Symbol<'a>> + Into<Symbol<'a>>,
    [S; N]: Block<S>,
{
    let (Inputs { key, tweak, block }, specified) =
        Inputs::<S, N>::any(arena, spec::threefish::decrypt);
    compare(
        arena,
        &bits(block.decrypt(arena, &key, &tweak)),
        &specified.concat(),
    )
}

/// Compares the source's decryption of the source's encryption with the block itself. Decryption
/// inverts each addition and rotation in reverse order, so the operations of words are enough.
pub(super) fn there_and_back<'a, S: Run<'a>, const N: usize>(values: &'a Values) -> SourceVerdict
where
    [S; N]: Block<S>,
{
    let (key, tweak, block) = (
        values.words::<N>("key"),
        values.words("tweak"),
        values.words::<N>("block"),
    );
    let (key, tweak) = (key.map(S::from), tweak.map(S::from));
    let cipher = block.map(S::from).encrypt(values, &key, &tweak);
    let back = cipher.decrypt(values, &key, &tweak);
    compare_words(values, &back.map(S::into), &block)
}

fn bits<'a, S: Into<Symbol<'a>>, const N: usize>(words: [S; N]) -> Vec<Bit> {
    words
        .into_iter()
        .flat_map(|word| word.into().bits())
        .collect()
}
