//! `token …`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sealstone_terminal::clock;
use sealstone_token::privacypass::TokenType;

use super::{Hex, UnlockArgs, file_name};

/// `token …`
#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Make an issuer's key, or a root that keys of epochs come from
    Keygen(KeygenArgs),
    /// Make an origin's challenge
    Challenge(ChallengeArgs),
    /// Ask an issuer for tokens that answer a challenge
    Request(RequestArgs),
    /// Answer a request with an issuer's key
    Issue(IssueArgs),
    /// Check an issuer's response and make the tokens
    Finalize(FinalizeArgs),
    /// Check a token, once
    Redeem(RedeemArgs),
    /// List an issuer's public keys, signed by its passport; or check such a list
    Directory(DirectoryArgs),
    /// Explain a token, challenge, request, response, key, directory or header
    Inspect(TokenInspectArgs),
}

/// A type of token.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum TypeName {
    /// 0x0001, RFC 9578: only the issuer can verify
    P384,
    /// 0x0002, RFC 9578: anyone can verify
    Rsa,
    /// 0x0005, for batches: only the issuer can verify
    Ristretto255,
    /// 0xff01, Sealstone's own: only the issuer can verify
    P256,
}

impl TypeName {
    pub(crate) fn token_type(self) -> TokenType {
        match self {
            Self::P384 => TokenType::VoprfP384,
            Self::Rsa => TokenType::BlindRsa2048,
            Self::Ristretto255 => TokenType::VoprfRistretto255,
            Self::P256 => TokenType::VoprfP256,
        }
    }
}

/// The output of a message.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct MessageOutput {
    /// The output; `-` is standard output [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// `token keygen`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone token keygen --type p384 -o issuer.key           writes issuer.key and issuer.key.pub
  sealstone token keygen --root -o issuer.root               a root for the keys of all epochs
  sealstone token keygen --type p384 --from issuer.root --epoch 7 -o epoch-7.key")]
pub(crate) struct KeygenArgs {
    /// The type of tokens that the key issues
    #[arg(long = "type", value_name = "TYPE", required_unless_present = "root")]
    pub(crate) kind: Option<TypeName>,
    /// Make a root instead of a key
    #[arg(long, conflicts_with_all = ["kind", "from"])]
    pub(crate) root: bool,
    /// Derive the key from a root
    #[arg(long, value_name = "ROOT", requires = "epoch")]
    pub(crate) from: Option<PathBuf>,
    /// The number of the epoch
    #[arg(long, value_name = "N", requires = "from")]
    pub(crate) epoch: Option<u64>,
    /// The new secret file; the public key goes beside it, into FILE.pub
    #[arg(short, long, value_name = "FILE", value_parser = file_name())]
    pub(crate) output: PathBuf,
}

/// `token challenge`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone token challenge --type p384 --issuer issuer.example --origin shop.example -o challenge
  sealstone token challenge --type rsa --issuer issuer.example --header --key issuer.key.pub")]
pub(crate) struct ChallengeArgs {
    /// The type of token to ask for
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: TypeName,
    /// The issuer's host name
    #[arg(long, value_name = "NAME")]
    pub(crate) issuer: String,
    /// A host that accepts the token; without this option, all
    #[arg(long = "origin", value_name = "NAME")]
    pub(crate) origins: Vec<String>,
    /// `random`, `none`, or 32 bytes in hexadecimal: with them, the token must be fetched for this
    /// very challenge
    #[arg(long, value_name = "CONTEXT", default_value = "none")]
    pub(crate) context: ContextValue,
    /// Write the value of a `WWW-Authenticate` header instead of the bytes
    #[arg(long)]
    pub(crate) header: bool,
    /// The issuer's public key, for the header
    #[arg(long, value_name = "KEY.pub", requires = "header")]
    pub(crate) key: Option<PathBuf>,
    /// The lifetime of the challenge in seconds, for the header
    #[arg(long, value_name = "SECONDS", requires = "header")]
    pub(crate) max_age: Option<u64>,
    #[command(flatten)]
    pub(crate) output: MessageOutput,
}

