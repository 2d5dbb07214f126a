//! The program of the tutorial (`src/tutorial.md`): the round of SipHash.

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

fn main() {
    let mut v = std::hint::black_box([0, 1, 2, 3]);
    sip_round(&mut v);
    println!("{v:x?}");
}
