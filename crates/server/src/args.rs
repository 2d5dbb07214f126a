//! The command's verbs and options.
//!
//! ```
//! use clap::Parser;
//! use sealstone_server::args::Cli;
//!
//! assert!(Cli::try_parse_from(["sealstone-server", "issuer", "--data", "d"]).is_ok());
//! ```

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::operators::Role;

/// Issuers and verifiers of anonymous tokens.
#[derive(Debug, Parser)]
#[command(name = "sealstone-server", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
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
    /// Get a token for an origin's challenge, and print the `Authorization` header
    Token(TokenArgs),
    /// Look after a service that runs
    Admin(AdminArgs),
    /// Check the log of what operators did
    #[command(subcommand)]
    Audit(AuditCommand),
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
    /// What to do.
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
    /// The issuer's URL [default: https and the name in the challenge]
    #[arg(long, value_name = "URL")]
    pub issuer: Option<String>,
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
        /// What the operator may do
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
