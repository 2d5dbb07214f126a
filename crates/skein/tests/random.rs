//! Random cases against the specification in `sealstone-testing`, and against RustCrypto's `skein`
//! and `threefish` where these support them.

use proptest::collection::vec;
use proptest::prelude::*;
use sealstone_skein::threefish::{Block, Threefish256, Threefish512, Threefish1024};
use sealstone_skein::tree::{Shape, TreeSkein};
use sealstone_skein::{Parameters, Skein, Skein256, Skein512, Skein1024};
use sealstone_testing::skein as spec;
use skein::digest::{Digest, consts::*};

#[derive(Clone, Debug)]
struct Case {
    output_bits: u64,
    key: Vec<u8>,
    /// Personalization, public key, key identifier, nonce.
    arguments: [Vec<u8>; 4],
    tree: Option<[u8; 3]>,
    message: Vec<u8>,
    /// The number of significant bits of the last byte.
    last_bits: u32,
    /// The index at which the message is cut in two.
    cut: prop::sample::Index,
}

fn bytes(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![Just(Vec::new()), vec(any::<u8>(), 0..=longest)]
}

fn case() -> impl Strategy<Value = Case> {
    let tree = prop::option::of(
        (1..=3_u8, 1..=3_u8, prop_oneof![2..=5_u8, Just(255)]).prop_map(|(l, f, m)| [l, f, m]),
    );
    let arguments = [bytes(100), bytes(100), bytes(100), bytes(100)];
    (
        1..=3000_u64,
        bytes(300),
        arguments,
        tree,
        vec(any::<u8>(), 0..3000),
        1..=8_u32,
        any::<prop::sample::Index>(),
    )
        .prop_map(
            |(output_bits, key, arguments, tree, message, last_bits, cut)| Case {
                output_bits,
                key,
                arguments,
                tree,
                message,
                last_bits,
                cut,
            },
        )
}

impl Case {
    fn by_specification(&self, block: usize) -> Vec<u8> {
        let kinds = [spec::PRS, spec::PK, spec::KDF, spec::NON];
        let arguments = kinds
            .into_iter()
            .zip(&self.arguments)
            .filter(|(_, argument)| !argument.is_empty());
        let skein = spec::Skein {
            block,
            output_bits: self.output_bits,
            key: &self.key,
            arguments: arguments
                .map(|(kind, argument)| (kind, &argument[..]))
                .collect(),
            tree: self.tree.unwrap_or_default(),
        };
        let bits = if self.message.is_empty() {
            0
        } else {
            8 * (self.message.len() - 1) + self.last_bits as usize
        };
        skein.hash(&self.message, bits)
    }

    fn by_crate<const N: usize>(&self) -> Vec<u8>
    where
        [u64; N]: Block<u64>,
    {
        let [personalization, public_key, key_id, nonce] = &self.arguments;
        let parameters = Parameters::new()
            .output_bits(self.output_bits)
            .key(&self.key)
            .personalization(personalization);
        let parameters = parameters
            .public_key(public_key)
            .key_id(key_id)
            .nonce(nonce);
        let (last, whole) = match self.message.split_last() {
            Some((last, whole)) => (Some(*last), whole),
            None => (None, &[][..]),
        };
        let (head, tail) = whole.split_at(if whole.is_empty() {
            0
        } else {
            self.cut.index(whole.len())
        });
        if let Some([leaf, fan_out, height]) = self.tree {
            let mut tree =
                TreeSkein::<N>::with(&parameters, Shape::new(leaf, fan_out, height).unwrap());
            tree.update(head);
            tree.update(tail);
            return match last {
                Some(last) => tree.finish_bits(last, self.last_bits),
                None => tree.finish(),
            };
        }
        let skein = Skein::<N>::with(&parameters).chain(head).chain(tail);
        match last {
            Some(last) => skein.finish_bits(last, self.last_bits),
            None => skein.finish(),
        }
    }
}

/// The value of `SEALSTONE_CASES`, or a number of cases that takes a second.
fn cases() -> u32 {
    std::env::var("SEALSTONE_CASES").map_or(1000, |count| count.parse().expect("a number"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn all_arguments_against_the_specification(case in case()) {
        prop_assert_eq!(case.by_crate::<4>(), case.by_specification(32));
        prop_assert_eq!(case.by_crate::<8>(), case.by_specification(64));
        prop_assert_eq!(case.by_crate::<16>(), case.by_specification(128));
    }

    #[test]
    fn hashes_against_rustcrypto(message in vec(any::<u8>(), 0..2000)) {
        let theirs = skein::Skein256::<U32>::digest(&message);
        prop_assert_eq!(&Skein256::hash(&message)[..], &theirs[..]);
        let theirs = skein::Skein512::<U64>::digest(&message);
        prop_assert_eq!(&Skein512::hash(&message)[..], &theirs[..]);
        let theirs = skein::Skein1024::<U128>::digest(&message);
        prop_assert_eq!(&Skein1024::hash(&message)[..], &theirs[..]);
        let short = Skein512::with(&Parameters::new().output_bits(160)).chain(&message).finish();
        prop_assert_eq!(&short[..], &skein::Skein512::<U20>::digest(&message)[..]);
        let long = Skein256::with(&Parameters::new().output_bits(800)).chain(&message).finish();
        prop_assert_eq!(&long[..], &skein::Skein256::<U100>::digest(&message)[..]);
    }

    #[test]
    fn threefish_there_and_back(key: [u8; 128], tweak: [u8; 16], block: [u8; 128]) {
        macro_rules! check {
            ($ours:ident, $theirs:ident, $bytes:literal) => {
                let key = key.first_chunk::<$bytes>().unwrap();
                let block = block.first_chunk::<$bytes>().unwrap();
                let cipher = $ours::new(key);
                let mut ours = *block;
                cipher.encrypt(tweak, &mut ours);
                let words = block.as_chunks::<8>().0.iter();
                let mut theirs: Vec<_> = words.map(|word| u64::from_le_bytes(*word)).collect();
                let words = theirs.as_mut_slice().try_into().unwrap();
                threefish::$theirs::new_with_tweak(key, &tweak).encrypt_block_u64(words);
                let theirs = theirs.iter().flat_map(|word| word.to_le_bytes());
                prop_assert_eq!(&ours[..], &theirs.collect::<Vec<_>>());
                cipher.decrypt(tweak, &mut ours);
                prop_assert_eq!(&ours, block);
            };
        }
        check!(Threefish256, Threefish256, 32);
        check!(Threefish512, Threefish512, 64);
        check!(Threefish1024, Threefish1024, 128);
    }
}
