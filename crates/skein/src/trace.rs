//! Every intermediate value of a hash, in the format of the designers' reference implementation
//! (`SKEIN_DEBUG_ALL`), for auditors, who can compare by eye or by `diff`.
//!
//! `cargo run -p sealstone-skein --example trace` prints it.
//!
//! The rounds are those of the shipped code, not of a second implementation.

use crate::parameters::{Parameters, configuration, start_strings};
use crate::shape::Shape;
use crate::threefish::{Block, Step};
use crate::tweak::{Tweak, Type};
use sealstone_lanes::Portable;
use std::fmt::{Error, Result, Write};

/// Hashes `message` and writes every step to `out`, secrets included.
///
/// ```
/// use sealstone_skein::{Parameters, trace};
///
/// let mut text = String::new();
/// trace::hash::<8>(&Parameters::new(), b"message", &mut text).unwrap();
/// assert!(text.contains(":Skein-512:  [state after key injection #18]="));
/// ```
///
/// # Errors
/// If `out` fails.
pub fn hash<const N: usize>(
    parameters: &Parameters<'_>,
    message: &[u8],
    out: &mut impl Write,
) -> Result
where
    [u64; N]: Block<u64>,
{
    let mut trace = Trace::start(parameters, None, out)?;
    trace.string(Tweak::new(Type::Message), message)?;
    trace.output()
}

/// [`hash`] in a tree, level by level, each from left to right.
///
/// # Errors
/// If `out` fails.
pub fn tree_hash<const N: usize>(
    parameters: &Parameters<'_>,
    shape: Shape,
    message: &[u8],
    out: &mut impl Write,
) -> Result
where
    [u64; N]: Block<u64>,
{
    let mut trace = Trace::start(parameters, Some(shape), out)?;
    let start = trace.chain;
    let mut level = message.to_vec();
    for above in 0.. {
        let node = usize::try_from(shape.node_bytes::<N>(above)).unwrap_or(usize::MAX);
        let mut values = Vec::new();
        let mut position = 0;
        loop {
            let (part, rest) = level[position..].split_at(node.min(level.len() - position));
            let tweak = Tweak::new(Type::Message).in_tree(above as u8 + 1, position as u128);
            trace.chain = start;
            trace.string(tweak, part)?;
            values.extend_from_slice(trace.chain.map(u64::to_le_bytes).as_flattened());
            position += part.len();
            if rest.is_empty() {
                break;
            }
        }
        level = values;
        if level.len() == 8 * N {
            break;
        }
    }
    trace.output()
}

struct Trace<'w, W, const N: usize> {
    out: &'w mut W,
    output_bits: u64,
    chain: [u64; N],
}

