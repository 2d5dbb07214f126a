//! Hashes that cannot be computed in parallel; another thread reads ahead.

use std::io::Read;

use sealstone_skein::pipeline::read_ahead;
use sealstone_skein::threefish::Block;
use sealstone_skein::tree::TreeSkein;
use sealstone_skein::{Parameters, Skein};

use super::algorithm::Algorithm;
use crate::args::State;
use crate::failure::{Failure, Result};
use crate::io::input::Input;
use crate::progress::Counter;

/// Hashes the rest of `input`.
pub(super) fn hash(
    input: &Input,
    algorithm: &Algorithm,
    parameters: &Parameters<'_>,
    counter: &Counter,
) -> Result<Vec<u8>> {
    let message = Message {
        input,
        bits: algorithm.message_bits,
        counter,
    };
    match algorithm.state {
        State::Skein256 => hash_with::<4>(&message, algorithm, parameters),
        State::Skein512 => hash_with::<8>(&message, algorithm, parameters),
        State::Skein1024 => hash_with::<16>(&message, algorithm, parameters),
    }
}

fn hash_with<const N: usize>(
    message: &Message<'_>,
    algorithm: &Algorithm,
    parameters: &Parameters<'_>,
) -> Result<Vec<u8>>
where
    [u64; N]: Block<u64>,
{
    Ok(match algorithm.tree {
        Some(shape) => {
            let mut hasher = TreeSkein::<N>::with(parameters, shape);
            match message.give(|bytes| hasher.update(bytes))? {
                Some((last, used)) => hasher.finish_bits(last, used),
                None => hasher.finish(),
            }
        }
        None => {
            let mut hasher = Skein::<N>::with(parameters);
            match message.give(|bytes| hasher.update(bytes))? {
                Some((last, used)) => hasher.finish_bits(last, used),
                None => hasher.finish(),
            }
        }
    })
}

struct Message<'a> {
    input: &'a Input,
    /// The message ends after so many bits.
    bits: Option<u64>,
    counter: &'a Counter,
}

impl Message<'_> {
    /// Gives all whole bytes to `take`, and returns the last one if only some of its bits count.
    fn give(&self, mut take: impl FnMut(&[u8]) + Send) -> Result<Option<(u8, u32)>> {
        let reader = self.counter.count(self.input);
        let Some(bits) = self.bits else {
            read_ahead(reader, take)?;
            return Ok(None);
        };
        let mut seen = 0;
        read_ahead(reader.take(bits / 8), |bytes| {
            seen += bytes.len() as u64;
            take(bytes);
        })?;
        let used = (bits % 8) as u32;
        let mut last = Vec::new();
        let rest = self.counter.count(self.input);
        rest.take(used.min(1).into()).read_to_end(&mut last)?;
        if seen < bits / 8 || (used > 0 && last.is_empty()) {
            let what = format!("has only {} bits", 8 * seen);
            return Err(Failure::usage(what).hint("give fewer --message-bits"));
        }
        Ok(last.first().map(|&last| (last, used)))
    }
}
