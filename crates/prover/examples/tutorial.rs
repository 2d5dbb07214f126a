//! The program of the tutorial (`src/tutorial.md`): the round of SipHash, and its proof.

/// The round of SipHash, as one writes it for speed.
#[inline(never)]
pub extern "C" fn sip_round(v: &mut [u64; 4]) {
    let [mut a, mut b, mut c, mut d] = *v;
    a = a.wrapping_add(b);
    c = c.wrapping_add(d);
    b = b.rotate_left(13) ^ a;
    d = d.rotate_left(16) ^ c;
    a = a.rotate_left(32).wrapping_add(d);
    c = c.wrapping_add(b);
    d = d.rotate_left(21) ^ a;
    b = b.rotate_left(17) ^ c;
    *v = [a, b, c.rotate_left(32), d];
}

use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Contract};
use sealstone_prover::features::Processor;
use sealstone_prover::formula;
use sealstone_prover::image::Image;
use sealstone_prover::prove::Session;
use sealstone_prover::verdict::Verdict;

/// The round as its paper draws it: "SipHash: a fast short-input PRF", figure 2.1.
fn specification<A: Algebra<64>>(a: &mut A, v: &[A::Word]) -> Vec<A::Word> {
    let mut v = v.to_vec();
    for half in [[(0, 1, 13), (2, 3, 16)], [(2, 1, 17), (0, 3, 21)]] {
        for (x, y, turn) in half {
            v[x] = a.add(&v[x], &v[y]);
            v[y] = a.rotate_left(&v[y], turn);
            v[y] = a.xor(&v[y], &v[x]);
        }
        let first = half[0].0;
        v[first] = a.rotate_left(&v[first], 32);
    }
    v
}

/// Four words, which are read and written, and what they must be in the end.
pub fn contract() -> Contract {
    Contract::new(formula!(|a, contents| vec![specification(a, &contents[0])]))
        .buffer("v", 4, 8, Access::Write)
        .addresses(["v"])
}

/// The verdict on the function of this program whose path ends in that name.
pub fn verdict(function: &str, contract: &Contract) -> Verdict {
    let program = std::env::current_exe().expect("the path of this program");
    let image = Image::load(&program).expect("a program with symbols");
    let symbols = image.symbols().iter();
    let mut symbols = symbols.filter(|symbol| symbol.name.ends_with(function));
    let symbol = symbols.next().expect("a function of that name");
    let processor = Processor::baseline();
    let finding = Session::new().prove(&image, symbol, contract, &processor);
    finding.verdict
}

fn main() {
    // The callee stays in the program, as a function of its own.
    let mut v = std::hint::black_box([0, 1, 2, 3]);
    sip_round(&mut v);
    println!("{v:x?}: {}", verdict("::sip_round", &contract()));
}
