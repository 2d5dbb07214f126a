//! `policy show`

use std::path::Path;

use sealstone::package::{Json, MAX_POLICY, Package};
use serde_json::{Value, json};

use crate::args::{PolicyCommand, PolicyShowArgs};
use crate::commands::stored::Stored;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::input;
use crate::named::Parse;

pub(in crate::commands) fn run(command: PolicyCommand, context: &Context) -> Result<()> {
    match command {
        PolicyCommand::Show(args) => show(&args, context),
    }
}

fn show(args: &PolicyShowArgs, context: &Context) -> Result<()> {
    let policy = read(&args.file)?;
    let digest = data_encoding::HEXLOWER.encode(&policy.digest());
    let value: Value = serde_json::from_str(policy.as_str()).unwrap_or_default();
    let text = || {
        let pretty = serde_json::to_string_pretty(&value).unwrap_or_default();
        let shown = sealstone_terminal::text::printable(&pretty);
        format!("{shown}\nSHA3-256 of the canonical form: {digest}")
    };
    context.print(text, || json!({"policy": value, "sha3_256": digest}))
}

/// The policy of a package, or a document that may become one.
fn read(path: &Path) -> Result<Json> {
    let input = input::open(path, "the policy")?;
    let mut start = [0; 16];
    let is_package = input.regular().is_some()
        && input
            .read_at(&mut start, 0)
            .is_ok_and(|n| Package::is_package(&start[..n]));
    if !is_package {
        let file = input.document(2 * MAX_POLICY)?;
        return file.parse(Json::parse);
    }
    let stored = Stored::read(path)?;
    stored.file.parse(|_| -> Result<_> {
        let none = || Failure::new(Exit::Format, "the package has no policy");
        let policy = stored.package.policy().ok_or_else(none)?;
        Ok(Json::parse(policy)?)
    })
}
