//! `seal`, `open` and `inspect`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sealstone::KdfParams;
use sealstone_files::Sync;

use super::{AskAgentArgs, GenerateArgs, RecipientPassphraseArgs, UnlockArgs};
use crate::io::output::{ContentKind, How};

/// `seal`
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealstone seal -r bob.pub --from alice.passport -o report.sealed report.pdf
  sealstone seal -r bob.pub photos              a directory, as photos.sealed
  sealstone seal -p --unsigned notes.txt
  sealstone seal --to Bob *.pdf

Without -r, -R, --to and -p the file is sealed to your default passport. Without --from and
--unsigned your default passport signs. The command reports each of several files; the exit code is
that of the worst failure.")]
pub(crate) struct SealArgs {
    /// The file, or a directory; `-` or nothing is standard input. Several are sealed one by one
    #[arg(value_name = "IN")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The output; `-` is standard output [default: IN.sealed]. With several files, the directory
    /// for their outputs
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    #[command(flatten)]
    pub(crate) many: ManyArgs,

    #[command(flatten)]
    pub(crate) recipients: RecipientArgs,

    #[command(flatten)]
    pub(crate) sender: Sender,

    /// Payload cipher: aes256gcm is several times faster on processors with AES instructions
    #[arg(long, value_enum, default_value_t = Suite::Xchacha20poly1305, help_heading = "Form")]
    pub(crate) suite: Suite,
    /// Write text that survives mail and chat
    #[arg(short, long, help_heading = "Form")]
    pub(crate) armor: bool,
    /// Hide the length: add up to 12 %
    #[arg(long, help_heading = "Form")]
    pub(crate) pad: bool,
    /// The name that recipients see [default: that of IN]
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "no_name",
        help_heading = "Form"
    )]
    pub(crate) name: Option<String>,
    /// Seal neither the name nor the time of IN
    #[arg(long, help_heading = "Form")]
    pub(crate) no_name: bool,
    /// A note for the recipients
    #[arg(long, value_name = "TEXT", help_heading = "Form")]
    pub(crate) note: Option<String>,

    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
    #[command(flatten)]
    pub(crate) agent: AskAgentArgs,
    #[command(flatten)]
    pub(crate) recipient_passphrase: RecipientPassphraseArgs,
    #[command(flatten)]
    pub(crate) generate: GenerateArgs,
}

impl SealArgs {
    /// The form of the new file.
    pub(crate) fn form(&self) -> SealedForm {
        SealedForm {
            suite: self.suite.into(),
            armor: self.armor,
            pad: self.pad,
        }
    }
}

/// The recipients that the options name.
#[derive(Args, Clone)]
pub(crate) struct RecipientArgs {
    /// Seal to a public passport: a file, `-` for standard input, or the armored text itself
    #[arg(
        short,
        long = "recipient",
        value_name = "FILE.pub",
        allow_hyphen_values = true,
        help_heading = "Recipients"
    )]
    pub(crate) recipient: Vec<PathBuf>,
    /// Seal to every public passport in a list: one path per line, or public passports themselves;
    /// `#` begins a comment
    #[arg(
        short = 'R',
        long = "recipients-file",
        value_name = "LIST",
        help_heading = "Recipients"
    )]
    pub(crate) recipients_file: Vec<PathBuf>,
    /// Seal to an approved passport of the trust store, by label or fingerprint
    #[arg(long, value_name = "NAME", help_heading = "Recipients")]
    pub(crate) to: Vec<String>,
    /// Do not name the recipients in the file
    #[arg(long, help_heading = "Recipients")]
    pub(crate) anonymous: bool,
    /// Seal to a passphrase
    #[arg(short, long, help_heading = "Recipients")]
    pub(crate) passphrase_recipient: bool,
    /// The cost of one guess at the passphrase of `-p`
    #[arg(
        long,
        value_name = "PROFILE",
        default_value = "sensitive",
        requires = "passphrase_recipient",
        help_heading = "Recipients"
    )]
    pub(crate) profile: KdfParams,
}

/// The form of a sealed file.
#[derive(Clone, Copy)]
pub(crate) struct SealedForm {
    pub(crate) suite: sealstone::file::Suite,
    pub(crate) armor: bool,
    pub(crate) pad: bool,
}

/// How OUT is written.
#[derive(Args, Clone)]
pub(crate) struct WriteArgs {
    /// Replace OUT if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not wait until OUT is on the disk: a crash of the system may then lose it
    #[arg(long)]
    pub(crate) no_sync: bool,
}

