//! GHASH (SP 800-38D, 6.3 and 6.4). A block is two cells of memory. Its first bit, the highest of
//! its first byte, is the coefficient of x⁰.

use sealstone_prover::algebra::{Algebra, Polynomials};

/// The cells of a block.
pub const CELLS: usize = 2;

/// The bits of each byte in reverse order.
fn bits_reversed<A: Algebra<64>>(a: &mut A, cell: &A::Word) -> A::Word {
    let mut cell = cell.clone();
    for (by, low) in [
        (1, 0x5555_5555_5555_5555),
        (2, 0x3333_3333_3333_3333),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
    ] {
        let low = a.number(low);
        let down = a.shift_right(&cell, by);
        let (down, up) = (a.and(&down, &low), a.and(&cell, &low));
        let up = a.rotate_left(&up, by);
        cell = a.xor(&down, &up);
    }
    cell
}

/// A polynomial as two words, the coefficient of x^i in bit i, from a block; and back.
fn reversed<A: Algebra<64>>(a: &mut A, words: &[A::Word]) -> Vec<A::Word> {
    words.iter().map(|word| bits_reversed(a, word)).collect()
}

fn added<A: Algebra<64>>(a: &mut A, x: &[A::Word], y: &[A::Word]) -> Vec<A::Word> {
    x.iter().zip(y).map(|(x, y)| a.xor(x, y)).collect()
}

/// The product of two polynomials, which may have different numbers of words.
fn polynomial_product<A: Polynomials>(a: &mut A, x: &[A::Word], y: &[A::Word]) -> Vec<A::Word> {
    let mut product = vec![a.number(0); x.len() + y.len()];
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            for (k, part) in a.carryless_product(x, y).into_iter().enumerate() {
                product[i + j + k] = a.xor(&product[i + j + k], &part);
            }
        }
    }
    product
}

/// Reduces modulo x¹²⁸ + x⁷ + x² + x + 1, the polynomial of R: the part from x¹²⁸ on moves to x⁰
/// on, times x⁷ + x² + x + 1.
fn reduced<A: Polynomials>(a: &mut A, polynomial: &[A::Word]) -> Vec<A::Word> {
    let rest = a.number(0b1000_0111);
    let mut polynomial = polynomial.to_vec();
    while polynomial.len() > CELLS {
        let high = polynomial.split_off(CELLS);
        // The product for x¹²⁸ · x⁶³ ends below x¹²⁸, so everything fits after the second time.
        let folded = polynomial_product(a, &high, core::slice::from_ref(&rest));
        let longer = folded.len().max(CELLS);
        polynomial.resize(longer, a.number(0));
        for (word, part) in polynomial.iter_mut().zip(&folded) {
            *word = a.xor(word, part);
        }
    }
    polynomial
}

/// Section 6.3: X · Y.
pub fn product<A: Polynomials>(a: &mut A, x: &[A::Word], y: &[A::Word]) -> Vec<A::Word> {
    let (x, y) = (reversed(a, x), reversed(a, y));
    let product = polynomial_product(a, &x, &y);
    let product = reduced(a, &product);
    reversed(a, &product)
}

/// The first powers H, H², H³, …. From the second on, each is the product of two earlier powers,
/// whose numbers `factors` gives: their sum is the number of the new power.
pub fn powers<A: Polynomials>(
    a: &mut A,
    h: &[A::Word],
    count: usize,
    factors: fn(usize) -> [usize; 2],
) -> Vec<Vec<A::Word>> {
    let mut powers = vec![h.to_vec()];
    for power in 2..=count {
        let [x, y] = factors(power);
        assert!(x + y == power && x > 0 && y > 0, "{x} and {y} for {power}");
        let next = product(a, &powers[x - 1], &powers[y - 1]);
        powers.push(next);
    }
    powers
}

/// Algorithm 2 of section 6.4, GHASH, with any Y before the first block: Y becomes (Y ⊕ X) · H for
/// each block X.
pub fn ghash<A: Polynomials>(
    a: &mut A,
    y: &[A::Word],
    blocks: &[A::Word],
    h: &[A::Word],
) -> Vec<A::Word> {
    let blocks = blocks.chunks(CELLS);
    blocks.fold(y.to_vec(), |y, block| {
        let sum = added(a, &y, block);
        product(a, &sum, h)
    })
}

/// The same for blocks X₁ to Xₙ at once: (Y ⊕ X₁) · Hⁿ ⊕ X₂ · Hⁿ⁻¹ ⊕ … ⊕ Xₙ · H. The powers of H
/// are given, from H on.
pub fn at_once<A: Polynomials>(
    a: &mut A,
    y: &[A::Word],
    blocks: &[A::Word],
    powers: &[Vec<A::Word>],
) -> Vec<A::Word> {
    let mut blocks = blocks.to_vec();
    for (cell, y) in blocks.iter_mut().zip(y) {
        *cell = a.xor(cell, y);
    }
    let count = blocks.len() / CELLS;
    let mut sum = vec![a.number(0); CELLS];
    for (block, power) in blocks.chunks(CELLS).zip(powers[..count].iter().rev()) {
        let part = product(a, block, power);
        sum = added(a, &sum, &part);
    }
    sum
}

/// The table's entry for a block X: X · x⁻¹ as a number of 128 bits. The first bit of the block is
/// the highest one. The low word comes first.
pub fn to_entry<A: Algebra<64>>(a: &mut A, block: &[A::Word]) -> Vec<A::Word> {
    let (polynomial, one) = (reversed(a, block), a.number(1));
    let [from_x_0, from_x_64] = [0, 1].map(|word| a.and(&polynomial[word], &one));
    let mut divided = [0, 1].map(|word| a.shift_right(&polynomial[word], 1));
    // x⁻¹ is x¹²⁷ + x⁶ + x + 1.
    for (word, bit, place) in [
        (0, &from_x_64, 63),
        (1, &from_x_0, 63),
        (0, &from_x_0, 6),
        (0, &from_x_0, 1),
        (0, &from_x_0, 0),
    ] {
        let moved = a.rotate_left(bit, place);
        divided[word] = a.xor(&divided[word], &moved);
    }
    let block = reversed(a, &divided);
    swapped(a, &block)
}

/// The block of a table's entry.
pub fn of_entry<A: Algebra<64>>(a: &mut A, entry: &[A::Word]) -> Vec<A::Word> {
    let block = swapped(a, entry);
    let (polynomial, not_one) = (reversed(a, &block), a.number(!1));
    let [to_x_64, to_x_128] = [0, 1].map(|word| a.shift_right(&polynomial[word], 63));
    let mut product = [0, 1].map(|word| {
        let turned = a.rotate_left(&polynomial[word], 1);
        a.and(&turned, &not_one)
    });
    product[1] = a.xor(&product[1], &to_x_64);
    // x¹²⁸ is x⁷ + x² + x + 1.
    for place in [0, 1, 2, 7] {
        let moved = a.rotate_left(&to_x_128, place);
        product[0] = a.xor(&product[0], &moved);
    }
    reversed(a, &product)
}

/// Two cells as a number of 128 bits with its highest byte first, from one with its lowest; and
/// back.
fn swapped<A: Algebra<64>>(a: &mut A, cells: &[A::Word]) -> Vec<A::Word> {
    let cells = cells.iter().rev();
    cells.map(|cell| a.swap_bytes(cell)).collect()
}
