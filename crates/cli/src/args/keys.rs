//! `keys …`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sealstone_terminal::clock;

use super::trust::ChangeArgs;

/// `keys …`
#[derive(Subcommand)]
pub(crate) enum KeysCommand {
    /// Show your keys: stage, times, uses left
    List,
    /// Show the state of one key, its limits and its history
    Show(KeyArgs),
    /// Limit when and how often a key signs
    Set(KeySetArgs),
    /// Name the successor that the key signed; until you deprecate it, both sign
    Rotate(KeyRotateArgs),
    /// Never sign with this key again; its signatures stay valid
    Deprecate(KeyChangeArgs),
    /// Never sign with this key again; refuse its signatures from a date on
    Revoke(KeyEndArgs),
    /// Somebody else has this key: never sign with it again, refuse its signatures from a date on
    Compromised(KeyEndArgs),
}

/// The key.
#[derive(Args)]
pub(crate) struct KeyArgs {
    /// FILE.passport, FILE.pub, or the label or fingerprint of a key that `keys list` shows
    /// [default: your default passport]
    #[arg(value_name = "KEY")]
    pub(crate) key: Option<String>,
}

/// The key, and author and reason of a change.
#[derive(Args)]
pub(crate) struct KeyChangeArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// `keys set`
#[derive(Args)]
#[command(after_help = "\
A limit that you do not name stays. Times are 2026-11-21 (00:00:00 UTC), 2026-11-21T01:03:33Z or \
@SECONDS. Every use while there is a limit of uses is recorded before the key signs: a crash can \
lose uses, and never gives more.")]
pub(crate) struct KeySetArgs {
    #[command(flatten)]
    pub(crate) of: KeyChangeArgs,
    /// The first second in which it may sign, or `none`
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) not_before: Option<Limit>,
    /// The last second in which it may sign, or `none`
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) not_after: Option<Limit>,
    /// The largest number of signatures, 1 to 100000, or `none`
    #[arg(long, value_name = "N", value_parser = number)]
    pub(crate) max_uses: Option<Limit>,
}

/// `keys rotate`
#[derive(Args)]
#[command(after_help = "\
`sealstone passport rotate` makes a successor and names it here at once.")]
pub(crate) struct KeyRotateArgs {
    #[command(flatten)]
    pub(crate) of: KeyChangeArgs,
    /// The public passport of the successor, which `sealstone passport rotate` made
    #[arg(long, value_name = "NEW.pub")]
    pub(crate) to: PathBuf,
}

/// `keys revoke`, `keys compromised`
#[derive(Args)]
#[command(after_help = "\
There is no way back. Signatures that were timestamped before the date stay valid. Without \
--since, a revocation holds from now, and a compromised key counts as compromised at all times. \
Your contacts decide for themselves: tell them to run `sealstone trust revoke` or `sealstone trust \
compromised`.")]
pub(crate) struct KeyEndArgs {
    #[command(flatten)]
    pub(crate) of: KeyChangeArgs,
    /// The date from which it holds: 2026-11-21 (00:00:00 UTC), 2026-11-21T01:03:33Z or @SECONDS
    #[arg(long, value_name = "TIME", value_parser = clock::parse)]
    pub(crate) since: Option<u64>,
}

/// A limit, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit(pub(crate) Option<u64>);

fn time(text: &str) -> Result<Limit, &'static str> {
    match text {
        "none" => Ok(Limit(None)),
        text => clock::parse(text).map(|time| Limit(Some(time))),
    }
}

fn number(text: &str) -> Result<Limit, &'static str> {
    const FORM: &str = "a limit of uses is 1 to 100000, or none";
    match text {
        "none" => Ok(Limit(None)),
        text => {
            let number = text.parse().ok();
            let allowed = number.filter(|number| (1..=100_000).contains(number));
            allowed.map(|number| Limit(Some(number))).ok_or(FORM)
        }
    }
}
