//! `sign`, `verify` and `policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sealstone::package::Layer;

use super::{UnlockArgs, file_name, must_be_file};

/// `sign`
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealstone sign report.pdf
  sealstone sign -o release.package --policy terms.json release/
  sealstone sign --cosign release.package --root release --from bob.passport

A package names its files and their digests, and is signed with Ed25519 and ML-DSA-65. A directory
is signed as a whole: additional files are found too. Its files are named relative to it.")]
pub(crate) struct PackageSignArgs {
    /// Files or one directory; `-` is standard input
    #[arg(value_name = "PATH", required_unless_present_any = ["cosign", "countersign"])]
    pub(crate) paths: Vec<PathBuf>,
    /// The package [default: PATH.package if there is one PATH]
    #[arg(short, long, value_name = "OUT.package")]
    pub(crate) output: Option<PathBuf>,
    /// Replace OUT if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Sign with this passport [default: the default passport]
    #[arg(long, value_name = "FILE.passport")]
    pub(crate) from: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) manifest: ManifestArgs,
    #[command(flatten)]
    pub(crate) layers: SignLayerArgs,
    #[command(flatten)]
    pub(crate) timestamp: SignTimestampArgs,
    #[command(flatten)]
    pub(crate) signers: SignerArgs,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// Fields of the manifest.
#[derive(Args)]
#[command(next_help_heading = "Manifest")]
pub(crate) struct ManifestArgs {
    /// Bind a policy to the package: any JSON document
    #[arg(long, value_name = "FILE.json")]
    pub(crate) policy: Option<PathBuf>,
    /// Add free data: a JSON object
    #[arg(long, value_name = "FILE.json")]
    pub(crate) metadata: Option<PathBuf>,
    /// Name an author
    #[arg(long, value_name = "TEXT")]
    pub(crate) author: Option<String>,
    /// The media type of all PATHs, such as application/pdf
    #[arg(long, value_name = "TYPE")]
    pub(crate) media_type: Option<String>,
    /// The name of standard input in the package
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    pub(crate) name: String,
    /// Put the content into the package: 64 MiB at most
    #[arg(long)]
    pub(crate) embed: bool,
    /// Do not record modification times
    #[arg(long)]
    pub(crate) no_times: bool,
    /// The digest of content: skein-tree is quicker, most of all for large files
    #[arg(long, value_enum, default_value_t = Digest::Sha3_256)]
    pub(crate) digest: Digest,
}

/// The layers that not every package has.
#[derive(Args)]
#[command(next_help_heading = "Layers")]
pub(crate) struct SignLayerArgs {
    /// Layers that every verifier must find good, separated by commas: hmac, keys, timestamp;
    /// content, ed25519 and ml-dsa-65 always must be
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    pub(crate) layers: Vec<Layer>,
    /// Add an HMAC under the key in this file: 32 to 1024 bytes
    #[arg(long, value_name = "FILE")]
    pub(crate) hmac_key: Option<PathBuf>,
    /// Add an HMAC that only your passport can check
    #[arg(long, conflicts_with = "hmac_key")]
    pub(crate) hmac_own: bool,
    /// Bind keys to the package that are derived from the secret in this file: 32 to 1024 bytes
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
}

/// The timestamp.
#[derive(Args)]
#[command(next_help_heading = "Timestamp")]
pub(crate) struct SignTimestampArgs {
    /// Have this authority attest the time, and require the timestamp; give several to try them in
    /// turn. The command uses the network only with --tsa
    #[arg(long = "tsa", value_name = "URL")]
    pub(crate) authorities: Vec<String>,
    /// Accept only a timestamp that these roots trust (PEM or DER)
    #[arg(long, value_name = "FILE", requires = "authorities")]
    pub(crate) tsa_roots: Option<PathBuf>,
}

/// Several signers.
#[derive(Args)]
#[command(next_help_heading = "Signers")]
pub(crate) struct SignerArgs {
    /// Another passport that is to sign
    #[arg(long, value_name = "FILE.pub")]
    pub(crate) cosigner: Vec<PathBuf>,
    /// How many of all signers have to sign [default: all]
    #[arg(long, value_name = "K", requires = "cosigner")]
    pub(crate) threshold: Option<u64>,
    /// Add your signature to a package that names you as a signer; its content is checked first
    #[arg(long, value_name = "PACKAGE", conflicts_with_all = ["paths", "output"])]
    pub(crate) cosign: Option<PathBuf>,
    /// Attest that you have seen a package and its signatures; its content is checked first
    #[arg(long, value_name = "PACKAGE", conflicts_with_all = ["paths", "output", "cosign"])]
    pub(crate) countersign: Option<PathBuf>,
    /// Where the files of that package are [default: beside it]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

/// How content is hashed.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Digest {
    /// FIPS 202
    #[value(name = "sha3-256")]
    Sha3_256,
    /// The hash that `sealstone hash` prints
    SkeinTree,
}

/// `verify`
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealstone verify --signer alice.pub report.pdf.package
  sealstone verify --signer alice.pub --root release release.package
  sealstone verify --require timestamp --roots tsa.pem release.package
  sealstone verify --export evidence release.package; sh evidence/check.sh --root release

The package is good only if every layer holds that its signer or you require, and enough signers
have signed whom you name with --signer or have approved in the trust store. Each layer has an exit
code of its own: see sealstone --help.")]
pub(crate) struct PackageVerifyArgs {
    /// The package; `-` is standard input
    #[arg(value_name = "PACKAGE")]
    pub(crate) package: PathBuf,
    /// Require this signer, who then counts as approved
    #[arg(short, long, value_name = "FILE.pub")]
    pub(crate) signer: Vec<PathBuf>,
    /// Where the files are [default: beside the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// The content of the only file of the package; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "root")]
    pub(crate) data: Option<PathBuf>,
    /// Layers that you require although the signer does not, separated by commas
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    pub(crate) require: Vec<Layer>,
    /// Require an HMAC with the key in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) hmac_key: Option<PathBuf>,
    /// Require an HMAC that this passport of yours made
    #[arg(long, value_name = "FILE.passport", conflicts_with = "hmac_key")]
    pub(crate) hmac_own: Option<PathBuf>,
    /// Require that keys follow from the secret in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Check timestamps against the certificates in this file, PEM or DER: at least a root
    #[arg(long, value_name = "CHAIN")]
    pub(crate) roots: Option<PathBuf>,
    /// Write the key of this label to a new file, if the package is good
    #[arg(long, value_name = "LABEL=FILE", requires = "secret_file")]
    pub(crate) derive: Vec<LabelledFile>,
    /// Write everything that others need to check the package with OpenSSL alone to a new directory
    #[arg(long, value_name = "DIR")]
    pub(crate) export: Option<PathBuf>,
    /// Write a report as HTML to a new file, good or bad, for people who have no Sealstone
    #[arg(long, value_name = "FILE.html", value_parser = file_name())]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) unlock: UnlockArgs,
}

/// `LABEL=FILE`
#[derive(Clone)]
pub(crate) struct LabelledFile {
    pub(crate) label: String,
    pub(crate) file: PathBuf,
}

impl std::str::FromStr for LabelledFile {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (label, file) = text.split_once('=').ok_or("write LABEL=FILE")?;
        Ok(Self {
            label: label.to_owned(),
            file: must_be_file(file.into())?,
        })
    }
}

/// `policy`
#[derive(Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print the policy that is bound to a package, or the canonical form of a JSON document
    Show(PolicyShowArgs),
}

/// `policy show`
#[derive(Args)]
pub(crate) struct PolicyShowArgs {
    /// A package, or a JSON document; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}
