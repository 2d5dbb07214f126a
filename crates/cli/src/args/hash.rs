//! `hash`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use sealstone_skein::sums::{MAX_OUTPUT_BITS, State};
use sealstone_skein::tree::Shape;

/// `hash`
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealstone hash *.iso > SUMS                     one line per file: 128 digits and the name
  sealstone hash -c SUMS                          compares the files with their lines
  sealstone hash --mac key *.iso > SUMS           hashes that need the key
  sealstone hash --algorithm skein-256 --tag a    plain Skein-256

A line without an algorithm is the tree hash that senders of sealed files sign. Every other line
names its algorithm, as in `Skein-512-512-tree-6-4-255+mac (NAME) = …`, unless --untagged is
given. `-c` reads the algorithm from the line; give keys and other arguments again. With
--algorithm, --tree, --output-bits or --message-bits, `-c` rejects lines of other algorithms.

A MAC covers a file's content only, not its name or date, and not whether the list is complete.

The exit code is 0 if all is well and 1 if a file cannot be read or differs from its line, as with
sha256sum. It is 2 for wrong options or an empty key, 3 if the key or standard output fails, and 4
for a key of more than 1 MiB.")]
pub(crate) struct HashFileArgs {
    /// The files; `-` or nothing is standard input
    // An empty name is accepted: opening it fails, and the other files are hashed.
    #[arg(value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) files: Vec<PathBuf>,
    /// Read lines from the FILEs and check the files that they name
    #[arg(short, long, conflicts_with_all = ["tag", "untagged"])]
    pub(crate) check: bool,
    /// Name the algorithm in every line
    #[arg(long, conflicts_with = "untagged")]
    pub(crate) tag: bool,
    /// Do not name the algorithm; to check such lines, give the same options again
    #[arg(long)]
    pub(crate) untagged: bool,
    /// End lines with NUL, and write names as they are
    #[arg(short, long)]
    pub(crate) zero: bool,
    /// Accepted for compatibility with sha256sum: every file is read as it is
    #[arg(short, long, overrides_with = "text")]
    pub(crate) binary: bool,
    /// Accepted for compatibility with sha256sum
    #[arg(short, long, overrides_with = "binary")]
    pub(crate) text: bool,
    /// Authenticate with the secret key in a file; every byte of the file counts
    #[arg(
        long,
        visible_alias = "mac-key-file",
        value_name = "KEYFILE",
        help_heading = "Secret key"
    )]
    pub(crate) mac: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) checking: CheckingArgs,
    #[command(flatten)]
    pub(crate) skein: SkeinArgs,
}

/// The output of `--check`.
#[derive(Args)]
#[command(
    next_help_heading = "With --check (--quiet shows no line for files that are as they were)"
)]
pub(crate) struct CheckingArgs {
    /// Skip missing files
    #[arg(long, requires = "check")]
    pub(crate) ignore_missing: bool,
    /// Show nothing; only set the exit code
    #[arg(long, requires = "check")]
    pub(crate) status: bool,
    /// Fail if any line is malformed
    #[arg(long, requires = "check")]
    pub(crate) strict: bool,
    /// Warn of each malformed line
    #[arg(short, long, requires = "check")]
    pub(crate) warn: bool,
}

/// Every input of the specification of Skein.
#[derive(Args)]
#[command(next_help_heading = "For auditors (Skein 1.3)")]
pub(crate) struct SkeinArgs {
    /// The hash function, without a tree unless --tree is given [default: the tree hash]
    #[arg(long, value_parser = state())]
    pub(crate) algorithm: Option<State>,
    /// A tree of leaves of 2^LEAF blocks, 2^FANOUT children and at most HEIGHT levels: Y_l, Y_f,
    /// Y_m [default: 6,4,255]
    #[arg(long, value_name = "LEAF,FANOUT,HEIGHT", num_args = 0..=1, value_parser = OsStringValueParser::new().try_map(tree_value))]
    pub(crate) tree: Option<Option<TreeValue>>,
    /// Length of the hash, 1 to 67108864 [default: that of the state]
    #[arg(short = 'l', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_OUTPUT_BITS))]
    pub(crate) output_bits: Option<u64>,
    /// Hash only the first N bits, the most significant bit of a byte first
    #[arg(long, value_name = "N")]
    pub(crate) message_bits: Option<u64>,
    /// The personalisation: the application and its purpose
    #[arg(long, value_name = "TEXT")]
    pub(crate) personalization: Option<String>,
    /// The public key that the hash will be signed with
    #[arg(long, value_name = "FILE")]
    pub(crate) public_key_file: Option<PathBuf>,
    /// The identifier of a derived key
    #[arg(long, value_name = "FILE")]
    pub(crate) kdf_id_file: Option<PathBuf>,
    /// A nonce, for randomised hashing
    #[arg(long, value_name = "FILE")]
    pub(crate) nonce_file: Option<PathBuf>,
}

impl SkeinArgs {
    /// Whether they choose the algorithm.
    pub(crate) fn chooses(&self) -> bool {
        self.algorithm.is_some()
            || self.tree.is_some()
            || self.output_bits.is_some()
            || self.message_bits.is_some()
    }
}

const STATES: [(&str, State, &str); 3] = [
    ("skein-256", State::Skein256, "State of 256 bits"),
    ("skein-512", State::Skein512, "State of 512 bits"),
    ("skein-1024", State::Skein1024, "State of 1024 bits"),
];

fn state() -> impl TypedValueParser<Value = State> {
    let values = STATES.map(|(name, _, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|given| {
        let named = STATES.into_iter().find(|(name, ..)| given == *name);
        named.expect("the parser knows these values only").1
    })
}

/// The argument of `--tree`, which is optional: anything that is not a shape is the first file.
#[derive(Clone)]
pub(crate) enum TreeValue {
    Shape(Shape),
    File(PathBuf),
}

fn tree_value(text: OsString) -> Result<TreeValue, String> {
    let is_shape =
        |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(',');
    match text.to_str().filter(|text| is_shape(text)) {
        Some(text) => parse_shape(text).map(TreeValue::Shape),
        None => Ok(TreeValue::File(text.into())),
    }
}

/// `6,4,255`.
fn parse_shape(text: &str) -> Result<Shape, String> {
    const FORM: &str = "three numbers: LEAF and FANOUT from 1 to 255, HEIGHT from 2 to 255";
    let numbers: Option<Vec<u8>> = text.split(',').map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[leaf, fan_out, height]) => Shape::new(leaf, fan_out, height).ok_or(FORM.into()),
        _ => Err(FORM.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_or_a_file() {
        assert!(matches!(
            tree_value("1,2,3".into()),
            Ok(TreeValue::Shape(_))
        ));
        for file in ["1", "a,b,c", "./1,2,3", "-"] {
            assert!(
                matches!(tree_value(file.into()), Ok(TreeValue::File(_))),
                "{file}"
            );
        }
        for bad in [
            "1,2", "1,2,3,4", "0,1,2", "1,0,2", "1,1,1", "1,1,256", "1,,2", "1, 2,3",
        ] {
            assert!(tree_value(bad.into()).is_err(), "{bad}");
        }
    }
}
