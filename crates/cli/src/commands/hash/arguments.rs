//! The inputs of a hash beside the message.

use std::path::Path;

use sealstone_files::Document;
use sealstone_skein::sums::Arguments;
use zeroize::Zeroizing;

use crate::args::HashFileArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::io::input;

/// The longest value that is read from a file, in bytes.
const MAX_LEN: usize = 1 << 20;

/// Reads the values that the options name.
pub(super) fn read(args: &HashFileArgs, context: &Context) -> Result<Arguments> {
    let skein = &args.skein;
    let personalization = skein.personalization.clone();
    if personalization.as_deref() == Some("") {
        return Err(empty("the personalisation"));
    }
    Ok(Arguments([
        key(args.mac.as_deref(), context)?,
        Zeroizing::new(personalization.unwrap_or_default().into_bytes()),
        file(skein.public_key_file.as_deref(), "the public key", |_| ())?,
        file(skein.kdf_id_file.as_deref(), "the key identifier", |_| ())?,
        file(skein.nonce_file.as_deref(), "the nonce", |_| ())?,
    ]))
}

fn key(path: Option<&Path>, context: &Context) -> Result<Zeroizing<Vec<u8>>> {
    file(path, "the key", |key| context.warn_if_exposed(key))
}

fn file(path: Option<&Path>, what: &str, look: impl Fn(&Document)) -> Result<Zeroizing<Vec<u8>>> {
    let Some(path) = path else {
        return Ok(Zeroizing::default());
    };
    let file = input::read(path, what, MAX_LEN)?;
    look(&file);
    if file.is_empty() {
        return Err(empty(what).about(file.name()));
    }
    Ok(file.into_bytes())
}

fn empty(what: &str) -> Failure {
    Failure::usage(format!("{what} is empty")).hint("an empty one would be the same as none")
}
