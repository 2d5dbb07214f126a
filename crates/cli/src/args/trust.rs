//! `trust …`

use std::str::FromStr;

use clap::{Args, Subcommand};

/// `trust …`
#[derive(Subcommand)]
pub(crate) enum TrustCommand {
    /// Show whom you met and what you decided
    List,
    /// Show one record and its history
    Show(TrustShowArgs),
    /// Let files of this sender open; compare the fingerprint with its owner first
    Approve(ApproveArgs),
    /// Never open files of this sender
    Deny(DecideArgs),
    /// The owner lost control of this passport: never open its files again
    Revoke(DecideArgs),
    /// Show all changes, oldest first
    Log,
    /// Verify the whole store, and print what to keep elsewhere
    Check(CheckArgs),
    /// Give the store a new key
    Rekey(RekeyArgs),
}

/// `trust show`
#[derive(Args)]
pub(crate) struct TrustShowArgs {
    /// A public passport, or the label or fingerprint of a record, or 8 or more of its first digits
    #[arg(value_name = "NAME_OR_FILE.pub")]
    pub(crate) name: String,
}

/// Who decides, and why.
#[derive(Args)]
pub(crate) struct ChangeArgs {
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Who decides [default: your user name]
    #[arg(long, value_name = "NAME")]
    pub(crate) operator: Option<String>,
}

/// `trust deny`, `trust revoke`
#[derive(Args)]
pub(crate) struct DecideArgs {
    /// A public passport, or the label or fingerprint of a record
    #[arg(required = true, value_name = "NAME_OR_FILE.pub")]
    pub(crate) names: Vec<String>,
    /// What you call it [default: what its owner does]
    #[arg(long)]
    pub(crate) label: Option<String>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// `trust approve`
#[derive(Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    pub(crate) decide: DecideArgs,
    /// Do not ask: the fingerprint has been compared
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Approve although it was revoked
    #[arg(long)]
    pub(crate) reinstate: bool,
}

/// `trust check`
#[derive(Args)]
pub(crate) struct CheckArgs {
    /// What an earlier check printed: fails if the store was put back to a state before it
    #[arg(long, value_name = "COUNT:LINK")]
    pub(crate) expect: Option<Checkpoint>,
}

/// `trust rekey`
#[derive(Args)]
pub(crate) struct RekeyArgs {
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// How long the log was, and what it hashed to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Checkpoint {
    pub(crate) count: u64,
    pub(crate) link: [u8; 32],
}

impl FromStr for Checkpoint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "it is a number, a colon and 64 hexadecimal digits, as `sealstone trust check` prints it";
        let (count, link) = text.split_once(':').ok_or(FORM)?;
        let link: sealstone::passport::Fingerprint = link.parse().map_err(|_| FORM)?;
        Ok(Self {
            count: count.parse().map_err(|_| FORM)?,
            link: *link.as_bytes(),
        })
    }
}
