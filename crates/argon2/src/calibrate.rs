//! Parameters for this machine.

use crate::Error;
use crate::arena::Arena;
use crate::argon2::Argon2;
use crate::params::Params;
use std::time::{Duration, Instant};

/// Parameters, and how long a hash with them takes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Argon2id, version 0x13.
    pub params: Params,
    /// Measured with these parameters, in memory that is already there.
    pub time: Duration,
}

/// The strongest parameters for which a hash takes no more than `target` here, in up to `memory_kib` KiB, with `lanes` lanes on
/// as many threads (RFC 9106, section 4): as much memory as possible, then as many passes as possible. It takes some times
/// `target`. If even the least memory, 8 KiB for each lane, takes longer, the answer is that.
///
/// ```
/// use sealstone_argon2::calibrate;
/// use std::time::Duration;
///
/// let found = calibrate(Duration::from_millis(5), 1024, 1)?;
/// assert!(found.params.memory_kib() <= 1024);
/// # Ok::<(), sealstone_argon2::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] if `memory_kib` and `lanes` are not for Argon2; [`Error::OutOfMemory`].
pub fn calibrate(target: Duration, memory_kib: u32, lanes: u32) -> Result<Calibration, Error> {
    let mut arena = Arena::new();
    let mut best = measure(Params::new(memory_kib, 1, lanes)?, &mut arena)?;
    // Too slow with one pass: less memory, in proportion, at most half as much each time.
    while best.time > target && best.params.memory_kib() > 8 * lanes {
        let kib =
            scale(best.params.memory_kib(), target, best.time).min(best.params.memory_kib() / 2);
        best = measure(Params::new(kib.max(8 * lanes), 1, lanes)?, &mut arena)?;
    }
    // Time to spare: more passes, as the passes so far took, until that does not fit any more.
    loop {
        let (memory, passes) = (best.params.memory_kib(), best.params.passes());
        let more = scale(passes, target, best.time);
        if best.time >= target || more <= passes {
            return Ok(best);
        }
        let next = measure(Params::new(memory, more, lanes)?, &mut arena)?;
        if next.time > target {
            return Ok(best);
        }
        best = next;
    }
}

/// `number` · `target` / `time`, rounded down.
fn scale(number: u32, target: Duration, time: Duration) -> u32 {
    let scaled = f64::from(number) * target.as_secs_f64() / time.as_secs_f64().max(1e-9);
    // A float that is too large becomes the largest number.
    scaled as u32
}

/// The shortest of three runs: others on the machine only ever make it longer.
fn measure(params: Params, arena: &mut Arena) -> Result<Calibration, Error> {
    let argon2 = Argon2::new(params).threads(params.lanes() as usize);
    let mut time = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        argon2.hash(b"password", b"salt for timing", &mut [0; 32], arena)?;
        time = time.min(start.elapsed());
    }
    Ok(Calibration { params, time })
}
