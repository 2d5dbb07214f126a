//! The inputs of a hash beside the message.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sealstone_skein::Parameters;
use zeroize::Zeroizing;

use super::algorithm::{Algorithm, Uses};
use crate::args::HashFileArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::io::input::{name_of, read_small};

/// Key, personalisation, public key, key identifier, nonce. An empty value means none.
pub(super) struct Arguments([Zeroizing<Vec<u8>>; 5]);

/// The longest value that is read from a file, in bytes.
const MAX_LEN: usize = 1 << 20;

impl Arguments {
    /// Reads the values that the options name.
    pub(super) fn read(args: &HashFileArgs, context: &Context) -> Result<Self> {
        let skein = &args.skein;
        let personalization = skein.personalization.clone();
        if personalization.as_deref() == Some("") {
            return Err(empty("the personalisation"));
        }
        Ok(Self([
            key(args.mac.as_deref(), context)?,
            Zeroizing::new(personalization.unwrap_or_default().into_bytes()),
            file(skein.public_key_file.as_deref(), "the public key")?,
            file(skein.kdf_id_file.as_deref(), "the key identifier")?,
            file(skein.nonce_file.as_deref(), "the nonce")?,
        ]))
    }

    /// Which values there are.
    pub(super) fn uses(&self) -> Uses {
        self.0.each_ref().map(|value| !value.is_empty())
    }

    /// The parameters of `algorithm` with these values.
    pub(super) fn parameters(&self, algorithm: &Algorithm) -> Parameters<'_> {
        let [key, personalization, public_key, key_id, nonce] = &self.0;
        Parameters::new()
            .output_bits(algorithm.output_bits)
            .key(key)
            .personalization(personalization)
            .public_key(public_key)
            .key_id(key_id)
            .nonce(nonce)
    }
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
