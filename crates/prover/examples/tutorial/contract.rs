//! The contract of the tutorial (`src/tutorial.md`).

use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Contract};
use sealstone_prover::formula;

/// The round as its paper draws it: "SipHash: a fast short-input PRF", figure 2.1.
fn specification<A: Algebra<64>>(a: &mut A, v: &[A::Word]) -> Vec<A::Word> {
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

/// Four words, which are read and written, and what they must be in the end.
pub fn contracts() -> Vec<Contract> {
    let formula = formula!(|a, contents| vec![specification(a, &contents[0])]);
    let round = Contract::new(formula)
        .buffer("v", 4, 8, Access::Write)
        .addresses(["v"]);
    vec![round]
}
