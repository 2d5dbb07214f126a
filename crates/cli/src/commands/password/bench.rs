//! `password bench`

use std::time::Instant;

use sealstone_argon2::{Arena, Argon2, Error, PROFILES, Params};
use serde_json::json;

use super::{describe, threads, to_json};
use crate::args::BenchArgs;
use crate::context::Context;
use crate::failure::Result;
use crate::io::output::print;

/// Milliseconds of some runs, in new memory and in memory kept from the run before.
struct Times {
    new: Vec<f64>,
    kept: Vec<f64>,
}

pub(super) fn run(args: &BenchArgs, context: &Context) -> Result<()> {
    let threads = threads(args.threads);
    let rows = match args.cost.name() {
        Some(name) => vec![(name, args.cost.params()?)],
        None => PROFILES.to_vec(),
    };
    if !context.json() {
        print(heading(threads, args.rounds).as_bytes())?;
    }
    let mut results = Vec::new();
    for (name, params) in rows {
        let times = measure(&params, threads, args.rounds)?;
        match context.json() {
            true => results.push(json!({
                "profile": name,
                "parameters": to_json(&params),
                "new_ms": times.new,
                "kept_ms": times.kept,
            })),
            // At once: the next profile may take minutes.
            false => print(line(name, &params, &times).as_bytes())?,
        }
    }
    if !context.json() {
        return Ok(());
    }
    context.print(
        String::new,
        || json!({"threads": threads, "results": results}),
    )
}

fn heading(threads: usize, rounds: u16) -> String {
    let on = match threads {
        1 => "1 thread".to_owned(),
        _ => format!("up to {threads} threads (one per lane)"),
    };
    format!(
        "milliseconds on {on}, minimum and median of {rounds}\n{:<20} {:<42} {:>17} {:>19}\n",
        "profile", "parameters", "new memory", "kept memory"
    )
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
