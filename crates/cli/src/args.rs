//! The command line: one file per verb. Help texts are the doc comments.

mod agent;
mod files;
mod hash;
mod keys;
mod monitor;
mod package;
mod passphrase;
mod passport;
mod password;
mod reseal;
mod selftest;
mod timestamp;
mod token;
mod trust;
mod values;

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use agent::{AgentArgs, AgentCommand, AskAgentArgs, LockArgs, UnlockForArgs};
pub(crate) use files::{
    AccessArgs, InspectArgs, ListArgs, ManyArgs, OpenArgs, SealArgs, SealedForm, WriteArgs,
};
pub(crate) use hash::{HashFileArgs, SkeinArgs, TreeValue};
pub(crate) use keys::{
    KeyArgs, KeyChangeArgs, KeyEndArgs, KeyRotateArgs, KeySetArgs, KeysCommand, Limit,
};
pub(crate) use monitor::{MonitorCommand, MonitorReportArgs};
pub(crate) use package::{
    Digest, PackageSignArgs, PackageVerifyArgs, PolicyCommand, PolicyShowArgs,
};
pub(crate) use passphrase::{
    FirstPassphraseArgs, GenerateArgs, NewPassphraseArgs, PassphraseArgs, RecipientPassphraseArgs,
    UnlockArgs,
};
pub(crate) use passport::{
    BackupArgs, CreationArgs, ExportArgs, JoinArgs, NewArgs, PassportCommand, RestoreArgs,
    RotateArgs, ShowArgs, SlotAddArgs, SlotChangeArgs, SlotCommand, SlotKeyArgs, SlotRemoveArgs,
    SplitArgs,
};
pub(crate) use password::{
    BenchArgs, CalibrateArgs, Form, HashArgs, InputArgs, PasswordCommand, VerifyArgs,
};
pub(crate) use reseal::{EditArgs, ResealArgs};
pub(crate) use selftest::SelftestArgs;
pub(crate) use timestamp::{
    AttachArgs, DataArgs, FetchArgs, NetworkArgs, QueryArgs, RenewArgs, StampRequestArgs,
    StampVerifyArgs, TimestampCommand,
};
pub(crate) use token::{
    ChallengeArgs, ContextValue, DirectoryArgs, EpochFile, FinalizeArgs, IssueArgs, KeygenArgs,
    MessageOutput, RedeemArgs, RequestArgs, ScheduleArgs, TokenCommand, TokenInspectArgs,
};
pub(crate) use trust::{
    ApproveArgs, CheckArgs, DecideArgs, EndArgs, PolicyArgs, PruneArgs, RekeyArgs, SignArgs,
    SignedPolicy, TrustCommand,
};
pub(crate) use values::{Hex, file_name, must_be_file};

/// Keep files secret for decades, and know who sent them.
///
/// A passport is your identity. You hand out its public half (FILE.pub). With the secret half
/// (FILE.passport) you open files that were sealed for you, and sign files that you seal.
#[derive(Parser)]
#[command(
    name = "sealstone",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    subcommand_required = true
)]
#[command(after_long_help = crate::exit::help(), after_help = "`--help` also shows examples and the exit codes.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut grammar = Self::grammar();
        let matches = grammar.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut grammar))
    }

    /// The grammar with its help. `--trust-dir` is shown only for verbs that use it.
    pub(crate) fn grammar() -> clap::Command {
        let mut grammar = Self::command();
        // Hands the global options down.
        grammar.build();
        grammar.mut_subcommands(|verb| match verb.get_name() {
            "agent" | "hash" | "password" | "policy" | "timestamp" | "token" | "selftest"
            | "completions" | "man" => hide_trust_dir(verb),
            _ => verb,
        })
    }
}

fn hide_trust_dir(verb: clap::Command) -> clap::Command {
    verb.mut_args(|arg| match arg.get_id() == "trust_dir" {
        true => arg.hide(true),
        false => arg,
    })
    .mut_subcommands(|verb| match verb.get_name() {
        // `token directory` looks up its signer.
        "directory" => verb,
        _ => hide_trust_dir(verb),
    })
}

