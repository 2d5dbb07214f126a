//! A program with loops of any length: section 6 of the tutorial (`src/tutorial.md`) proves them.

/// The round of SipHash.
#[inline(always)]
fn round([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    let (a, c) = (a.wrapping_add(b), c.wrapping_add(d));
    let (b, d) = (b.rotate_left(13) ^ a, d.rotate_left(16) ^ c);
    let (a, c) = (a.rotate_left(32).wrapping_add(d), c.wrapping_add(b));
    [
        a,
        b.rotate_left(17) ^ c,
        c.rotate_left(32),
        d.rotate_left(21) ^ a,
    ]
}

/// Encrypts each word with the first word of the state after one more round.
#[inline(never)]
pub fn encrypt(data: &mut [u64], v: &[u64; 4]) {
    let (mut v, mut rest) = (*v, data);
    while let [word, behind @ ..] = rest {
        v = round(v);
        *word ^= v[0];
        // The prover follows an address that advances. Without this, rustc counts up an index.
        rest = std::hint::black_box(behind);
    }
}

fn main() {
    let mut data: Vec<u64> = std::env::args().map(|word| word.len() as u64).collect();
    encrypt(&mut data, &std::hint::black_box([0, 1, 2, 3]));
    println!("{data:x?}");
}
