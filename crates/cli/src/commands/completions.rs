//! `completions` and the hidden `contacts`: what shells complete.

use std::collections::BTreeSet;

use clap_complete::Shell;
use sealstone::trust::Status;

use crate::args::Cli;
use crate::context::Context;
use crate::failure::Result;
use crate::io::output::print;
use crate::trust;

const BASH_CONTACTS: &str = include_str!("completions/contacts.bash");
const ZSH_CONTACTS: &str = include_str!("completions/contacts.zsh");
const FISH_CONTACTS: &str = " -f -a \"(sealstone contacts 2>/dev/null)\"";

/// `sealstone completions SHELL`: the script that clap makes, and contacts after `seal --to` and
/// `reseal --to` for bash, zsh and fish.
pub(super) fn script(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::grammar(), "sealstone", &mut script);
    let script = String::from_utf8_lossy(&script);
    Ok(print(with_contacts(shell, &script).as_bytes())?)
}

fn with_contacts(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{BASH_CONTACTS}"),
        Shell::Zsh => {
            // The first line names the command that the file completes.
            let (first, rest) = script.split_once('\n').unwrap_or((script, ""));
            let rest = on_lines(rest, "'*--to=[", |line| {
                line.replace(":_default'", ":_sealstone_contacts'")
            });
            format!("{first}\n{ZSH_CONTACTS}{rest}")
        }
        Shell::Fish => on_lines(script, "seal\" -l to ", |line| {
            format!("{line}{FISH_CONTACTS}")
        }),
        _ => script.into(),
    }
}

/// Changes the lines that contain `part`.
fn on_lines(script: &str, part: &str, change: impl Fn(&str) -> String) -> String {
    let changed = |line: &str| match line.contains(part) {
        true => change(line),
        false => line.to_owned(),
    };
    script.lines().map(|line| changed(line) + "\n").collect()
}

/// `sealstone contacts`: the label of each approved passport, one per line. Labels that do not fit
/// into a line are left out.
pub(super) fn contacts(context: &Context) -> Result<()> {
    let store = trust::open(context)?;
    let approved = store
        .iter()
        .filter(|record| record.status() == Status::Approved);
    let labels: BTreeSet<String> = approved.map(|record| record.label().to_owned()).collect();
    let lines = labels
        .iter()
        .filter(|label| !label.is_empty() && !label.contains(char::is_control))
        .map(|label| format!("{label}\n"));
    Ok(print(lines.collect::<String>().as_bytes())?)
}
