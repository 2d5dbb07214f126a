//! `sealstone-prove`: proves the kernels in programs and prints a table.
#![forbid(unsafe_code)]

use clap::Parser;
use sealstone_proofs::lemma;
use sealstone_proofs::report::{Judgement, Report, Request, prove_kernels};
use sealstone_proofs::source;
use sealstone_proofs::usage::Usage;
use sealstone_prover::features::Features;
use sealstone_prover::image::Image;
use sealstone_prover::solver::Solver;
use std::path::PathBuf;
use std::process::ExitCode;

/// Proves that the machine code of Sealstone's kernels computes what their specifications say, for
/// all inputs, wherever memory is.
///
/// The exit status is 0 if every kernel is proved, in machine code and in source, no code that
/// looks like a kernel was left out, and every instruction's model agrees with this CPU; 1 if not;
/// 2 if a program cannot be read; 3 if all is proved, but the models could not be compared with
/// this CPU. Others' code that the program relies on is tried too. Verdicts there do not change the
/// exit status, but a function of the same work that has neither a proof nor a reason does.
#[derive(Parser)]
struct Arguments {
    /// The program to prove: an ELF file with its symbols. [default: sealstone beside this program]
    #[arg(long)]
    artefact: Option<PathBuf>,
    /// Prove only the machine code of this program, which must have every kernel. The source and
    /// the functions that only this command has are not tried.
    #[arg(long, requires = "artefact", conflicts_with = "lemmas")]
    alone: bool,
    /// Prove the kernels in this library or program too: an ELF file with its symbols, built of the
    /// same crates. Kernels that it does not have are listed. May be given several times.
    #[arg(long = "library", value_name = "FILE")]
    libraries: Vec<PathBuf>,
    /// Prove each kernel of a library anew, even where its code is the same as in the program.
    #[arg(long, requires = "libraries")]
    anew: bool,
    /// The target for which the program was built: x86-64, x86-64-v3 or x86-64-v4. Its code may use
    /// all instructions of that, wherever it is.
    #[arg(long, requires = "artefact", default_value = "x86-64")]
    target_cpu: String,
    /// Only kernels with this text in their name or instruction set.
    #[arg(long, default_value = "")]
    only: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Do not compare the models of the instructions with this CPU, and take them for right. For
    /// CPUs without AVX2.
    #[arg(long)]
    without_models: bool,
    /// Also ask the SMT solvers for the lemmas about indices and lengths. Ask z3 for inputs that
    /// refute unproved machine code. `make prove` installs the solvers.
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
    // The solvers come first. If they are missing, the command ends before other work.
    let solvers = arguments.lemmas.then(lemma::solvers).transpose()?;
    let z3 = solvers.as_ref().map(|[z3, _]| z3);
    let report = machine_code(arguments, z3)?;
    let rows = (!arguments.alone).then(|| source::prove_claims(&arguments.only));
    let lemmas = solvers.map(|solvers| lemma::prove_lemmas(&solvers));
    let lemmas = lemmas.transpose().map_err(|error| error.to_string())?;
    let judgement = report.judge(arguments.request(), rows.as_deref(), lemmas.as_deref());
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
                "The models of the instructions were not compared with a CPU, so this is not a proof. --without-models takes them for right."
            );
        }
    }
    Ok(ExitCode::from(judgement as u8))
}

impl Arguments {
    /// The options that the judgement depends on.
    fn request(&self) -> Request {
        Request {
            is_part: !self.only.is_empty(),
            alone: self.alone,
            without_models: self.without_models,
        }
    }
}

