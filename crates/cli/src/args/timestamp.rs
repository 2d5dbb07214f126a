//! `timestamp …`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sealstone::timestamp::{Policy, Sha2};

use super::{Hex, MessageOutput};

/// `timestamp …`
#[derive(Subcommand)]
pub(crate) enum TimestampCommand {
    /// Write a request that any time-stamping authority answers
    Request(StampRequestArgs),
    /// Ask a time-stamping authority: the command uses the network only with --tsa
    Fetch(FetchArgs),
    /// Check a timestamp over any data, offline
    Verify(StampVerifyArgs),
    /// Add a timestamp to a package; a later one renews those before it
    Attach(AttachArgs),
    /// Timestamp a timestamp before its certificate or its algorithms end
    Renew(RenewArgs),
}

/// A hash function of a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum HashName {
    Sha256,
    Sha384,
    Sha512,
}

impl From<HashName> for Sha2 {
    fn from(name: HashName) -> Self {
        match name {
            HashName::Sha256 => Self::Sha256,
            HashName::Sha384 => Self::Sha384,
            HashName::Sha512 => Self::Sha512,
        }
    }
}

/// The data, or its digest.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct DataArgs {
    /// The data; `-` is standard input
    pub(crate) data: Option<PathBuf>,
    /// The digest of the data instead, in hexadecimal
    #[arg(long, value_name = "HEX")]
    pub(crate) digest_hex: Option<Hex>,
}

/// How a request is made.
#[derive(Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct QueryArgs {
    /// The hash function [default: sha256, or the one that fits --digest-hex]
    #[arg(long, value_name = "HASH")]
    pub(crate) hash: Option<HashName>,
    /// The policy that the authority has to follow, as in 1.2.3.4
    #[arg(long, value_name = "OID")]
    pub(crate) policy: Option<Policy>,
}

/// Which authorities are asked, for how long and how often.
#[derive(Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    /// The authority's address, http:// or https://; give several to try them in turn
    #[arg(long = "tsa", value_name = "URL", required = true)]
    pub(crate) authorities: Vec<String>,
    /// The time limit of one attempt
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Retries if an address cannot be reached or is overloaded
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=10))]
    pub(crate) retries: u32,
}

impl NetworkArgs {
    /// The default time and number of retries.
    pub(crate) fn patient(authorities: Vec<String>) -> Self {
        Self {
            authorities,
            timeout: 30,
            retries: 2,
        }
    }
}

/// `timestamp request`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone timestamp request report.pdf -o report.tsq
  curl -H 'Content-Type: application/timestamp-query' --data-binary @report.tsq URL > report.tsr
  sealstone timestamp verify --response report.tsr --query report.tsq --roots tsa.pem report.pdf")]
pub(crate) struct StampRequestArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Ask for a timestamp over a package and its signatures: see `timestamp attach`
    #[arg(
        long,
        value_name = "PACKAGE",
        group = "DataArgs",
        conflicts_with = "renew"
    )]
    pub(crate) package: Option<PathBuf>,
    /// Ask for a renewal of these responses, the oldest first, instead of a first timestamp
    #[arg(long = "renew", value_name = "R.tsr")]
    pub(crate) renew: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) output: MessageOutput,
}

/// `timestamp fetch`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone timestamp fetch report.pdf --tsa https://tsa.example --roots tsa.pem -o report.tsr
  sealstone timestamp fetch --query report.tsq --tsa https://one.example --tsa https://two.example \\
      -o report.tsr

The authority sees the digest of the data and your network address. HTTP_PROXY, HTTPS_PROXY,
ALL_PROXY and NO_PROXY name a proxy, which has to know CONNECT. Redirects are not followed.")]
pub(crate) struct FetchArgs {
    /// The data; `-` is standard input
    #[arg(required_unless_present_any = ["digest_hex", "query"], conflicts_with_all = ["digest_hex", "query"])]
    pub(crate) data: Option<PathBuf>,
    /// The digest of the data instead, in hexadecimal
    #[arg(long, value_name = "HEX", conflicts_with = "query")]
    pub(crate) digest_hex: Option<Hex>,
    /// Send this request, which `timestamp request` wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["hash", "policy"])]
    pub(crate) query: Option<PathBuf>,
    /// Accept only a response that these roots trust (PEM or DER)
    #[arg(long, value_name = "FILE")]
    pub(crate) roots: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) request: QueryArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) output: MessageOutput,
}

