//! `selftest`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
#[command(after_help = "\
With --proofs, no check runs. Each kernel has a line. It begins with \"proved\" if the kernel's
functions, and the constants that they read, are byte for byte the proved ones, else with
\"UNKNOWN\". The digests of the functions follow. Another compiler makes other functions:
`make prove` proves them, and writes their list into target/proofs.json. The targets of calls are
not compared.")]
pub(crate) struct SelftestArgs {
    /// Compare this program's machine code with a list of proved code: the list in this program,
    /// or FILE, which `make prove` wrote
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) proofs: Option<Option<PathBuf>>,
}
