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
        file(skein.public_key_file.as_deref(), "the public key")?,
        file(skein.kdf_id_file.as_deref(), "the key identifier")?,
        file(skein.nonce_file.as_deref(), "the nonce")?,
    ]))
}

fn key(path: Option<&Path>, context: &Context) -> Result<Zeroizing<Vec<u8>>> {
    let key = document(path, "the key")?;
    key.iter().for_each(|key| context.warn_if_exposed(key));
    Ok(key.map(Document::into_bytes).unwrap_or_default())
}

fn file(path: Option<&Path>, what: &str) -> Result<Zeroizing<Vec<u8>>> {
    let document = document(path, what)?;
    Ok(document.map(Document::into_bytes).unwrap_or_default())
}

fn document(path: Option<&Path>, what: &str) -> Result<Option<Document>> {
    let Some(path) = path else {
        return Ok(None);
    };
    let document = input::read(path, what, MAX_LEN)?;
    match document.is_empty() {
        true => Err(empty(what).about(document.name())),
        false => Ok(Some(document)),
    }
}

fn empty(what: &str) -> Failure {
    Failure::usage(format!("{what} is empty")).hint("omit it: an empty one gives the same hash")
}
