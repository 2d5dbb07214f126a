//! `man`: the manual pages.

use std::io;
use std::path::Path;

use clap::Command;
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use sealstone_terminal::text::shown;

use crate::args::Cli;
use crate::context::Context;
use crate::exit::codes;
use crate::failure::{About, Result};
use crate::io::output::print;

const ENVIRONMENT: &str = "\
SEALSTONE_PASSPHRASE  the passphrase, unless an option names another source
SEALSTONE_PASSPHRASE_COMMAND  a command that prints the passphrase, unless it is given otherwise
XDG_RUNTIME_DIR  your directory for sockets: the agent's socket is in it
SEALSTONE_TRUST_DIR  the directory of the trust store, unless an option names one
XDG_DATA_HOME  your data directory, ~/.local/share by default
VISUAL, EDITOR  the editor that `edit` starts: the first that is set, vi by default
ALL_PROXY, HTTPS_PROXY, HTTP_PROXY  the proxy for --tsa: the first that is set
NO_PROXY  hosts that are asked without the proxy, separated by commas
SSL_CERT_FILE, SSL_CERT_DIR  the root certificates for https:// addresses instead of the system's
NO_COLOR  messages have no colours if it is set
USER, LOGNAME  who decides in the trust store, unless --operator names one: the first that is set
TMPDIR  the directory for the copy of a pipe that is read twice, /tmp by default
SEALSTONE_CPU_DISABLE_AVX2, SEALSTONE_CPU_DISABLE_AVX512F  for tests: do not use these instructions
SEALSTONE_CPU_DISABLE_NEON  the same for aarch64";

const FILES: &str = "\
$XDG_DATA_HOME/sealstone/default.passport  your default passport; keep it secret
$XDG_DATA_HOME/sealstone/default.pub  its public half, which you hand out
$XDG_DATA_HOME/sealstone/default.XXXXXXXX.passport  a former default passport, after its fingerprint
$XDG_DATA_HOME/sealstone/trust/  the trust store: the passports that you approved or denied
$XDG_DATA_HOME/sealstone/monitor/state  the state of the monitor, if it is on
$XDG_RUNTIME_DIR/sealstone/agent  the socket of the agent";

/// `sealstone man [DIR]`
pub(crate) fn pages(directory: Option<&Path>, context: &Context) -> Result<()> {
    let Some(directory) = directory else {
        let (_, page) = page(&Cli::grammar(), &[])?;
        return Ok(print(&page)?);
    };
    std::fs::create_dir_all(directory).about(directory.display())?;
    write_pages(&Cli::grammar(), &[], directory).about(directory.display())?;
    context.say(&format!("manual pages are in {}", shown(directory)));
    Ok(())
}

/// Writes the pages of a command and of its subcommands.
fn write_pages(command: &Command, above: &[&Command], directory: &Path) -> io::Result<()> {
    let (name, page) = page(command, above)?;
    std::fs::write(directory.join(name), page)?;
    let above = [above, &[command]].concat();
    below(command).try_for_each(|command| write_pages(command, &above, directory))
}

/// The subcommands with pages.
fn below(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| has_page(below))
}

/// `help` has no page: it shows other pages. Hidden commands have no page either.
fn has_page(command: &Command) -> bool {
    command.get_name() != "help" && !command.is_hide_set()
}

/// The name of a page, and the page. `above` are the commands that the command belongs to.
fn page(command: &Command, above: &[&Command]) -> io::Result<(String, Vec<u8>)> {
    let usage = command.clone().render_usage().to_string();
    let help = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    let more = more(
        &help.map(ToString::to_string).unwrap_or_default(),
        &related(command, above),
    );
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

/// The pages of the commands above, below and beside this one.
fn related(command: &Command, above: &[&Command]) -> String {
    let beside = above.last().into_iter().flat_map(|parent| below(parent));
    let all = above.iter().copied().chain(below(command)).chain(beside);
    let mut names: Vec<&str> = all.map(page_name).collect();
    names.retain(|name| *name != page_name(command));
    names.sort_unstable();
    let pages: Vec<String> = names.iter().map(|name| format!("{name}(1)")).collect();
    pages.join(", ")
}

fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

/// The notes below the options in `--help` under the headings of manual pages, and what all pages
/// have in common.
fn more(help: &str, related: &str) -> Roff {
    let (mut common, mut notes, mut examples) = (Roff::new(), Roff::new(), Roff::new());
    list(&mut common, "EXIT STATUS", &codes(), "  ");
    list(&mut common, "ENVIRONMENT", ENVIRONMENT, "  ");
    list(&mut common, "FILES", FILES, "  ");
    for block in help.split("\n\n").filter(|block| !block.is_empty()) {
        match block.split_once('\n') {
            Some(("Exit codes:", _)) => {}
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
    let mut also = Roff::new();
    also.control("SH", ["SEE ALSO"]).text([roman(related)]);
    let mut all = Roff::new();
    all.extend([common, notes, examples, also]);
    all
}

/// Each line is a term, a gap and its meaning. A line without a gap is plain text.
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