/// The options of every command.
#[derive(Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct GlobalArgs {
    /// One JSON object on standard output instead of text; errors as JSON on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No messages except warnings and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// No progress bars
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
    /// Directory of the trust store [default: $SEALSTONE_TRUST_DIR, or `trust` in your data
    /// directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) trust_dir: Option<PathBuf>,
}

/// The verbs.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make, show, back up and replace passports
    #[command(subcommand)]
    Passport(PassportCommand),
    /// Encrypt a file or a directory for its recipients, signed by you
    Seal(Box<SealArgs>),
    /// Decrypt a sealed file and check who sealed it
    Open(OpenArgs),
    /// Show what is in a sealed directory
    List(ListArgs),
    /// Change the recipients, the form or the signature of a sealed file
    Reseal(Box<ResealArgs>),
    /// Edit a sealed text in memory, and seal it again for the same recipients
    Edit(Box<EditArgs>),
    /// Hold unlocked passports for a time, so that passphrases are typed once
    Agent(AgentArgs),
    /// Show what a sealed file, package or passport reveals without a key
    Inspect(InspectArgs),
    /// Sign files, or a directory, as a package that nobody can alter
    Sign(Box<PackageSignArgs>),
    /// Verify a package in six layers
    Verify(Box<PackageVerifyArgs>),
    /// Show policies that are bound to packages
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Decide which senders you trust
    #[command(subcommand)]
    Trust(TrustCommand),
    /// Limit when and how often your own keys sign, and retire them
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Notice unusual signing: slower, larger, more frequent or repeated
    #[command(subcommand)]
    Monitor(MonitorCommand),
    /// Show when data existed: timestamps by a trusted authority (RFC 3161)
    #[command(subcommand)]
    Timestamp(Box<TimestampCommand>),
    /// Let people in without knowing who they are: anonymous tokens (Privacy Pass)
    #[command(subcommand)]
    Token(TokenCommand),
    /// Hash passwords and check them
    #[command(subcommand)]
    Password(PasswordCommand),
    /// Print the 64-byte hash of each file, and check files against hashes
    Hash(Box<HashFileArgs>),
    /// Check this program on this machine
    Selftest(SelftestArgs),
    /// Print a completion script for a shell
    Completions {
        /// bash, elvish, fish, powershell or zsh
        shell: clap_complete::Shell,
    },
    /// The approved contacts, one per line, for completion scripts
    #[command(hide = true)]
    Contacts,
    /// Write the manual pages
    Man {
        /// The directory [default: print the main page]
        dir: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests {
    use sealstone_terminal::text::columns;

    use super::Cli;

    const COLUMNS: usize = 100;

    /// The lines of help that are too long, of a command and of all below it, and the number of
    /// these commands.
    fn too_long(command: &clap::Command) -> (Vec<String>, usize) {
        // The width of the terminal of this test does not count.
        let mut this = command.clone().term_width(COLUMNS);
        let help = [this.render_help(), this.render_long_help()];
        let help = help.map(|help| help.to_string());
        let lines = help.iter().flat_map(|help| help.lines());
        let long = lines.filter(|line| columns(line) > COLUMNS);
        let name = command.get_display_name().unwrap_or_default();
        let long = long.map(|line| format!("{name}: {line}")).collect();
        let below = command.get_subcommands().map(too_long);
        below.fold((long, 1), |(mut all, count), (long, more)| {
            all.extend(long);
            (all, count + more)
        })
    }

    /// The parser breaks descriptions of options, but not usage, examples and long words.
    #[test]
    fn no_help_has_a_line_of_more_than_100_columns() {
        let (long, commands) = too_long(&Cli::grammar());
        assert!(long.is_empty(), "{}", long.join("\n"));
        assert!(commands > 70, "{commands}");
    }
}
