//! `trust …`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sealstone::trust::Checkpoint;

use super::UnlockArgs;

/// `trust …`
#[derive(Subcommand)]
pub(crate) enum TrustCommand {
    /// Show the passports that you saw and your decisions
    List,
    /// Show one record and its history
    Show(TrustShowArgs),
    /// Let files of this sender open; first compare the fingerprint with its owner
    Approve(ApproveArgs),
    /// Never open files of this sender
    Deny(DecideArgs),
    /// The owner no longer uses this passport, or may have lost it: never open its files again
    Revoke(EndArgs),
    /// Somebody else has the secret keys of this passport: never open its files again
    Compromised(EndArgs),
    /// Show all changes, oldest first
    Log,
    /// Verify the whole store, and print a checkpoint to keep elsewhere
    Check(CheckArgs),
    /// Countersign your decisions with your passport, so that others cannot add any
    Sign(SignArgs),
    /// Remove strangers that you saw long ago and never decided about
    Prune(PruneArgs),
    /// Give the store a new key
    Rekey(RekeyArgs),
    /// Show or set whether unsigned files open
    Policy(PolicyArgs),
}

/// `trust policy`
#[derive(Args)]
pub(crate) struct PolicyArgs {
    /// The policy [default: show it]
    #[arg(value_enum)]
    pub(crate) policy: Option<SignedPolicy>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// How unsigned files are treated.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum SignedPolicy {
    /// They are refused
    SignedOnly,
    /// They open with a warning
    Any,
}

/// `trust show`
#[derive(Args)]
pub(crate) struct TrustShowArgs {
    /// A public passport, or the label or fingerprint of a record, or 8 or more of its first digits
    #[arg(value_name = "NAME_OR_FILE.pub")]
    pub(crate) name: String,
}

/// The author of a decision and the reason.
#[derive(Args)]
pub(crate) struct ChangeArgs {
    /// The reason, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// The person who decides [default: your user name]
    #[arg(long, value_name = "NAME")]
    pub(crate) operator: Option<String>,
}

/// `trust deny`, and part of the others
#[derive(Args)]
pub(crate) struct DecideArgs {
    /// A public passport, or the label or fingerprint of a record
    #[arg(required = true, value_name = "NAME_OR_FILE.pub")]
    pub(crate) names: Vec<String>,
    /// Your name for its owner [default: the owner's own label]
    #[arg(long)]
    pub(crate) label: Option<String>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// `trust revoke`, `trust compromised`
#[derive(Args)]
#[command(after_help = "\
A package that was timestamped before the date stays good. Without --since, a revocation holds from \
now, and a compromised passport counts as compromised at all times: every package of it is refused. \
Sealed files have no timestamp: they never open, whatever the date.")]
pub(crate) struct EndArgs {
    #[command(flatten)]
    pub(crate) decide: DecideArgs,
    /// The date from which it holds: 2026-11-21 (00:00:00 UTC), 2026-11-21T01:03:33Z or @SECONDS
    #[arg(long, value_name = "TIME", value_parser = sealstone_terminal::clock::parse)]
    pub(crate) since: Option<u64>,
}

/// `trust approve`
#[derive(Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    pub(crate) decide: DecideArgs,
    /// Do not ask: you have compared the fingerprint with its owner
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Approve although another approved passport has the same label
    #[arg(long)]
    pub(crate) same_label: bool,
    /// Approve although it was revoked or compromised
    #[arg(long)]
    pub(crate) reinstate: bool,
}

/// `trust check`
#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The checkpoint of an earlier check: fails if an older copy of the store was put back since
    #[arg(long, value_name = "COUNT:LINK")]
    pub(crate) expect: Option<Checkpoint>,
    /// Fail if there are decisions that your passport has not countersigned
    #[arg(long)]
    pub(crate) signed: bool,
    /// The passport that must have countersigned [default: your default passport]
    #[arg(long, value_name = "FILE.pub", requires = "signed")]
    pub(crate) by: Option<PathBuf>,
}

/// `trust sign`
#[derive(Args)]
#[command(after_help = "\
A program that can read the key of the store can add decisions; it cannot countersign them. \
`trust check --signed` fails if there are such decisions. Once you have countersigned, `seal` and \
`open` do so again when they unlock the same passport, and show the decisions that are new.")]
pub(crate) struct SignArgs {
    /// The passport that countersigns [default: your default passport]
    #[arg(long, value_name = "FILE.passport")]
    pub(crate) by: Option<PathBuf>,
    /// Do not ask whether the decisions are yours
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// `trust prune`
#[derive(Args)]
pub(crate) struct PruneArgs {
    /// Remove strangers whose record has not changed for this many days
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    pub(crate) older_than: u32,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// `trust rekey`
#[derive(Args)]
pub(crate) struct RekeyArgs {
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}
