//! Alternating jobs, with times and ratios.
//!
//! Every round runs every job once, so that a machine whose speed drifts treats all alike.

use std::cell::Cell;
use std::env;
use std::rc::Rc;
use std::time::Instant;

/// The project's bars: job, peer, the least ratio of times.
pub(crate) type Bar = (&'static str, &'static str, f64);

/// Measures the jobs that the command line of `program` asks for, prints the tables, and ends the
/// process with 1 if a bar is missed.
pub(crate) fn main(program: &str, mut jobs: Vec<Job>, bars: &[Bar]) {
    let options = Options::parse(program);
    jobs.retain(|job| job.name.contains(&options.only));
    for _ in 0..options.rounds {
        for job in &mut jobs {
            let seconds = job.time();
            job.times.push(seconds);
        }
    }
    if !print(&jobs, bars, options.markdown) {
        std::process::exit(1);
    }
}

struct Options {
    rounds: usize,
    only: String,
    markdown: bool,
}

impl Options {
    fn parse(program: &str) -> Self {
        let mut options = Self {
            rounds: 15,
            only: String::new(),
            markdown: false,
        };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("a value after the option");
            match argument.as_str() {
                "--rounds" => options.rounds = value().parse().expect("a number of rounds"),
                "--only" => options.only = value(),
                "--markdown" => options.markdown = true,
                _ => panic!("usage: {program} [--rounds N] [--only TEXT] [--markdown]"),
            }
        }
        options
    }
}

/// A job to measure. One run does it once or several times.
pub(crate) struct Job {
    name: String,
    count: usize,
    repeat: usize,
    run: Box<dyn FnMut()>,
    /// The seconds of the last run, if the job measures only a part of it.
    pub(crate) part: Option<Rc<Cell<f64>>>,
    times: Vec<f64>,
}

impl Job {
    /// A job whose run does something `count` times.
    pub(crate) fn new(name: impl Into<String>, count: usize, run: impl FnMut() + 'static) -> Self {
        let mut run: Box<dyn FnMut()> = Box::new(run);
        // Ten milliseconds are long compared with the clock's resolution and short compared with a
        // round.
        let start = Instant::now();
        run();
        let repeat = (0.01 / start.elapsed().as_secs_f64().max(1e-7)).clamp(1.0, 2e4) as usize;
        Self {
            name: name.into(),
            count,
            repeat,
            run,
            part: None,
            times: Vec::new(),
        }
    }

    /// Seconds of one repetition.
    fn time(&mut self) -> f64 {
        let (start, mut parts) = (Instant::now(), 0.0);
        for _ in 0..self.repeat {
            (self.run)();
            parts += self.part.as_ref().map_or(0.0, |part| part.get());
        }
        let seconds = if self.part.is_some() {
            parts
        } else {
            start.elapsed().as_secs_f64()
        };
        seconds / (self.repeat * self.count) as f64
    }

    fn minimum(&self) -> f64 {
        self.times.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn median(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}

/// Prints the tables. Returns whether every bar is reached.
fn print(jobs: &[Job], bars: &[Bar], markdown: bool) -> bool {
    let find = |name: &str| jobs.iter().find(|job| job.name == name);
    let row = |cells: &[String]| {
        if markdown {
            println!("| {} |", cells.join(" | "));
        } else {
            println!(
                "{:<46} {}",
                cells[0],
                cells[1..]
                    .iter()
                    .map(|c| format!(" {c:>13}"))
                    .collect::<String>()
            );
        }
    };
    let texts = |cells: &[&str]| {
        cells
            .iter()
            .map(|cell| (*cell).to_owned())
            .collect::<Vec<_>>()
    };
    row(&texts(&["job", "minimum µs", "median µs", "a second"]));
    if markdown {
        println!("|---|---|---|---|");
    }
    for job in jobs {
        let micro = |seconds: f64| format!("{:.1}", seconds * 1e6);
        let rate = format!("{:.0}", 1.0 / job.median());
        row(&[
            job.name.clone(),
            micro(job.minimum()),
            micro(job.median()),
            rate,
        ]);
    }
    println!();
    row(&texts(&[
        "job against its peer",
        "of minima",
        "of medians",
        "bar",
    ]));
    if markdown {
        println!("|---|---|---|---|");
    }
    let mut all_reached = true;
    for (name, peer, bar) in bars {
        let (Some(job), Some(other)) = (find(name), find(peer)) else {
            continue;
        };
        let (minima, medians) = (
            other.minimum() / job.minimum(),
            other.median() / job.median(),
        );
        let reached = minima.max(medians) >= *bar;
        all_reached &= reached;
        let verdict = if reached { "reached" } else { "missed" };
        row(&[
            format!("{name}: {peer}"),
            format!("{minima:.2}"),
            format!("{medians:.2}"),
            format!("{bar:.2} {verdict}"),
        ]);
    }
    all_reached
}
