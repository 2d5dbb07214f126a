//! `sealstone-prove`: proves the kernels in programs and prints a table.
#![deny(unsafe_code)]

use clap::Parser;
use sealstone_proofs::image::Image;
use sealstone_proofs::report::{Report, prove_all};
use sealstone_proofs::source;
use std::path::PathBuf;
use std::process::ExitCode;

/// Proves that the machine code of Sealstone's kernels computes what their specifications say, for all inputs.
///
/// The exit status is 0 if every kernel is proved and every instruction's model agrees with this CPU, 1 if not, 2 if a program
/// cannot be read.
#[derive(Parser)]
struct Arguments {
    /// The program to prove: an ELF file with its symbols. [default: sealstone beside this program]
    #[arg(long)]
    artefact: Option<PathBuf>,
    /// Only kernels with this text in their name or instruction set.
    #[arg(long, default_value = "")]
    only: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(report) => {
            let rows = source::prove_all(&arguments.only);
            if arguments.json {
                let mut json = report.json();
                json["source"] = source::json(&rows);
                println!("{json}");
            } else {
                print!("{}\n{}", report.table(), source::table(&rows));
            }
            if report.is_proof() && rows.iter().all(|row| row.verdict.holds()) {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(why) => {
            eprintln!("sealstone-prove: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<Report, String> {
    sealstone_proofs::selftest::call_every_kernel();
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let shipped = arguments
        .artefact
        .clone()
        .unwrap_or_else(|| own.with_file_name("sealstone"));
    let images = [Image::load(&shipped)?, Image::load(&own)?];
    let mut report = prove_all(&images, &arguments.only);
    report.compare_models();
    Ok(report)
}
