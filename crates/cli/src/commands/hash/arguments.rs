//! The inputs of a hash beside the message.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sealstone_skein::sums::Arguments;
use zeroize::Zeroizing;

use crate::args::HashFileArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::io::input::{name_of, read_small};

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
    let key = file(path, "the key")?;
    if let Some(path) = path {
        let metadata = std::fs::metadata(path);
        if metadata.is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o077 != 0) {
            context.warn(&format!(
                "{} can be read by others: chmod 600 it",
                path.display()
            ));
        }
    }
    Ok(key)
}

fn file(path: Option<&Path>, what: &str) -> Result<Zeroizing<Vec<u8>>> {
    let Some(path) = path else {
        return Ok(Zeroizing::default());
    };
    let bytes = read_small(path, what, MAX_LEN)?;
    if bytes.is_empty() {
        return Err(empty(what).about(name_of(path)));
    }
    Ok(bytes)
}

fn empty(what: &str) -> Failure {
    Failure::usage(format!("{what} is empty")).hint("an empty one would be the same as none")
}
