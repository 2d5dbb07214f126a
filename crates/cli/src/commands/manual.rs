//! `completions` and `man`: what can be said about the command line, for shells and for `man`.

use std::io::Write;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::context::Context;
use crate::io::output::standard_output;
use crate::message::{About, Result, shown};

/// `sealstone completions SHELL`
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sealstone", &mut script);
    Ok(standard_output()?.write_all(&script)?)
}

/// `sealstone man [DIR]`
pub(crate) fn pages(directory: Option<&Path>, context: &Context) -> Result<()> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        return Ok(standard_output()?.write_all(&page)?);
    };
    std::fs::create_dir_all(directory).about(directory.display())?;
    clap_mangen::generate_to(Cli::command(), directory).about(directory.display())?;
    context.say(&format!("manual pages are in {}", shown(directory)));
    Ok(())
}
