//! Prints every intermediate value of a hash, like the designers' reference implementation when it
//! is built with `SKEIN_DEBUG` and all its flags are set. You can compare the two by eye or by
//! `diff`.
//!
//! `cargo run -p sealstone-skein --example trace -- STATE OUTPUT-BITS <message`, with a state of
//! 256, 512 or 1024 bits.

use sealstone_skein::{Parameters, trace};
use std::io::{self, Read};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (state, bits) = match &arguments[..] {
        [state, bits] => (state.as_str(), bits.parse().unwrap_or(0)),
        _ => ("", 0),
    };
    let mut message = Vec::new();
    io::stdin().read_to_end(&mut message)?;
    let mut text = String::new();
    let parameters = Parameters::new().output_bits(bits.max(1));
    let written = match (state, bits) {
        ("256", 1..) => trace::hash::<4>(&parameters, &message, &mut text),
        ("512", 1..) => trace::hash::<8>(&parameters, &message, &mut text),
        ("1024", 1..) => trace::hash::<16>(&parameters, &message, &mut text),
        _ => {
            eprintln!("usage: trace 256|512|1024 OUTPUT-BITS <message");
            std::process::exit(2);
        }
    };
    written.expect("text can grow");
    print!("{text}");
    Ok(())
}
