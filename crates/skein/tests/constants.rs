//! Every constant is recomputed, or compared with the printed specification.

#[path = "shared/designers.rs"]
mod designers;

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use sealstone_lanes::Portable;
use sealstone_skein::Parameters;
use sealstone_skein::threefish::{Block, Step};
use sealstone_testing::skein as spec;

/// Tables 3 and 4: each rotation and the permutation, one round at a time.
fn every_round<const N: usize>(rounds: usize)
where
    [u64; N]: Block<u64>,
{
    let key = core::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let tweak = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
    for word in 0..N {
        let mut block = [0; N];
        block[word] = 1;
        let expected = spec::rounds(&key, tweak, &block);
        assert_eq!(expected.len(), rounds + 1);
        let mut seen = 0;
        let cipher = block.encrypt_observed(Portable, &key, &tweak, |step, state| {
            if let Step::Round(d) = step {
                seen += 1;
                assert_eq!(d, seen);
                let moved: Vec<u64> = (0..N).map(|i| state[spec::place(N, d, i)]).collect();
                assert_eq!(moved, expected[d - 1], "round {d}");
            }
        });
        assert_eq!(seen, rounds);
        assert_eq!(cipher[..], expected[rounds]);
        assert_eq!(cipher.decrypt(Portable, &key, &tweak), block);
    }
}

#[test]
fn rotations_and_permutations() {
    every_round::<4>(72);
    every_round::<8>(72);
    every_round::<16>(80);
}

/// Tables 3 and 4 of the specification against C code derived from the designers' (pyskein's
/// `threefish.h`): the index of each word in each round, and its rotation.
#[test]
fn tables_of_the_designers() {
    let Some(text) = designers::text("threefish.h") else {
        return;
    };
    for (bits, words) in [(256, 4), (512, 8), (1024, 16)] {
        let mut seen = 0;
        // R256(0, 3, 2, 1, R_256_5); is round 5 of 8: the words that are v_0, v_1, …, and the name
        // of the rotations.
        for round in text
            .lines()
            .filter_map(|line| line.trim().strip_prefix(&format!("R{bits}(")))
        {
            let round = round.split(')').next().unwrap();
            let (places, rotations) = round.rsplit_once(", ").unwrap();
            let d = rotations
                .strip_prefix(&format!("R_{bits}_"))
                .unwrap()
                .parse()
                .unwrap();
            let places: Vec<usize> = (places.split(", "))
                .map(|word| usize::from_str_radix(word, 16).unwrap())
                .collect();
            let expected: Vec<usize> = (0..words).map(|i| spec::place(words, d, i)).collect();
            assert_eq!(places, expected, "words of round {d} of Threefish-{bits}");
            for j in 0..words / 2 {
                let (_, value) = text.split_once(&format!("{rotations}_{j}=")).unwrap();
                let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
                assert_eq!(
                    digits,
                    spec::rotation(words, d, j).to_string(),
                    "{rotations}_{j}"
                );
            }
            seen += 1;
        }
        assert_eq!(seen, 8, "rounds of Threefish-{bits}");
    }
}

/// From the design of Threefish: the AES-256 encryption of the number 240 under the zero key; C240
/// is its last eight bytes.
#[test]
fn c240() {
    let mut block = 240_u128.to_be_bytes().into();
    aes::Aes256::new(&[0; 32].into()).encrypt_block(&mut block);
    assert_eq!(u64::from_be_bytes(*block.last_chunk().unwrap()), spec::C240);
}

/// Appendix B: the chaining values after the configuration.
#[test]
fn initial_values() {
    assert_eq!(
        Parameters::new().start::<u64, 4>(Portable, None),
        [
            0xFC9DA860D048B449,
            0x2FCA66479FA7D833,
            0xB33BC3896656840F,
            0x6A54E920FDE8DA69
        ]
    );
    #[rustfmt::skip]
    assert_eq!(
        Parameters::new().start::<u64, 8>(Portable, None),
        [
            0x4903ADFF749C51CE, 0x0D95DE399746DF03, 0x8FD1934127C79BCE, 0x9A255629FF352CB1,
            0x5DB62599DF6CA7B0, 0xEABE394CA9D5C3F4, 0x991112C71A75B523, 0xAE18A40B660FCC33,
        ]
    );
    #[rustfmt::skip]
    assert_eq!(
        Parameters::new().start::<u64, 16>(Portable, None),
        [
            0xD593DA0741E72355, 0x15B5E511AC73E00C, 0x5180E5AEBAF2C4F0, 0x03BD41D3FCBCAFAF,
            0x1CAEC6FD1983A898, 0x6E510B8BCDD0589F, 0x77E2BDFDC6394ADA, 0xC11E1DB524DCB0A3,
            0xD6D14AF9C6329AB5, 0x6A9B0BFC6EB67E0D, 0x9243C60DCCFF1332, 0x1A1F1DDE743F02D4,
            0x0996753C10ED0BB8, 0x6572DD22F2B4969A, 0x61FD3062D00A579A, 0x1DE0536E8682E539,
        ]
    );
}
