//! `agent`, `passport unlock` and `passport lock`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};

use super::UnlockArgs;

/// `agent`
#[derive(Args)]
#[command(after_help = "\
`sealstone passport unlock` starts an agent when there is none, so you need not start it yourself.
Without a command, the agent serves in the foreground.")]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AgentCommand>,
    /// Serve in the background, and end when nothing is held
    #[arg(long, hide = true)]
    pub(crate) on_demand: bool,
}

/// `agent …`
#[derive(Clone, Copy, Subcommand)]
pub(crate) enum AgentCommand {
    /// Show which passports the agent holds, and for how long
    Status,
    /// Lock every passport and end the agent
    Stop,
}

/// Whether the agent is asked.
#[derive(Args, Clone)]
#[command(next_help_heading = "Passphrase")]
pub(crate) struct AskAgentArgs {
    /// Do not ask the agent, even if it holds the passport
    #[arg(long)]
    pub(crate) no_agent: bool,
}

/// `passport unlock`
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealstone passport unlock --for 8h
  sealstone passport unlock --passphrase-command 'secret-tool lookup sealstone default'
  sealstone passport unlock --passphrase-command 'pass show sealstone'
  sealstone passport unlock --passphrase-command 'cat \"$CREDENTIALS_DIRECTORY/sealstone\"'

The last one is for a unit of systemd with LoadCredential=sealstone or LoadCredentialEncrypted=.

Until the time is over, `seal` and `open` use the passport without asking for its passphrase. Every
program that runs as you can do the same: keep the time short.")]
pub(crate) struct UnlockForArgs {
    /// The passport [default: your default passport]
    #[arg(value_name = "FILE.passport")]
    pub(crate) file: Option<PathBuf>,
    /// For how long: seconds, or a number with s, m, h or d; at most 7d
    #[arg(long = "for", value_name = "TIME", default_value = "15m")]
    pub(crate) period: Period,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// `passport lock`
#[derive(Args)]
pub(crate) struct LockArgs {
    /// Lock only this passport [default: all]
    #[arg(value_name = "FILE.passport")]
    pub(crate) file: Option<PathBuf>,
}

/// A time from a second to a week, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Period(pub(crate) u64);

const WEEK: u64 = 7 * 24 * 3600;

impl FromStr for Period {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const RULE: &str = "a time is like 90, 90s, 15m, 8h or 2d, and at most 7d";
        let (digits, unit) = match text.char_indices().next_back() {
            Some((at, 's')) => (&text[..at], 1),
            Some((at, 'm')) => (&text[..at], 60),
            Some((at, 'h')) => (&text[..at], 3600),
            Some((at, 'd')) => (&text[..at], 24 * 3600),
            _ => (text, 1),
        };
        let number: u64 = digits.parse().map_err(|_| RULE)?;
        let seconds = number.checked_mul(unit).ok_or(RULE)?;
        match (1..=WEEK).contains(&seconds) {
            true => Ok(Self(seconds)),
            false => Err(RULE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [
            ("90", 90),
            ("1s", 1),
            ("15m", 900),
            ("8h", 28_800),
            ("7d", WEEK),
        ] {
            assert_eq!(text.parse(), Ok(Period(seconds)), "{text}");
        }
        for bad in [
            "",
            "0",
            "m",
            "8d",
            "-1m",
            "1w",
            "1.5h",
            "99999999999999999999d",
            "15 m",
        ] {
            assert!(bad.parse::<Period>().is_err(), "{bad}");
        }
    }
}
