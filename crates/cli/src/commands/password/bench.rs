//! `password bench`

use std::time::Instant;

use sealstone_argon2::{Arena, Argon2, Error, PROFILES, Params};
use serde_json::json;

use super::{describe, threads, to_json};
use crate::args::BenchArgs;
use crate::context::Context;
use crate::failure::Result;

/// Milliseconds of some runs, in memory that is new or kept from the run before.
struct Times {
    new: Vec<f64>,
    kept: Vec<f64>,
}

pub(super) fn run(args: &BenchArgs, context: &Context) -> Result<()> {
    let threads = threads(args.threads);
    let mut rows = Vec::new();
    match args.cost.name() {
        Some(name) => rows.push((name, args.cost.params()?)),
        None => rows.extend(PROFILES),
    }
    let mut results = Vec::new();
    for (name, params) in rows {
        results.push((name, params, measure(&params, threads, args.rounds)?));
    }
    let text = || {
        let on = match threads {
            1 => "1 thread".to_owned(),
            _ => format!("up to {threads} threads (one a lane)"),
        };
        let head = format!(
            "milliseconds on {on}, minimum and median of {}\n",
            args.rounds
        );
        let lines = results
            .iter()
            .map(|(name, params, times)| line(name, params, times));
        let columns = format!(
            "{:<20} {:<42} {:>17} {:>19}\n",
            "profile", "parameters", "new memory", "kept memory"
        );
        [head, columns].into_iter().chain(lines).collect()
    };
    context.print(text, || {
        let entry = |(name, params, times): &(&str, Params, Times)| {
            json!({"profile": name, "parameters": to_json(params), "new_ms": times.new, "kept_ms": times.kept})
        };
        json!({"threads": threads, "results": results.iter().map(entry).collect::<Vec<_>>()})
    })
}

fn measure(params: &Params, threads: usize, rounds: u16) -> Result<Times, Error> {
    let argon2 = Argon2::new(*params).threads(threads);
    let time = |arena: &mut Arena| {
        let start = Instant::now();
        argon2.hash(b"password", b"salt for timing", &mut [0; 32], arena)?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let mut times = Times {
        new: Vec::new(),
        kept: Vec::new(),
    };
    for _ in 0..rounds {
        let mut arena = Arena::new();
        times.new.push(time(&mut arena)?);
        times.kept.push(time(&mut arena)?);
    }
    times.new.sort_by(f64::total_cmp);
    times.kept.sort_by(f64::total_cmp);
    Ok(times)
}

fn line(name: &str, params: &Params, times: &Times) -> String {
    let pair = |sorted: &[f64]| format!("{:8.1} {:8.1}", sorted[0], sorted[sorted.len() / 2]);
    let (new, kept) = (pair(&times.new), pair(&times.kept));
    format!("{name:<20} {:<42} {new} | {kept}\n", describe(params))
}