/// Whether other files follow after one that fails.
#[derive(Args, Clone)]
pub(crate) struct ManyArgs {
    /// With several files, stop at the first that fails [default: report it and go on]
    #[arg(long)]
    pub(crate) stop: bool,
}

impl WriteArgs {
    /// How an output of this kind is made.
    pub(crate) fn how(&self, kind: ContentKind) -> How {
        How {
            kind,
            force: self.force,
            sync: match self.no_sync {
                true => Sync::None,
                false => Sync::Full,
            },
        }
    }
}

/// The signer.
#[derive(Args, Clone)]
#[command(next_help_heading = "Sender")]
pub(crate) struct Sender {
    /// Sign with this passport [default: the default passport]
    #[arg(long, value_name = "FILE.passport", conflicts_with = "unsigned")]
    pub(crate) from: Option<PathBuf>,
    /// Do not sign: recipients cannot know who sealed the file
    #[arg(long)]
    pub(crate) unsigned: bool,
    /// Carry only your fingerprint in the file, for recipients who have your public passport
    #[arg(long, conflicts_with = "unsigned")]
    pub(crate) no_carry: bool,
}

/// The payload cipher.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Suite {
    /// Fast on every machine
    Xchacha20poly1305,
    /// Faster with AES instructions
    Aes256gcm,
}

impl From<Suite> for sealstone::file::Suite {
    fn from(suite: Suite) -> Self {
        match suite {
            Suite::Xchacha20poly1305 => Self::XChaCha20Poly1305,
            Suite::Aes256gcm => Self::Aes256Gcm,
        }
    }
}

/// `open`
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealstone open -i bob.passport -o report.pdf report.sealed
  sealstone open *.sealed
  sealstone open photos.sealed                  a sealed directory, as photos
  sealstone open photos.sealed 2026/a.jpg       one file out of it, as a.jpg

The content of a signed file is released only after its signatures have been verified, and only
if the sender is approved in the trust store, is yourself, or is named with --from. The command
reports each of several files; the exit code is that of the worst failure.

Several names that all end in .sealed are files. Otherwise the first is a sealed directory, and the
others are paths in it, as `sealstone list` shows them. Each is opened under its last name, in the
current directory. Files and directories get their modes (as the umask allows) and times, but not
their owners; a single file gets the mode of a new file.")]
pub(crate) struct OpenArgs {
    /// The sealed file; `-` or nothing is standard input. Several files are opened one by one
    #[arg(value_name = "IN")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The output; `-` is standard output [default: IN without .sealed]. With several files, the
    /// directory for their outputs. For a sealed directory, the new directory; with --force, one
    /// that exists is moved aside, to OUT.~1~
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    #[command(flatten)]
    pub(crate) many: ManyArgs,
    /// All names but the first are paths in it, even if they end in .sealed
    #[arg(long)]
    pub(crate) inside: bool,
    /// Write a sealed directory as one tar file, which every tar program reads
    #[arg(long, conflicts_with = "inside")]
    pub(crate) as_tar: bool,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

/// How a sealed file is unlocked, and whose files are accepted.
#[derive(Args, Clone)]
pub(crate) struct AccessArgs {
    /// Open with this passport [default: the default passport]
    #[arg(short, long = "identity", value_name = "FILE.passport")]
    pub(crate) identity: Vec<PathBuf>,
    /// Open with a passphrase, even if a passport would do
    #[arg(short, long)]
    pub(crate) passphrase: bool,

    /// Require this sender, who then counts as approved
    #[arg(long, value_name = "FILE.pub", help_heading = "Sender")]
    pub(crate) from: Option<PathBuf>,
    /// Release the content even if the sender is not approved
    #[arg(long, help_heading = "Sender")]
    pub(crate) accept_pending: bool,
    /// Refuse unsigned files
    #[arg(long, help_heading = "Sender")]
    pub(crate) require_signed: bool,

    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
    #[command(flatten)]
    pub(crate) agent: AskAgentArgs,
}

/// `list`
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealstone list photos.sealed
  sealstone list -l photos.sealed
  sealstone list --json photos.sealed           an object for the whole, then one for each name

If the sender signed the index, the command reads the index only. The list of a signed file is shown
only if its content would be: see sealstone open.")]
pub(crate) struct ListArgs {
    /// The sealed directory; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// Show modes, sizes, times and the targets of links
    #[arg(short, long)]
    pub(crate) long: bool,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

/// `inspect`
#[derive(Args)]
pub(crate) struct InspectArgs {
    /// A sealed file, package, public or secret passport; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
}
