//! Reports of the parser of the command line, and of panics.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use sealstone_terminal::colour::Paint;
use sealstone_terminal::text::json_line;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::output::standard_output;

/// Shows help or the version, or reports an error of the command line.
pub(crate) fn report(mut error: clap::Error) -> ExitCode {
    correct_tip(&mut error);
    add_verb(&mut error);
    let asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if asked_for && let Err(closed) = standard_output() {
        let closed = Failure::from(closed);
        eprintln!("sealstone: {}", closed.text().unwrap_or_default());
        return closed.exit.code().into();
    }
    let json = std::env::args_os().any(|arg| arg == "--json");
    if !asked_for && json {
        let text = error.to_string();
        let what = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        eprintln!("{}", json_line(&Failure::usage(what).json(Exit::Usage)));
        return Exit::Usage.code().into();
    }
    let printed = match asked_for {
        true => error.print(),
        // In the form of all other messages.
        false => {
            let text = error.render();
            let text = if Paint::on(&io::stderr()).is_coloured() {
                text.ansi().to_string()
            } else {
                text.to_string()
            };
            io::stderr().write_all(text.replacen("error:", "sealstone:", 1).as_bytes())
        }
    };
    match printed {
        Ok(()) if asked_for => ExitCode::SUCCESS,
        Ok(()) => Exit::Usage.code().into(),
        Err(_) => Exit::Io.code().into(),
    }
}

/// Suggests our verb for the name that other programs give it.
fn add_verb(error: &mut clap::Error) {
    let asked = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(asked)) => asked.as_str(),
        _ => return,
    };
    let verb = match asked {
        "encrypt" | "enc" => "seal",
        "decrypt" | "dec" => "open",
        "keygen" | "genkey" | "gen-key" => "passport new",
        _ => return,
    };
    let tip = format!("use `sealstone {verb}`");
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![tip.into()]),
    );
}

/// The name of another hash function is not a misspelling of Skein.
fn correct_tip(error: &mut clap::Error) {
    let algorithm = ContextValue::String("--algorithm <ALGORITHM>".to_owned());
    if error.kind() == ErrorKind::InvalidValue
        && error.get(ContextKind::InvalidArg) == Some(&algorithm)
    {
        let tip = "`sealstone hash` computes Skein only".to_owned();
        error.remove(ContextKind::SuggestedValue);
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
}

/// Makes panics report that they are defects of this program.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!(
            "sealstone: internal error: {panic}\n  this is a defect: please report it. No output file was left behind."
        );
    }));
}
