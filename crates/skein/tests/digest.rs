//! The `digest` traits, against RustCrypto's Skein with the same traits.

use digest::common::BlockSizeUser;
use digest::{Digest, FixedOutputReset, consts::*};
use sealstone_skein::FixedSkein;

fn same<A: Digest + BlockSizeUser, B: Digest + BlockSizeUser>() {
    let message = [7; 300];
    assert_eq!(A::digest(message)[..], B::digest(message)[..]);
    assert_eq!(<A as Digest>::output_size(), <B as Digest>::output_size());
    assert_eq!(A::block_size(), B::block_size());
}

#[test]
fn hashes() {
    same::<FixedSkein<4, U32>, skein::Skein256<U32>>();
    same::<FixedSkein<8, U64>, skein::Skein512<U64>>();
    same::<FixedSkein<8, U20>, skein::Skein512<U20>>();
    same::<FixedSkein<16, U128>, skein::Skein1024<U128>>();
}

#[test]
fn a_reset_hasher_is_a_new_one() {
    let mut hasher = FixedSkein::<8, U64>::new_with_prefix(b"before");
    let _ = FixedOutputReset::finalize_fixed_reset(&mut hasher);
    Digest::update(&mut hasher, b"after");
    assert_eq!(hasher.finalize(), FixedSkein::<8, U64>::digest(b"after"));
}
