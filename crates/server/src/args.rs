//! The command's verbs and options.
//!
//! ```
//! use clap::Parser;
//! use sealstone_server::args::Cli;
//!
//! assert!(Cli::try_parse_from(["sealstone-server", "issuer", "--data", "d"]).is_ok());
//! ```

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::operators::Role;

/// Issuers and verifiers of anonymous tokens.
#[derive(Debug, Parser)]
#[command(name = "sealstone-server", version, max_term_width = 100)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Issue tokens to those who pass the gate
    Issuer(IssuerArgs),
    /// Accept each token once
    Verifier(VerifierArgs),
    /// Read a configuration, and say whether it is good
    CheckConfig {
        /// The file
        file: PathBuf,
    },
    /// Print the documented configuration
    Config,
    /// Move the store of a service that does not run to another kind of store
    Migrate(MigrateArgs),
    /// Copy the embedded store into a file, while the service runs
    Backup(BackupArgs),
    /// Put a backup into an empty store
    Restore(RestoreArgs),
    /// Get a token for an origin's challenge, and print the `Authorization` header
    Token(TokenArgs),
    /// Administer a running service
    Admin(AdminArgs),
    /// Check the log of what operators did
    #[command(subcommand)]
    Audit(AuditCommand),
}

/// The kinds of services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ServiceRole {
    /// It issues.
    Issuer,
    /// It verifies.
    Verifier,
}

impl ServiceRole {
    /// The name in stores and backups.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Issuer => "issuer",
            Self::Verifier => "verifier",
        }
    }

    /// The role of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let mut all = [Self::Issuer, Self::Verifier].into_iter();
        all.find(|role| role.name() == name)
    }
}

/// `migrate`
#[derive(Args, Debug)]
#[command(
    after_help = "Stop all processes of the service first. A move that was interrupted is \
run again with the same arguments. Afterwards the old store refuses services.

Example:
  sealstone-server migrate verifier --from redb.toml --to redis.toml"
)]
pub struct MigrateArgs {
    /// The kind of the service
    pub role: ServiceRole,
    /// The configuration of the service until now
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
    /// The configuration from now on; its store is empty
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Seconds that processes have to notice the move and end, if they share the old store
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub wait: u64,
    /// Give up a move that did not end: use the old store again, and never the new one
    #[arg(long)]
    pub give_up: bool,
}

/// `backup`
#[derive(Args, Debug)]
#[command(
    after_help = "The file holds all that was acknowledged before the time `ended` that is \
printed. It holds the issuer's locked passport, and not its passphrase.

Example:
  sealstone-server backup --data /var/lib/sealstone-verifier --to verifier.backup"
)]
pub struct BackupArgs {
    /// The service's data directory
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// The new file
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
}

/// `restore`
#[derive(Args, Debug)]
#[command(after_help = "Example:
  sealstone-server restore --from verifier.backup --data /var/lib/sealstone-verifier")]
pub struct RestoreArgs {
    /// The backup
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
    /// The configuration, for another store than the embedded one
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// `audit …`
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Read the whole log, and print its end; note that, and give it the next time
    Verify {
        /// Where the service is.
        #[command(flatten)]
        data: DataArgs,
        /// An end that you noted: also finds a log that was replaced or cut
        #[arg(long, value_name = "COUNT:DIGEST")]
        expect: Option<String>,
    },
}

/// `admin`
#[derive(Args, Debug)]
pub struct AdminArgs {
    /// Print tables instead of JSON
    #[arg(long, global = true)]
    pub table: bool,
    /// The subcommand.
    #[command(subcommand)]
    pub command: AdminCommand,
}

/// Options of both services.
#[derive(Args, Debug)]
pub struct ServiceArgs {
    /// The configuration [default: none; see `sealstone-server config`]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
}

/// `issuer`
#[derive(Args, Debug)]
#[command(after_help = "Example:
  sealstone-server issuer --data /var/lib/sealstone-issuer --listen 127.0.0.1:8080")]
pub struct IssuerArgs {
    /// Options of both services.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// The gate: none, pow, or a name in the configuration [default: pow]
    #[arg(long, value_name = "NAME")]
    pub gate: Option<String>,
}

/// `verifier`
#[derive(Args, Debug)]
#[command(after_help = "Example:
  sealstone-server verifier --data /var/lib/sealstone-verifier --listen 127.0.0.1:8081 \\
    --issuer http://127.0.0.1:8080")]
pub struct VerifierArgs {
    /// Options of both services.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// The issuer's URL
    #[arg(long, value_name = "URL")]
    pub issuer: Option<String>,
    /// The fingerprint of the issuer's passport [default: of the first one that the URL gives]
    #[arg(long, value_name = "FINGERPRINT")]
    pub fingerprint: Option<String>,
}

/// `token`
#[derive(Args, Debug)]
#[command(after_help = "Example:
  curl -H \"Authorization: $(sealstone-server token --origin http://127.0.0.1:8081/verify \\
    --issuer http://127.0.0.1:8080)\" http://127.0.0.1:8081/verify")]
pub struct TokenArgs {
    /// The URL that wants a token
    #[arg(long, value_name = "URL")]
    pub origin: String,
    /// The host that the challenge must be for [default: the host of the origin's URL]
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// The issuer's URL [default: https and the name in the challenge]
    #[arg(long, value_name = "URL")]
    pub issuer: Option<String>,
    /// PEM certificates that those of the origin and the issuer must come from [default: the
    /// system's]
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// A gate's name and a proof, such as an invitation; may be given several times
    #[arg(long = "proof", value_name = "NAME PROOF")]
    pub proofs: Vec<String>,
}

/// `admin …`
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Show keys and sets
    Status(DataArgs),
    /// Begin the next epoch now
    RotateKeys(DataArgs),
    /// Replace all keys at once, because somebody else may know them
    RevokeKeys(DataArgs),
    /// Show the last entries of the log of what operators did
    Audit {
        /// Where the service is.
        #[command(flatten)]
        data: DataArgs,
        /// Entries before this number
        #[arg(long)]
        before: Option<u64>,
    },
    /// Show invitations that have not ended
    Invitations(DataArgs),
    /// Show operators
    Operators(DataArgs),
    /// Add an operator, or change the role or the password
    SetOperator {
        /// Where the service is.
        #[command(flatten)]
        data: DataArgs,
        /// The name
        name: String,
        /// The rights of the operator
        #[arg(long, value_enum)]
        role: Role,
        /// The password's file, needed for a new operator; "-" is standard input
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// Remove an operator, and end all sessions of that name
    RemoveOperator {
        /// Where the service is.
        #[command(flatten)]
        data: DataArgs,
        /// The name
        name: String,
    },
    /// End all sessions of an operator, who may log in again
    EndSessions {
        /// Where the service is.
        #[command(flatten)]
        data: DataArgs,
        /// The name
        name: String,
    },
    /// Make an invitation
    Invite {
        /// Where the service is.
        #[command(flatten)]
        data: DataArgs,
        /// The gate's name
        #[arg(long)]
        gate: String,
        /// For how many tokens
        #[arg(long)]
        quota: u64,
        /// For how many days
        #[arg(long, default_value_t = 30)]
        days: u64,
    },
    /// Revoke an invitation, and all that were made from it
    Uninvite {
        /// Where the service is.
        #[command(flatten)]
        data: DataArgs,
        /// The gate's name
        #[arg(long)]
        gate: String,
        /// The invitation's id, as `invite` prints it
        id: String,
    },
}

/// Which service.
#[derive(Args, Debug)]
pub struct DataArgs {
    /// The service's data directory
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
}
