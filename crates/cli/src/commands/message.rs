//! Messages that one program writes and another reads: to a file, whole or not at all, or to
//! standard output.

use std::io::IsTerminal;
use std::path::Path;

use sealstone_files::{Existing, PRIVATE, PUBLIC, keep};
use sealstone_terminal::text::shown;
use serde_json::Value;

use crate::args::MessageOutput;
use crate::context::Context;
use crate::failure::{About, Failure, Result};
use crate::io::DASH;
use crate::io::output;

/// The output.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::commands) enum Form {
    /// The bytes of the wire.
    Message,
    /// The value of a header.
    Text,
    /// Tokens: anybody who reads them can spend them.
    Secret,
    /// Tokens in headers.
    SecretText,
}

impl Form {
    fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::SecretText)
    }

    /// The file's readers.
    fn mode(self) -> u32 {
        match self {
            Self::Message | Self::Text => PUBLIC,
            Self::Secret | Self::SecretText => PRIVATE,
        }
    }
}

/// Writes a message to where it should go, whole or not at all.
pub(in crate::commands) fn write(output: &MessageOutput, bytes: &[u8], form: Form) -> Result<()> {
    match output.output.as_deref() {
        Some(path) if path != Path::new(DASH) => write_file(path, bytes, form, output.force),
        given => {
            let is_shown = output::standard_output()?.is_terminal();
            if is_shown && !form.is_text() && given.is_none() {
                return Err(
                    Failure::usage("this would write binary data to the terminal")
                        .hint("choose -o FILE, or -o - to write it anyway"),
                );
            }
            Ok(output::print(bytes)?)
        }
    }
}

fn write_file(path: &Path, bytes: &[u8], form: Form, force: bool) -> Result<()> {
    // Nothing to replace: --force changes nothing.
    if !force || path.symlink_metadata().is_err() {
        return keep::write_new(path, bytes, form.mode())
            .map_err(|e| Failure::from(e).hint("use another -o, or --force to replace it"));
    }
    keep::must_be_replaceable(path)?;
    let mode = form.mode() & !sealstone_files::umask();
    sealstone_files::write(path, bytes, Existing::Replace, mode).about(shown(path))
}

/// Reports the file that was written. On standard output, the message stands alone.
pub(in crate::commands) fn done(
    output: &MessageOutput,
    context: &Context,
    what: &str,
    value: impl FnOnce() -> Value,
) -> Result<()> {
    match output.output.as_deref() {
        Some(path) if path != Path::new(DASH) => {
            context.result(&format!("wrote {} ({what})", shown(path)), value)
        }
        _ if context.json() => context.beside_content(true).result("", value),
        _ => Ok(()),
    }
}
