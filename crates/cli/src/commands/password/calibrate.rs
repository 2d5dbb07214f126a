//! `password calibrate`

use sealstone_argon2::{Error, calibrate};
use serde_json::json;

use super::{describe, to_json};
use crate::args::CalibrateArgs;
use crate::context::Context;
use crate::message::Result;

pub(super) fn run(args: &CalibrateArgs, context: &Context) -> Result<()> {
    let memory =
        u32::try_from(args.memory.0).map_err(|_| Error::Parameter("less than 4 TiB of memory"))?;
    let found = calibrate(args.time_ms, memory, args.parallelism)?;
    let (params, milliseconds) = (found.params, found.time.as_secs_f64() * 1e3);
    if found.time > args.time_ms {
        context.warn("even the least memory takes longer than that here");
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
