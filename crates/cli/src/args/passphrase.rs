//! Where passphrases come from. None of these options takes a passphrase itself: arguments can be seen by other users.

use std::path::PathBuf;

use clap::Args;
use sealstone::KdfLimits;

use super::MemorySize;

/// What unlocks passports.
#[derive(Args)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct UnlockArgs {
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    /// Refuse key derivation that needs more memory than this [default: 2GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) kdf_max_memory: Option<MemorySize>,
}

impl UnlockArgs {
    /// What somebody else's parameters may cost.
    pub(crate) fn limits(&self) -> KdfLimits {
        let default = KdfLimits::default();
        let raised = |MemorySize(memory_kib)| {
            // As many passes over it as over the default.
            let passes = default.work_kib / default.memory_kib;
            KdfLimits {
                memory_kib,
                work_kib: memory_kib.saturating_mul(passes),
            }
        };
        self.kdf_max_memory.map_or(default, raised)
    }
}

/// The passphrase of a passport.
#[derive(Args)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct PassphraseArgs {
    /// Read the passphrase from a file
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Read the passphrase from an open file descriptor
    #[arg(long, value_name = "N")]
    pub(crate) passphrase_fd: Option<u32>,
}

/// A passphrase beside the one that unlocks.
#[derive(Args)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct NewPassphraseArgs {
    /// Read the new passphrase from a file
    #[arg(long, value_name = "FILE", conflicts_with = "new_passphrase_fd")]
    pub(crate) new_passphrase_file: Option<PathBuf>,
    /// Read the new passphrase from an open file descriptor
    #[arg(long, value_name = "N")]
    pub(crate) new_passphrase_fd: Option<u32>,
}

/// A passphrase that opens a sealed file.
#[derive(Args)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct RecipientPassphraseArgs {
    /// Read the passphrase of `-p` from a file
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "recipient_passphrase_fd",
        requires = "passphrase_recipient"
    )]
    pub(crate) recipient_passphrase_file: Option<PathBuf>,
    /// Read the passphrase of `-p` from an open file descriptor
    #[arg(long, value_name = "N", requires = "passphrase_recipient")]
    pub(crate) recipient_passphrase_fd: Option<u32>,
}

/// A passphrase that nobody has to think of.
#[derive(Args)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct GenerateArgs {
    /// Make up a passphrase of ten words, and show it once
    #[arg(long)]
    pub(crate) generate_passphrase: bool,
}
