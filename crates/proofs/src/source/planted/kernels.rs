//! G, F and Threefish with bugs.

use super::super::symbol::{Arena, Symbol};
use super::super::value::{Value, Values};
use super::super::{argon2, blake2b, threefish};
use super::{Bug, Moved, Planted, refuted, reproduces, to_bytes, with};
use crate::source::Counterexample;
use crate::spec;
use sealstone_argon2::blake2b::Input;
use sealstone_argon2::{from_words, to_words};
use sealstone_lanes::{Portable, Row, RowPair};
use sealstone_prover::algebra::Numbers;
use sealstone_skein::threefish::Block;

#[test]
fn planting_nothing_changes_nothing() {
    let arena = Arena::new(40);
    assert!(argon2::compress::<Moved<Planted<Symbol<'_>>, 8>, true>(&arena).holds());
    assert!(blake2b::compress::<Moved<Planted<Symbol<'_>>, 4>>(&arena).holds());
    assert!(threefish::encrypt::<Planted<Symbol<'_>>, 8>(&arena).holds());
    assert!(threefish::decrypt::<Planted<Symbol<'_>>, 8>(&arena).holds());
}

#[test]
fn g_with_a_wrong_rotation_product_or_order() {
    for bug in [Bug::Rotation, Bug::Product, Bug::Turn, Bug::Halves] {
        with(bug, || {
            type G<W> = Moved<Planted<W>, 8>;
            let verdict = argon2::compress::<G<Symbol<'_>>, false>(&Arena::new(41));
            reproduce_g::<G<u64>>(&refuted(verdict));
        });
    }
}

/// The result of G with the bug on the numbers of a counterexample.
fn reproduce_g<P: RowPair<Lane = Planted<u64>, Cpu = Portable>>(counterexample: &Counterexample) {
    let [x, y] = ["x", "y"].map(|name| counterexample.words::<128>(name));
    let mut out = from_words(&[Planted::of(0); 128]);
    let [bx, by] = [x, y].map(|words| from_words(&words.map(Planted::of)));
    let mut first = None;
    let early = |word| first = Some(word);
    sealstone_argon2::compress::<P, false>(Portable, &bx, &by, &mut out, early, |_| ());
    let mut computed: Vec<u64> = to_words(&out).iter().map(|word| word.word).collect();
    computed.extend(first.map(|word| word.word));
    let mut specified = spec::argon2::compress(&mut Numbers, &x, &y);
    specified.push(specified[0]);
    reproduces(counterexample, &to_bytes(&computed), &to_bytes(&specified));
}

#[test]
fn f_with_a_wrong_rotation_constant_or_schedule() {
    for bug in [Bug::Rotation, Bug::Constant, Bug::Turn] {
        with(bug, || {
            type F<W> = Moved<Planted<W>, 4>;
            let verdict = blake2b::compress::<F<Symbol<'_>>>(&Arena::new(42));
            reproduce_f::<F<u64>>(&refuted(verdict));
        });
    }
}

/// The result of F with the bug on the numbers of a counterexample.
fn reproduce_f<R: Row<Lane = Planted<u64>, Cpu = Portable>>(counterexample: &Counterexample) {
    let (h, m) = (
        counterexample.words::<8>("h"),
        counterexample.words::<16>("m"),
    );
    let (t, [f]) = (counterexample.words::<2>("t"), counterexample.words("f"));
    let mut state = h.map(Planted::of);
    let input = Input {
        words: &m.map(Planted::of),
        counter: t.map(Planted::of),
        last: Planted::of(f),
    };
    sealstone_argon2::blake2b::compress::<R>(Portable, Portable, &mut state, &input);
    let computed = state.map(|word| word.word);
    let specified = spec::blake2b::compress(&mut Numbers, &h, &m, &t, &f);
    reproduces(counterexample, &to_bytes(&computed), &to_bytes(&specified));
}

#[test]
fn threefish_with_a_wrong_rotation_or_constant() {
    for bug in [Bug::Rotation, Bug::Constant] {
        with(bug, || {
            let verdict = threefish::encrypt::<Planted<Symbol<'_>>, 8>(&Arena::new(43));
            let counterexample = refuted(verdict);
            let [key, tweak, block] = inputs(&counterexample);
            let specified = spec::threefish::encrypt(&mut Numbers, &key, &tweak, &block);
            let [key, block] = [&key, &block].map(|words| planted(words));
            let computed = block.encrypt(Portable, &key, &[tweak[0], tweak[1]].map(Planted::of));
            let computed = computed.map(|word| word.word);
            reproduces(&counterexample, &to_bytes(&computed), &to_bytes(&specified));

            let verdict = threefish::decrypt::<Planted<Symbol<'_>>, 8>(&Arena::new(44));
            let counterexample = refuted(verdict);
            let [key, tweak, block] = inputs(&counterexample);
            let specified = spec::threefish::decrypt(&mut Numbers, &key, &tweak, &block);
            let [key, block] = [&key, &block].map(|words| planted(words));
            let computed = block.decrypt(Portable, &key, &[tweak[0], tweak[1]].map(Planted::of));
            let computed = computed.map(|word| word.word);
            reproduces(&counterexample, &to_bytes(&computed), &to_bytes(&specified));
        });
    }
}

#[test]
fn decryption_that_turns_back_by_another_amount() {
    let verdict = || threefish::there_and_back::<Planted<Value<'_>>, 8>(&Values::default());
    assert!(verdict().holds());
    with(Bug::Rotation, || {
        let counterexample = refuted(verdict());
        let [key, tweak, block] = inputs(&counterexample);
        let [key, planted] = [&key, &block].map(|words| planted(words));
        let tweak = [tweak[0], tweak[1]].map(Planted::of);
        let cipher = planted.encrypt(Portable, &key, &tweak);
        let back = cipher.decrypt(Portable, &key, &tweak);
        let back = back.map(|word| word.word);
        reproduces(&counterexample, &to_bytes(&back), &to_bytes(&block));
    });
}

/// Key, tweak and block.
fn inputs(counterexample: &Counterexample) -> [Vec<u64>; 3] {
    [
        counterexample.words::<8>("key").to_vec(),
        counterexample.words::<2>("tweak").to_vec(),
        counterexample.words::<8>("block").to_vec(),
    ]
}

fn planted(words: &[u64]) -> [Planted<u64>; 8] {
    core::array::from_fn(|i| Planted::of(words[i]))
}
