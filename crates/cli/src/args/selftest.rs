//! `selftest`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
#[command(after_help = "\
With --proofs, no check runs. Each kernel is a line: \"proved\" if its functions, and the constants
that they read, are byte for byte those that were proved, else \"UNKNOWN\"; then the digests of the
functions. Another compiler makes other functions: `make prove` proves them, and writes their list
into target/proofs.json. Which calls lead where is not compared.")]
pub(crate) struct SelftestArgs {
    /// Compare this program's own machine code with that which was proved: of the list in this
    /// program, or of one that `make prove` wrote
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) proofs: Option<Option<PathBuf>>,
}
