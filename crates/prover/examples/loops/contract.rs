//! The contract of `main.rs`, for section 6 of the tutorial (`src/tutorial.md`).

use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Contents, Contract, Stream};
use sealstone_prover::formula;

/// The round as its paper draws it: "SipHash: a fast short-input PRF", figure 2.1.
fn round<A: Algebra<64>>(a: &mut A, v: &[A::Word]) -> Vec<A::Word> {
    let mut v = v.to_vec();
    for half in [[(0, 1, 13), (2, 3, 16)], [(2, 1, 17), (0, 3, 21)]] {
        for (x, y, distance) in half {
            v[x] = a.add(&v[x], &v[y]);
            v[y] = a.rotate_left(&v[y], distance);
            v[y] = a.xor(&v[y], &v[x]);
        }
        let first = half[0].0;
        v[first] = a.rotate_left(&v[first], 32);
    }
    v
}

/// A state, and data of any number of words, in place.
fn encrypted<A: Algebra<64>>(a: &mut A, v: &[A::Word], data: &[A::Word]) -> Contents<A::Word> {
    let mut v = v.to_vec();
    let mut output = Vec::new();
    for word in data {
        v = round(a, &v);
        output.push(a.xor(word, &v[0]));
    }
    vec![output]
}

/// Any number of words.
pub fn contracts() -> Vec<Contract> {
    let stream = Stream {
        input: "data",
        output: "data",
        count: "words",
        unit: 8,
        group: 1,
        least: 1,
        needed: 1,
        begin: Box::new(|_, contents| contents[0].clone()),
        next: Box::new(round),
        transform: Box::new(|a, _, v, data| encrypted(a, v, data).concat()),
        carried: Box::new(|_, _, _| Vec::new()),
    };
    let formula = formula!(|a, contents| encrypted(a, &contents[0], &contents[1]));
    let any = Contract::new(formula)
        .buffer("v", 4, 8, Access::Read)
        .stream(stream)
        .addresses(["data"])
        .values("words")
        .addresses(["v"]);
    vec![any]
}