/// A redemption context.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ContextValue {
    Random,
    Absent,
    Given([u8; 32]),
}

impl std::str::FromStr for ContextValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "random" => Ok(Self::Random),
            "none" => Ok(Self::Absent),
            _ => {
                let bytes = text.parse::<Hex>().map_err(|e| e.to_string())?;
                let array = bytes.0.as_slice().try_into();
                array
                    .map(Self::Given)
                    .map_err(|_| "it is random, none, or 64 hexadecimal digits".to_owned())
            }
        }
    }
}

/// `token request`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone token request challenge --key issuer.key.pub --state waiting -o request
  sealstone token directory --check directory --signer issuer.pub -o list
  sealstone token request challenge --directory list --state waiting -o request

An origin could name another key for each client, and know the client again by its tokens. With
--key or --directory, a challenge that names another key is refused.")]
pub(crate) struct RequestArgs {
    /// The challenge: its bytes, or the value of a `WWW-Authenticate` header
    pub(crate) challenge: PathBuf,
    /// The issuer's public key [default: the one that the header names]
    #[arg(long, value_name = "KEY.pub")]
    pub(crate) key: Option<PathBuf>,
    /// Take the preferred key of this list of the issuer, as `token directory` writes it
    #[arg(long, value_name = "LIST", conflicts_with = "key")]
    pub(crate) directory: Option<PathBuf>,
    /// The host that sent the challenge: one that is for other hosts only is refused
    #[arg(long, value_name = "NAME")]
    pub(crate) origin: Option<String>,
    /// The number of tokens; several share a proof
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) count: u16,
    /// The new secret file for `token finalize`
    #[arg(long, value_name = "FILE", value_parser = file_name())]
    pub(crate) state: PathBuf,
    #[command(flatten)]
    pub(crate) output: MessageOutput,
}

/// `token issue`
#[derive(Args)]
#[command(after_help = "Example:
  sealstone token issue request --key epoch-7.key --key epoch-8.key -o response

One byte of the request identifies the key.")]
pub(crate) struct IssueArgs {
    /// The request
    pub(crate) request: PathBuf,
    /// A secret key of the issuer; may be given several times
    #[arg(long = "key", value_name = "KEY", required = true)]
    pub(crate) keys: Vec<PathBuf>,
    /// The largest number of tokens in a request
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) output: MessageOutput,
}

/// `token finalize`
#[derive(Args)]
#[command(after_help = "Example:
  sealstone token finalize response --state waiting -o token")]
pub(crate) struct FinalizeArgs {
    /// The issuer's response
    pub(crate) response: PathBuf,
    /// The secret file that `token request` wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) state: PathBuf,
    /// Write the value of an `Authorization` header for each token, one per line
    #[arg(long)]
    pub(crate) header: bool,
    #[command(flatten)]
    pub(crate) output: MessageOutput,
}

/// `token redeem`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone token redeem token --challenge challenge --key issuer.key --spent spent
  sealstone token redeem token --challenge challenge --key issuer.key.pub --spent spent    for RSA

Exit code 0: the token is good and is redeemed. 5: it is bad or was redeemed before. Each redeemed
token has a file in the directory of spent tokens, below its key. Remove such a directory only when
the key's tokens are no longer accepted. Origins that accept answers to one challenge share one such
directory. With exit code 3 the token was not redeemed.

A challenge does not contain its time. So an origin that limits its age (max-age) must store the
time, and pass a challenge to this command only as long as it accepts it.")]
pub(crate) struct RedeemArgs {
    /// The token: its bytes, or the value of an `Authorization` header
    pub(crate) token: PathBuf,
    /// The challenge that it must answer: its bytes, or the value of a `WWW-Authenticate` header
    #[arg(long, value_name = "FILE")]
    pub(crate) challenge: PathBuf,
    /// A key whose tokens are accepted: the issuer's secret key, for RSA also the public one
    #[arg(long = "key", value_name = "KEY", required = true)]
    pub(crate) keys: Vec<PathBuf>,
    /// The directory of spent tokens; it is created if it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) spent: PathBuf,
}

