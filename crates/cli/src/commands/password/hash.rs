//! `password hash`

use std::io::{BufWriter, Write};

use sealstone_argon2::{Error, Limits, Params, PhcString};
use serde_json::json;
use zeroize::Zeroizing;

use super::inputs::Inputs;
use super::{enough, to_json};
use crate::args::{Form, HashArgs, Hex};
use crate::context::Context;
use crate::failure::{About, Failure, Result};
use crate::io::STDOUT;
use crate::io::output::standard_output;
use crate::passphrase::Asking;

/// Bytes of a generated salt.
const SALT_LEN: usize = 16;

pub(super) fn run(args: &HashArgs, context: &Context) -> Result<()> {
    let params = args.cost.params()?;
    if args.output == Form::RawHex && args.salt_hex.is_none() && !context.json() {
        return Err(
            Failure::usage("a raw hash cannot be checked later without its salt")
                .hint("choose the salt with --salt-hex, or see it with --output phc or --json"),
        );
    }
    let salt = match &args.salt_hex {
        Some(Hex(salt)) => salt.to_vec(),
        None => sealstone_primitives::rng::array::<SALT_LEN>().to_vec(),
    };
    let data = args.inputs.associated_data_hex.as_ref();
    let data: &[u8] = data.map_or(&[], |Hex(data)| data);
    let form = |tag: &[u8]| match args.output {
        Form::Phc => phc(params, &salt, data, tag).map(Some),
        Form::RawHex => Ok(None),
    };
    let mut tag = zeros(args.length as usize)?;
    // Fails before the work if the string cannot be written.
    form(&tag)?;
    if args.output == Form::Phc && Limits::default().check(&params).is_err() {
        let enough = enough(&params);
        context.warn(&format!(
            "it exceeds the default limit: `password verify` will need --kdf-max-memory {enough}"
        ));
    }
    let inputs = Inputs::read(&args.inputs, Asking::Twice, context)?;
    inputs.with_argon2(&params, context, |argon2, arena| {
        argon2.hash(&inputs.password, &salt, &mut tag, arena)
    })?;
    let phc = form(&tag)?;
    if context.json() {
        return context.print(String::new, || {
            json!({"hash_hex": Hex::encode(&tag), "salt_hex": Hex::encode(&salt), "phc": phc, "parameters": to_json(&params)})
        });
    }
    match phc {
        Some(text) => context.print(|| text, || json!(null)),
        None => write_hex(&tag),
    }
}

fn phc(params: Params, salt: &[u8], data: &[u8], tag: &[u8]) -> Result<String> {
    let string = PhcString::new(params, salt, data, tag);
    string.map(|string| string.to_string()).ok_or_else(|| {
        Failure::usage("a PHC string has 8 to 48 bytes of salt, 12 to 64 of hash, up to 32 of associated data and up to 255 lanes")
            .hint("use --output raw-hex for others")
    })
}

fn zeros(len: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    let reserved = bytes.try_reserve_exact(len);
    reserved.map_err(|_| Error::OutOfMemory(len as u64 >> 10))?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Written in pieces, because it may be long.
fn write_hex(bytes: &[u8]) -> Result<()> {
    let mut out = BufWriter::new(standard_output()?.lock());
    let written = bytes
        .chunks(4096)
        .try_for_each(|part| out.write_all(Hex::encode(part).as_bytes()));
    written
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .about(STDOUT)
}
