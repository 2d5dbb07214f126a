//! `reseal`

use std::path::PathBuf;

use clap::Args;
use sealstone::KdfParams;

use super::files::{RecipientArgs, SealedForm, Sender, Suite};
use super::{
    AccessArgs, AskAgentArgs, GenerateArgs, ManyArgs, OpenArgs, RecipientPassphraseArgs, SealArgs,
    UnlockArgs, WriteArgs,
};

/// `reseal`
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealstone reseal -r carol.pub report.sealed            Carol can open it, too
  sealstone reseal --remove Bob report.sealed            Bob cannot open this copy
  sealstone reseal --pad -o padded.sealed report.sealed

The recipients stay, as far as the file names them: their public keys come from the trust store,
from your passport, or from -r. Cipher, armor and hidden length stay, too. The content goes from the
old file to the new one in memory. A person who has the old file can still open that one. The new
file gets a new key, and your signature.")]
pub(crate) struct ResealArgs {
    /// The sealed file
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// The output [default: FILE is replaced, once the new one is complete]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    /// Open with this passport [default: the default passport]
    #[arg(short, long = "identity", value_name = "FILE.passport")]
    pub(crate) identity: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) recipients: RecipientArgs,
    /// Remove a recipient: a fingerprint, a public passport, or a name in the trust store
    #[arg(long, value_name = "NAME_OR_FILE.pub", help_heading = "Recipients")]
    pub(crate) remove: Vec<String>,
    /// Remove anonymous recipients and passphrases, which cannot be kept
    #[arg(long, help_heading = "Recipients")]
    pub(crate) remove_unnamed: bool,

    #[command(flatten)]
    pub(crate) sender: Sender,
    /// Reseal even if the sender is not approved
    #[arg(long, help_heading = "Sender")]
    pub(crate) accept_pending: bool,

    #[command(flatten)]
    pub(crate) form: FormArgs,

    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
    #[command(flatten)]
    pub(crate) agent: AskAgentArgs,
    #[command(flatten)]
    pub(crate) recipient_passphrase: RecipientPassphraseArgs,
    #[command(flatten)]
    pub(crate) generate: GenerateArgs,
}

impl ResealArgs {
    /// How the old file is opened.
    pub(crate) fn to_open(&self) -> OpenArgs {
        OpenArgs {
            inputs: vec![self.input.clone()],
            output: None,
            write: self.write.clone(),
            many: ManyArgs { stop: false },
            inside: false,
            as_tar: false,
            access: AccessArgs {
                identity: self.identity.clone(),
                passphrase: false,
                from: None,
                accept_pending: self.accept_pending,
                require_signed: false,
                unlock: self.unlock.clone(),
                agent: self.agent.clone(),
            },
        }
    }

    /// How the new file is sealed.
    pub(crate) fn to_seal(&self) -> SealArgs {
        SealArgs {
            inputs: Vec::new(),
            output: self.output.clone(),
            write: self.write.clone(),
            many: ManyArgs { stop: false },
            recipients: self.recipients.clone(),
            sender: self.sender.clone(),
            // The form depends on the old file, too.
            suite: Suite::Xchacha20poly1305,
            armor: false,
            pad: false,
            name: None,
            no_name: false,
            note: None,
            unlock: self.unlock.clone(),
            agent: self.agent.clone(),
            recipient_passphrase: self.recipient_passphrase.clone(),
            generate: self.generate.clone(),
        }
    }
}

/// The form of the new file.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Form")]
pub(crate) struct FormArgs {
    /// Payload cipher [default: that of FILE]
    #[arg(long, value_enum)]
    suite: Option<Suite>,
    /// Write text that survives mail and chat [default: if FILE is such text]
    #[arg(short, long)]
    armor: bool,
    /// Write no text
    #[arg(long, conflicts_with = "armor")]
    no_armor: bool,
    /// Hide the length: add up to 12 % [default: if FILE hides it]
    #[arg(long)]
    pad: bool,
    /// Do not hide the length
    #[arg(long, conflicts_with = "pad")]
    no_pad: bool,
}

impl FormArgs {
    /// The form of the new file; everything without an option is as `before`.
    pub(crate) fn of(self, before: SealedForm) -> SealedForm {
        SealedForm {
            suite: self.suite.map_or(before.suite, Into::into),
            armor: self.armor(before.armor),
            pad: !self.no_pad && (self.pad || before.pad),
        }
    }

    /// Whether the new file is text.
    pub(crate) fn armor(self, before: bool) -> bool {
        !self.no_armor && (self.armor || before)
    }
}

/// `edit`
#[derive(Args)]
#[command(after_help = "\
The editor is $VISUAL, else $EDITOR, else vi. It gets a file in a private directory in memory, in
$XDG_RUNTIME_DIR or /dev/shm. If there is none, nothing is decrypted. The file is sealed again for
the same recipients, in the same form, if its content changed.

Git shows what changed in sealed files:
  echo '*.sealed diff=sealed' >> .gitattributes
  git config diff.sealed.textconv 'sealstone open -q -o - --'

Git keeps the files of a directory sealed in its history, and plain in your folder:
  echo 'secret/* filter=sealed' >> .gitattributes
  git config filter.sealed.clean 'sealstone seal -q'
  git config filter.sealed.smudge 'sealstone open -q'
  git config filter.sealed.required true

This seals for yourself. To share the files add -r YOURS.pub --to Bob: without the first, you cannot
check out what you have committed. Sealing twice gives different bytes. So git shows a filtered
file as changed each time that it reads the content again.")]
pub(crate) struct EditArgs {
    /// The sealed file
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    /// Open with this passport [default: the default passport]
    #[arg(short, long = "identity", value_name = "FILE.passport")]
    pub(crate) identity: Vec<PathBuf>,
    /// The public passport of a recipient that the trust store does not know
    #[arg(
        short,
        long = "recipient",
        value_name = "FILE.pub",
        help_heading = "Recipients"
    )]
    pub(crate) recipient: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sender: Sender,
    /// Edit even if the sender is not approved
    #[arg(long, help_heading = "Sender")]
    pub(crate) accept_pending: bool,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
    #[command(flatten)]
    pub(crate) agent: AskAgentArgs,
}

impl EditArgs {
    /// The file in its place, sealed for the same recipients.
    pub(crate) fn to_reseal(&self, profile: KdfParams) -> ResealArgs {
        ResealArgs {
            input: self.input.clone(),
            output: None,
            write: self.write.clone(),
            identity: self.identity.clone(),
            recipients: RecipientArgs {
                recipient: self.recipient.clone(),
                recipients_file: Vec::new(),
                to: Vec::new(),
                anonymous: false,
                passphrase_recipient: false,
                profile,
            },
            remove: Vec::new(),
            remove_unnamed: false,
            sender: self.sender.clone(),
            accept_pending: self.accept_pending,
            form: self.form,
            unlock: self.unlock.clone(),
            agent: self.agent.clone(),
            recipient_passphrase: RecipientPassphraseArgs {
                recipient_passphrase_file: None,
                recipient_passphrase_fd: None,
            },
            generate: GenerateArgs {
                generate_passphrase: false,
            },
        }
    }
}
