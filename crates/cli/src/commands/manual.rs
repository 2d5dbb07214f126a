//! `completions` and `man`: what can be said about the command line, for shells and for `man`.

use std::io;
use std::path::Path;

use clap::Command;
use clap::builder::Resettable;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::Cli;
use crate::context::Context;
use crate::failure::{About, Result};
use crate::io::output::print;
use crate::text::shown;

/// `sealstone completions SHELL`
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::grammar(), "sealstone", &mut script);
    print(&script)
}

/// `sealstone man [DIR]`
pub(crate) fn pages(directory: Option<&Path>, context: &Context) -> Result<()> {
    let Some(directory) = directory else {
        let (_, page) = page(&Cli::grammar())?;
        return print(&page);
    };
    std::fs::create_dir_all(directory).about(directory.display())?;
    write_pages(&Cli::grammar(), directory).about(directory.display())?;
    context.say(&format!("manual pages are in {}", shown(directory)));
    Ok(())
}

/// The pages of a command and of all below it.
fn write_pages(command: &Command, directory: &Path) -> io::Result<()> {
    let (name, page) = page(command)?;
    std::fs::write(directory.join(name), page)?;
    command
        .get_subcommands()
        .filter(|below| has_page(below))
        .try_for_each(|below| write_pages(below, directory))
}

/// `help` shows the pages of others.
fn has_page(command: &Command) -> bool {
    command.get_name() != "help"
}

/// The name of a page, and the page.
fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    let usage = command.clone().render_usage().to_string();
    let help = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    let more = more(&help.map(ToString::to_string).unwrap_or_default());
    // The version is at the foot of the page.
    let command = command
        .clone()
        .override_usage(usage.trim_start_matches("Usage: ").to_owned())
        .version(Resettable::Reset)
        .mut_subcommands(|below| {
            let is_page = has_page(&below);
            below.hide(!is_page)
        })
        .after_help(Resettable::Reset)
        .after_long_help(Resettable::Reset);
    let man = Man::new(command).source(concat!("sealstone ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page)?;
    more.to_writer(&mut page)?;
    Ok((man.get_filename(), page))
}

/// What `--help` shows below the options, under the headings of manual pages.
fn more(help: &str) -> Roff {
    let (mut status, mut notes, mut examples) = (Roff::new(), Roff::new(), Roff::new());
    for block in help.split("\n\n").filter(|block| !block.is_empty()) {
        match block.split_once('\n') {
            Some(("Exit codes:", lines)) => list(&mut status, "EXIT STATUS", lines, "  "),
            Some(("Examples:", lines)) => list(&mut examples, "EXAMPLES", lines, "   "),
            _ => {
                match notes == Roff::new() {
                    true => notes.control("SH", ["NOTES"]),
                    false => notes.control("PP", []),
                };
                notes.text([roman(block.replace('\n', " "))]);
            }
        }
    }
    let mut all = Roff::new();
    all.extend([status, notes, examples]);
    all
}

/// Lines of something, a gap, and what it means; if nothing stands there, it is plain.
fn list(roff: &mut Roff, heading: &str, lines: &str, gap: &str) {
    roff.control("SH", [heading]);
    for line in lines.lines() {
        let (what, meaning) = line.trim().split_once(gap).unwrap_or((line.trim(), ""));
        roff.control("TP", []).text([bold(what)]);
        if !meaning.is_empty() {
            roff.text([roman(meaning.trim_start())]);
        }
    }
}
