//! Every other hash: one block after the other, while another thread reads ahead.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use sealstone_skein::threefish::Block;
use sealstone_skein::tree::TreeSkein;
use sealstone_skein::{Parameters, Skein};

use super::algorithm::Algorithm;
use crate::args::State;
use crate::failure::{Failure, Result};
use crate::io::input::Input;
use crate::progress::Counter;

/// Hashes what is left of `input`.
pub(super) fn hash(
    input: &Input,
    algorithm: &Algorithm,
    parameters: &Parameters<'_>,
    counter: &Counter,
) -> Result<Vec<u8>> {
    match algorithm.state {
        State::Skein256 => hash_with::<4>(input, algorithm, parameters, counter),
        State::Skein512 => hash_with::<8>(input, algorithm, parameters, counter),
        State::Skein1024 => hash_with::<16>(input, algorithm, parameters, counter),
    }
}

fn hash_with<const N: usize>(
    input: &Input,
    algorithm: &Algorithm,
    parameters: &Parameters<'_>,
    counter: &Counter,
) -> Result<Vec<u8>>
where
    [u64; N]: Block<u64>,
{
    let bits = algorithm.message_bits;
    match algorithm.tree {
        Some(shape) => absorb(
            TreeSkein::<N>::with(parameters, shape),
            input,
            bits,
            counter,
        ),
        None => absorb(Skein::<N>::with(parameters), input, bits, counter),
    }
}

/// What takes a message.
trait Hasher {
    fn update(&mut self, bytes: &[u8]);
    fn finish(self) -> Vec<u8>;
    fn finish_bits(self, last: u8, bits: u32) -> Vec<u8>;
}

macro_rules! hasher {
    ($type:ident) => {
        impl<const N: usize> Hasher for $type<N>
        where
            [u64; N]: Block<u64>,
        {
            fn update(&mut self, bytes: &[u8]) {
                $type::update(self, bytes);
            }
            fn finish(self) -> Vec<u8> {
                $type::finish(self)
            }
            fn finish_bits(self, last: u8, bits: u32) -> Vec<u8> {
                $type::finish_bits(self, last, bits)
            }
        }
    };
}
hasher!(Skein);
hasher!(TreeSkein);

fn absorb(
    mut hasher: impl Hasher,
    input: &Input,
    bits: Option<u64>,
    counter: &Counter,
) -> Result<Vec<u8>> {
    let Some(bits) = bits else {
        read_ahead(counter.count(input), |bytes| hasher.update(bytes))?;
        return Ok(hasher.finish());
    };
    let mut seen = 0;
    let whole = counter.count(input).take(bits / 8);
    read_ahead(whole, |bytes| {
        hasher.update(bytes);
        seen += bytes.len() as u64;
    })?;
    let mut last = [0];
    let used = (bits % 8) as u32;
    let wanted = &mut last[..usize::from(used > 0)];
    if seen < bits / 8 || read_full(&mut counter.count(input), wanted)? < wanted.len() {
        let what = format!("has only {} bits", 8 * seen);
        return Err(Failure::usage(what).hint("give fewer --message-bits"));
    }
    Ok(match used {
        0 => hasher.finish(),
        used => hasher.finish_bits(last[0], used),
    })
}

/// Gives all bytes of `reader`, in order, while the next ones are read.
fn read_ahead(mut reader: impl Read + Send, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    const BUFFER: usize = 1 << 17;
    let mut first = vec![0; BUFFER];
    let len = read_full(&mut reader, &mut first)?;
    take(&first[..len]);
    if len < BUFFER {
        return Ok(());
    }
    let ahead = thread::scope(|scope| {
        let (full_to, full) = mpsc::sync_channel(2);
        let (empty_to, empty) = mpsc::sync_channel(2);
        let reader = &mut reader;
        let reading = thread::Builder::new()
            .spawn_scoped(scope, move || fill_buffers(reader, &empty, &full_to))
            .ok()?;
        // A receiver that is gone ends the other side; its own result is what counts.
        for _ in 0..2 {
            let _ = empty_to.send(vec![0; BUFFER]);
        }
        for (buffer, len) in full {
            take(&buffer[..len]);
            let _ = empty_to.send(buffer);
        }
        let joined = reading.join();
        Some(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    // If the system has no more threads for us, one does it all.
    ahead.unwrap_or_else(|| {
        loop {
            let len = read_full(&mut reader, &mut first)?;
            take(&first[..len]);
            if len < BUFFER {
                return Ok(());
            }
        }
    })
}

/// Fills buffers until the end of the input.
fn fill_buffers(
    mut reader: impl Read,
    empty: &Receiver<Vec<u8>>,
    full: &SyncSender<(Vec<u8>, usize)>,
) -> io::Result<()> {
    for mut buffer in empty {
        let len = read_full(&mut reader, &mut buffer)?;
        let ended = len < buffer.len();
        if full.send((buffer, len)).is_err() || ended {
            break;
        }
    }
    Ok(())
}

/// Fills the buffer as far as the input goes.
fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match reader.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(len)
}
