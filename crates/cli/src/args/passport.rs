//! `passport …`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sealstone::KdfParams;

use super::{
    FirstPassphraseArgs, GenerateArgs, LockArgs, NewPassphraseArgs, UnlockArgs, UnlockForArgs,
    file_name,
};

/// `passport …`
#[derive(Subcommand)]
pub(crate) enum PassportCommand {
    /// Make a passport: FILE.passport to keep, and FILE.pub to hand out
    New(NewArgs),
    /// Show a secret or public passport; needs no passphrase
    Show(ShowArgs),
    /// Write the public half again
    Export(ExportArgs),
    /// Show and change the ways to unlock a passport
    #[command(subcommand)]
    Slot(SlotCommand),
    /// Replace a passport by a new one, signed by the old one
    Rotate(RotateArgs),
    /// Back up a passport as shares; some of them restore it
    Split(SplitArgs),
    /// Restore a passport from shares
    Join(JoinArgs),
    /// Show a passport as 24 words or a QR code, to keep on paper
    Backup(BackupArgs),
    /// Restore a passport from its 24 words
    Restore(RestoreArgs),
    /// Unlock a passport for a time: the agent holds it
    Unlock(UnlockForArgs),
    /// Lock what was unlocked for a time
    Lock(LockArgs),
}

/// `passport new`
#[derive(Args)]
pub(crate) struct NewArgs {
    /// The new file; the public half goes next to it [default: your default passport]
    #[arg(short, long, value_name = "FILE.passport", value_parser = file_name())]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) creation: CreationArgs,
}

/// The label of a new passport and its first slot.
#[derive(Args)]
pub(crate) struct CreationArgs {
    /// A name for you, which everybody sees [default: your user name; join and restore ask]
    #[arg(long)]
    pub(crate) label: Option<String>,
    /// Cost of a guess at the passphrase: sensitive (1 GiB), moderate (256 MiB), interactive
    /// (64 MiB), custom:m=256MiB,t=3,p=1
    #[arg(long, value_name = "PROFILE", default_value = "sensitive")]
    pub(crate) profile: KdfParams,
    #[command(flatten)]
    pub(crate) first: FirstPassphraseArgs,
}

/// `passport show`
#[derive(Args)]
pub(crate) struct ShowArgs {
    /// FILE.passport or FILE.pub [default: your default passport]
    pub(crate) file: Option<PathBuf>,
}