fn machine_code(arguments: &Arguments, solver: Option<&Solver>) -> Result<Report, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let shipped = arguments
        .artefact
        .clone()
        .unwrap_or_else(|| own.with_file_name("sealstone"));
    let target = &arguments.target_cpu;
    let target =
        Features::of_target(target).ok_or_else(|| format!("no target `{target}` is known"))?;
    let load = |file: &PathBuf| {
        let mut image = Image::load(file)?;
        image.target = target.clone();
        Ok::<_, String>(image)
    };
    let mut images = vec![load(&shipped)?];
    let libraries = arguments.libraries.iter().map(load);
    let libraries: Vec<Image> = libraries.collect::<Result<_, _>>()?;
    if !arguments.alone {
        sealstone_kernels::call_every_kernel();
        sealstone_kernels::call_others();
        images.push(Image::load(&own)?);
    }
    let mut report = prove_kernels(&images, &arguments.only, solver);
    if !arguments.alone {
        report.prove_others(&images, &arguments.only, solver);
    }
    for library in libraries {
        let command = (!arguments.anew).then(|| &images[0]);
        report.prove_library(library, command, &arguments.only, solver);
    }
    if !arguments.without_models {
        report.compare_models();
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealstone_proofs::coverage::{Coverage, Share};
    use sealstone_proofs::report::Row;
    use sealstone_proofs::same_code::Trace;
    use sealstone_prover::cosim::Comparison;
    use sealstone_prover::verdict::{Residue, Verdict};
    use std::time::Duration;

    fn kernel(verdict: Verdict) -> Row {
        Row {
            name: "kernel",
            set: "x86-64",
            shows: "its RFC",
            artefact: "sealstone".into(),
            verdict,
            features: Features::default(),
            residue: Residue::default(),
            steps: 1,
            runs: 1,
            depth: 8,
            ran_natively: true,
            hash: String::new(),
            functions: Vec::new(),
            same_as: None,
            trace: Trace::default(),
            time: Duration::ZERO,
        }
    }

    fn source(verdict: source::SourceVerdict) -> source::Row {
        source::Row {
            name: "kernel",
            shown: "its RFC",
            verdict,
            time: Duration::ZERO,
        }
    }

    fn lemma(verdict: lemma::LemmaVerdict) -> lemma::Row {
        lemma::Row {
            about: "an index",
            lemma: "in range",
            solver: "z3",
            verdict,
            time: Duration::ZERO,
        }
    }

    /// The findings of a run. By default, everything is proved.
    struct Found {
        kernels: Vec<Row>,
        others: Vec<Row>,
        models: Option<Result<Comparison, String>>,
        source: Option<Vec<source::Row>>,
        lemmas: Option<Vec<lemma::Row>>,
        coverage: Option<Coverage>,
    }

    fn coverage(findings: &[&str]) -> Coverage {
        let share = Share {
            functions: 1,
            bytes: 1,
        };
        Coverage {
            program: "sealstone".into(),
            ours: share,
            proved: share,
            not_executed: 0,
            drivers: Vec::new(),
            unproved: Vec::new(),
            findings: findings.iter().map(|finding| (*finding).into()).collect(),
        }
    }

    fn all_proved() -> Found {
        let agree = Comparison {
            agree: 1,
            ..Comparison::default()
        };
        Found {
            kernels: vec![kernel(Verdict::Proved)],
            others: Vec::new(),
            models: Some(Ok(agree)),
            source: Some(vec![source(source::SourceVerdict::Proved)]),
            lemmas: Some(vec![lemma(lemma::LemmaVerdict::Proved)]),
            coverage: Some(coverage(&[])),
        }
    }

    impl Found {
        /// The exit status, when the command was called with these arguments.
        fn status(self, arguments: &[&str]) -> u8 {
            let name = ["sealstone-prove"];
            let arguments = Arguments::parse_from(name.iter().chain(arguments));
            let report = Report {
                rows: self.kernels,
                others: self.others,
                models: self.models,
                coverage: self.coverage,
                ..Report::default()
            };
            let (source, lemmas) = (self.source.as_deref(), self.lemmas.as_deref());
            report.judge(arguments.request(), source, lemmas) as u8
        }
    }

    #[test]
    fn each_verdict_on_a_kernel_has_its_exit_status() {
        let why = || String::from("why");
        for (verdict, status) in [
            (Verdict::Proved, 0),
            (Verdict::Refuted(why()), 1),
            (Verdict::Unproved(why()), 1),
            (Verdict::Unsupported(why()), 1),
        ] {
            for (before, after) in [(0, 0), (1, 0), (0, 1)] {
                let proved = |count| (0..count).map(|_| kernel(Verdict::Proved));
                let mut found = all_proved();
                found.kernels = proved(before).collect();
                found.kernels.push(kernel(verdict.clone()));
                found.kernels.extend(proved(after));
                assert_eq!(found.status(&[]), status, "{verdict}");
            }
        }
        let mut found = all_proved();
        found.kernels.clear();
        assert_eq!(found.status(&[]), 1, "no kernel at all");
    }

    /// ASSURANCE.md has their verdicts, and a check compares them.
    #[test]
    fn code_of_others_need_not_be_proved() {
        let mut found = all_proved();
        found.others = vec![kernel(Verdict::Unproved("why".into()))];
        assert_eq!(found.status(&[]), 0);
        let mut found = all_proved();
        found.others = found.kernels.drain(..).collect();
        assert_eq!(found.status(&[]), 1, "it is not a kernel of ours");
    }

    #[test]
    fn code_that_was_left_out_is_no_proof() {
        for (findings, arguments, status) in [
            (&["a copy"][..], &[][..], 1),
            (&["a copy"], &["--artefact", "x", "--alone"], 0),
            (&[], &[], 0),
        ] {
            let mut found = all_proved();
            found.coverage = Some(coverage(findings));
            assert_eq!(found.status(arguments), status);
        }
    }

    #[test]
    fn each_verdict_on_source_and_lemmas_has_its_exit_status() {
        use source::SourceVerdict::{Checked, Proved, Unproved};
        for (verdict, status) in [(Proved, 0), (Checked, 0), (Unproved("why".into()), 1)] {
            let mut found = all_proved();
            found.source = Some(vec![source(Proved), source(verdict)]);
            assert_eq!(found.status(&[]), status);
        }
        let unproved = || lemma(lemma::LemmaVerdict::Unproved("unknown".into()));
        let proved = || lemma(lemma::LemmaVerdict::Proved);
        for (lemmas, status) in [
            (None, 0),
            (Some(vec![]), 1),
            (Some(vec![proved(), unproved()]), 1),
        ] {
            let found = Found {
                lemmas,
                ..all_proved()
            };
            assert_eq!(found.status(&[]), status);
        }
    }

    #[test]
    fn models_that_were_not_compared_are_told_apart_from_wrong_ones() {
        let with = |models, arguments: &[&str]| {
            let found = Found {
                models,
                ..all_proved()
            };
            found.status(arguments)
        };
        let unknown = || Some(Err("no AVX-512".into()));
        assert_eq!(with(None, &[]), 3);
        assert_eq!(with(unknown(), &[]), 3);
        assert_eq!(with(None, &["--without-models"]), 0);
        let wrong = Comparison {
            agree: 1,
            disagree: vec!["add".into()],
            ..Comparison::default()
        };
        assert_eq!(with(Some(Ok(wrong)), &[]), 1);
        // A false claim is not proved, even if the models agree.
        let mut found = all_proved();
        found.kernels[0].verdict = Verdict::Unproved("why".into());
        found.models = unknown();
        assert_eq!(found.status(&[]), 1);
    }

    #[test]
    fn only_a_part_may_be_without_kernels_or_without_source() {
        let without = |kernels: bool, source: bool, arguments: &[&str]| {
            let mut found = all_proved();
            if kernels {
                found.kernels.clear();
                found.models = None;
            }
            if source {
                found.source = Some(Vec::new());
            }
            found.status(arguments)
        };
        assert_eq!(without(false, true, &[]), 1);
        assert_eq!(without(true, false, &["--only", "H′"]), 0);
        assert_eq!(without(false, true, &["--only", "AVX2"]), 0);
        assert_eq!(without(true, true, &["--only", "nothing"]), 1);
        let mut alone = all_proved();
        alone.source = None;
        assert_eq!(alone.status(&["--alone", "--artefact", "program"]), 0);
    }
}
