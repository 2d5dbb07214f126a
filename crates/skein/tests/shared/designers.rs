//! The files that `scripts/fetch-vectors` puts into `.tools/skein`: those of the designers, and of
//! pyskein, which wraps their code.

use std::path::PathBuf;

/// The text of a file. Without the file, says that the test is skipped; the test then ends.
pub(crate) fn text(name: &str) -> Option<String> {
    let tools = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools").into();
    let directory = std::env::var_os("SEALSTONE_VECTORS").map_or_else(tools, PathBuf::from);
    let text = std::fs::read_to_string(directory.join("skein").join(name));
    if text.is_err() {
        println!("skipped: {name} is not there; run scripts/fetch-vectors");
    }
    text.ok()
}
