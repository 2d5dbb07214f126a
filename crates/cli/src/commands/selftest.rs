//! `selftest`: checks that this program computes correctly on this machine.

mod proofs;

use sealstone::selftest::{self, Check, processor};
use serde_json::json;

use crate::args::SelftestArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

pub(super) fn run(args: &SelftestArgs, context: &Context) -> Result<()> {
    match &args.proofs {
        Some(file) => proofs::run(file.as_deref(), context),
        None => conclude(&selftest::run(), context),
    }
}

/// Shows the checks, and fails if one of them failed.
fn conclude(checks: &[Check], context: &Context) -> Result<()> {
    let passed = checks.iter().all(|check| check.passed);
    let word = |check: &Check| if check.passed { "ok    " } else { "FAILED" };
    let text = || {
        let lines: String = checks
            .iter()
            .map(|check| format!("{} {}\n", word(check), check.name))
            .collect();
        format!("{lines}processor: {}\n", processor().join(" "))
    };
    context.print(text, || {
        let checks: Vec<_> = checks
            .iter()
            .map(|check| json!({"name": check.name, "passed": check.passed}))
            .collect();
        json!({"passed": passed, "checks": checks, "features": processor()})
    })?;
    if passed {
        Ok(())
    } else {
        Err(Failure::new(Exit::Internal, "selftest failed")
            .hint("do not use this program on this machine"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser;

    #[test]
    fn one_failed_check_fails_all() {
        let cli = Cli::try_parse_from(["sealstone", "--json", "selftest"]).unwrap();
        let context = Context::new(&cli.global);
        let check = |passed| Check {
            name: String::new(),
            passed,
        };
        assert!(conclude(&[check(true), check(true)], &context).is_ok());
        let failure = conclude(&[check(true), check(false)], &context).unwrap_err();
        assert_eq!(failure.exit, Exit::Internal);
        assert!(failure.text().unwrap().contains("selftest failed"));
    }
}
