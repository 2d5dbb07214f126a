//! Skein's tree hashing (The Skein Hash Function Family, version 1.3, section 3.5.6), by recursion.

/// Y_l, Y_f and Y_m.
pub type Shape = [u8; 3];

/// G_o of the message, for a state of `nb` bytes. `ubi` hashes one node: its level, its start on
/// its level, its bytes.
pub fn tree<V: AsRef<[u8]>>(
    nb: usize,
    shape: Shape,
    message: &[u8],
    ubi: &mut impl FnMut(u8, usize, &[u8]) -> V,
) -> Vec<u8> {
    let leaf = nb << shape[0];
    let m1 = level(leaf, 1, message, ubi);
    above(nb, shape, 1, m1, ubi)
}

/// From M_l on, l ≥ 1.
pub fn above<V: AsRef<[u8]>>(
    nb: usize,
    shape: Shape,
    l: u8,
    m: Vec<u8>,
    ubi: &mut impl FnMut(u8, usize, &[u8]) -> V,
) -> Vec<u8> {
    let [_, yf, ym] = shape;
    if m.len() == nb {
        return m; // 1. one block: that is G_o
    }
    if l == ym - 1 {
        return ubi(ym, 0, &m).as_ref().to_vec(); // 2. the tree has its height
    }
    let next = level(nb << yf, l + 1, &m, ubi); // 3. one more level
    above(nb, shape, l + 1, next, ubi)
}

/// M_l from M_{l-1}: the values of its parts of `size` bytes; of one empty part if it is empty.
fn level<V: AsRef<[u8]>>(
    size: usize,
    l: u8,
    m: &[u8],
    ubi: &mut impl FnMut(u8, usize, &[u8]) -> V,
) -> Vec<u8> {
    let mut values = Vec::new();
    for start in (0..m.len().max(1)).step_by(size) {
        values.extend_from_slice(ubi(l, start, &m[start..m.len().min(start + size)]).as_ref());
    }
    values
}