impl<'w, W: Write, const N: usize> Trace<'w, W, N>
where
    [u64; N]: Block<u64>,
{
    /// All steps before the message.
    fn start(
        parameters: &Parameters<'_>,
        shape: Option<Shape>,
        out: &'w mut W,
    ) -> core::result::Result<Self, Error> {
        let mut trace = Self {
            out,
            output_bits: 64 * N as u64,
            chain: [0; N],
        };
        trace.key(parameters.key)?;
        trace.output_bits = parameters.bits::<N>();
        let configuration = configuration(trace.output_bits, shape);
        for (kind, string) in start_strings(None, &configuration[..], parameters.arguments()) {
            trace.string(Tweak::new(kind), string)?;
        }
        Ok(trace)
    }

    fn key(&mut self, key: &[u8]) -> Result {
        if key.is_empty() {
            return Ok(());
        }
        self.string(Tweak::new(Type::Key), key)?;
        writeln!(
            self.out,
            "\n{} MAC key = {:4} bytes",
            header::<N>(),
            key.len()
        )?;
        show_bytes(self.out, key)
    }

    /// UBI of a string, beginning with a tweak.
    fn string(&mut self, mut tweak: Tweak, string: &[u8]) -> Result {
        let blocks = string.len().div_ceil(8 * N).max(1);
        for i in 0..blocks {
            let part = &string[i * 8 * N..string.len().min((i + 1) * 8 * N)];
            tweak = tweak.advance(part.len());
            self.block(if i + 1 == blocks { tweak.last() } else { tweak }, part)?;
            tweak = tweak.after_first();
        }
        Ok(())
    }

    fn output(&mut self) -> Result {
        let chain = self.chain;
        let bytes = self.output_bits.div_ceil(8);
        for i in 0..bytes.div_ceil(8 * N as u64) {
            self.chain = chain;
            self.string(Tweak::new(Type::Output), &i.to_le_bytes())?;
            let block = self.chain.map(u64::to_le_bytes);
            let left = (bytes - i * 8 * N as u64).min(8 * N as u64) as usize;
            writeln!(self.out, "\n{} Final output=", header::<N>())?;
            show_bytes(self.out, &block.as_flattened()[..left])?;
            writeln!(self.out, "    ++++++++++")?;
        }
        Ok(())
    }

    /// One block: its inputs, all rounds, and the chaining value after it.
    fn block(&mut self, tweak: Tweak, bytes: &[u8]) -> Result {
        let mut padded = [[0; 8]; N];
        padded.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
        let block = padded.map(u64::from_le_bytes);
        self.inputs(tweak, &block, padded.as_flattened())?;

        let mut result = Ok(());
        let out = &mut *self.out;
        let cipher =
            block.encrypt_observed(Portable, &self.chain, &tweak.words(), |step, state| {
                result = result.and_then(|()| show_step(out, step, state));
            });
        result?;
        self.chain = core::array::from_fn(|i| cipher[i] ^ block[i]);
        writeln!(
            self.out,
            "\n{} [state after plaintext feedforward]=",
            header::<N>()
        )?;
        show_words(self.out, &self.chain)?;
        writeln!(self.out, "    ----------")
    }

    fn inputs(&mut self, tweak: Tweak, block: &[u64; N], bytes: &[u8]) -> Result {
        let [t0, t1] = tweak.words();
        let flag = |set: bool, name: &'static str| if set { name } else { "      " };
        write!(
            self.out,
            "\n{} Block: outBits={:4}. T0={:06X}. Type={} Flags={}{}    ",
            header::<N>(),
            self.output_bits as u32,
            t0 as u32,
            name((t1 >> 56 & 0x3f) as u8),
            flag(t1 >> 62 & 1 == 1, " First"),
            flag(t1 >> 63 == 1, " Final"),
        )?;
        match t1 >> 48 & 0x7f {
            0 => writeln!(self.out)?,
            level => writeln!(self.out, "  TreeLevel = {level:02X}")?,
        }
        writeln!(self.out, "  Tweak:")?;
        show_words(self.out, &[t0, t1])?;
        writeln!(self.out, "  State words:")?;
        show_words(self.out, &self.chain)?;
        writeln!(self.out, "  Tweak schedule:")?;
        show_words(self.out, &[t0, t1, t0 ^ t1])?;
        writeln!(self.out, "  Key   schedule:")?;
        let parity = self
            .chain
            .iter()
            .fold(crate::threefish::C240, |parity, word| parity ^ word);
        show_words(self.out, &[&self.chain[..], &[parity]].concat())?;
        writeln!(self.out, "  Input block (words):")?;
        show_words(self.out, block)?;
        writeln!(self.out, "  Input block (bytes):")?;
        show_bytes(self.out, bytes)
    }
}

fn show_step<const N: usize>(out: &mut impl Write, step: Step, state: &[u64; N]) -> Result {
    match step {
        Step::Subkey(0) => writeln!(
            out,
            "\n{} [state after initial key injection]=",
            header::<N>()
        )?,
        Step::Subkey(s) => writeln!(
            out,
            "\n{} [state after key injection #{s:02}]=",
            header::<N>()
        )?,
        Step::Round(d) => writeln!(out, "\n{} [state after round {d:2}]=", header::<N>())?,
    }
    show_words(out, state)
}

fn header<const N: usize>() -> &'static str {
    match N {
        4 => ":Skein-256: ",
        8 => ":Skein-512: ",
        _ => ":Skein-1024:",
    }
}

/// The type of the block, from bits 120 to 125 of the tweak.
fn name(kind: u8) -> &'static str {
    match kind {
        0 => "KEY. ",
        4 => "CFG. ",
        8 => "PERS.",
        12 => "PK.  ",
        16 => "KDF. ",
        20 => "0x14.",
        48 => "MSG. ",
        _ => "OUT. ",
    }
}

/// Four words to a line.
fn show_words(out: &mut impl Write, words: &[u64]) -> Result {
    for line in words.chunks(4) {
        out.write_str("    ")?;
        for word in line {
            write!(out, " {:08X}.{:08X} ", word >> 32, word & 0xffff_ffff)?;
        }
        out.write_str("\n")?;
    }
    Ok(())
}

/// Sixteen bytes to a line, in groups of four.
fn show_bytes(out: &mut impl Write, bytes: &[u8]) -> Result {
    for line in bytes.chunks(16) {
        out.write_str("    ")?;
        for (i, byte) in line.iter().enumerate() {
            write!(
                out,
                "{} {byte:02X}",
                if i % 4 == 0 && i > 0 { " " } else { "" }
            )?;
        }
        out.write_str("\n")?;
    }
    Ok(())
}