/// `passport export`
#[derive(Args)]
pub(crate) struct ExportArgs {
    /// The passport [default: your default passport]
    #[arg(value_name = "FILE.passport")]
    pub(crate) file: Option<PathBuf>,
    /// The output; `-` is standard output
    #[arg(short, long, value_name = "FILE.pub", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Replace FILE.pub if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// `passport slot …`
#[derive(Subcommand)]
pub(crate) enum SlotCommand {
    /// Show the slots; needs no passphrase
    List(SlotListArgs),
    /// Add a passphrase or a recovery key
    Add(SlotAddArgs),
    /// Remove a slot
    Remove(SlotRemoveArgs),
    /// Change the passphrase, the recovery key or the cost of a slot
    Change(SlotChangeArgs),
}

/// `passport slot list`
#[derive(Args)]
pub(crate) struct SlotListArgs {
    /// The passport [default: your default passport]
    #[arg(value_name = "FILE.passport")]
    pub(crate) file: Option<PathBuf>,
}

/// The secret that opens a slot, and its cost.
#[derive(Args)]
pub(crate) struct SlotKeyArgs {
    /// A name for the slot; everybody who has the file sees it
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Use a recovery key, generated and shown once, instead of a passphrase
    #[arg(long, conflicts_with_all = ["new_passphrase_file", "new_passphrase_fd", "generate_passphrase"])]
    pub(crate) recovery: bool,
    #[command(flatten)]
    pub(crate) new: NewPassphraseArgs,
    #[command(flatten)]
    pub(crate) generate: GenerateArgs,
}

/// `passport slot add`
#[derive(Args)]
pub(crate) struct SlotAddArgs {
    /// The passport [default: your default passport]
    #[arg(value_name = "FILE.passport")]
    pub(crate) file: Option<PathBuf>,
    /// Cost of a guess [default: that of the slot that unlocked]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<KdfParams>,
    #[command(flatten)]
    pub(crate) key: SlotKeyArgs,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// `passport slot remove`
#[derive(Args)]
pub(crate) struct SlotRemoveArgs {
    /// The passport [default: your default passport]; a number alone is that of a slot
    #[arg(value_name = "FILE.passport")]
    pub(crate) file: Option<PathBuf>,
    /// The number of the slot
    pub(crate) id: Option<u32>,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// `passport slot change`
#[derive(Args)]
pub(crate) struct SlotChangeArgs {
    /// The passport [default: your default passport]; a number alone is that of a slot
    #[arg(value_name = "FILE.passport")]
    pub(crate) file: Option<PathBuf>,
    /// The number of the slot [default: the one that unlocks]
    pub(crate) id: Option<u32>,
    /// Cost of a guess [default: as before]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<KdfParams>,
    #[command(flatten)]
    pub(crate) key: SlotKeyArgs,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// `passport rotate`
#[derive(Args)]
#[command(after_help = "\
Without arguments, `rotate` replaces your default passport. The old one stays beside the new one \
as default.XXXXXXXX.passport and .pub, named by the first digits of its fingerprint. `sealstone \
open` still uses it for files that name it as a recipient, but no longer releases files that it \
signed, unless you approve it.")]
pub(crate) struct RotateArgs {
    /// The passport to replace [default: your default passport]
    #[arg(value_name = "OLD.passport")]
    pub(crate) old: Option<PathBuf>,
    /// The new file; its public half goes next to it [default: it becomes your default passport]
    #[arg(short, long, value_name = "NEW.passport", value_parser = file_name())]
    pub(crate) output: Option<PathBuf>,
    /// A name for you, which everybody sees [default: as before]
    #[arg(long)]
    pub(crate) label: Option<String>,
    /// Revoke the old passport in your trust store: files that it signed never open again
    #[arg(long, conflicts_with = "no_revoke")]
    pub(crate) revoke: bool,
    /// Do not revoke the old passport, and do not ask; files that it signed wait for your approval
    #[arg(long)]
    pub(crate) no_revoke: bool,
    /// Cost of a guess at the passphrase [default: that of the slot that unlocked]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<KdfParams>,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
    #[command(flatten)]
    pub(crate) new: NewPassphraseArgs,
    #[command(flatten)]
    pub(crate) generate: GenerateArgs,
}

/// `passport split`
#[derive(Args)]
pub(crate) struct SplitArgs {
    /// The passport [default: your default passport]
    #[arg(value_name = "FILE.passport")]
    pub(crate) file: Option<PathBuf>,
    /// Number of shares that restore it, at least 2
    #[arg(short = 'k', long, value_name = "K", value_parser = clap::value_parser!(u8).range(2..=16))]
    pub(crate) threshold: u8,
    /// Number of shares to make, at most 16
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=16))]
    pub(crate) shares: u8,
    /// Write PREFIX-1.share, PREFIX-2.share, …; `-` is standard output, one share a line
    /// [default: -]
    #[arg(short, long, value_name = "PREFIX")]
    pub(crate) output: Option<PathBuf>,
    /// Write to standard output even if it is not a terminal; --json implies it
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// `passport join`
#[derive(Args)]
pub(crate) struct JoinArgs {
    /// Files of shares, one per line; `-` is standard input
    #[arg(required = true, value_name = "SHARE")]
    pub(crate) shares: Vec<PathBuf>,
    /// The new file; its public half goes next to it [default: it becomes your default passport]
    #[arg(short, long, value_name = "NEW.passport", value_parser = file_name())]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) creation: CreationArgs,
}

/// `passport backup`
#[derive(Args)]
pub(crate) struct BackupArgs {
    /// The passport [default: your default passport]
    #[arg(value_name = "FILE.passport")]
    pub(crate) file: Option<PathBuf>,
    /// Show 24 words (the default)
    #[arg(long, conflicts_with = "qr")]
    pub(crate) words: bool,
    /// Show a QR code of the 24 words; a file is SVG or PNG by its name
    #[arg(long)]
    pub(crate) qr: bool,
    /// The output; only you can read the file; `-` is standard output [default: -]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Write to standard output even if it is not a terminal; --json implies it
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// `passport restore`
#[derive(Args)]
pub(crate) struct RestoreArgs {
    /// The new file; its public half goes next to it [default: it becomes your default passport]
    #[arg(short, long, value_name = "NEW.passport", value_parser = file_name())]
    pub(crate) output: Option<PathBuf>,
    /// Read the words from a file; four letters of each are enough; `-` is standard input
    /// [default: asks]
    #[arg(long, value_name = "FILE")]
    pub(crate) words_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) creation: CreationArgs,
}
