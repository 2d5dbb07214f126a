//! `password …`

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use sealstone_argon2::{Error, PROFILES, Params, Variant, Version};

use sealstone::MemorySize;

use super::{Hex, PassphraseArgs};

/// `password …`
#[derive(Subcommand)]
pub(crate) enum PasswordCommand {
    /// Hash a password with Argon2, to store it or to derive a key
    #[command(disable_version_flag = true)]
    Hash(Box<HashArgs>),
    /// Check a password against a stored hash
    #[command(disable_version_flag = true)]
    Verify(Box<VerifyArgs>),
    /// Find parameters for a time and an amount of memory on this machine
    Calibrate(CalibrateArgs),
    /// Measure the time of hashing on this machine
    #[command(disable_version_flag = true)]
    Bench(BenchArgs),
}

/// The cost of a hash.
#[derive(Args)]
#[command(next_help_heading = "Cost")]
pub(crate) struct CostArgs {
    /// Parameters with a name; `sealstone password bench` lists them [default: interactive]
    #[arg(long, value_name = "NAME", value_parser = profile_names())]
    profile: Option<String>,
    /// The variant of Argon2 [default: argon2id]
    #[arg(long, value_name = "NAME", value_parser = ["argon2d", "argon2i", "argon2id"])]
    variant: Option<String>,
    /// Version of Argon2, 19 (RFC 9106) or 16 [default: 19]
    #[arg(long, value_name = "N", value_parser = ["16", "19"])]
    version: Option<String>,
    /// Memory in KiB [default: that of the profile]
    #[arg(long, value_name = "KIB")]
    memory_kib: Option<u32>,
    /// Passes over the memory [default: that of the profile]
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// Lanes that threads can share [default: that of the profile]
    #[arg(long, value_name = "N")]
    parallelism: Option<u32>,
}

impl CostArgs {
    /// The profile, with the options that replace its parts.
    pub(crate) fn params(&self) -> Result<Params, Error> {
        let named = self.profile.as_deref().and_then(Params::profile);
        let profile = named.unwrap_or(Params::INTERACTIVE);
        let params = Params::new(
            self.memory_kib.unwrap_or(profile.memory_kib()),
            self.iterations.unwrap_or(profile.passes()),
            self.parallelism.unwrap_or(profile.lanes()),
        )?;
        let named = |variant: &Variant| self.variant.as_deref() == Some(variant.name());
        let version = match self.version.as_deref() {
            Some("16") => Version::V0x10,
            _ => Version::V0x13,
        };
        let variant = Variant::ALL.into_iter().find(named).unwrap_or_default();
        Ok(params.with_variant(variant).with_version(version))
    }

    /// The name of the chosen profile, or `custom` if other options replace parts of it. `None`
    /// without such options.
    pub(crate) fn name(&self) -> Option<&str> {
        let is_custom = [self.memory_kib, self.iterations, self.parallelism] != [None; 3]
            || self.variant.is_some()
            || self.version.is_some();
        match is_custom {
            true => Some("custom"),
            false => self.profile.as_deref(),
        }
    }
}

fn profile_names() -> [&'static str; PROFILES.len()] {
    PROFILES.map(|(name, _)| name)
}

/// The inputs of a hash besides password and salt, and the number of threads.
#[derive(Args)]
#[command(next_help_heading = "Inputs")]
pub(crate) struct InputArgs {
    /// Read a secret (pepper), in hexadecimal, from a file; it is not stored with the hash
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_hex_file: Option<PathBuf>,
    /// Associated data in hexadecimal; must agree with that of a stored hash
    #[arg(long, value_name = "HEX")]
    pub(crate) associated_data_hex: Option<Hex>,
    /// Threads to use [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    // Last: its heading would go on.
    #[command(flatten)]
    pub(crate) password: PassphraseArgs,
}

/// `password hash`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone password hash                                  asks, and prints a string to store
  sealstone password hash --profile owasp-19m --passphrase-fd 0 < password
  sealstone password hash --output raw-hex --salt-hex 000102030405060708090a0b0c0d0e0f --length 64

A password from a file or descriptor is taken byte for byte: a line ending at its end counts, and it may be empty.")]
pub(crate) struct HashArgs {
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    /// The salt in hexadecimal, never used before [default: 16 random bytes]
    #[arg(long, value_name = "HEX", help_heading = "Inputs")]
    pub(crate) salt_hex: Option<Hex>,
    /// Bytes of hash
    #[arg(long, value_name = "N", default_value_t = 32, help_heading = "Output", value_parser = clap::value_parser!(u32).range(4..))]
    pub(crate) length: u32,
    /// A PHC string, which can be stored and verified, or the hash alone
    #[arg(
        long,
        value_name = "FORM",
        default_value = "phc",
        help_heading = "Output"
    )]
    pub(crate) output: Form,
}

/// The form of a hash.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Form {
    Phc,
    RawHex,
}

/// `password verify`
#[derive(Args)]
#[command(after_help = "Examples:
  sealstone password verify '$argon2id$v=19$m=65536,t=3,p=1$…$…'
  sealstone password verify --hash-file stored.txt --passphrase-fd 3 3< password

Exit code 0: the password is right; 5: it is wrong. The options under Cost describe new hashes. If
the stored hash differs from them, the command tells you to hash the password again.")]
pub(crate) struct VerifyArgs {
    /// The stored hash, a PHC string
    #[arg(required_unless_present = "hash_file")]
    pub(crate) hash: Option<String>,
    /// Read the stored hash from a file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "hash")]
    pub(crate) hash_file: Option<PathBuf>,
    /// Refuse a hash that needs more memory than this [default: 2GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) kdf_max_memory: Option<MemorySize>,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
}

/// `password calibrate`
#[derive(Args)]
#[command(
    after_help = "It takes the most memory with which one pass is fast enough, then as many passes as fit. This
takes about ten times as long as the hash may take. The memory is kept between tries, as in a
server. In new memory, as in each run of `sealstone password hash`, a hash can take twice as long;
`sealstone password bench` shows both."
)]
pub(crate) struct CalibrateArgs {
    /// The time limit of a hash
    #[arg(long, value_name = "MILLISECONDS", default_value = "500", value_parser = milliseconds)]
    pub(crate) time_ms: Duration,
    /// The memory limit of a hash
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub(crate) memory: MemorySize,
    /// The number of lanes, computed on as many threads, up to the number of processors
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=(1 << 24) - 1))]
    pub(crate) parallelism: u32,
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let number: u32 = text.parse().map_err(|_| "a whole number of milliseconds")?;
    match number {
        0 => Err("at least 1".into()),
        _ => Ok(Duration::from_millis(number.into())),
    }
}

/// `password bench`
#[derive(Args)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    /// The number of measurements of each profile
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) rounds: u16,
    /// Threads to use [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}
