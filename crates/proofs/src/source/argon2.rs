//! G of Argon2, on every arrangement of rows.

use super::Claim;
use super::arrangement::Pair;
use super::counterexample::{SourceVerdict, compare};
use super::symbol::{Arena, Symbol};
use crate::spec;
use sealstone_argon2::{from_words, to_words};
use sealstone_lanes::RowPair;
use sealstone_prover::algebra::Algebra;
use sealstone_prover::term::Word;

pub(super) fn claims() -> Vec<Claim> {
    let words = "all words equal RFC 9106, 3.5, for all x, y and what was there";
    vec![
        Claim::of("Argon2 G, columns in turn (portable)", words, || {
            both::<[Symbol<'_>; 8]>(&Arena::new(1))
        }),
        Claim::of("Argon2 G, rows that turn (NEON)", words, || {
            both::<Pair<Symbol<'_>, 1>>(&Arena::new(1))
        }),
        Claim::of("Argon2 G, two in step (AVX2)", words, || {
            both::<Pair<Symbol<'_>, 2>>(&Arena::new(1))
        }),
        Claim::of("Argon2 G, four in step (AVX-512)", words, || {
            both::<Pair<Symbol<'_>, 4>>(&Arena::new(1))
        }),
    ]
}

/// Without and with addition.
fn both<'a, P>(arena: &'a Arena) -> SourceVerdict
where
    P: RowPair<Cpu = &'a Arena, Lane: From<Symbol<'a>> + Into<Symbol<'a>>>,
{
    compress::<P, false>(arena).and(|| compress::<P, true>(arena))
}

/// Compares the source's `compress` on rows `P` with the specification. The early word counts too.
pub(super) fn compress<'a, P, const ADD: bool>(arena: &'a Arena) -> SourceVerdict
where
    P: RowPair<Cpu = &'a Arena, Lane: From<Symbol<'a>> + Into<Symbol<'a>>>,
{
    let [x, y, old] = ["x", "y", "out"].map(|name| arena.words::<128>(name));
    let mut specified = arena.with(|terms| {
        let [x, y] = [x, y].map(|words| words.map(|word| word.bits().to_vec()));
        let g = spec::argon2::compress(terms, &x, &y);
        let old = old.iter().map(|word| word.bits().to_vec());
        let added = old
            .zip(&g)
            .map(|(old, g)| Algebra::<64>::xor(terms, &old, g));
        if ADD { added.collect::<Vec<Word>>() } else { g }
    });
    specified.push(specified[0].clone());

    let [x, y, mut out] = [x, y, old].map(|words| from_words(&words.map(P::Lane::from)));
    let mut first = None;
    let early = |word| first = Some(word);
    sealstone_argon2::compress::<P, ADD>(arena, &x, &y, &mut out, early, |_| ());
    let computed = to_words(&out).into_iter().chain(first);
    let computed: Vec<_> = computed.flat_map(|word| word.into().bits()).collect();
    compare(arena, &computed, &specified.concat())
}
