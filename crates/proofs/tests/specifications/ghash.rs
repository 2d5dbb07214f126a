//! GHASH (SP 800-38D, 6.3 and 6.4).

use super::aes_cells;
use sealstone_proofs::spec::ghash;
use sealstone_prover::algebra::Numbers;

/// McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B, test cases 2 to 4: H, the
/// blocks of A and C with their lengths, and GHASH; for the first two, GHASH after each block.
const GHASH: [[&str; 3]; 3] = [
    [
        "66e94bd4ef8a2c3b884cfa59ca342b2e",
        "0388dace60b6a392f328c2b971b2fe78 00000000000000000000000000000080",
        "5e2ec746917062882c85b0685353deb7 f38cbb1ad69223dcc3457ae5b6b0f885",
    ],
    [
        "b83b533708bf535d0aa6e52980d53b78",
        "42831ec2217774244b7221b784d0d49c e3aa212f2c02a4e035c17e2329aca12e
         21d514b25466931c7d8f6a5aac84aa05 1ba30b396a0aac973d58e091473f5985
         00000000000000000000000000000200",
        "59ed3f2bb1a0aaa07c9f56c6a504647b b714c9048389afd9f9bc5c1d4378e052
         47400c6577b1ee8d8f40b2721e86ff10 4796cf49464704b5dd91f159bb1b7f95
         7f1b32b81b820d02614f8895ac1d4eac",
    ],
    [
        "b83b533708bf535d0aa6e52980d53b78",
        "feedfacedeadbeeffeedfacedeadbeef abaddad2000000000000000000000000
         42831ec2217774244b7221b784d0d49c e3aa212f2c02a4e035c17e2329aca12e
         21d514b25466931c7d8f6a5aac84aa05 1ba30b396a0aac973d58e09100000000
         00000000000000a000000000000001e0",
        "698e57f70e6ecc7fd9463b7260a9ae5f",
    ],
];

const ZERO_BLOCK: [u64; ghash::CELLS] = [0; ghash::CELLS];

#[test]
fn ghash_of_the_test_cases() {
    for [h, blocks, all] in GHASH {
        let [h, blocks, all] = [h, blocks, all].map(aes_cells);
        let (mut y, mut each) = (ZERO_BLOCK.to_vec(), Vec::new());
        for block in blocks.chunks(ghash::CELLS) {
            y = ghash::ghash(&mut Numbers, &y, block, &h);
            each.extend(y.clone());
        }
        assert!(each.ends_with(&all), "{each:x?}");
        let last = ghash::ghash(&mut Numbers, &ZERO_BLOCK, &blocks, &h);
        assert_eq!(last, y);
    }
}

/// SP 800-38D, algorithm 1, literally. The first bit of a block is the highest one.
fn algorithm_1(x: u128, y: u128) -> u128 {
    let r = 0b1110_0001 << 120;
    let (mut z, mut v) = (0, y);
    for i in 0..128 {
        if x >> (127 - i) & 1 == 1 {
            z ^= v;
        }
        v = if v & 1 == 0 { v >> 1 } else { v >> 1 ^ r };
    }
    z
}

fn block(number: u128) -> Vec<u64> {
    let bytes = number.to_be_bytes();
    let cells = bytes.as_chunks::<8>().0.iter();
    cells.map(|cell| u64::from_le_bytes(*cell)).collect()
}

/// Numbers with all kinds of bits: multiples of an odd number, and single bits.
fn elements() -> Vec<u128> {
    let odd: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let multiples = (0..40).map(|i: u128| odd.wrapping_mul(i * i + 1));
    multiples.chain((0..128).map(|i| 1 << i)).collect()
}

#[test]
fn products_of_blocks_are_those_of_the_standard() {
    let elements = elements();
    for x in &elements {
        for y in elements.iter().step_by(5) {
            let product = ghash::product(&mut Numbers, &block(*x), &block(*y));
            assert_eq!(product, block(algorithm_1(*x, *y)), "{x:x} {y:x}");
        }
    }
}

/// The product of a table's entry and x is the block.
#[test]
fn entries_are_blocks_divided_by_x() {
    let x = 1 << 126;
    for element in elements() {
        let entry = ghash::to_entry(&mut Numbers, &block(element));
        assert_eq!(ghash::of_entry(&mut Numbers, &entry), block(element));
        let divided = u128::from(entry[0]) | u128::from(entry[1]) << 64;
        assert_eq!(algorithm_1(divided, x), element);
    }
}

/// Horner's rule: with powers of H, blocks at once give the same as blocks one by one. The powers
/// do not depend on the order of their multiplication.
#[test]
fn blocks_at_once_are_ghash_where_the_table_has_powers_of_h() {
    let halves: fn(usize) -> [usize; 2] = |power| [power / 2, power - power / 2];
    for factors in [|power| [power - 1, 1], halves] {
        let elements = elements();
        let h = block(elements[7]);
        let powers = ghash::powers(&mut Numbers, &h, 16, factors);
        let blocks: Vec<u64> = elements[8..24].iter().flat_map(|x| block(*x)).collect();
        for count in 1..=16 {
            let (y, blocks) = (block(elements[3]), &blocks[..2 * count]);
            assert_eq!(
                ghash::at_once(&mut Numbers, &y, blocks, &powers),
                ghash::ghash(&mut Numbers, &y, blocks, &h),
                "{count}"
            );
        }
    }
}
