//! Poly1305 (RFC 8439, section 2.5), and the AEAD of ChaCha20 and Poly1305 (section 2.8).

use super::chacha20;
use sealstone_prover::algebra::{Algebra, Cells, Residues};

type Cell<A> = <A as Algebra<64>>::Word;
type Cell32<A> = <A as Algebra<32>>::Word;

/// Section 2.5: the bits of r that `clamp` keeps.
const CLAMP: [u64; 2] = [0x0fff_fffc_0fff_ffff, 0x0fff_fffc_0fff_fffc];

/// Section 2.5.1: the tag under a key of four cells. The blocks include the bit 1 after the
/// message's last byte.
pub fn tag<A: Residues>(a: &mut A, key: &[A::Word], blocks: &[[A::Word; 3]]) -> [A::Word; 2] {
    let masks = CLAMP.map(|mask| a.number(mask));
    let r = [0, 1].map(|i| a.and(&key[i], &masks[i]));
    let residue = a.residue(&r, blocks);
    a.add_pairs(&residue, &[key[2].clone(), key[3].clone()])
}

/// Section 2.8: ciphertext and tag of data and additional data that are whole cells.
pub fn seal<A: Residues + Cells>(
    a: &mut A,
    (key, nonce): (&[Cell32<A>], &[Cell32<A>]),
    data: &[Cell<A>],
    additional: &[Cell<A>],
) -> (Vec<Cell<A>>, [Cell<A>; 2]) {
    let input = counted(a, 1, nonce);
    let data = words(a, data);
    let ciphertext = chacha20::encrypt(a, key, &input, &data, 1);
    let ciphertext = cells(a, &ciphertext);
    let lengths = [additional.len(), data.len() / 2].map(|cells| 8 * cells as u64);
    let tag = aead_tag(a, (key, nonce), [additional, &ciphertext], lengths);
    (ciphertext, tag)
}

/// Section 2.8: the tag of additional data and ciphertext of these numbers of bytes. Their last
/// cells are filled with zeros.
pub fn aead_tag<A: Residues + Cells>(
    a: &mut A,
    (key, nonce): (&[Cell32<A>], &[Cell32<A>]),
    authenticated: [&[Cell<A>]; 2],
    lengths: [u64; 2],
) -> [Cell<A>; 2] {
    // Section 2.6: the key is the first half of the block with the counter 0.
    let input = counted(a, 0, nonce);
    let state = chacha20::state(a, key, &input);
    let block = chacha20::block(a, &state);
    let key = cells(a, &block[..8]);
    let lengths = lengths.map(|length| <A as Algebra<64>>::number(a, length));
    let parts = [authenticated[0], authenticated[1], &lengths];
    let blocks: Vec<_> = parts.iter().flat_map(|part| padded(a, part)).collect();
    tag(a, &key, &blocks)
}

/// Blocks of 16 bytes. The last one has zeros after the data, and each is followed by the bit 1.
fn padded<A: Algebra<64>>(a: &mut A, cells: &[A::Word]) -> Vec<[A::Word; 3]> {
    let (zero, one) = (a.number(0), a.number(1));
    let blocks = cells.chunks(2).map(|block| {
        let second = block.get(1).unwrap_or(&zero);
        [block[0].clone(), second.clone(), one.clone()]
    });
    blocks.collect()
}

/// A counter, and a nonce.
fn counted<A: Algebra<32>>(a: &mut A, counter: u64, nonce: &[A::Word]) -> Vec<A::Word> {
    let mut input = vec![a.number(counter)];
    input.extend_from_slice(nonce);
    input
}

fn words<A: Cells>(a: &mut A, cells: &[Cell<A>]) -> Vec<Cell32<A>> {
    cells.iter().flat_map(|cell| a.split(cell)).collect()
}

fn cells<A: Cells>(a: &mut A, words: &[Cell32<A>]) -> Vec<Cell<A>> {
    words.chunks(2).map(|pair| a.join(pair)).collect()
}
