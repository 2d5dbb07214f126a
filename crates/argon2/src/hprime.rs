//! H′, the hash of any output length (RFC 9106, section 3.3).

use crate::blake2b::{Byte, Engine, LONGEST, Stream};
use sealstone_lanes::Scalar;

/// Fills `out`, of less than 2^32 bytes, with H′ of the concatenated `parts`.
pub fn hprime<E: Engine>(engine: E, parts: &[&[Byte<E>]], out: &mut [Byte<E>]) {
    let length = (out.len() as u32).to_le_bytes();
    let length = length.map(|byte| E::Scalar::byte(engine.scalars(), byte));
    let mut hash = Stream::new(engine, &[], out.len().min(LONGEST));
    hash.update(&length);
    parts.iter().for_each(|part| hash.update(part));
    let mut value = [E::Scalar::byte(engine.scalars(), 0); LONGEST];
    hash.finish_into(&mut value);
    // The first half of every value but the last goes to the output.
    let mut rest = out;
    while rest.len() > LONGEST {
        let (half, tail) = rest.split_at_mut(LONGEST / 2);
        half.copy_from_slice(&value[..LONGEST / 2]);
        let mut hash = Stream::new(engine, &[], tail.len().min(LONGEST));
        hash.update(&value);
        hash.finish_into(&mut value);
        rest = tail;
    }
    let len = rest.len();
    rest.copy_from_slice(&value[..len]);
    E::wipe(&mut [], &mut value);
}
