//! `sealstone-prove`: proves the kernels in programs and prints a table.
#![deny(unsafe_code)]

use clap::Parser;
use sealstone_proofs::image::Image;
use sealstone_proofs::lemma::{self, Shipped, Solver};
use sealstone_proofs::report::{Report, prove_all};
use sealstone_proofs::source;
use sealstone_proofs::usage::Usage;
use std::path::PathBuf;
use std::process::ExitCode;

/// Proves that the machine code of Sealstone's kernels computes what their specifications say, for all inputs.
///
/// The exit status is 0 if every kernel is proved, in machine code and in source, and every instruction's model agrees with this CPU;
/// 1 if not; 2 if a program cannot be read; 3 if all is proved, but the models could not be compared with this CPU.
#[derive(Parser)]
struct Arguments {
    /// The program to prove: an ELF file with its symbols. [default: sealstone beside this program]
    #[arg(long)]
    artefact: Option<PathBuf>,
    /// Nothing but the machine code of this program, which must have every kernel: not what only this command has, nor the source.
    #[arg(long, requires = "artefact", conflicts_with = "lemmas")]
    alone: bool,
    /// Only kernels with this text in their name or instruction set.
    #[arg(long, default_value = "")]
    only: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Do not compare the models of the instructions with this CPU, and take them for right. For CPUs without AVX-512.
    #[arg(long)]
    without_models: bool,
    /// Also ask the SMT solvers for the lemmas about Argon2's reference index. scripts/prove-lemmas installs them.
    #[arg(long)]
    lemmas: bool,
    /// Write the JSON to this file as well.
    #[arg(long, value_name = "FILE")]
    write_json: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    run(&arguments).unwrap_or_else(|why| {
        eprintln!("sealstone-prove: {why}");
        ExitCode::from(2)
    })
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    // First, because without them the rest of the minute is for nothing.
    let solvers = arguments.lemmas.then(Solver::all).transpose()?;
    let report = machine_code(arguments)?;
    let rows = (!arguments.alone).then(|| source::prove_all(&arguments.only));
    let lemmas = solvers.map(|solvers| lemma::prove(&Shipped, &solvers));
    let lemmas = lemmas.transpose().map_err(|error| error.to_string())?;
    let judgement = judge(arguments, &report, rows.as_deref(), lemmas.as_deref());
    let usage = Usage::so_far()?;

    let mut json = report.json();
    json["source"] = rows.as_deref().map(source::json).into();
    json["lemmas"] = lemmas.as_deref().map(lemma::json).into();
    json["usage"] = usage.json();
    json["only"] = arguments.only.as_str().into();
    json["proved"] = (judgement == Judgement::Proved).into();
    if let Some(file) = &arguments.write_json {
        std::fs::write(file, format!("{json}\n"))
            .map_err(|error| format!("{}: {error}", file.display()))?;
    }
    if arguments.json {
        println!("{json}");
    } else {
        print!("{}", report.table());
        if let Some(rows) = &rows {
            print!("\n{}", source::table(rows));
        }
        if let Some(rows) = &lemmas {
            print!("\n{}", lemma::table(rows));
        }
        print!("{}", usage.line());
        if judgement == Judgement::ModelsUnknown {
            println!(
                "The models of the instructions were not compared with a CPU, so this is no proof. --without-models takes them for right."
            );
        }
    }
    Ok(ExitCode::from(judgement as u8))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Judgement {
    Proved = 0,
    NotProved = 1,
    ModelsUnknown = 3,
}

fn judge(
    arguments: &Arguments,
    report: &Report,
    rows: Option<&[source::Row]>,
    lemmas: Option<&[lemma::Row]>,
) -> Judgement {
    // A part may have kernels or claims about source only; all must have both.
    let only_part = !arguments.only.is_empty();
    let has_source = rows.is_some_and(|rows| !rows.is_empty());
    let kernels = report.is_proof() || only_part && report.rows.is_empty() && has_source;
    let source = rows.is_none_or(|rows| rows.iter().all(|row| row.verdict.holds()))
        && (only_part || arguments.alone || has_source);
    let is_compared = matches!(report.models, Some(Ok(_)));
    let needs_models = !arguments.without_models && !report.rows.is_empty();
    match () {
        () if !kernels || !source || !lemmas.is_none_or(lemma::holds) => Judgement::NotProved,
        () if needs_models && !is_compared => Judgement::ModelsUnknown,
        () if needs_models && !report.models_agree() => Judgement::NotProved,
        () => Judgement::Proved,
    }
}

fn machine_code(arguments: &Arguments) -> Result<Report, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let shipped = arguments
        .artefact
        .clone()
        .unwrap_or_else(|| own.with_file_name("sealstone"));
    let mut images = vec![Image::load(&shipped)?];
    if !arguments.alone {
        sealstone_kernels::call_every_kernel();
        images.push(Image::load(&own)?);
    }
    let mut report = prove_all(&images, &arguments.only);
    if !arguments.without_models {
        report.compare_models();
    }
    Ok(report)
}
