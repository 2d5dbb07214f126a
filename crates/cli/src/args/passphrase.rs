//! Options for passphrases. None takes a passphrase itself: other users can see arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use sealstone::{KdfLimits, KdfParams, MemorySize};

use crate::exit::Exit;
use crate::failure::{Failure, Result};

/// Options of commands that unlock.
#[derive(Args, Clone)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct UnlockArgs {
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    #[command(flatten)]
    pub(crate) kdf: KdfArgs,
}

/// The limit of key derivation.
#[derive(Args, Clone)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct KdfArgs {
    /// Refuse key derivation that needs more memory than this [default: 2GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) kdf_max_memory: Option<MemorySize>,
}

impl KdfArgs {
    /// The limits for parameters that come from a file.
    pub(crate) fn limits(&self) -> KdfLimits {
        let memory = self.kdf_max_memory;
        memory.map_or_else(KdfLimits::default, |size| KdfLimits::of_memory(size.0))
    }

    /// Refuses to write what unlocking would refuse. `params` are those of every slot that is
    /// tried.
    pub(crate) fn must_allow(&self, params: &[KdfParams]) -> Result<()> {
        self.limits().check_all(params).map_err(|e| {
            let Some(enough) = KdfLimits::enough(&e) else {
                return e.into();
            };
            Failure::new(
                Exit::KeyDerivation,
                "unlocking would exceed the limit of key derivation",
            )
            .hint(format!(
                "if you mean it, give --kdf-max-memory {enough}, now and for unlocking"
            ))
        })
    }
}

/// The passphrase of a passport.
#[derive(Args, Clone)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct PassphraseArgs {
    /// Read the passphrase from a file
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Read the passphrase from an open file descriptor
    #[arg(long, value_name = "N")]
    pub(crate) passphrase_fd: Option<u32>,
    /// Take the passphrase from the first line that a shell command prints, as of a keyring
    /// [default: $SEALSTONE_PASSPHRASE_COMMAND]
    #[arg(long, value_name = "CMD", conflicts_with_all = ["passphrase_file", "passphrase_fd"])]
    pub(crate) passphrase_command: Option<OsString>,
}

/// Options for a new passphrase of a command that also unlocks.
#[derive(Args)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct NewPassphraseArgs {
    /// Read the new passphrase from a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["new_passphrase_fd", "generate_passphrase"])]
    pub(crate) new_passphrase_file: Option<PathBuf>,
    /// Read the new passphrase from an open file descriptor
    #[arg(long, value_name = "N", conflicts_with = "generate_passphrase")]
    pub(crate) new_passphrase_fd: Option<u32>,
}

/// Options for the passphrase of a sealed file.
#[derive(Args, Clone)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct RecipientPassphraseArgs {
    /// Read the passphrase of `-p` from a file
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["recipient_passphrase_fd", "generate_passphrase"],
        requires = "passphrase_recipient"
    )]
    pub(crate) recipient_passphrase_file: Option<PathBuf>,
    /// Read the passphrase of `-p` from an open file descriptor
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "generate_passphrase",
        requires = "passphrase_recipient"
    )]
    pub(crate) recipient_passphrase_fd: Option<u32>,
}

/// The option for a generated passphrase.
#[derive(Args, Clone)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct GenerateArgs {
    /// Generate a passphrase of ten words and show it once
    #[arg(long)]
    pub(crate) generate_passphrase: bool,
}

/// Options for the first slot of a passport.
#[derive(Args)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct FirstPassphraseArgs {
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    /// Generate a passphrase of ten words and show it once
    #[arg(long, conflicts_with_all = ["passphrase_file", "passphrase_fd", "passphrase_command"])]
    pub(crate) generate_passphrase: bool,
    #[command(flatten)]
    pub(crate) kdf: KdfArgs,
}