/// The verifier's demands.
#[derive(Args)]
#[command(next_help_heading = "Also required")]
pub(crate) struct RequireArgs {
    /// The response answers this request: the same nonce and policy
    #[arg(long, value_name = "FILE")]
    pub(crate) query: Option<PathBuf>,
    /// The authority followed this policy
    #[arg(long, value_name = "OID")]
    pub(crate) policy: Option<Policy>,
    /// The authority's certificates are valid now, not only at the time of the timestamp
    #[arg(long)]
    pub(crate) valid_now: bool,
    /// Refuse a timestamp that identifies its certificate by SHA-1 only
    #[arg(long)]
    pub(crate) no_sha1_id: bool,
}

/// `timestamp verify`
#[derive(Args)]
#[command(
    override_usage = "sealstone timestamp verify [OPTIONS] --response <R.tsr> \
                      --roots <CHAIN> [DATA]"
)]
#[command(after_help = "Examples:
  sealstone timestamp verify --response report.tsr --roots tsa.pem report.pdf
  sealstone timestamp verify --response report.tsr --roots tsa.pem --digest-hex 2cf24dba…
  sealstone timestamp verify --response 2026.tsr --response 2036.tsr --roots tsa.pem report.pdf

Exit code 0: the timestamp is good. 5: it is bad. 4: it is malformed. In all these cases, --json
prints an object with \"verdict\" (\"good\" or \"bad\"), \"reason\" and \"time\".

Certificates are judged at the time of the timestamp. A chain may be in the response or in the roots
file. Only self-issued certificates are trusted. Revocation is not checked.")]
pub(crate) struct StampVerifyArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// The authority's response; then its renewals, the oldest first
    #[arg(long = "response", value_name = "R.tsr", required = true)]
    pub(crate) responses: Vec<PathBuf>,
    /// The roots that you trust, and other certificates of the chain (PEM or DER)
    #[arg(long, value_name = "CHAIN")]
    pub(crate) roots: PathBuf,
    #[command(flatten)]
    pub(crate) require: RequireArgs,
}

/// `timestamp attach`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone timestamp request --package release.package -o release.tsq
  sealstone timestamp attach release.package release.tsr --roots tsa.pem
  sealstone timestamp attach release.package --tsa https://tsa.example --roots tsa.pem

A timestamp covers all signatures and timestamps before it. Attach another one before the
certificates of the last one end. The package then stays good.")]
pub(crate) struct AttachArgs {
    /// The package, which is replaced
    pub(crate) package: PathBuf,
    /// The authority's response to a request that `timestamp request --package` wrote
    #[arg(value_name = "R.tsr", required_unless_present = "authorities")]
    pub(crate) response: Option<PathBuf>,
    /// Ask this authority now; give several to try them in turn
    #[arg(long = "tsa", value_name = "URL", conflicts_with = "response")]
    pub(crate) authorities: Vec<String>,
    /// Attach only a timestamp that these roots trust (PEM or DER)
    #[arg(long, value_name = "CHAIN")]
    pub(crate) roots: Option<PathBuf>,
}

/// `timestamp renew`
#[derive(Args)]
#[command(
    override_usage = "sealstone timestamp renew [OPTIONS] --response <R.tsr> --roots <CHAIN> \
                      --tsa <URL> [DATA]"
)]
#[command(after_help = "Example:
  sealstone timestamp renew report.pdf --response 2026.tsr --roots tsa.pem --tsa URL -o 2036.tsr

Keep all responses. The first one has the time. Each later one proves the age of the one before.")]
pub(crate) struct RenewArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// The first response, then its renewals, the oldest first
    #[arg(long = "response", value_name = "R.tsr", required = true)]
    pub(crate) responses: Vec<PathBuf>,
    /// The roots that you trust: the old and the new responses have to be good (PEM or DER)
    #[arg(long, value_name = "CHAIN")]
    pub(crate) roots: PathBuf,
    #[command(flatten)]
    pub(crate) request: QueryArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) output: MessageOutput,
}