/// `token directory`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone token directory --key issuer.key.pub -o directory.json
  sealstone token directory --key 7=epoch-7.key.pub --key 8=epoch-8.key.pub --start 2026-01-01 \\
    --length 604800 --issue-grace 86400 --redeem-grace 604800 --sign -o directory
  sealstone token directory --check directory --signer issuer.pub
  sealstone token directory --check directory --after accepted-before -o list

A client that accepts only the signed list gets no key that an issuer shows to it alone, as long as
clients compare their lists. Exit code 5 says that the list was changed, has another signer, is older
than the one accepted before, or that all of its keys are over; 6 that you have not approved the
signer.")]
pub(crate) struct DirectoryArgs {
    /// A public key, the preferred one first; with the number of its epoch if there is a --start
    #[arg(
        long = "key",
        value_name = "[EPOCH=]KEY.pub",
        required_unless_present = "check"
    )]
    pub(crate) keys: Vec<EpochFile>,
    /// Where clients send requests: a URL, or a path on the issuer's host
    #[arg(long, value_name = "URI", default_value = "/token-request")]
    pub(crate) request_uri: String,
    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
    /// Sign the list with your passport; the result is binary
    #[arg(long)]
    pub(crate) sign: bool,
    /// Sign with this passport [default: the default passport]
    #[arg(long, value_name = "FILE.passport", requires = "sign")]
    pub(crate) from: Option<PathBuf>,
    /// Check this signed list and show it; with --output, write the list without its signatures
    #[arg(long, value_name = "FILE", conflicts_with_all = ["keys", "start", "sign", "from"])]
    pub(crate) check: Option<PathBuf>,
    /// Require this signer, who then counts as approved
    // A --key stands against --check, so that clap would not miss the latter.
    #[arg(
        short,
        long,
        value_name = "FILE.pub",
        requires = "check",
        conflicts_with = "keys"
    )]
    pub(crate) signer: Option<PathBuf>,
    /// Refuse a list that was signed before this one, which you accepted
    #[arg(long, value_name = "FILE", requires = "check", conflicts_with = "keys")]
    pub(crate) after: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: MessageOutput,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// When the keys of epochs issue and redeem.
#[derive(Args)]
#[command(next_help_heading = "Epochs")]
pub(crate) struct ScheduleArgs {
    /// When epoch 0 begins: 2026-11-21 (00:00:00 UTC), 2026-11-21T01:03:33Z or @SECONDS
    #[arg(long, value_name = "TIME", value_parser = clock::parse, requires = "length")]
    pub(crate) start: Option<u64>,
    /// The seconds in which the key of an epoch is the preferred one
    #[arg(long, value_name = "SECONDS", requires = "start")]
    pub(crate) length: Option<u64>,
    /// The seconds for which a key still issues afterwards
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) issue_grace: u64,
    /// The seconds for which tokens of a key are accepted afterwards
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) redeem_grace: u64,
}

/// `[EPOCH=]FILE`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EpochFile {
    pub(crate) epoch: Option<u64>,
    pub(crate) file: PathBuf,
}

impl std::str::FromStr for EpochFile {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbered = text
            .split_once('=')
            .and_then(|(epoch, file)| Some((epoch.parse().ok()?, file)));
        let (epoch, file) = match numbered {
            Some((epoch, file)) => (Some(epoch), file),
            None => (None, text),
        };
        Ok(Self {
            epoch,
            file: file.into(),
        })
    }
}

/// `token inspect`
#[derive(Args)]
pub(crate) struct TokenInspectArgs {
    /// The file
    pub(crate) file: PathBuf,
}
