//! `expand_message_xmd` (RFC 9380 section 5.3.1).

use aws_lc_rs::digest::{Algorithm, Context, Digest};
use zeroize::Zeroizing;

/// Fills `out` with bytes derived from the concatenated parts of `message` and the tag `dst`.
///
/// # Panics
/// If `dst` is longer than 255 bytes or `out` than 255 digests: both are fixed by the protocol.
pub(super) fn expand_message_xmd(
    algorithm: &'static Algorithm,
    message: &[&[u8]],
    dst: &[u8],
    out: &mut [u8],
) {
    let dst_len = u8::try_from(dst.len()).expect("a domain separation tag of at most 255 bytes");
    let out_len = u16::try_from(out.len()).expect("an output of at most 65,535 bytes");
    let hash = |parts: &[&[u8]]| {
        let mut context = Context::new(algorithm);
        parts.iter().for_each(|part| context.update(part));
        context.update(dst);
        context.update(&[dst_len]);
        context.finish()
    };
    let first = first_digest(algorithm, message, out_len, dst, dst_len);
    let mut previous: Option<Digest> = None;
    for (index, chunk) in (1_u8..=255).zip(out.chunks_mut(algorithm.output_len())) {
        let mut block = Zeroizing::new([0; 64]);
        let block = &mut block[..algorithm.output_len()];
        block.copy_from_slice(first.as_ref());
        if let Some(previous) = previous {
            block
                .iter_mut()
                .zip(previous.as_ref())
                .for_each(|(a, b)| *a ^= b);
        }
        let digest = hash(&[block, &[index]]);
        chunk.copy_from_slice(&digest.as_ref()[..chunk.len()]);
        previous = Some(digest);
    }
}

/// `b_0`: the digest of a block of zeros, the message, the output's length and the tag.
fn first_digest(
    algorithm: &'static Algorithm,
    message: &[&[u8]],
    out_len: u16,
    dst: &[u8],
    dst_len: u8,
) -> Digest {
    let mut context = Context::new(algorithm);
    context.update(&[0; 128][..algorithm.block_len()]);
    message.iter().for_each(|part| context.update(part));
    context.update(&out_len.to_be_bytes());
    context.update(&[0]);
    context.update(dst);
    context.update(&[dst_len]);
    context.finish()
}
