//! `password calibrate`

use sealstone_argon2::{Error, calibrate};
use serde_json::json;

use super::{describe, short_of_memory, to_json};
use crate::args::CalibrateArgs;
use crate::context::Context;
use crate::failure::Result;

/// The minimum of OWASP's Password Storage Cheat Sheet, and its memory times iterations.
const LEAST_KIB: u32 = 7168;
const LEAST_WORK_KIB: u64 = 5 * LEAST_KIB as u64;

pub(super) fn run(args: &CalibrateArgs, context: &Context) -> Result<()> {
    let memory =
        u32::try_from(args.memory.0).map_err(|_| Error::Parameter("less than 4 TiB of memory"))?;
    let found = calibrate(args.time_ms, memory, args.parallelism).map_err(|error| {
        short_of_memory(
            error,
            "close other programs, or choose fewer lanes with --parallelism",
        )
    })?;
    let (params, milliseconds) = (found.params, found.time.as_secs_f64() * 1e3);
    if found.time > args.time_ms {
        context.warn("even the least memory takes longer than that here");
    }
    let (memory, work) = (params.memory_kib(), params.work_kib());
    if memory < LEAST_KIB || work < LEAST_WORK_KIB {
        context.warn(
            "that is weaker than OWASP's minimum (7 MiB, 5 iterations): allow more time or memory",
        );
    }
    let text = || {
        format!(
            "{}: {milliseconds:.1} ms\n  --memory-kib {} --iterations {} --parallelism {}\n",
            describe(&params),
            params.memory_kib(),
            params.passes(),
            params.lanes()
        )
    };
    context.print(
        text,
        || json!({"parameters": to_json(&params), "milliseconds": milliseconds}),
    )
}
